"""SentencePiece's precompiled_charsmap as tokenizers reads it.

A charsmap holds a trie in which equal endings are shared: 190 KB of units have 225,000 keys, which
are walked here and never kept. What is kept is, for each first character, the different
replacements, a few bytes each.

COMPLEXITY  O(units + keys); what has more of either than a charsmap can need is refused.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from isotok.errors import TokenizerError

_MOST_KEYS: Final = 1 << 20
_MOST_STEPS: Final = 1 << 21
"""Nodes that are walked over: shared endings can make more of them than there are atoms."""
_MOST_LETTERS: Final = 1 << 16
"""Different first characters; NFKC has 6,000."""
_LONGEST: Final = 1 << 10
"""Bytes of a key or replacement."""


class Charsmap:
    """Keys and replacements of a charsmap.

    Parameters
    ----------
    data : bytes
        `precompiled_charsmap`, not in base64.

    Raises
    ------
    TokenizerError
        It is malformed, has keys or replacements that are not UTF-8, or more than a charsmap
        can need.
    """

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little")
        if len(data) < 8 or size % 4 or not size or size > len(data) - 4:
            raise _malformed()
        self._units = array("I", data[4 : 4 + size])
        if sys.byteorder == "big":
            self._units.byteswap()
        self._pool = data[4 + size :]
        self._letters, self._ends, self._places = array("I"), array("I"), array("I")
        try:
            self._pool.decode()
            self._find_places()
        except (IndexError, ValueError) as error:
            raise _malformed() from error

    def letters(self) -> Iterator[str]:
        """Yield the first characters of keys, each once."""
        return map(chr, self._letters)

    def images_of(self, letter: str) -> Iterator[str]:
        """Yield the different replacements of keys that begin with a character."""
        at = bisect_left(self._letters, ord(letter))
        if at < len(self._letters) and self._letters[at] == ord(letter):
            begin = self._ends[at - 1] if at else 0
            yield from map(self._text, self._places[begin : self._ends[at]])

    def images(self) -> Iterator[str]:
        """Yield the different replacements."""
        return map(self._text, set(self._places))

    def rules(self) -> Iterator[tuple[str, str]]:
        """Yield all keys, in order, and their replacements."""
        return ((key.decode(), self._text(place)) for key, place in _walk(self._units))

    def shortest(self, text: str) -> str | None:
        """Return the replacement of the shortest key that a text begins with."""
        units = self._units
        node = _offset(units[0])
        for byte in text.encode("utf-8", "surrogatepass"):
            node ^= byte
            if not byte or node >= len(units) or units[node] & 0x800000FF != byte:
                return None
            unit = units[node]
            node ^= _offset(unit)
            if unit & 0x100:
                return self._text(units[node] & 0x7FFFFFFF)
        return None

    def _text(self, place: int) -> str:
        return self._pool[place : self._pool.index(b"\0", place, place + _LONGEST)].decode()

    def _find_places(self) -> None:
        """Note the replacements of each first character; keys come in order."""
        of_letter: set[int] = set()
        first = ""
        for key, place in _walk(self._units):
            text = key.decode()
            if text[0] != first:
                self._finish(of_letter)
                first = text[0]
                self._letters.append(ord(first))
            of_letter.add(place)
        self._finish(of_letter)
        for place in set(self._places):
            self._text(place)

    def _finish(self, of_letter: set[int]) -> None:
        if not self._letters:
            return
        if len(self._letters) > _MOST_LETTERS:
            raise ValueError(len(self._letters))
        self._places.extend(sorted(of_letter))
        self._ends.append(len(self._places))
        of_letter.clear()


def _malformed() -> TokenizerError:
    return TokenizerError(
        "normalizer Precompiled: a charsmap that is malformed, not UTF-8, or has more rules than "
        f"can be read ({_MOST_KEYS:,} for {_MOST_LETTERS:,} characters, of {_LONGEST:,} bytes)"
    )


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _children(units: array[int]) -> tuple[array[int], array[int]]:
    """Return where the children of each base end in a list of all, and the list, by labels."""
    size = (len(units) + 255) & ~255
    ends = array("I", bytes(4 * (size + 1)))
    for at, unit in enumerate(units):
        label = unit & 0x800000FF
        if 0 < label < 256:
            ends[(at ^ label) + 1] += 1
    for base in range(size):
        ends[base + 1] += ends[base]
    places = array("I", bytes(4 * ends[size]))
    for start in range(0, size, 256):
        here = [(u & 0xFF, at) for at, u in enumerate(units[start : start + 256], start)
                if 0 < u & 0x800000FF < 256]  # fmt: skip
        for label, at in sorted(here):
            places[ends[at ^ label]] = at
            ends[at ^ label] += 1
    return ends, places


def _walk(units: array[int]) -> Iterator[tuple[bytes, int]]:
    """Yield all keys in order, and the places of their replacements."""
    ends, places = _children(units)
    labels = [bytes([label]) for label in range(256)]
    keys = steps = 0
    todo = [(b"", 0)]  # the key up to a node, and the node
    while todo:
        key, node = todo.pop()
        unit = units[node]
        base = node ^ (unit >> 10) << ((unit & 0x200) >> 6)
        if unit & 0x100 and key:
            keys += 1
            yield key, units[base] & 0x7FFFFFFF
        first = ends[base - 1] if 0 < base < len(ends) else 0
        if base < len(ends) and ends[base] > first:
            below = reversed(places[first : ends[base]])
            todo.extend((key + labels[units[at] & 0xFF], at) for at in below)
            steps += ends[base] - first
            if len(key) >= _LONGEST or keys > _MOST_KEYS or steps > _MOST_STEPS:
                raise ValueError(len(key))
