"""Read a `.spm.fb` as SentencePiece Lite does: with the flatbuffers package, through its tries."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from flatbuffers import number_types
from flatbuffers.table import Table

VALUE = 1 << 31
FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces", "suffix")


def slot(field: int) -> int:
    """Place of a field in a vtable."""
    return 4 + 2 * field


def scalar(table: Table, field: int, flags: type, default: float) -> float:
    at = table.Offset(slot(field))
    return table.Get(flags, table.Pos + at) if at else default


def vector(table: Table, field: int, form: str) -> list[float] | None:
    """Elements of a vector of numbers; None if it is absent."""
    at = table.Offset(slot(field))
    if not at:
        return None
    count, start = table.VectorLen(at), table.Vector(at)
    return list(struct.unpack_from(f"<{count}{form}", table.Bytes, start))


def strings(table: Table, field: int) -> list[bytes]:
    at = table.Offset(slot(field))
    start = table.Vector(at)
    return [table.String(start + 4 * number) for number in range(table.VectorLen(at))]


class Trie:
    """A Darts array."""

    def __init__(self, units: bytes) -> None:
        self.units = np.frombuffer(units, np.uint32).tolist()

    def base(self, at: int) -> int:
        unit = self.units[at]
        offset = unit >> 10
        return at ^ (offset << 8 if unit & 0x200 else offset)

    def walk(self, text: bytes) -> int:
        """Slot that `text` leads to; 0 if it leads to none."""
        at = 0
        for byte in text:
            at = self.base(at) ^ byte
            if self.units[at] & (VALUE | 0xFF) != byte:
                return 0
        return at

    def value(self, text: bytes) -> int | None:
        at = self.walk(text)
        return self.units[self.base(at)] & ~VALUE if self.units[at] & 0x100 else None

    def count(self) -> int:
        """Number of values."""
        return sum(unit >> 31 for unit in self.units)

    def check(self, limit: int) -> None:
        """Whatever Lite checks before it trusts a trie; values are below `limit`."""
        units = self.units
        assert len(units) % 256 == 0
        assert units[0] & (VALUE | 0x1FF) == 0
        assert self.base(0) != 0
        for at, unit in enumerate(units):
            if unit & VALUE:
                assert unit & ~VALUE < limit
            else:
                assert self.base(at) | 0xFF < len(units)
                assert not unit & 0x100 or units[self.base(at)] & VALUE


class SpmFb:
    """The whole file."""

    def __init__(self, data: bytes) -> None:
        root = Table(bytearray(data), struct.unpack_from("<I", data)[0])
        self.root = root
        self.pieces = strings(root, 0)
        self.scores = vector(root, 1, "f")
        self.int_scores = vector(root, 2, "i")
        self.types = vector(root, 3, "b")
        self.unk_id = scalar(root, 4, number_types.Int32Flags, 0)
        at = root.Offset(slot(5))
        self.unk_surface = root.String(root.Pos + at) if at else None
        self.model_type = scalar(root, 6, number_types.Int8Flags, 1)
        self.tries = [self._trie(field) for field in (8, 9, 10)]
        self.has_direct = scalar(root, 11, number_types.BoolFlags, 0)
        self.is_direct = vector(root, 12, "B")
        ids = (scalar(root, field, number_types.Int32Flags, -1) for field in (13, 14, 15))
        self.bos_id, self.eos_id, self.pad_id = ids
        normalizer = Table(root.Bytes, root.Indirect(root.Pos + root.Offset(slot(7))))
        self.charsmap = bytes(map(int, vector(normalizer, 1, "B") or []))
        self.flags = {
            name: bool(scalar(normalizer, 2 + i, number_types.BoolFlags, i < 3))
            for i, name in enumerate(FLAGS)
        }

    def _trie(self, field: int) -> Trie | None:
        at = self.root.Offset(slot(field))
        if not at:
            return None
        start = self.root.Vector(at)
        assert start % 8 == 0
        return Trie(bytes(self.root.Bytes[start : start + self.root.VectorLen(at)]))


def characters(text: bytes) -> Iterator[bytes]:
    """Characters by lead byte."""
    at = 0
    while at < len(text):
        size = 1 if text[at] < 0xC0 else 2 if text[at] < 0xE0 else 3 if text[at] < 0xF0 else 4
        yield text[at : at + size]
        at += size
