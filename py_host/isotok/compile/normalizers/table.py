"""The table of known normalizers: programs, for hosts that cannot compile them.

One file: the size of a JSON head (uint32, little-endian), the head, and deflated (RFC 1951) the
body. The body holds arrays of uint16 in groups. An entry is the difference to the one before it;
of a group the low bytes come first, of all arrays, then the high bytes. `groups` has the sizes of
the arrays. Behind the groups are the texts that programs share, each a byte of size and itself.

A member of `programs` is found by one of its `keys` (the JSON of `known.key_of`, without spaces),
and says by number which array of each group is its own: `header` is ready for the blob, two
entries a word; `texts` are the texts of its pool, in order; `tables` are one behind the other,
where the columns, of which there are as many as the header says, become rows.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypedDict

from isotok.compile.normalizers.known import Key
from isotok.compile.normalizers.program import Normalizer

_GROUPS: Final = ("header", "texts", "top", "middles", "blocks", "columns", "cells", "points")
_TOP: Final = 0x110000 >> 12
_MIDDLE: Final = 32
_BLOCK: Final = 128
_FIXED: Final = 16
"""Words of a header before those of its operations."""


class Program(NamedTuple):
    """What a program gives the compiler, but for a charsmap."""

    header: array[int]
    tables: array[int]
    text: bytes
    escapes: bool


class _Row(TypedDict):
    name: str
    keys: list[str]
    escapes: bool
    header: int
    texts: int
    top: int
    middles: int
    blocks: int
    columns: list[int]
    cells: int


class _Head(TypedDict):
    made_by: str
    versions: dict[str, str]
    groups: dict[str, list[int]]
    texts: int
    sets: dict[str, int]
    programs: list[_Row]


def pack(
    programs: Sequence[tuple[str, Sequence[Key], Normalizer]],
    sets: Mapping[str, Sequence[int]],
    made_by: str,
    versions: dict[str, str],
) -> bytes:
    """Return the file; programs come with a name and the keys that lead to them."""
    packer = _Packer()
    rows = [packer.row(*one) for one in programs]
    head: _Head = {
        "made_by": made_by,
        "versions": versions,
        "groups": {},
        "texts": len(packer.texts),
        "sets": {name: packer.place("points", _halves(points)) for name, points in sets.items()},
        "programs": rows,
    }
    head["groups"] = {name: [len(a) // 2 for a in group] for name, group in packer.groups.items()}
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (
        len(text).to_bytes(4, "little") + text + deflate.compress(packer.body()) + deflate.flush()
    )


def contents(raw: bytes) -> tuple[bytes, bytes]:
    """Return the head and the inflated body."""
    size = 4 + int.from_bytes(raw[:4], "little")
    return raw[4:size], zlib.decompress(raw[size:], -15)


def unpack(raw: bytes) -> tuple[Mapping[str, Program], Mapping[str, array[int]]]:
    """Return all programs of a table by key, and the sets."""
    text, body = contents(raw)
    head: _Head = json.loads(text)
    groups, rest = _read_groups(head["groups"], body)
    pool = list(_read_texts(rest))
    found: dict[str, Program] = {}
    for row in head["programs"]:
        columns = [groups["columns"][number] for number in row["columns"]]
        tables = groups["top"][row["top"]] + groups["middles"][row["middles"]]
        tables += groups["blocks"][row["blocks"]]
        tables.extend(cell for line in zip(*columns, strict=True) for cell in line)
        tables += groups["cells"][row["cells"]]
        texts = b"\0\0" + b"".join(pool[number] for number in groups["texts"][row["texts"]])
        one = Program(_words(groups["header"][row["header"]]), tables, texts, row["escapes"])
        found.update(dict.fromkeys(row["keys"], one))
    return found, {n: _words(groups["points"][number]) for n, number in head["sets"].items()}


class _Packer:
    """Collects arrays, equal ones once, and texts."""

    def __init__(self) -> None:
        self.groups: dict[str, dict[bytes, int]] = {name: {} for name in _GROUPS}
        self.texts: dict[bytes, int] = {}

    def place(self, group: str, values: Iterable[int]) -> int:
        """Return the number of an array in its group."""
        planes, before = (bytearray(), bytearray()), 0
        for value in values:
            difference, before = (value - before) & 0xFFFF, value
            planes[0].append(difference & 0xFF)
            planes[1].append(difference >> 8)
        numbers = self.groups[group]
        return numbers.setdefault(bytes(planes[0] + planes[1]), len(numbers))

    def row(self, name: str, keys: Sequence[Key], program: Normalizer) -> _Row:
        """Take a program apart."""
        header, tables = program.header, program.tables
        stride, count, middles, blocks = header[2:6]
        middle = _TOP + middles * _MIDDLE
        block = middle + blocks * _BLOCK
        end = block + count * stride
        assert len(header) >= _FIXED and len(tables) == end + header[11] * header[12]
        return {
            "name": name,
            "keys": [json.dumps(k, ensure_ascii=False, separators=(",", ":")) for k in keys],
            "escapes": program.escapes,
            "header": self.place("header", _halves(header)),
            "texts": self.place("texts", self._numbers(program.text)),
            "top": self.place("top", tables[:_TOP]),
            "middles": self.place("middles", tables[_TOP:middle]),
            "blocks": self.place("blocks", tables[middle:block]),
            "columns": [
                self.place("columns", tables[block + i : end : stride]) for i in range(stride)
            ],
            "cells": self.place("cells", tables[end:]),
        }

    def _numbers(self, pool: bytes) -> list[int]:
        found: list[int] = []
        at = 2
        while at < len(pool):
            text = pool[at : at + 1 + pool[at]]
            found.append(self.texts.setdefault(text, len(self.texts)))
            at += len(text) + len(text) % 2
        return found

    def body(self) -> bytes:
        """Return what the head refers to."""
        out = bytearray()
        for group in self.groups.values():
            for begin, end in ((0, 1), (1, 2)):
                for planes in group:
                    half = len(planes) // 2
                    out += planes[begin * half : end * half]
        return bytes(out) + b"".join(self.texts)


def _halves(words: Iterable[int]) -> list[int]:
    return [half for word in words for half in (word & 0xFFFF, word >> 16)]


def _words(halves: array[int]) -> array[int]:
    return array(
        "I", (low | high << 16 for low, high in zip(halves[::2], halves[1::2], strict=True))
    )


def _read_groups(
    sizes: Mapping[str, Sequence[int]], body: bytes
) -> tuple[dict[str, list[array[int]]], bytes]:
    groups: dict[str, list[array[int]]] = {}
    at = 0
    for name, counts in sizes.items():
        arrays: list[array[int]] = []
        high = at + sum(counts)
        for count in counts:
            pairs = zip(body[at : at + count], body[high : high + count], strict=True)
            sums = accumulate(low | top << 8 for low, top in pairs)
            arrays.append(array("H", (value & 0xFFFF for value in sums)))
            at, high = at + count, high + count
        groups[name] = arrays
        at = high
    return groups, body[at:]


def _read_texts(raw: bytes) -> Iterator[bytes]:
    """Yield texts as they stand in a pool."""
    at = 0
    while at < len(raw):
        end = at + 1 + raw[at]
        yield raw[at:end] + bytes((end - at) % 2)
        at = end
