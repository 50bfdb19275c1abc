"""Pairs of characters of scripts without spaces: counted, selected, and words cut by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from isotok.errors import TokenizerError
from isotok.train._counts_file import pack_counts, unpack_counts
from isotok.train._options import MOST_COUNT, Progress, whole
from isotok.train._sources import MAX_BYTES, MAX_RECORDS, check_texts, feed
from isotok.train._table import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotok.train._pretokenizer import PreTokenizer

SCRIPTS: Final = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3040, 0x30FF),
    (0x3130, 0x318F), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2EBEF),
    (0x30000, 0x3134F),
)  # fmt: skip
"""Code points whose pairs are counted, as FFBPE has them: Han, Kana, Hangul, Thai, Lao, …"""
_BITS: Final = 21
_PENDING: Final = 1 << 22


@lru_cache(maxsize=1)
def _table() -> NDArray[np.bool_]:
    table = np.zeros(0x110000, bool)
    for first, last in SCRIPTS:
        table[first : last + 1] = True
    return table


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the characters of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le"), "<u4")


def in_scripts(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Tell of each character whether its script is one of those."""
    return _table()[points]


def pair_keys(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return one number for each pair, in the order of the pairs."""
    return (left.astype(np.uint64) << np.uint64(_BITS)) | right


def key_texts(keys: NDArray[np.uint64]) -> list[str]:
    """Return the pairs as texts of two characters."""
    mask = (1 << _BITS) - 1
    return [chr(key >> _BITS) + chr(key & mask) for key in keys.tolist()]


def keys_of(bigrams: Iterable[str]) -> NDArray[np.uint64]:
    """Return pairs as sorted numbers; else an error that names the one."""
    found: set[int] = set()
    for text in bigrams:
        if not isinstance(text, str) or len(text) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TokenizerError(f"unicode_bigrams: {text!r} is not a text of two characters")
        found.add(ord(text[0]) << _BITS | ord(text[1]))
    return np.array(sorted(found), np.uint64)


@dataclass(frozen=True, slots=True)
class UnicodeBigramSelection:
    """Pairs that were selected.

    Parameters
    ----------
    bigrams : list of str
        Sorted.
    cutoff_freq : int or None
        The least count of one that is in; None if none is.
    max_excluded_freq : int or None
        The largest count of one that is not.
    """

    bigrams: list[str]
    cutoff_freq: int | None
    max_excluded_freq: int | None


class BigramCounter:
    """Counts pairs of neighbouring characters of scripts without spaces (`SCRIPTS`).

    Parameters
    ----------
    pre_tokenizer : PreTokenizer
        Its special tokens are cut out first; its pattern does not matter.

    Notes
    -----
    It can be pickled, saved, merged in any order and exchanged as an Arrow table; the bytes are
    the same however the texts were divided.
    """

    def __init__(self, pre_tokenizer: PreTokenizer) -> None:
        self._pre_tokenizer = pre_tokenizer
        self._keys: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._counts: NDArray[np.int64] = np.empty(0, np.int64)
        # What is counted and not in the arrays yet: in the extension, or pairs as they came.
        self._counted: Any = None if native() is None else native().bigrams()
        self._pending: list[NDArray[np.uint64]] = []
        self._waiting = 0

    @property
    def fingerprint(self) -> str:
        """What counters that can be merged have in common."""
        return self._pre_tokenizer.bigram_fingerprint

    def __len__(self) -> int:
        """Return how many pairs there are."""
        self._settle()
        return len(self._keys)

    # -- adding ---------------------------------------------------------------------

    def add_text(self, text: str) -> None:
        """Count one text."""
        self.add_batch([text])

    def add_batch(self, texts: Sequence[str]) -> None:
        """Count texts, each for itself."""
        check_texts(texts)
        self.add_checked(texts)

    def add_checked(self, texts: Sequence[str]) -> None:
        """Count texts that are known to be texts (`feed` looks at each)."""
        if self._counted is not None:
            self._counted.add_texts(self._pre_tokenizer.all_segments(texts))
            return
        joined = "\n".join(texts)
        special = self._pre_tokenizer.special_pattern
        points = code_points(re.sub(special, "\n", joined) if special else joined)
        inside = in_scripts(points)
        at = np.flatnonzero(inside[:-1] & inside[1:])
        self._pending.append(pair_keys(points[at], points[at + 1]))
        self._waiting += len(at)
        if self._waiting > _PENDING:
            self._settle()

    def add_source(
        self,
        source: object,
        *,
        max_records: int = MAX_RECORDS,
        max_bytes: int = MAX_BYTES,
        prefetch: Literal[0, 1] = 1,
        progress: Progress | None = None,
    ) -> None:
        """Count all records of a source; see `WordCounter.add_source`."""
        feed(
            source,
            self.add_checked,
            max_records=max_records,
            max_bytes=max_bytes,
            prefetch=prefetch,
            progress=progress,
            stage="count bigrams",
        )

    def merge(self, other: BigramCounter) -> None:
        """Add the counts of another counter with the same special tokens."""
        if not isinstance(other, BigramCounter):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"merge: {type(other).__name__} is no BigramCounter")
        need_same(self.fingerprint, other.fingerprint, "special tokens")
        other._settle()
        self._add(other._keys, other._counts)

    def _settle(self) -> None:
        if self._counted is not None and self._counted.size():
            keys, counts = self._counted.arrays()
            self._counted.clear()
            self._add(np.frombuffer(keys, "<u8"), np.frombuffer(counts, "<i8"))
        if self._pending:
            keys, counts = np.unique(np.concatenate(self._pending), return_counts=True)
            self._pending, self._waiting = [], 0
            self._add(keys, counts.astype(np.int64))

    def _add(self, keys: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
        if self._pending or (self._counted is not None and self._counted.size()):
            self._settle()
        if np.any(counts < 0):
            raise TokenizerError("bigram counts: a count is below 0")
        every, at = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        sums: NDArray[np.int64] = np.zeros(len(every), np.int64)
        sums[at[: len(self._keys)]] = self._counts
        again: NDArray[np.intp] = at[len(self._keys) :]
        if len(again) and int(counts.max()) > MOST_COUNT - int(sums.max()):
            raise TokenizerError(f"bigram counts: a sum is above {MOST_COUNT}")
        np.add.at(sums, again, counts)
        self._keys, self._counts = every, sums

    # -- results --------------------------------------------------------------------

    def items(self) -> list[tuple[str, int]]:
        """Return pairs with their counts, from the most frequent, then by text."""
        self._settle()
        order = np.lexsort((self._keys, -self._counts))
        return list(zip(key_texts(self._keys[order]), self._counts[order].tolist(), strict=True))

    def select(self, top_k: int, min_freq: int) -> UnicodeBigramSelection:
        """Select the `top_k` most frequent of at least `min_freq`, with all ties of the last."""
        whole(top_k, "top_k")
        whole(min_freq, "min_freq")
        self._settle()
        counts = np.sort(self._counts)[::-1]
        kept = counts[counts >= min_freq]
        if not len(kept) or not top_k:
            most = int(counts[0]) if len(counts) else None
            return UnicodeBigramSelection([], None, most)
        cutoff = int(kept[min(top_k, len(kept)) - 1])
        below = counts[counts < cutoff]
        bigrams = sorted(key_texts(self._keys[self._counts >= cutoff]))
        return UnicodeBigramSelection(bigrams, cutoff, int(below[0]) if len(below) else None)

    def selected(self, top_k: int, min_freq: int) -> list[str]:
        """Return the pairs of `select`."""
        return self.select(top_k, min_freq).bigrams

    # -- keeping --------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return all as bytes: the same for the same counts."""
        self._settle()
        texts = [text.encode() for text in key_texts(self._keys)]
        return pack_counts("bigrams", self.fingerprint, texts, self._counts.tolist())

    @classmethod
    def from_bytes(cls, data: bytes, pre_tokenizer: PreTokenizer) -> BigramCounter:
        """Return the counter of `to_bytes`; the pre-tokenizer must be as it was."""
        counter = cls(pre_tokenizer)
        fingerprint, texts, counts = unpack_counts(data, "bigrams", "bigram counts")
        need_same(counter.fingerprint, fingerprint, "special tokens")
        counter._load([text.decode() for text in texts], counts)
        return counter

    def _load(self, texts: Sequence[str], counts: Sequence[int]) -> None:
        packed = [ord(text[0]) << _BITS | ord(text[1]) for text in texts]
        keys = np.array(packed, np.uint64)
        order = np.argsort(keys)
        self._add(keys[order], np.array(counts, np.int64)[order])

    def save(self, path: Any) -> None:
        """Write `to_bytes` to a file."""
        from isotok.train._atomic import write_atomic

        write_atomic(path, self.to_bytes())

    def to_arrow(self) -> Any:
        """Return a table with the columns `bigram` (string) and `count` (int64)."""
        from isotok.train._arrow import counts_table

        self._settle()
        return counts_table(
            "bigram", key_texts(self._keys), self._counts, self.fingerprint, binary=False
        )

    @classmethod
    def from_arrow(cls, table: Any, pre_tokenizer: PreTokenizer) -> BigramCounter:
        """Return the counter of a table such as `to_arrow` makes; equal pairs are added up."""
        from isotok.train._arrow import read_counts

        counter = cls(pre_tokenizer)
        texts, counts = read_counts(table, "bigram", counter.fingerprint)
        counter._load(cast("list[str]", texts), counts)
        return counter

    def __reduce__(self) -> tuple[Any, ...]:
        return BigramCounter.from_bytes, (self.to_bytes(), self._pre_tokenizer)


def need_same(mine: str, other: str, what: str) -> None:
    """Refuse counts that were made in another way."""
    if mine != other:
        raise TokenizerError(
            f"these counts were made with another pre-tokenizer ({what} differ); count again with "
            "the same one"
        )


# ---- Words ----------------------------------------------------------------------------


class Shaper:
    """Cuts words between two characters of `SCRIPTS` that are no pair of a set."""

    def __init__(self, bigrams: Iterable[str], mixed: str) -> None:
        self.keys = keys_of(bigrams)
        self.mixed = mixed

    def cuts(self, points: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell of each character but the last whether there is a cut behind it."""
        inside = in_scripts(points)
        left, right = inside[:-1], inside[1:]
        cut = (left | right) if self.mixed == "split" else (left & right)
        at = np.flatnonzero(cut)
        if len(self.keys) and len(at):
            keys = pair_keys(points[at], points[at + 1])
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            cut[at[self.keys[place] == keys]] = False
        return cut

    def split(self, word: str) -> list[str]:
        """Return the parts of a word."""
        if word.isascii():
            return [word]
        ends = [*(np.flatnonzero(self.cuts(code_points(word))) + 1).tolist(), len(word)]
        return [word[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
