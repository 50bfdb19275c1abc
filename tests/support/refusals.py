"""Model files that sentencepiece 0.2.3 refuses, and near misses that it loads."""

from __future__ import annotations

import struct

from support.models import (
    BPE,
    BYTE,
    BYTES,
    CHAR,
    CONTROL,
    NORMAL,
    SPECIALS,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    WORD,
    Piece,
    charsmap,
    field,
    model,
    piece,
)

A: Piece = ("a", -1.0, NORMAL)
INF, NAN = float("inf"), float("nan")
BYTE_FALLBACK = {"byte_fallback": True}
RULES = charsmap({"x": "y", "ab": "c"})


def with_units(change: dict[int, int]) -> bytes:
    """RULES with some units of its trie replaced."""
    changed = bytearray(RULES)
    for index, unit in change.items():
        struct.pack_into("<I", changed, 4 + 4 * index, unit)
    return bytes(changed)


def leaf_unit() -> int:
    """Index of a unit of RULES that holds a value."""
    units = struct.unpack_from(f"<{struct.unpack_from('<I', RULES)[0] // 4}I", RULES, 4)
    return next(index for index, unit in enumerate(units) if unit >> 31)


def normalized_by(data: bytes) -> bytes:
    return model([*SPECIALS, A], None, {"precompiled_charsmap": data})


VALID = model([*SPECIALS, A])

# name -> (bytes, does sentencepiece load it?). The tests check the second against the oracle.
FILES: dict[str, tuple[bytes, bool]] = {
    "empty file": (b"", False),
    "one byte": (b"\n", False),
    "cut inside a length": (VALID[:1], False),
    "cut inside a piece": (VALID[:9], False),
    "cut by one byte": (VALID[:-1], False),
    "field number 0": (VALID + b"\x00\x00", False),
    "wire type 6": (VALID + b"\x0e\x00", False),
    "group without an end": (VALID + b"\x5b", False),
    "group end alone": (VALID + b"\x5c", False),
    "group": (VALID + b"\x5b\x08\x01\x5c", True),
    "varint of 11 bytes": (VALID + b"\x50" + b"\x80" * 10 + b"\x01", False),
    "unknown fields": (VALID + field(200, "x") + field(10, 7) + field(11, 1.0), True),
    "length beyond the file": (VALID + b"\x0a\xff\xff\xff\xff\x0f", False),
    "piece field cut inside": (VALID + b"\x0a\x03\x0a\x05a", False),
    "piece with an unknown field": (
        model([*SPECIALS]) + field(1, piece("a", -1.0) + field(9, "note")),
        True,
    ),
    "trainer_spec twice": (
        model([*SPECIALS, *BYTES], BYTE_FALLBACK) + field(2, field(3, CHAR)),
        True,
    ),
    "empty piece": (model([*SPECIALS, A, ("", -1, NORMAL)]), False),
    "NUL in a piece": (model([*SPECIALS, ("a\0b", -1, NORMAL)]), False),
    "NUL piece": (model([*SPECIALS, A, ("\0", -1, NORMAL)]), False),
    "NUL piece, unused": (model([*SPECIALS, A, ("\0", -1, UNUSED)]), True),
    "NUL piece, byte fallback": (
        model([*SPECIALS, *BYTES, A, ("\0", -1, NORMAL), ("\0", -2, NORMAL)], BYTE_FALLBACK),
        True,
    ),
    "piece of 7,999 bytes": (model([*SPECIALS, ("a" * 7999, -1, NORMAL)]), True),
    "piece of 8,000 bytes": (model([*SPECIALS, ("a" * 8000, -1, NORMAL)]), False),
    "piece of 8,000 bytes, control": (model([*SPECIALS, A, ("a" * 8000, -1, CONTROL)]), False),
    "piece twice": (model([*SPECIALS, A, A]), False),
    "piece twice, unused": (model([*SPECIALS, A, ("a", -1, UNUSED)]), False),
    "control twice": (model([*SPECIALS, A, ("<s>", -1, CONTROL)]), False),
    "control and normal": (model([*SPECIALS, ("<s>", -1, NORMAL)]), True),
    "control and normal, bpe": (
        model([*SPECIALS, ("<s>", -1, NORMAL)], {"model_type": BPE}),
        False,
    ),
    "control and normal, word": (
        model([*SPECIALS, ("<s>", -1, NORMAL)], {"model_type": WORD}),
        True,
    ),
    "unknown twice": (model([*SPECIALS, A, ("<u2>", 0, UNKNOWN)]), False),
    "no unknown": (model([*SPECIALS[1:], A]), False),
    "no unknown, byte fallback": (model([*SPECIALS[1:], *BYTES, A], BYTE_FALLBACK), True),
    "byte piece, no byte fallback": (model([*SPECIALS, A, ("<0x41>", 0, BYTE)]), False),
    "byte piece in lower case": (
        model([*SPECIALS, *BYTES, A, ("<0xab>", 0, BYTE)], BYTE_FALLBACK),
        False,
    ),
    "byte piece misspelled": (
        model([*SPECIALS, *BYTES, A, ("<0x-1>", 0, BYTE)], BYTE_FALLBACK),
        False,
    ),
    "255 byte pieces": (model([*SPECIALS, *BYTES[1:], A], BYTE_FALLBACK), False),
    "byte pieces of type normal": (
        model([*SPECIALS, A, *((text, score, NORMAL) for text, score, _ in BYTES)], BYTE_FALLBACK),
        False,
    ),
    "score NaN": (model([*SPECIALS, ("a", NAN, NORMAL)]), False),
    "score infinite": (model([*SPECIALS, ("a", INF, NORMAL)]), False),
    "score infinite, control": (model([*SPECIALS, A, ("<c>", -INF, CONTROL)]), False),
    "score infinite, bpe": (model([*SPECIALS, ("a", INF, NORMAL)], {"model_type": BPE}), True),
    "score infinite, char": (model([*SPECIALS, ("a", INF, NORMAL)], {"model_type": CHAR}), True),
    "nothing to match": (model(SPECIALS), False),
    "nothing to match, bpe": (model(SPECIALS, {"model_type": BPE}), True),
    "nothing to match, byte fallback": (model([*SPECIALS, *BYTES], BYTE_FALLBACK), False),
    "only unused": (model([*SPECIALS, ("a", -1, UNUSED)]), True),
    "only user-defined": (model([*SPECIALS, ("a", -1, USER_DEFINED)]), True),
    "piece type 0": (model([*SPECIALS]) + field(1, field(1, "a") + field(3, 0)), True),
    "piece type 7": (model([*SPECIALS]) + field(1, field(1, "a") + field(3, 7)), True),
    "model_type 0": (model([*SPECIALS, A], {"model_type": 0}), True),
    "model_type 99": (model([*SPECIALS, A], {"model_type": 99}), True),
    "charsmap of one byte": (normalized_by(b"\0"), False),
    "charsmap shorter than it says": (normalized_by(RULES[:600]), False),
    "charsmap without a pool": (
        normalized_by(RULES[: 4 + struct.unpack_from("<I", RULES)[0]]),
        False,
    ),
    "charsmap of 1,000 bytes": (normalized_by(struct.pack("<I", 1000) + RULES[4:]), False),
    "charsmap without a last NUL": (normalized_by(RULES[:-1]), False),
    "charsmap root is a value": (normalized_by(with_units({0: 0x80000000})), False),
    "charsmap root leads out": (normalized_by(with_units({0: 0x3FF << 10})), False),
    "charsmap root leads to itself": (normalized_by(with_units({0: 0})), False),
    "charsmap link leads out": (normalized_by(with_units({200: 0x1FF << 10})), False),
    "charsmap value beyond the pool": (
        normalized_by(with_units({leaf_unit(): 0x80000000 | 99})),
        False,
    ),
    "charsmap leaf that is no value": (normalized_by(with_units({leaf_unit(): 5})), False),
    "charsmap value inside a text": (normalized_by(with_units({leaf_unit(): 0x80000001})), True),
    "denormalizer broken": (
        model([*SPECIALS, A], None, None, {"precompiled_charsmap": b"x"}),
        False,
    ),
    "denormalizer empty": (model([*SPECIALS, A], None, None, {"precompiled_charsmap": b""}), True),
}
