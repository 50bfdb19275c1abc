"""Compares with the answers of the native back end; runs inside Pyodide, by pytest."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isotok
import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/web/hosts"))

import native  # noqa: E402

FOLDER = ROOT / "build/pyodide/native"
ROWS: list[dict[str, Any]] = json.loads((FOLDER / "native.json").read_text())
PATHS = dict(native.all_models())


@pytest.fixture(scope="module", params=sorted({row["model"] for row in ROWS}))
def model(request: pytest.FixtureRequest) -> Iterator[tuple[str, isotok.Tokenizer]]:
    with isotok.load(PATHS[request.param]) as tokenizer:
        yield request.param, tokenizer


@pytest.mark.parametrize("text", sorted({row["text"] for row in ROWS}))
def test_answers(model: tuple[str, isotok.Tokenizer], text: str) -> None:
    name, tokenizer = model
    (row,) = (row for row in ROWS if (row["model"], row["text"]) == (name, text))
    found = native.answers(tokenizer, (FOLDER / text).read_bytes())
    assert {"model": name, "text": text, **found} == row
