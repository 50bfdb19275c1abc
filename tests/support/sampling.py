"""Samples of every kind by one call, and the lattices that they are drawn from."""

from __future__ import annotations

import json
from typing import Any

import isotok

from support import data
from support.models import BYTES, model

LATTICES: list[dict[str, Any]] = json.loads((data.SPINE.parent / "lattices.json").read_text())


def sample(
    tok: isotok.Tokenizer, text: str | bytes, method: str, noise: float, seed: int, paths: int
) -> list[int]:
    """Draw with `method` "ffbs", "gumbel", "dropout" or "nbest" (one of `paths`)."""
    if method == "dropout":
        return tok.sample(text, dropout=noise, seed=seed)
    if method == "nbest":
        return tok.sample_nbest(text, paths, alpha=noise, seed=seed)
    return tok.sample(text, alpha=noise, method="ffbs" if method == "ffbs" else "gumbel", seed=seed)


def lattice_model(row: dict[str, Any]) -> bytes:
    """Make the `.model` file of a row of lattices.json."""
    pieces = [(text, score, kind) for text, score, kind in row["pieces"]]
    more = BYTES if row["trainer"].get("byte_fallback") else []
    return model([*pieces, *more], row["trainer"], row["normalizer"])
