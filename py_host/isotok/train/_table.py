"""Counts in memory: in the extension where it is installed, else in a dict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from isotok.errors import TokenizerError
from isotok.train._bigrams import Shaper, code_points
from isotok.train._options import MOST_COUNT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotok.train._counts_file import Item
    from isotok.train._pretokenizer import PreTokenizer

_ENTRY: Final = 120  # bytes of a word in a dict, without its text
_ROWS: Final = 1 << 16
_UNCUT: Final = 256 << 20  # bytes of words that are not cut yet


class Table(Protocol):
    """What a counter counts in."""

    @property
    def memory(self) -> int:
        """Bytes, about."""
        ...

    @property
    def size(self) -> int:
        """How many words there are."""
        ...

    def add_texts(self, texts: Sequence[str]) -> None:
        """Count the words of texts."""
        ...

    def add_items(self, items: Iterable[Item]) -> None:
        """Add words with counts."""
        ...

    def items(self) -> Iterable[Item]:
        """Return words with counts, ascending."""
        ...

    def clear(self) -> None:
        """Forget all."""
        ...


class DictTable:
    """The same in Python."""

    def __init__(self, pre_tokenizer: PreTokenizer | None) -> None:
        self._pre_tokenizer = pre_tokenizer
        self._counts: dict[bytes, int] = {}
        self.memory = 0

    @property
    def size(self) -> int:
        """How many words there are."""
        return len(self._counts)

    def add_texts(self, texts: Sequence[str]) -> None:
        """Count the words of texts."""
        assert self._pre_tokenizer is not None
        words_of = self._pre_tokenizer.words_of
        self.add_items((word, 1) for text in texts for word in words_of(text))

    def add_items(self, items: Iterable[Item]) -> None:
        """Add words with counts."""
        counts = self._counts
        for word, count in items:
            before = counts.get(word, 0)
            if not before:
                if not count:
                    continue
                self.memory += len(word) + _ENTRY
            elif before + count > MOST_COUNT:
                raise TokenizerError(f"word {word[:60]!r}: its count is above {MOST_COUNT}")
            counts[word] = before + count

    def items(self) -> Iterable[Item]:
        """Return words with counts, ascending."""
        return sorted(self._counts.items())

    def clear(self) -> None:
        """Forget all."""
        self._counts.clear()
        self.memory = 0


class NativeTable:
    """Counts in the extension. Words that bigrams cut are cut when they are asked for."""

    def __init__(self, pre_tokenizer: PreTokenizer | None) -> None:
        model = None if pre_tokenizer is None else pre_tokenizer.backend
        shaper = None if pre_tokenizer is None else pre_tokenizer.shaper
        self._pre_tokenizer = pre_tokenizer
        self._counts: Any = native().word_counts(model)
        self._uncut: Any = None if shaper is None else native().word_counts(model)

    @property
    def counts(self) -> Any:
        """The object of the extension."""
        self._cut()
        return self._counts

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._counts.memory() + (self._uncut.memory() if self._uncut else 0)

    @property
    def size(self) -> int:
        """How many words there are."""
        return self.counts.size()

    def add_texts(self, texts: Sequence[str]) -> None:
        """Count the words of texts."""
        assert self._pre_tokenizer is not None
        segments = self._pre_tokenizer.segments
        parts = [part for text in texts for part in segments(text)]
        (self._uncut or self._counts).add_texts(parts)
        if self._uncut is not None and self._uncut.memory() > _UNCUT:
            self._cut()

    def _cut(self) -> None:
        if self._uncut is None or not self._uncut.size():
            return
        assert self._pre_tokenizer is not None
        assert self._pre_tokenizer.shaper is not None
        rows = cut_words(self._pre_tokenizer.shaper, *map(memoryview, self._uncut.arrays()))
        self._counts.add_table(*rows)
        self._uncut.clear()

    def add_items(self, items: Iterable[Item]) -> None:
        """Add words with counts."""
        every = (item for item in items if item[1])
        while rows := list(islice(every, _ROWS)):
            words, counts = zip(*rows, strict=True)
            self._add(*packed(words), np.array(counts, "<i8"))

    def _add(self, pool: Any, ends: Any, counts: Any) -> None:
        try:
            self._counts.add_table(pool, ends, counts)
        except TokenizerError as error:
            raise TokenizerError(f"word counts: {error}; a sum is above {MOST_COUNT}") from error

    def items(self) -> Iterator[Item]:
        """Return words with counts, ascending."""
        pool, ends, counts = self.counts.arrays()
        numbers: list[int] = np.frombuffer(counts, "<i8").tolist()
        yield from zip(unpacked(pool, ends), numbers, strict=True)

    def clear(self) -> None:
        """Forget all."""
        self._counts.clear()
        if self._uncut is not None:
            self._uncut.clear()


def packed(texts: Sequence[bytes]) -> tuple[bytes, NDArray[np.uint64]]:
    """Return texts end to end, and where each ends."""
    return b"".join(texts), np.fromiter(accumulate(map(len, texts)), "<u8", len(texts))


def unpacked(pool: Any, ends: Any) -> Iterator[bytes]:
    """Return the texts of buffers as `packed` makes them."""
    data = bytes(pool)
    stops: list[int] = np.frombuffer(ends, "<u8").tolist()
    begin = 0
    for end in stops:
        yield data[begin:end]
        begin = end


def cut_words(
    shaper: Shaper, pool: memoryview, ends: memoryview, counts: memoryview
) -> tuple[memoryview, NDArray[np.uint64], NDArray[np.int64]]:
    """Return a table whose words are the parts of those of a table; some are there repeatedly."""
    data = np.frombuffer(pool, np.uint8)
    stops = np.frombuffer(ends, "<u8").astype(np.int64)
    starts = np.flatnonzero((data & 0xC0) != 0x80)  # bytes that begin a character
    cut = shaper.cuts(code_points(bytes(pool).decode()))
    edges = np.union1d(starts[1:][cut], stops)
    edges = edges[edges > 0]
    numbers = np.frombuffer(counts, "<i8")[np.searchsorted(stops, edges)]
    return pool, edges.astype(np.uint64), numbers


def native() -> Any:
    """Return the extension; None where it is not installed or does not train."""
    try:
        from isotok import _native
    except ImportError:
        return None
    return _native if hasattr(_native, "word_counts") else None


def new_table(pre_tokenizer: PreTokenizer) -> Table:
    """Return an empty table."""
    if native() is not None and pre_tokenizer.is_native:
        return NativeTable(pre_tokenizer)
    return DictTable(pre_tokenizer)


def new_words() -> Table:
    """Return an empty table that no texts are added to."""
    return NativeTable(None) if native() is not None else DictTable(None)
