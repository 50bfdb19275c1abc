"""Texts on which offsets go wrong, and offsets in UTF-16 units by a way of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from support import data, texts

OWN = ["trained_unigram", "trained_bpe", "uni_rules", "uni_expand", "char_bytes", "word_plain"]
REAL = ["sp_test_model", "sp_test_ja_model", "nai-t5", "xlmr", "llama2", "gemma3"]

# By class; of every class some stand beside characters of two UTF-16 units.
TEXTS = {
    "emoji": "a😀b 😀😀\nx🦙.cpp 🏳️ 1️⃣ ❤︎❤️ ☎",
    "ZWJ sequences": "👩‍👩‍👧‍👦 and 🏳️‍🌈, 👩🏽‍💻! 🧑🏿‍❤️‍💋‍🧑🏻 🏴‍☠️ 🇯🇵🇫🇷",
    "ZWJ sequences, broken": "\u200d👩\u200d \u200d\u200d👧a\u200db \u200c🏽 🏽\ufe0f\u20e3",
    "tag sequences": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f england",
    "combining marks": "e\u0301 A\u030a o\u0302\u0323 \u0915\u094d\u0937 n\u0303n\u0303 क्षि กำ",
    "combining marks beside emoji": "😀\u0301e\u0301😀 𝐞\u0301 \u0301\u0323😀 👩\u20dd",
    "Zalgo": "H" + "\u0301\u0316\u0334" * 9 + "i",
    "NFKC expansions": "½ ™ ﬁﬃ ㌔ ﷺ … Ⅷ ＡＢＣ ｶﾞｶ ㎡ \u1112\u1161\u11ab",
    "NFKC expansions beside emoji": "😀ﷺ😀㌔😀 ﬁ😀½😀",
    "NFKC expansions of two units": "🄐🄑 🅪a 🈀b𝅘𝅥𝅮c 🉀 \U0001d15e\U0001d160 𝟘𝒜 \U0002f800",
    "right to left": "שָׁלוֹם עולם! مرحبا بالعالم \u200fabc\u200e 123 ܫܠܡܐ ހައި",
    "right to left of two units": "𐤔𐤋𐤌 𞤀𞤣𞤤𞤢𞤥 😀שלום😀 𞸀𞸁",
    "right to left, NFKC expansions": "ﷲ ﷺ ﻻ ﬡ ﭏ שּׁ לּ 😀ﷲ😀",
    "both directions": "Hello (שלום) 😀 مرحبا, world \u2067a😀\u2069 \u202eb\u202c",
    "beyond the BMP": "𝒜𝓑 𠮷野家 \U0010ffff\U00010000\ud7ff\ue000 𓀀𓀁",
    "spaces": "  a \t\u3000 b\u00a0\u2003c  \n\n ",
    "spaces beside emoji": " 😀  😀\u3000😀\n😀 ",
    "byte order mark": "\ufeffhello\ufeff wörld",
    "nothing": "",
    "only spaces": "   ",
    "hello": "hello world",
}


def labelled_texts() -> Iterator[tuple[str, str]]:
    """The texts above and the corner cases that are well-formed, by name."""
    yield from TEXTS.items()
    for number, corner in enumerate(texts.CORNERS):
        try:
            yield f"corner {number}", corner.decode()
        except UnicodeDecodeError:
            continue


def model_paths() -> dict[str, Path]:
    """Models to ask: those of the repository, and the real ones that are here."""
    paths = {name: data.VECTOR_MODELS / f"{name}.model" for name in OWN}
    real = {name: data.models_dir() / f"{name}.model" for name in REAL}
    return paths | {name: path for name, path in real.items() if path.exists()}


def utf16(text: str, position: int) -> int:
    """UTF-16 units of the first `position` code points, counted by Python's encoder."""
    return len(text[:position].encode("utf-16-le", "surrogatepass")) // 2
