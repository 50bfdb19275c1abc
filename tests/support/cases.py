"""The bug cases of other tokenizers, and what their runners share."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from support import data

Case = dict[str, Any]
CHILD_TIMEOUT = 60


@cache
def cases() -> list[Case]:
    path = data.cases_dir() / "bug_cases.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def input_of(case: Case) -> Any:
    value = case["input"]
    if not isinstance(value, dict):
        return value
    if "repeat" in value:
        unit, count = value["repeat"]
        return unit * count
    if "bytes_hex" in value:
        return bytes.fromhex(value["bytes_hex"])
    if value["python"] == "[f'{i} {i} '*50 for i in range(2000)]":
        return [f"{i} {i} " * 50 for i in range(2000)]
    raise AssertionError(f"input of {case['id']} is not known to this runner")


def digest(ids: list[int]) -> str:
    return hashlib.sha256(b"".join(each.to_bytes(4, "little") for each in ids)).hexdigest()


LOAD = """
import sys, isotok
path, backend, text = sys.argv[1:]
try:
    print("LOADED", isotok.load(path, backend=backend).encode(text))
except isotok.TokenizerError as error:
    print("REFUSED", error)
"""


def child(code: str, path: Path, backend: str, text: str) -> str:
    """Run Python code in another process; it must end by itself, with code 0, silently."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(path), backend, text],
        capture_output=True,
        text=True,
        timeout=CHILD_TIMEOUT,
        env={"PYTHONPATH": str(data.ROOT / "py_host"), "PATH": ""},
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stderr == ""
    return done.stdout


def check_hostile(path: Path, backend: str, text: str, reference: str) -> None:
    """Refused where the original refuses, else the same ids."""
    found = child(LOAD, path, backend, text)
    if reference.startswith("LOADED"):
        assert found == reference
    else:
        assert found.startswith("REFUSED")
        assert len(found) > 40  # what is wrong, and where
