"""Texts for windows of pre-tokenizers: mostly ASCII, where windows tell, and what stops them."""

from __future__ import annotations

import random

_WORDS = [
    "a", "the", "Hello", "I", "don't", "WE'LL", "it's", "x's", "O'Neil", "rock'n'roll", "can’t",
    "“quoted”", "l’été", "naïve", "ABCd", "camelCase", "HTTPServer", "snake_case", "abc123",
]  # fmt: skip
_RUNS = [
    " ", "  ", "    ", "        ", "\n", "\n\n", "\r\n", " \n", "\n  ", "\t", "\t\t", "0", "7",
    "12", "123", "1234567890", ".", ",", "...", "();", "->", "!=", "'", "''", "\"", "/", "//",
    "a" * 20, " " * 40, "1" * 20, "Z" * 17, "-" * 33, "\x00", "\x7f", "*", "_",
]  # fmt: skip
_WIDE = [
    "é", "É", "ß", "e\u0301", "\u0301", "中", "中文字", "日本語", "、", "。", "가", "अ", "ำ", "א",
    "😀", "👩🏽", "\u00a0", "\u3000", "\u2028", "\u2003", "٣", "²", "½", "’", "‘", "—",
    "ſ", "K", "ﬁ", "\ufeff", "\u200d", "\U0010ffff",
]  # fmt: skip
_BROKEN = [
    b"\x80",
    b"\xbf\xbf",
    b"\xc3",
    b"\xe4\xb8",
    b"\xf0\x9f",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
]
_EVEN = "azAZ09  \n\n\t\t.,//"  # of each group of characters, in any order
_LETTERS = "abcxyzABCXYZ0189 \n\t.,'!-(\"_"
_KINDS = (
    [_WORDS, [" "]], [_WORDS, _RUNS, [" "]], [_RUNS], [_LETTERS], [_LETTERS, _WIDE], [_EVEN],
    [_EVEN], [_WORDS, _RUNS, _LETTERS, _WIDE],
)  # fmt: skip


def text(rng: random.Random) -> str:
    """Return up to about 150 characters; sorts of items are drawn for each text."""
    kinds = rng.choice(_KINDS)
    return "".join(rng.choice(rng.choice(kinds)) for _ in range(rng.randint(1, 50)))


def broken(rng: random.Random) -> bytes:
    """Return bytes that are no UTF-8 in some places."""
    parts = [text(rng).encode()[: rng.randint(1, 30)] for _ in range(3)]
    return b"".join(part + rng.choice(_BROKEN) for part in parts)
