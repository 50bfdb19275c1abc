"""Byte-level vocabularies: letters that stand for bytes."""

from __future__ import annotations

import re
from typing import Final


def _letters() -> dict[int, int]:
    """Byte of each letter: printable ones stand for themselves, others are numbered on."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: byte for byte in plain} | {256 + i: byte for i, byte in enumerate(others)}


BYTE_OF: Final = _letters()
"""Byte by code point of its letter."""
_ALL: Final = re.compile(f"[{re.escape(''.join(map(chr, BYTE_OF)))}]+")


def is_spelled(text: str) -> bool:
    """Whether the text consists of such letters; only then can a text give it."""
    return _ALL.fullmatch(text) is not None


def bytes_of(text: str) -> bytes:
    """What decoding gives: the bytes, or the text itself if one letter stands for none."""
    if is_spelled(text):
        return text.translate(BYTE_OF).encode("latin-1")
    return text.encode()
