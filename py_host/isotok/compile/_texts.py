"""Texts without an object of 60 bytes for each: a vocabulary has hundreds of thousands."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from isotok.errors import TokenizerError

_SET: Final = 1 << 16
"""Texts that are objects at a time, about."""
_NONE: Final = 0xFFFFFFFF


class Texts:
    """Texts end to end, each with its place in the sequence."""

    def __init__(self, texts: Iterable[bytes] = ()) -> None:
        self._pool = bytearray()
        self._ends = array("I")
        self._hashes = array("q")
        self.extend(texts)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> bytes:
        begin = self._ends[index - 1] if index else 0
        return bytes(self._pool[begin : self._ends[index]])

    def __iter__(self) -> Iterator[bytes]:
        return map(self.__getitem__, range(len(self)))

    def extend(self, texts: Iterable[bytes]) -> None:
        """Append some, which the caller may then forget."""
        end = len(self._pool)
        for text in texts:
            self._pool += text
            end += len(text)
            self._ends.append(end)
            self._hashes.append(hash(text))

    def earlier(self) -> Iterator[int]:
        """Yield the places of texts that come again later on; empty ones do not count."""
        parts = 1 + len(self) // _SET
        for part in range(parts):
            seen: set[bytes] = set()
            places = [i for i, each in enumerate(self._hashes) if each % parts == part]
            for place in reversed(places):
                text = self[place]
                if text and text in seen:
                    yield place
                seen.add(text)

    def by_number(self, numbers: Sequence[int], size: int) -> Texts:
        """Return as many as `size`, each at its number; the others are empty."""
        if size == len(self) and all(i == number for i, number in enumerate(numbers)):
            return self
        places = array("I", [_NONE]) * size
        for place, number in enumerate(numbers):
            places[number] = place
        return Texts(b"" if place == _NONE else self[place] for place in places)

    def with_more(self, more: dict[int, bytes], size: int) -> Texts:
        """Return as many as `size`, with other texts at some numbers."""
        if min(more, default=len(self)) >= len(self):
            self.extend(more.get(number, b"") for number in range(len(self), size))
            return self
        numbers = range(size)
        return Texts(more[i] if i in more else self[i] if i < len(self) else b"" for i in numbers)

    def pool(self) -> bytes:
        """Return all of them, end to end."""
        return bytes(self._pool)

    def sizes(self) -> array[int]:
        """Return how many bytes each has.

        Raises
        ------
        TokenizerError
            A text is longer than a piece can be.
        """
        sizes: array[int] = array("H")
        before = 0
        for number, end in enumerate(self._ends):
            if end - before > 0xFFFF:
                start = self[number][:30].decode(errors="replace")
                raise TokenizerError(f"vocabulary: {start!r}… is longer than 7,999 bytes")
            sizes.append(end - before)
            before = end
        return sizes


def encoded(text: str) -> bytes:
    """Return a text in UTF-8.

    Raises
    ------
    TokenizerError
        It holds half a surrogate pair.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise TokenizerError(f"vocabulary: {text[:60]!r} holds a lone surrogate") from None
