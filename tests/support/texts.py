"""Texts for the tests: corner cases, and seeded random ones made of a model's own pieces."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

CORNERS: list[bytes] = [
    text.encode()
    for text in (
        "",
        " ",
        "   ",
        "a",
        " a",
        "a ",
        "  a  b  ",
        "ab abc abab",
        "the a the",
        "\u2581",
        "a\u2581b\u2581\u2581c",
        "\t\n\r\n",
        "a\tb\nc\r\n\r\n",
        "\u3000a\u3000",
        "\u00a0a\u00a0\ufeffb",
        "a\u0007b\u00adc",
        "\u0007\u00ad",
        "\u0000a\u0000",
        "ＡＢＣａｂｃ①②",
        "ﬁﬃ½\u00a8㌔",
        "\ufdfa\ufdfa",
        "a\ufdfa b",
        "か\u3099き\u3099ｶﾞｶ",
        "A\u030a\u212b",
        "…‥ …",
        "\ufffd",
        "日本語 日本",
        "ééé é",
        "😀a😀😀 👩‍👩‍👧‍👦",
        "<s></s><unk><0x41><pad>",
        "<x>a<x><x>",
        "hello hhell",
        "zzz zzz?!",
        "\U0010ffff\U00010000\ud7ff\ue000",
    )
] + [
    b"\xff",
    b"a\xffb",
    b"\xe3\x81",
    b"\xe3\x81a\x82",
    b"\xf0\x9f\x98",
    b"\xf0\x9f\x98a",
    b"\xc0\x80\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80\xf8\x88\x80\x80\x80",
    b"\x80\x80 \x80",
    b"\xe3\x81\x82\xe3\x81\x82a",
    b"\xef\xbf\xbd\xef\xbf",
]


def from_pieces(
    pieces: Sequence[bytes], generator: random.Random, longest: int = 12
) -> Iterator[bytes]:
    """Yield texts made of pieces (▁ as a space or kept), characters and stray bytes."""
    spare = [" ", "  ", "\u2581", "é", "日", "😀", "\n", "ａ", "a", "b", "\ufdfa", "ﬁ", "\u0007"]
    while True:
        parts: list[bytes] = []
        for _ in range(generator.randrange(1, longest + 1)):
            kind = generator.random()
            if kind < 0.6:
                piece = generator.choice(pieces)
                swap = generator.random() < 0.7
                parts.append(piece.replace("\u2581".encode(), b" ") if swap else piece)
            elif kind < 0.95:
                parts.append(generator.choice(spare).encode())
            else:
                parts.append(bytes([generator.randrange(256)]))
        yield b"".join(parts)
