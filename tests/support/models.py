"""Write SentencePiece `.model` files by hand (protobuf, charsmap), for the tests.

The hand-made models put into a few hundred bytes what real models do rarely: ties,
unused pieces, long pieces, infinite sums, ill-formed pieces and so on.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE, WORD, CHAR = range(1, 5)

Piece = tuple[str | bytes, float, int]

SPECIALS: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
BYTES: list[Piece] = [(f"<0x{value:02X}>", -30.0, BYTE) for value in range(256)]

TRAINER_FIELDS = {
    "model_type": 3,
    "treat_whitespace_as_suffix": 24,
    "byte_fallback": 35,
    "unk_surface": 44,
    "unk_piece": 45,
    "bos_piece": 46,
    "eos_piece": 47,
    "pad_piece": 48,
}
NORMALIZER_FIELDS = {
    "name": 1,
    "precompiled_charsmap": 2,
    "add_dummy_prefix": 3,
    "remove_extra_whitespaces": 4,
    "escape_whitespaces": 5,
}


def as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: str | bytes | float) -> bytes:
    """One protobuf field: int and bool as varint, float as 32 bits, text with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = as_bytes(value)
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(numbers: Mapping[str, int], values: Mapping[str, str | bytes | float]) -> bytes:
    return b"".join(field(numbers[name], value) for name, value in values.items())


def piece(text: str | bytes, score: float, kind: int = NORMAL) -> bytes:
    body = field(1, text) + field(2, float(score))
    return body + (field(3, kind) if kind != NORMAL else b"")


def model(
    pieces: Iterable[Piece],
    trainer: Mapping[str, str | bytes | float] | None = None,
    normalizer: Mapping[str, str | bytes | float] | None = None,
    denormalizer: Mapping[str, str | bytes | float] | None = None,
) -> bytes:
    """Serialize a ModelProto. `trainer` and the normalizers hold fields by name."""
    out = b"".join(field(1, piece(*each)) for each in pieces)
    out += field(2, message(TRAINER_FIELDS, trainer or {}))
    out += field(3, message(NORMALIZER_FIELDS, normalizer or {}))
    if denormalizer is not None:
        out += field(5, message(NORMALIZER_FIELDS, denormalizer))
    return out


def charsmap(rules: Mapping[str | bytes, str | bytes]) -> bytes:
    """Compile `rules` (text -> replacement) to SentencePiece's precompiled_charsmap."""
    pool = bytearray()
    values: dict[bytes, int] = {}
    for key, replacement in rules.items():
        values[as_bytes(key)] = len(pool)
        pool += as_bytes(replacement) + b"\0"
    units = double_array(values)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(pool)


def double_array(values: Mapping[bytes, int]) -> list[int]:
    """Build a Darts double array: each node's children go to the first free place."""
    units: dict[int, int] = {0: 0}
    bases: set[int] = set()  # the children of a node lie at base ^ label

    def place(at: int, prefix: bytes) -> None:
        size = len(prefix)
        labels = sorted({key[size] for key in values if key.startswith(prefix) and key != prefix})
        leaf = prefix in values
        taken = [*labels, 0] if leaf else labels
        base = next(
            base
            for base in range(1, 1 << 20)
            if base not in bases
            and base != at
            and not any(base ^ label in units for label in taken)
        )
        bases.add(base)
        units[at] |= (at ^ base) << 10 | (0x100 if leaf else 0)
        units.update({base ^ label: label for label in labels})
        if leaf:
            units[base] = 0x80000000 | values[prefix]
        for label in labels:
            place(base ^ label, prefix + bytes([label]))

    place(0, b"")
    count = (max(units) | 0xFF) + 1
    # A free place has a label that no walk can ask for there.
    for at in set(range(count)) - set(units):
        units[at] = next(label for label in range(256) if at ^ label not in bases)
    return [units[at] for at in range(count)]
