"""What a seed draws (samples.json), on every back end; the ids are those of our reference."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import isotok
import pytest
from conftest import Opener
from support import data
from support.sampling import LATTICES, sample

ROWS: list[dict[str, Any]] = json.loads((data.SPINE.parent / "samples.json").read_text())["samples"]
NAMES = sorted({row["model"] for row in ROWS})


def drawn(tok: isotok.Tokenizer, row: dict[str, Any]) -> list[int]:
    text, seed = bytes.fromhex(row["text"]), int(row["seed"])
    return sample(tok, text, row["method"], row["alpha"], seed, row.get("paths", 0))


def all_drawn(backend: str) -> Iterator[list[int]]:
    for name, rows in groupby(ROWS, lambda row: row["model"]):
        path = data.VECTOR_MODELS / f"{name}.model"
        with isotok.load(path, backend=backend) as tok:  # type: ignore[arg-type]
            yield from (drawn(tok, row) for row in rows)


def digest(samples: Iterator[list[int]]) -> str:
    """Of samples end to end, each with its length in front."""
    found = hashlib.sha256()
    for ids in samples:
        found.update(array("I", [len(ids), *ids]).tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_seeds(name: str, backend: str, opened: Opener) -> None:
    tok = opened(data.VECTOR_MODELS / f"{name}.model", backend)
    for row in ROWS:
        if row["model"] == name:
            assert drawn(tok, row) == row["ids"], row


def test_that_all_lattices_are_there() -> None:
    for lattice in LATTICES:
        rows = [row for row in ROWS if row["model"] == f"lattices/{lattice['name']}"]
        assert [int(row["seed"]) for row in rows] == list(
            range(lattice["seed"], lattice["seed"] + len(rows))
        )
        assert len(rows) == 50
        assert {bytes.fromhex(row["text"]).decode() for row in rows} == {lattice["text"]}


def test_another_process(backend: str, show: Callable[[str], None]) -> None:
    """A process that hashes otherwise, and has other addresses, draws the same."""
    code = f"import test_samples as t; print(t.digest(t.all_drawn({backend!r})))"
    wanted = digest(iter(row["ids"] for row in ROWS))
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
        }
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.stdout.strip() == wanted, done.stdout + done.stderr
    show(f"| samples.json, {backend}, two other processes: {len(ROWS)} draws each, all equal")


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Print a line that `./build.sh test` shows."""

    def run(line: str) -> None:
        with capsys.disabled():
            print(f"\n{line}")

    return run


def test_that_samples_are_as_made() -> None:
    """The reference still draws the same: it is what the vectors were made with."""
    script = data.SPINE.parent / "make_samples.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
