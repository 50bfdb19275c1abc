"""isotok.compat.tiktoken under the tests of tiktoken 0.14 itself.

The environment variable ISOTOK_SOURCES names a folder with a checkout of its source, `tiktoken`.
Its tests are copied to a temporary folder, and only their import line is changed. Those that fail
are listed in tests/py/compat_rows.json with a reason. Nothing is downloaded.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from isotok.compile.tokenizer_json.bytes_of_letters import bytes_of

from tests.full.limits import Check
from tests.support import data, hf

ROWS = json.loads((Path(__file__).parent.parent / "py/compat_rows.json").read_text("utf-8"))
IMPORT = re.compile(r"^( *)import tiktoken$", re.MULTILINE)


def compat_tiktoken_tests() -> Iterator[Check]:
    """Run them; each that fails is a row, and each row fails."""
    source = Path(os.environ.get("ISOTOK_SOURCES", "sources")) / "tiktoken/tests"
    if not source.exists():
        message = f"no {source}; set ISOTOK_SOURCES to a folder with a checkout of tiktoken 0.14"
        print(f"skipped: {message}")
        yield "tests of tiktoken", message, "needs its source", not os.environ.get("CI")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ranks = rank_files(folder / "ranks")
        tests = folder / "run/tests"
        shutil.copytree(source, tests)
        for file in tests.glob("*.py"):
            text = IMPORT.sub(r"\1from isotok.compat import tiktoken", file.read_text("utf-8"))
            file.write_text(text, "utf-8")
        failed, count = run(tests, ranks)
    rows = ROWS["tiktoken"]
    for test in sorted(failed):
        print(f"  {test}: {rows.get(test, 'NOT LISTED')}")
    yield "tests of tiktoken", f"{count}", "more than 30", count > 30
    yield "that fail and are not listed", f"{sorted(failed - set(rows))}", "none", failed <= {*rows}
    yield "listed, but passed", f"{sorted(set(rows) - failed)}", "none", {*rows} <= failed


def rank_files(folder: Path) -> Path:
    """Those that there are, and r50k_base as GPT-2's vocabulary has it."""
    folder.mkdir()
    for path in data.models_dir().glob("*.tiktoken"):
        shutil.copy(path, folder)
    vocabulary: dict[str, int] = hf.member("gpt2", "model")["vocab"]
    with (folder / "r50k_base.tiktoken").open("wb") as file:
        for text, number in sorted(vocabulary.items(), key=lambda entry: entry[1]):
            if text != "<|endoftext|>":
                file.write(base64.b64encode(bytes_of(text)) + b" %d\n" % number)
    return folder


def run(tests: Path, ranks: Path) -> tuple[set[str], int]:
    """Names of the tests that fail, and how many there are."""
    report = tests.parent / "report.xml"
    environment = {
        **os.environ,
        "PYTHONPATH": str(data.ROOT / "py_host"),
        "ISOTOK_TIKTOKEN": str(ranks),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    subprocess.run(
        [*command, f"--junitxml={report}", "--rootdir", str(tests.parent)],
        cwd=tests.parent,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    failed: set[str] = set()
    count = 0
    for case in ElementTree.parse(report).iter("testcase"):
        count += 1
        if {child.tag for child in case} & {"failure", "error"}:
            failed.add(case.get("name", "").partition("[")[0])
    return failed, count


ALL = {"compat_tiktoken_tests": compat_tiktoken_tests}
