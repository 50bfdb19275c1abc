"""The merges of a BPE model, as the format's list of splits (FORMAT.md, section 12)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import Any, NamedTuple, cast

from isotok.compile.tokenizer_json.affixes import Affixes
from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.parts import entries
from isotok.errors import TokenizerError

_MOST_MERGES = 1 << 22
_LEFT_BITS = 10
_MOST_LEFT = (1 << _LEFT_BITS) - 1
_MOST_SPLITS = 255


class Splits(NamedTuple):
    """Fields of the compiler: how many splits each piece has, and all of them by piece."""

    counts: bytes
    splits: array[int]


def read_merges(
    document: Document,
    vocabulary: Mapping[str, int],
    *,
    measure: Callable[[str], int],
    apart: AbstractSet[str],
    affixes: Affixes,
    refused: AbstractSet[str | None],
) -> array[int]:
    """Read `model.merges`: the earlier a pair is there, the sooner it is merged.

    Parameters
    ----------
    document : Document
    vocabulary : mapping of str to int
    measure : callable
        Bytes of a part in what the segmenter sees.
    apart : set of str
        Tokens that no text gives: their merges do nothing.
    affixes : Affixes
        What tokens of two parts are spelled with.
    refused : set of str
        Tokens whose merges are not supported.

    Returns
    -------
    array of int
        For `make_splits`.

    Raises
    ------
    TokenizerError
        A line is no pair, or a part or the merged text is not in the vocabulary.
    """
    found = array("Q")  # merged token << 32 | entry of the list
    rank = 0
    find = vocabulary.get
    join = affixes.join if affixes.prefix else None
    for pairs in _pairs(document):
        for left, right in pairs:
            text = join(left, right) if join else left + right
            merged = find(text) if text is not None else None
            if merged is None or left not in vocabulary or right not in vocabulary:
                raise _unknown(rank, left, right, text, vocabulary)
            if left in refused or right in refused or text in refused:
                raise unsupported(f"model.merges[{rank}]", f"a merge of {left!r} and {right!r}")
            length = measure(left)
            if length > _MOST_LEFT:
                raise unsupported(f"model.merges[{rank}]", f"a left part over {_MOST_LEFT} bytes")
            if affixes and _is_idle(affixes, left, right, f"model.merges[{rank}]"):
                pass
            elif left not in apart and right not in apart and text not in apart:
                found.append(merged << 32 | rank << _LEFT_BITS | length)
            rank += 1
        if rank > _MOST_MERGES:
            raise unsupported("model.merges", f"more than {_MOST_MERGES:,} merges")
    return found


def _is_idle(affixes: Affixes, left: str, right: str, where: str) -> bool:
    """Whether a merge does nothing, as its parts are never side by side."""
    affixes.check_merge(left, right, where)
    return affixes.never_meet(left, right)


def _unknown(
    rank: int, left: str, right: str, text: str | None, vocabulary: Mapping[str, int]
) -> TokenizerError:
    merged = left + right if text is None else text
    missing = next((each for each in (left, right) if each not in vocabulary), merged)
    return broken(f"model.merges[{rank}]", f"{shorten(missing)} is not in the vocabulary")


def make_splits(found: array[int], size: int) -> Splits:
    """Group what `read_merges` returns by piece, of a model with so many ids.

    Of a pair that is there twice the last counts, as in tokenizers.
    """
    counts = bytearray(size)
    splits = array("I")
    for piece, group in groupby(sorted(found), key=_high):
        last = {entry & _MOST_LEFT: entry & 0xFFFFFFFF for entry in group}
        if len(last) > _MOST_SPLITS:
            raise unsupported(
                "model.merges", f"more than {_MOST_SPLITS} merges that give one token"
            )
        counts[piece] = len(last)
        splits.extend(sorted(last.values()))
    return Splits(bytes(counts), splits)


def _high(entry: int) -> int:
    return entry >> 32


def _pairs(document: Document) -> Iterator[Iterable[tuple[str, str]]]:
    """Yield the merges, some at a time; all are lines or all are pairs."""
    span = document.large.get("model.merges")
    if span is None or span.is_object:
        raise broken("model.merges", "an array of merges should be here")
    count = 0
    kinds: set[type] = set()
    for some in entries(document.data, span):
        kinds.update(map(type, some))
        if kinds > {str} or kinds > {list}:
            raise broken(span.path, "lines and pairs must not be mixed")
        if kinds == {str}:
            lines = cast("list[str]", some)
            some = [cast("Any", line.split(" ")) for line in lines if line[:8] != "#version"]
        yield _checked(some, count)
        count += len(some)


def _checked(some: list[Any], first: int) -> Iterable[tuple[str, str]]:
    """Make sure that all are two strings."""
    for i, entry in enumerate(some):
        if not _is_pair(entry):
            raise broken(f"model.merges[{first + i}]", f"{shorten(entry)} is not two strings")
    return some


def _is_pair(entry: object) -> bool:
    if not isinstance(entry, list):
        return False
    parts = cast("list[object]", entry)
    return len(parts) == 2 and type(parts[0]) is str and type(parts[1]) is str
