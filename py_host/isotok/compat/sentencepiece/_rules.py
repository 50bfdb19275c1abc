"""SentencePiece's named normalization rules, made from Unicode's data.

Python brings the data of one version of Unicode; what Unicode 17 has beyond the oldest of
them (14) is below, so the rules are the same on every Python. Made when they are asked for,
which takes some seconds, and kept.

The rules map texts to texts, and the longest one that fits is applied. A composed character
needs one for every way to write it: for each decomposition all sequences of characters that
decompose to it, as far as shorter rules do not do the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Final

from isotok.compat.sentencepiece._charsmap import compile_rules

NAMES: Final = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")

Rules = dict[str, str]


def _run(first: int, texts: str) -> Rules:
    """Characters in a row, each of which stands for one other."""
    return {chr(first + number): text for number, text in enumerate(texts)}


# Characters younger than Unicode 14 that are variants of others, …
VARIANTS: Final = {
    "\ua7f1": "S",
    **_run(0x1CCD6, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    **_run(0x1E030, "абвгдежзиклмопрстуфхцчшыэюꚉәіјөүӏ"),
    **_run(0x1E051, "абвгдежзиклопсуфхцчшъыґіѕџҫꙑұ"),
}
# … those that are compositions of others, decomposed as far as possible, …
COMPOSITIONS: Final = {
    "\U000105c9": "\U000105d2\u0307",
    "\U000105e4": "\U000105da\u0307",
    "\U00011383": "\U00011382\U000113c9",
    "\U00011385": "\U00011384\U000113bb",
    "\U0001138e": "\U0001138b\U000113c2",
    "\U00011391": "\U00011390\U000113c9",
    "\U000113c5": "\U000113c2\U000113c2",
    "\U000113c7": "\U000113c2\U000113b8",
    "\U000113c8": "\U000113c2\U000113c9",
    "\U00016121": "\U0001611e\U0001611e",
    "\U00016122": "\U0001611e\U00016129",
    "\U00016123": "\U0001611e\U0001611f",
    "\U00016124": "\U00016129\U0001611f",
    "\U00016125": "\U0001611e\U00016120",
    "\U00016126": "\U0001611e\U0001611e\U0001611f",
    "\U00016127": "\U0001611e\U00016129\U0001611f",
    "\U00016128": "\U0001611e\U0001611e\U00016120",
    "\U00016d68": "\U00016d67\U00016d67",
    "\U00016d69": "\U00016d63\U00016d67",
    "\U00016d6a": "\U00016d63\U00016d67\U00016d67",
}
# … and capital letters, by their small ones.
SMALL_LETTERS: Final = {
    "\u1c89": "\u1c8a",
    "\ua7cb": "\u0264",
    "\ua7cc": "\ua7cd",
    "\ua7ce": "\ua7cf",
    "\ua7d2": "\ua7d3",
    "\ua7d4": "\ua7d5",
    "\ua7da": "\ua7db",
    "\ua7dc": "\u019b",
    **{chr(code): chr(code + 0x20) for code in range(0x10D50, 0x10D66)},
    **{chr(code): chr(code + 0x1B) for code in range(0x16EA0, 0x16EB9)},
}

# What "nmt_" adds: these become spaces, …
SPACES: Final = "\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"
# … these nothing, …
DELETED: Final = "".join(
    chr(code) for code in (*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)
)
# … and this stays: in Japanese it is not the narrow one.
WIDE_TILDE: Final = "\uff5e"


@cache
def charsmap_of(name: str) -> bytes:
    """Charsmap of the rules with this name."""
    rules = dict(_nfkc())
    if name.startswith("nmt_"):
        rules |= dict.fromkeys(SPACES, " ") | dict.fromkeys(DELETED, "")
        del rules[WIDE_TILDE]
    if name.endswith("_cf"):
        rules = _folded(rules)
    return compile_rules({key.encode(): value.encode() for key, value in rules.items()})


@cache
def _nfkc() -> Rules:
    """Return the rules of normalization form KC."""
    singles: Rules = {}
    same: dict[str, list[str]] = {}  # a character: those that decompose to it alone
    decomposed: set[str] = set()
    for character, composed, parts in _decompositions():
        if composed != character:
            singles[character] = composed
        if len(parts) > 1:
            decomposed.add(parts)
        elif parts != character:
            same.setdefault(parts, []).append(character)
    rules = dict(singles)
    for parts in decomposed:
        composed = _composed(parts)
        if composed != parts:
            for ways in product(*([part, *same.get(part, ())] for part in parts)):
                if (key := "".join(ways)) != composed:
                    rules[key] = composed
    return _without_implied(rules)


def _decompositions() -> Iterator[tuple[str, str, str]]:
    """Each character that is not its own decomposition: it, its forms KC and KD."""
    normalize = unicodedata.normalize
    for code in (*range(0xA0, 0xD800), *range(0xE000, 0x110000)):
        character = chr(code)
        if character in VARIANTS:
            yield character, VARIANTS[character], normalize("NFKD", VARIANTS[character])
        elif character in COMPOSITIONS:
            yield character, character, COMPOSITIONS[character]
        elif 0xAC00 <= code < 0xD7A4 or unicodedata.decomposition(character):
            yield character, normalize("NFKC", character), normalize("NFKD", character)


def _composed(parts: str) -> str:
    """Form KC of a decomposition."""
    for character, decomposition in COMPOSITIONS.items():
        if parts == decomposition:
            return character
    return unicodedata.normalize("NFKC", parts)


def _without_implied(rules: Rules) -> Rules:
    """Leave out what shorter rules do already."""
    kept = {key: value for key, value in rules.items() if len(key) == 1}
    for size in range(2, max(map(len, rules)) + 1):
        longer = {
            key: value
            for key, value in rules.items()
            if len(key) == size and value != _applied(kept, key, size - 1)
        }
        kept |= longer
    return kept


def _applied(rules: Rules, text: str, longest: int) -> str:
    out: list[str] = []
    at = 0
    while at < len(text):
        for size in range(min(longest, len(text) - at), 0, -1):
            found = rules.get(text[at : at + size])
            if found is not None:
                out.append(found)
                break
        else:
            out.append(text[at])
            size = 1
        at += size
    return "".join(out)


def _folded(rules: Rules) -> Rules:
    """Make the same rules with small letters, and rules for the other capital letters."""
    folded = {key: "".join(map(_small, value)) for key, value in rules.items()}
    for code in (*range(1, 0xD800), *range(0xE000, 0x110000)):
        character = chr(code)
        if character not in folded and (small := _small(character)) != character:
            folded[character] = small
    return folded


def _small(character: str) -> str:
    """Fold the case of a character to one character (Unicode's simple case folding)."""
    if character in SMALL_LETTERS:
        return SMALL_LETTERS[character]
    folded = character.casefold()
    if len(folded) == 1:
        return folded
    lower = character.lower()
    return lower if len(lower) == 1 else character
