"""isotok.compat.tokenizers under the tests of tokenizers' Python package itself.

The environment variable ISOTOK_SOURCES names a folder with a checkout of its source,
`tokenizers`. Its tests are copied to a temporary folder, and only their import lines are changed.
Those that fail are listed in tests/py/compat_tokenizers_rows.json with a reason. Nothing is
downloaded: what tests would get is made of the models that there are, where one will do.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.full.limits import Check
from tests.support import data

HERE = Path(__file__).parent
ROWS = json.loads((HERE.parent / "py/compat_tokenizers_rows.json").read_text("utf-8"))
IMPORT = re.compile(r"^( *)(from|import) tokenizers\b", re.MULTILINE)
MODELS = {"gpt2": "gpt2", "llama3": "llama3", "bert": "bert_base_cased"}
MORE_WORDS = ("john", "georges")
"""What the tests want to be one token."""
SECONDS = 900


def compat_tokenizers_tests() -> Iterator[Check]:
    """Run them; each that fails is a row, and each row fails."""
    what = "tests of tokenizers"
    source = Path(os.environ.get("ISOTOK_SOURCES", "sources")) / "tokenizers/bindings/python"
    if not source.exists():
        message = f"no {source}; set ISOTOK_SOURCES to a folder with a checkout of tokenizers 0.23"
        print(f"skipped: {message}")
        yield what, message, "needs its source", not os.environ.get("CI")
        return
    with tempfile.TemporaryDirectory() as name:
        found = run(prepared(source, Path(name)))
    failed = {test for test, state in found.items() if state == "failed"}
    for test in sorted(failed):
        print(f"  {test}: {ROWS.get(test, 'NOT LISTED')}")
    states = [*found.values()]
    counts = {state: states.count(state) for state in ("passed", "failed", "skipped")}
    yield what, ", ".join(f"{n} {k}" for k, n in counts.items()), ">= 140", len(found) >= 140
    yield (
        f"{what} that fail and are not listed",
        f"{sorted(failed - {*ROWS})}",
        "none",
        failed <= {*ROWS},
    )
    yield f"{what} listed, but passed", f"{sorted({*ROWS} - failed)}", "none", {*ROWS} <= failed


def prepared(source: Path, folder: Path) -> Path:
    """Copy the tests with other imports, and what they would download."""
    tests = folder / "python/tests"  # they ask for a folder of this name
    shutil.copytree(source / "tests", tests)
    for file in tests.rglob("*.py"):
        text = IMPORT.sub(r"\1\2 isotok.compat.tokenizers", file.read_text("utf-8"))
        if file.stem == "test_freethreaded":  # a trainer is beside the point there
            text = text.replace("isotok.compat.tokenizers.trainers", "tokenizers.trainers")
        file.write_text(text, "utf-8")
    shutil.copy(HERE / "compat_tokenizers_conftest.py", tests.parent / "conftest.py")
    write_files(folder / "files")
    return tests


def write_files(folder: Path) -> None:
    """Write vocabularies and tokenizers in place of those that would be downloaded."""
    folder.mkdir()
    for name, model in MODELS.items():
        for path in data.models_dir().glob(f"{model}.tokenizer.json*"):
            raw = path.read_bytes()
            (folder / f"{name}.json").write_bytes(
                gzip.decompress(raw) if path.suffix == ".gz" else raw
            )
    bert, gpt2 = (_model(folder / f"{name}.json") for name in ("bert", "gpt2"))
    words = [*sorted(bert["vocab"], key=bert["vocab"].__getitem__), *MORE_WORDS]
    _write(folder / "bert-base-uncased-vocab.txt", "".join(f"{word}\n" for word in words))
    _write(folder / "roberta-base-vocab.json", json.dumps(gpt2["vocab"]))
    merges = [one if isinstance(one, str) else " ".join(one) for one in gpt2["merges"]]
    _write(folder / "roberta-base-merges.txt", "".join(f"{one}\n" for one in merges))


def _model(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))["model"]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def run(tests: Path) -> dict[str, str]:
    """Outcome of each test, or of each file that cannot be imported."""
    report = tests.parent / "report.xml"
    environment = {
        **os.environ,
        "PYTHONPATH": str(data.ROOT / "py_host"),
        "ISOTOK_FILES": str(tests.parent.parent / "files"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    command += ["--continue-on-collection-errors", f"--junitxml={report}"]
    subprocess.run(
        [*command, "--rootdir", str(tests.parent)],
        cwd=tests.parent,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=SECONDS,
    )
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        failed, skipped = outcomes & {"failure", "error"}, "skipped" in outcomes
        place = case.get("classname", "").split(".")[-2:]
        name = ".".join([*place, case.get("name", "").rpartition(".")[2]]).lstrip(".")
        found[name] = "failed" if failed else "skipped" if skipped else "passed"
    return found


ALL = {"compat_tokenizers_tests": compat_tokenizers_tests}
