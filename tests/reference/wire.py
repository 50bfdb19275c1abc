"""Read protobuf's wire format: just enough for SentencePiece's `.model` files.

Standard library only. Unknown fields are kept and never looked at; what protobuf's own
parser refuses is refused here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator


class ModelError(ValueError):
    """The bytes are not a model that sentencepiece 0.2.3 would load."""


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ModelError("protobuf: cut short inside a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise ModelError("protobuf: number of more than 10 bytes")


def read_fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield (field number, wire type, value); groups are skipped."""
    at = 0
    groups: list[int] = []
    while at < len(data):
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag > 0xFFFFFFFF:
            raise ModelError("protobuf: bad field number")
        value: int | bytes = b""
        if wire == 0:
            value, at = read_varint(data, at)
        elif wire in (1, 2, 5):
            size = {1: 8, 5: 4}.get(wire, 0)
            if wire == 2:
                size, at = read_varint(data, at)
            if size > len(data) - at:
                raise ModelError("protobuf: cut short inside a field")
            value = data[at : at + size]
            at += size
        elif wire == 3:
            groups.append(number)
            continue
        elif wire == 4 and groups and groups[-1] == number:
            groups.pop()
            continue
        else:
            raise ModelError("protobuf: bad wire type")
        if not groups:
            yield number, wire, value
    if groups:
        raise ModelError("protobuf: group without an end")


class Message:
    """Last value of each field; submessages that occur twice are merged."""

    def __init__(self, data: bytes) -> None:
        self.numbers: dict[int, int] = {}
        self.bytes: dict[int, bytes] = {}
        self.words: dict[int, bytes] = {}
        self.repeated: dict[int, list[bytes]] = {}
        for number, wire, value in read_fields(data):
            if isinstance(value, int):
                self.numbers[number] = value
            elif wire == 5:
                self.words[number] = value
            elif wire == 2:
                self.bytes[number] = value
                self.repeated.setdefault(number, []).append(value)
        self.merged = {number: b"".join(values) for number, values in self.repeated.items()}

    def flag(self, number: int, default: bool) -> bool:
        return bool(self.numbers.get(number, default))

    def choice(self, number: int, default: int, allowed: range) -> int:
        """An enum: a value that the schema does not know is as if absent."""
        value = self.numbers.get(number, default)
        value = ctypes.c_int32(value & 0xFFFFFFFF).value
        return value if value in allowed else default
