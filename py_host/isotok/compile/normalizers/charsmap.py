"""SentencePiece's precompiled_charsmap as tokenizers reads it."""

from __future__ import annotations

import sys
from array import array
from typing import Final

from isotok.errors import TokenizerError

_MOST_KEYS: Final = 1 << 20


class Charsmap:
    """Keys and replacements of a charsmap.

    Parameters
    ----------
    data : bytes
        `precompiled_charsmap`, not in base64.

    Raises
    ------
    TokenizerError
        It is malformed, or has keys or replacements that are not UTF-8.
    """

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little")
        if len(data) < 8 or size % 4 or not size or size > len(data) - 4:
            raise TokenizerError("normalizer Precompiled: a charsmap that is malformed")
        units = array("I", data[4 : 4 + size])
        if sys.byteorder == "big":
            units.byteswap()
        pool = data[4 + size :]
        try:
            pool.decode()
            self.keys: dict[str, str] = {
                key.decode(): pool[at : pool.index(b"\0", at)].decode()
                for key, at in _entries(units)
            }
        except (IndexError, ValueError) as error:
            raise TokenizerError(
                "normalizer Precompiled: a charsmap that is malformed or not UTF-8"
            ) from error
        self.by_first: dict[str, list[str]] = {}
        """Keys by their first character."""
        for key in self.keys:
            self.by_first.setdefault(key[0], []).append(key)

    def shortest(self, text: str) -> str | None:
        """Return the replacement of the shortest key that a text begins with."""
        for size in range(1, len(text) + 1):
            found = self.keys.get(text[:size])
            if found is not None:
                return found
        return None


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _entries(units: array[int]) -> list[tuple[bytes, int]]:
    children: dict[int, list[tuple[int, int]]] = {}
    for at, unit in enumerate(units):
        label = unit & 0x800000FF
        if 0 < label < 256:
            children.setdefault(at ^ label, []).append((label, at))
    found: list[tuple[bytes, int]] = []
    todo = [(b"", _offset(units[0]))]
    while todo:
        prefix, base = todo.pop()
        if len(prefix) > 255 or len(found) > _MOST_KEYS or len(todo) > _MOST_KEYS:
            raise ValueError(len(prefix))
        for byte, at in children.get(base, ()):
            key = prefix + bytes([byte])
            child = at ^ _offset(units[at])
            if units[at] & 0x100:
                found.append((key, units[child] & 0x7FFFFFFF))
            todo.append((key, child))
    return found
