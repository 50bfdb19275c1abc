"""Counts in memory: in the extension where it is installed, else in a dict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from isotok.errors import TokenizerError
from isotok.train._options import MOST_COUNT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotok.train._counts_file import Item
    from isotok.train._pretokenizer import PreTokenizer

_ENTRY: Final = 120  # bytes of a word in a dict, without its text
_ROWS: Final = 1 << 16


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
    """Counts in the extension."""

    def __init__(self, pre_tokenizer: PreTokenizer | None) -> None:
        self._pre_tokenizer = pre_tokenizer
        self.counts: Any = native().word_counts(pre_tokenizer and pre_tokenizer.backend)
        if pre_tokenizer is not None and (shaper := pre_tokenizer.shaper) is not None:
            self.counts.cut(shaper.keys, int(shaper.mixed == "split"))

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.counts.memory()

    @property
    def size(self) -> int:
        """How many words there are."""
        return self.counts.size()

    def add_texts(self, texts: Sequence[str]) -> None:
        """Count the words of texts."""
        assert self._pre_tokenizer is not None
        self.counts.add_texts(self._pre_tokenizer.all_segments(texts))

    def add_items(self, items: Iterable[Item]) -> None:
        """Add words with counts."""
        every = (item for item in items if item[1])
        while rows := list(islice(every, _ROWS)):
            words, counts = zip(*rows, strict=True)
            self._add(*packed(words), np.array(counts, "<i8"))

    def _add(self, pool: Any, ends: Any, counts: Any) -> None:
        try:
            self.counts.add_table(pool, ends, counts)
        except TokenizerError as error:
            raise TokenizerError(f"word counts: {error}; a sum is above {MOST_COUNT}") from error

    def items(self) -> Iterator[Item]:
        """Return words with counts, ascending."""
        pool, ends, counts = self.counts.arrays()
        numbers: list[int] = np.frombuffer(counts, "<i8").tolist()
        yield from zip(unpacked(pool, ends), numbers, strict=True)

    def clear(self) -> None:
        """Forget all."""
        self.counts.clear()


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
