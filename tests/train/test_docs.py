"""The examples of docs/training.md and of docstrings run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import isotok.train._train
import pytest
from isotok import train

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "training.md").read_text("utf-8")
SCALE = (DOCS / "scale.md").read_text("utf-8").split("## With engines")[0]
DISTIL = (DOCS / "distil.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT + SCALE + DISTIL, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_examples_of_the_guide(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/training.md", "exec"), {"__name__": "example"})


def test_examples_of_docstrings() -> None:
    module = isotok.train._train
    assert doctest.testmod(module).failed == 0


def test_types_of_all_public_names_are_checked() -> None:
    checked = (Path(__file__).parents[1] / "typing/check_train.py").read_text("utf-8")
    body = checked.split("\nclass ", 1)[1]
    assert not [name for name in train.__all__ if not re.search(rf"\b{name}\b", body)]
