"""The table of operations, `tests/vectors/api.json`."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from support import data

PATH = data.ROOT / "tests/vectors/api.json"
Row = dict[str, Any]


@cache
def rows() -> list[Row]:
    groups = json.loads(PATH.read_text("utf-8"))["groups"]
    return [row for group in groups for row in group["rows"]]


def names_in(row: Row, host: str) -> list[str]:
    """Names of a row's operation in a host; none if the row says why not."""
    value = row[host]
    if isinstance(value, dict):
        return []
    return [value] if isinstance(value, str) else value


def names(host: str) -> list[str]:
    """All names of a host, each once."""
    return sorted({name for row in rows() for name in names_in(row, host)})
