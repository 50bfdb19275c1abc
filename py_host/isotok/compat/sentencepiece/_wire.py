"""Protobuf's wire format: reading and changing model files, writing SentencePieceText.

Only what that needs. Models are checked by the compiler; this reads what it has accepted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
GROUP: Final = 3
GROUP_END: Final = 4
FIXED32: Final = 5


class WireError(ValueError):
    """The bytes are no protobuf message."""


class Field(NamedTuple):
    """One field as it stands in a message."""

    number: int
    wire: int
    value: int | bytes
    """A number for VARINT, the bytes for everything else."""
    begin: int
    end: int
    """Where it stands, with its tag."""


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number; returns it and the position behind it."""
    value = shift = 0
    while shift < 70 and at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise WireError("number of more than 10 bytes, or cut short")


def fields(data: bytes) -> Iterator[Field]:
    """Read the fields of a message; those inside groups are left out."""
    at = 0
    groups: list[int] = []
    while at < len(data):
        begin = at
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag > 0xFFFFFFFF:
            raise WireError("field number out of range")
        value, at = _value(data, at, wire)
        if wire == GROUP:
            groups.append(number)
        elif wire == GROUP_END:
            if not groups or groups.pop() != number:
                raise WireError("end of a group that has not begun")
        elif not groups:
            yield Field(number, wire, value, begin, at)
    if groups:
        raise WireError("group without an end")


def _value(data: bytes, at: int, wire: int) -> tuple[int | bytes, int]:
    if wire == VARINT:
        return read_varint(data, at)
    if wire in (GROUP, GROUP_END):
        return b"", at
    if wire not in (FIXED64, BYTES, FIXED32):
        raise WireError("unknown wire type")
    size = {FIXED64: 8, FIXED32: 4}.get(wire, 0)
    if wire == BYTES:
        size, at = read_varint(data, at)
    if size > len(data) - at:
        raise WireError("cut short inside a field")
    return data[at : at + size], at + size


class Message:
    """Last value of each field by its number; submessages that come twice are joined."""

    def __init__(self, data: bytes) -> None:
        self.numbers: dict[int, int] = {}
        self.bytes: dict[int, bytes] = {}
        self.joined: dict[int, bytes] = {}
        for field in fields(data):
            if isinstance(field.value, int):
                self.numbers[field.number] = field.value
            elif field.wire == BYTES:
                self.bytes[field.number] = field.value
                self.joined[field.number] = self.joined.get(field.number, b"") + field.value

    def flag(self, number: int, default: bool) -> bool:
        """Return a bool."""
        return bool(self.numbers.get(number, default))


def varint(value: int) -> bytes:
    """Encode a number that is not negative."""
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """Encode an integer, bool or enum; a negative one as protobuf does, in 64 bits."""
    return varint(number << 3 | VARINT) + varint(value & 0xFFFFFFFFFFFFFFFF)


def bytes_field(number: int, value: bytes) -> bytes:
    """Encode a text, bytes or a submessage."""
    return varint(number << 3 | BYTES) + varint(len(value)) + value


def float_field(number: int, value: float) -> bytes:
    """Encode a float32."""
    return varint(number << 3 | FIXED32) + struct.pack("<f", value)


def replaced(data: bytes, changes: Mapping[int, bytes]) -> bytes:
    """Message `data` with the fields `changes` (number: the whole field) in place of its own.

    New fields come in the order of their numbers, as protobuf writes them, if `data` has
    that order.
    """
    out: list[bytes] = []
    waiting = sorted(changes)
    for field in fields(data):
        while waiting and waiting[0] <= field.number:
            out.append(changes[waiting.pop(0)])
        if field.number not in changes:
            out.append(data[field.begin : field.end])
    return b"".join([*out, *(changes[number] for number in waiting)])
