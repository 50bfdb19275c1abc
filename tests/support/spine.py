"""Read spine.json: the golden vectors that every host runs."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from support import data

Vector = dict[str, Any]


@cache
def spine() -> dict[str, Any]:
    return json.loads(data.SPINE.read_text())


def vectors_of(model: str, op: str) -> list[Vector]:
    return [each for each in spine()["vectors"] if each["model"] == model and each["op"] == op]


def divergences() -> dict[str, dict[str, str]]:
    rows = json.loads((data.SPINE.parent / "divergences.json").read_text())
    return {row["model"]: row for row in rows}


def text_of(value: str | list[Any]) -> bytes:
    """Text of a vector: hex, or [hex of a unit, how often]."""
    if isinstance(value, str):
        return bytes.fromhex(value)
    unit, count = value
    return bytes.fromhex(unit) * count


def same(value: bytes, expected: str | dict[str, Any]) -> bool:
    """Compare with hex, or with size and digest."""
    if isinstance(expected, str):
        return value == bytes.fromhex(expected)
    digest = hashlib.sha256(value).hexdigest()
    return len(value) == expected["size"] and digest == expected["sha256"]


def byte_spans(vector: Vector) -> list[tuple[int, int]]:
    return list(zip(vector["begin"], vector["end"], strict=True))


def codepoint_spans(vector: Vector) -> list[tuple[int, int]]:
    """Left out of a vector where they equal the byte spans."""
    return [tuple(each) for each in vector.get("codepoints", byte_spans(vector))]


def is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
