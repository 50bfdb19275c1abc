"""Counts in memory: in the extension where it is installed, else in a dict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from isotok.errors import TokenizerError
from isotok.train._options import MOST_COUNT

if TYPE_CHECKING:
    from isotok.train._counts_file import Item
    from isotok.train._pretokenizer import PreTokenizer

_ENTRY: Final = 120  # bytes of a word in a dict, without its text


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

    def __init__(self, pre_tokenizer: PreTokenizer) -> None:
        self._pre_tokenizer = pre_tokenizer
        self._counts: dict[bytes, int] = {}
        self.memory = 0

    @property
    def size(self) -> int:
        """How many words there are."""
        return len(self._counts)

    def add_texts(self, texts: Sequence[str]) -> None:
        """Count the words of texts."""
        words_of = self._pre_tokenizer.words_of
        self.add_items((word, 1) for text in texts for word in words_of(text))

    def add_items(self, items: Iterable[Item]) -> None:
        """Add words with counts."""
        counts = self._counts
        for word, count in items:
            before = counts.get(word)
            if before is None:
                self.memory += len(word) + _ENTRY
            elif before + count > MOST_COUNT:
                raise TokenizerError(f"word {word[:60]!r}: its count is above {MOST_COUNT}")
            counts[word] = (before or 0) + count

    def items(self) -> Iterable[Item]:
        """Return words with counts, ascending."""
        return sorted(self._counts.items())

    def clear(self) -> None:
        """Forget all."""
        self._counts.clear()
        self.memory = 0


def new_table(pre_tokenizer: PreTokenizer) -> Table:
    """Return an empty table."""
    return DictTable(pre_tokenizer)
