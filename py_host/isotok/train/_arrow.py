"""Counts as Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from isotok.errors import TokenizerError
from isotok.train._bigrams import need_same
from isotok.train._files import need_pyarrow

_KEY: Final = b"isotok.fingerprint"


def counts_table(
    name: str, texts: Sequence[object], counts: Any, fingerprint: str, *, binary: bool
) -> Any:
    """Return a table of texts and counts that carries the fingerprint."""
    arrow = need_pyarrow("to_arrow")
    kind = arrow.large_binary() if binary else arrow.large_string()
    columns = {name: arrow.array(texts, kind), "count": arrow.array(counts, arrow.int64())}
    return arrow.table(columns).replace_schema_metadata({_KEY: fingerprint})


def read_counts(table: Any, name: str, fingerprint: str) -> tuple[list[object], list[int]]:
    """Return texts and counts; a table with another fingerprint is refused.

    A table without one (engines drop it) is taken as it is.
    """
    missing = [column for column in (name, "count") if column not in table.schema.names]
    if missing:
        raise TokenizerError(f"Arrow table: there is no column {missing[0]!r}")
    metadata: dict[bytes, bytes] = table.schema.metadata or {}
    found = metadata.get(_KEY)
    if found is not None:
        need_same(fingerprint, found.decode(), "pattern, special tokens or bigrams")
    texts, counts = table.column(name).to_pylist(), table.column("count").to_pylist()
    for row, (text, count) in enumerate(zip(texts, counts, strict=True)):
        if text is None or type(count) is not int or count < 0:
            raise TokenizerError(f"Arrow table: row {row} is {text!r} with the count {count!r}")
    return texts, counts
