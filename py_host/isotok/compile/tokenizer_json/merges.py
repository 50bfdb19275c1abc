"""The merges of a BPE model, as the format's list of splits (FORMAT.md, section 12)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, cast

from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.parts import entries

_RANK_BITS = 22
_LEFT_BITS = 10
_MOST_SPLITS = 255


class Splits(NamedTuple):
    """Fields of the compiler: how many splits each piece has, and all of them by piece."""

    counts: bytes
    splits: array[int]
    merged: set[int]


def read_splits(
    document: Document,
    vocabulary: Mapping[str, int],
    size: int,
    left_size: Callable[[str, str], int],
    refuse: Callable[[str, str, str], None],
) -> Splits:
    """Read `model.merges`: the earlier a pair is there, the sooner it is merged.

    Parameters
    ----------
    document : Document
    vocabulary : mapping of str to int
    size : int
        Ids of the model.
    left_size : callable
        Bytes of the left part in what the segmenter sees; 0: the two never meet there.
    refuse : callable
        Called with a path and the parts; raises if such a pair is not supported.

    Raises
    ------
    TokenizerError
        A line is no pair, or a part or the merged text is not in the vocabulary.
    """
    ranks: dict[int, int] = {}
    for rank, (left, right) in enumerate(_pairs(document)):
        merged = vocabulary.get(left + right)
        if merged is None or left not in vocabulary or right not in vocabulary:
            missing = next(t for t in (left, right, left + right) if t not in vocabulary)
            raise broken(f"model.merges[{rank}]", f"{shorten(missing)} is not in the vocabulary")
        refuse(f"model.merges[{rank}]", left, right)
        length = left_size(left, right)
        if length >> _LEFT_BITS:
            raise unsupported(f"model.merges[{rank}]", "a left part of more than 1,023 bytes")
        if length:
            ranks[merged << _LEFT_BITS | length] = rank  # the last one counts, as in tokenizers
    return _grouped(ranks, size)


def _grouped(ranks: Mapping[int, int], size: int) -> Splits:
    low = (1 << _LEFT_BITS) - 1
    packed = sorted(
        (key >> _LEFT_BITS) << 32 | rank << _LEFT_BITS | (key & low) for key, rank in ranks.items()
    )
    counts = array("I", bytes(4 * size))
    for entry in packed:
        counts[entry >> 32] += 1
    if max(counts, default=0) > _MOST_SPLITS:
        raise unsupported("model.merges", f"more than {_MOST_SPLITS} merges that give one token")
    merged = {entry >> 32 for entry in packed}
    return Splits(bytes(counts.tolist()), array("I", (entry & 0xFFFFFFFF for entry in packed)), merged)


def _pairs(document: Document) -> Iterator[tuple[str, str]]:
    span = document.large.get("merges")
    if span is None or span.is_object:
        raise broken("model.merges", "an array of merges should be here")
    count = 0
    kind: type | None = None
    for some in entries(document.data, span):
        for entry in cast("list[object]", some):
            kind = kind or type(entry)
            if type(entry) is not kind:
                raise broken(f"{span.path}[{count}]", "lines and pairs must not be mixed")
            pair = _pair(entry, f"{span.path}[{count}]")
            if pair is None:
                continue
            yield pair
            count += 1
            if count > 1 << _RANK_BITS:
                raise unsupported(span.path, f"more than {1 << _RANK_BITS:,} merges")


def _pair(entry: object, path: str) -> tuple[str, str] | None:
    """Two parts; None for the line of a version."""
    parts = cast("list[object]", entry)
    if isinstance(entry, str):
        if entry.startswith("#version"):
            return None
        parts = cast("list[object]", entry.split(" "))
    elif not isinstance(entry, list):
        raise broken(path, f"{shorten(entry)} is neither a line nor a pair")
    if len(parts) != 2 or not isinstance(parts[0], str) or not isinstance(parts[1], str):
        raise broken(path, f"{shorten(entry)} is not two parts")
    return parts[0], parts[1]
