"""Blobs as the official flatbuffers package and FORMAT.md see them, for the tests.

Nothing here shares code with the core's reader or the compiler.
"""

from __future__ import annotations

import re
import struct
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support import data

SCHEMA = data.ROOT / "core/format/model.fbs"
SPACE = "\u2581".encode()
TYPES = {"uint": "<u4", "ushort": "<u2", "ubyte": "u1", "float": "<f4", "ulong": "<u8"}
STRUCTS = {"TrieNode": ("<u4", 2), "Operation": ("<u4", 4)}
ALGORITHMS = ("unigram", "bpe", "word", "char")
BITS = {
    **{name: bit for bit, name in enumerate(ALGORITHMS)},
    "charsmap": 4,
    "user_defined": 5,
    "byte_fallback": 6,
    "denormalizer": 7,
    "compact_space": 8,
    "whole_text": 9,
    "wide": 10,
    "unused_merges": 11,
}


def schema_fields() -> dict[str, tuple[str, int, bool]]:
    """Name -> (type, id, is a vector) of table Model, from the text of the schema."""
    pattern = r"^\s+(\w+): (\[?)(\w+)\]?[^;]*\(id: (\d+)\);"
    found = re.findall(pattern, SCHEMA.read_text(), re.MULTILINE)
    return {name: (kind, int(number), bracket == "[") for name, bracket, kind, number in found}


FIELDS = schema_fields()


class Blob:
    """One file: header, and the table by the flatbuffers package."""

    def __init__(self, raw: bytes, model_class: Any) -> None:
        self.raw = raw
        self.header = struct.unpack_from("<4sIQQQI", raw)
        self.features = {name for name, bit in BITS.items() if self.header[4] >> bit & 1}
        self.model = model_class.GetRootAs(raw[64:], 0)
        self.table = self.model._tab

    def scalar(self, name: str) -> Any:
        camel = "".join(part.capitalize() for part in name.split("_"))
        return getattr(self.model, camel)()

    @cache  # noqa: B019 - a blob lives as long as its test
    def vector(self, name: str) -> NDArray[Any] | None:
        """A vector as a numpy array (structs as rows), None if it is absent."""
        kind, number, _ = FIELDS[name]
        at = self.table.Offset(4 + 2 * number)
        if at == 0:
            return None
        dtype, columns = STRUCTS.get(kind) or (TYPES[kind], 1)
        count = self.table.VectorLen(at) * columns
        found = np.frombuffer(self.raw, dtype, count, self.position(name))
        return found.reshape(-1, columns) if columns > 1 else found

    def position(self, name: str) -> int:
        """Byte of the file at which a vector's elements begin."""
        return 64 + int(self.table.Vector(self.table.Offset(4 + 2 * FIELDS[name][1])))

    def need(self, name: str) -> NDArray[Any]:
        found = self.vector(name)
        assert found is not None, name
        return found

    @cached_property
    def pieces(self) -> list[bytes]:
        text, ends = self.need("piece_text").tobytes(), self.need("piece_ends").tolist()
        return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]

    def internal(self, text: bytes) -> bytes:
        return text.replace(SPACE, b" ") if "compact_space" in self.features else text

    def walk(self, trie: NDArray[Any], text: bytes) -> int | None:
        slot = 0
        for byte in text:
            slot = int(trie[slot, 0]) >> 8 ^ byte
            if int(trie[slot, 0]) & 0xFF != byte:
                return None
        return slot


def xxh64(text: bytes) -> int:
    """XXH64, seed 0, after its specification; slow."""
    primes = (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
    p1, p2, p3, p4, p5 = primes
    mask = 0xFFFFFFFFFFFFFFFF

    def rotate(x: int, bits: int) -> int:
        x &= mask
        return (x << bits | x >> (64 - bits)) & mask

    def mix(lane: int, word: int) -> int:
        return rotate(lane + word * p2, 31) * p1 & mask

    at = 0
    hashed = p5
    if len(text) >= 32:
        lanes = [p1 + p2, p2, 0, -p1]
        for at in range(0, len(text) - 31, 32):
            words = struct.unpack_from("<4Q", text, at)
            lanes = [mix(lane, word) for lane, word in zip(lanes, words, strict=True)]
        at += 32
        hashed = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            hashed = ((hashed ^ mix(0, lane)) * p1 + p4) & mask
    hashed = (hashed + len(text)) & mask
    for at in range(at, len(text) - 7, 8):  # noqa: B020 - goes on from where the stripes ended
        hashed = rotate(hashed ^ mix(0, struct.unpack_from("<Q", text, at)[0]), 27) * p1 + p4
    rest = len(text) % 8
    tail = text[len(text) - rest :]
    if rest >= 4:
        hashed = rotate(hashed ^ struct.unpack_from("<I", tail)[0] * p1 & mask, 23) * p2 + p3
        tail = tail[4:]
    for byte in tail:
        hashed = rotate(hashed ^ byte * p5 & mask, 11) * p1
    hashed &= mask
    hashed = (hashed ^ hashed >> 33) * p2 & mask
    hashed = (hashed ^ hashed >> 29) * p3 & mask
    return hashed ^ hashed >> 32
