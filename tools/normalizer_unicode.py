#!/usr/bin/env python3
"""Writes py_host/isotok/data/unicode_maps.json: what the normalizers of tokenizers do to each
code point, found by asking them about every one.

The engine carries tables of several Unicode versions (9.0 for the four normal forms, the
compiler's for Lowercase, …); no table of the host is used, but to find one character of each
combining class. Needs the version in VERSIONS:

    pip install tokenizers==0.23.3
    python tools/normalizer_unicode.py [--check]
"""

from __future__ import annotations

import struct
import sys
import unicodedata
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import unicode_tables
from tokenizers import normalizers

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "py_host"))

from isotok.compile.pretok.code_points import CodePoints  # noqa: E402

OUTPUT = ROOT / "py_host/isotok/data/unicode_maps.json"
VERSIONS = {"tokenizers": "0.23.3"}
POINTS = [*range(0xD800), *range(0xE000, 0x110000)]
HANGUL = range(0xAC00, 0xAC00 + 11172)

Ask = Callable[[str], str]


def asker(normalizer: normalizers.Normalizer) -> Ask:
    return normalizer.normalize_str


NFC, NFD, NFKC, NFKD = map(
    asker, (normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD())
)


def changed(ask: Ask) -> dict[str, str]:
    """Characters that do not stay what they are, apart from Hangul syllables."""
    return {
        char: image
        for char in map(chr, POINTS)
        if ord(char) not in HANGUL and (image := ask(char)) != char
    }


def removed(ask: Ask, context: str = "a") -> list[str]:
    """Characters of which nothing is left behind another one."""
    return [char for char in map(chr, POINTS) if ask(context + char) == context]


def bert(**options: bool) -> Ask:
    chosen = {
        "clean_text": False,
        "handle_chinese_chars": False,
        "strip_accents": False,
        "lowercase": False,
    }
    return asker(normalizers.BertNormalizer(**(chosen | options)))


def compositions(nfd: dict[str, str]) -> list[list[str]]:
    """Triples: first, second, what they compose to."""
    triples = []
    for char, parts in nfd.items():
        if len(parts) > 1 and NFC(parts) == char:
            first, second = NFC(parts[:-1]), parts[-1]
            assert len(first) == 1, hex(ord(char))
            assert NFC(first + second) == char, hex(ord(char))
            triples.append([first, second, char])
    return triples


def combining_classes() -> dict[int, str]:
    """Members of each class but 0: pairs of marks that NFD turns round are compared."""
    known: dict[int, str] = {1: "\u0338", 240: "\u0345"}
    for char in map(chr, POINTS):
        number = unicodedata.combining(char)
        if number and NFD(char) == char and number not in known and is_mark(char):
            known[number] = char
    order = sorted(known)

    def swapped(first: str, second: str) -> bool:
        return NFD(first + second) == second + first != first + second

    # the engine agrees that the classes of these ascend
    for low, high in pairwise(order):
        assert swapped(known[high], known[low]), (low, high)
    classes: dict[int, list[str]] = {number: [] for number in order}
    for char in map(chr, POINTS):
        if ord(char) in HANGUL or NFD(char) != char or not is_mark(char):
            continue
        above = [n for n in order if swapped(known[n], char)]
        below = [n for n in order if swapped(char, known[n])]
        same = [n for n in order if n not in above and n not in below]
        assert len(same) == 1, (hex(ord(char)), same)
        classes[same[0]].append(char)
    return {number: "".join(chars) for number, chars in classes.items() if chars}


def is_mark(char: str) -> bool:
    """Whether its combining class is not 0."""
    return any(NFD(pair) == pair[::-1] != pair for pair in (char + "\u0338", "\u0345" + char))


# ---- Grapheme clusters ---------------------------------------------------------------------


def clusters() -> Ask:
    """A charsmap in which every byte is a key: a cluster of less than 6 bytes becomes one
    "!", each character of a longer one becomes one.
    """
    units = [0] * 1024
    units[0] = 256 << 10  # the children of the root: 256 ^ byte
    for byte in range(1, 256):
        at = 256 ^ byte
        # one value unit at 512 serves all: offset = at ^ 512
        units[at] = ((at ^ 512) << 10) | 0x100 | byte
    units[512] = 0x80000000
    data = struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + b"!\0"
    return asker(normalizers.Precompiled(data))


def grapheme_sets() -> dict[str, list[str]]:
    ask = clusters()
    assert ask("ab") == "!!"
    assert ask("a\u0301") == "!"

    def count(text: str) -> int:
        result = ask(text)
        assert set(result) <= {"!"}, ascii(text)
        return len(result)

    acute, consonant, virama, symbol, joiner = "\u0301", "\u0915", "\u094d", "\u00a9", "\u200d"

    def select(chars: Iterable[str], joined: Callable[[str], bool]) -> list[str]:
        return [char for char in chars if joined(char)]

    every = [chr(point) for point in POINTS if point != 0]  # NUL ends a charsmap's keys
    control = select(every, lambda c: count(c + acute) == count(c + acute * 2) == 2)
    left = select(every, lambda c: count("a" + c) == 1)
    plain = sorted(set(every) - set(control) - set(left))
    extend = select(left, lambda c: count(symbol + c + joiner + symbol + acute) == 5)
    prepend = select(plain, lambda c: count(c + "a" + acute * 2) == 4)
    letters = [c for c in plain if c not in prepend and len(c.encode()) == 3]
    trailing = select(letters, lambda c: count("\u11a8" + c + acute) == 3)
    vowels = select(letters, lambda c: count("\u1161" + c + acute) == 3)
    before_vowel = select(letters, lambda c: count(c + "\u1161" + acute) == 3)
    sets = {
        "control": ["\0", *control],
        "extend": extend,
        "spacing": sorted(set(left) - set(extend) - {joiner}),
        "linker": select(left, lambda c: count(consonant + c + consonant + acute) == 4),
        "conjunct_extend": select(
            left, lambda c: count(consonant + virama + c + consonant + acute) == 5
        ),
        "consonant": select(plain, lambda c: count(c + virama + consonant + acute) == 4),
        "prepend": prepend,
        "pictographic": select(plain, lambda c: count(symbol + joiner + c + acute) == 4),
        "trailing": trailing,
        "vowel": sorted(set(vowels) - set(trailing)),
        "leading": [c for c in before_vowel if c not in vowels and ord(c) not in HANGUL],
        "lv": [c for c in before_vowel if ord(c) in HANGUL],
    }
    return sets


def make() -> dict[str, object]:
    print("normal forms …", flush=True)
    nfd, nfkd = changed(NFD), changed(NFKD)
    sets: dict[str, Iterable[str]] = {
        "accents": removed(asker(normalizers.StripAccents())),
        "nmt_removed": removed(asker(normalizers.Nmt())),
        "bert_control": removed(bert(clean_text=True)),
        "bert_accents": removed(bert(strip_accents=True)),
    }
    spaces = {
        "nmt_space": asker(normalizers.Nmt()),
        "bert_space": bert(clean_text=True),
    }
    for name, ask in spaces.items():
        sets[name] = [c for c in map(chr, POINTS) if c != " " and ask(f"a{c}") == "a "]
    chinese = bert(handle_chinese_chars=True)
    sets["chinese"] = [c for c in map(chr, POINTS) if chinese(c) == f" {c} "]
    print("graphemes …", flush=True)
    for name, chars in grapheme_sets().items():
        sets[f"grapheme {name}"] = chars
    print("combining classes …", flush=True)
    classes = combining_classes()
    return {
        "made_by": "tools/normalizer_unicode.py",
        "versions": VERSIONS,
        "maps": {
            "lowercase": spell_map(changed(asker(normalizers.Lowercase()))),
            "nfd": spell_map(nfd),
            "nfkd": spell_map({c: image for c, image in nfkd.items() if nfd.get(c) != image}),
        },
        "compositions": " ".join(
            "".join(f"{ord(c):x}." for c in triple)[:-1] for triple in compositions(nfd)
        ),
        "classes": {str(number): spell_set(chars) for number, chars in classes.items()},
        "sets": {name: spell_set(chars) for name, chars in sets.items()},
    }


def spell_map(images: dict[str, str]) -> str:
    return " ".join(
        f"{ord(c):x}:{'.'.join(f'{ord(i):x}' for i in image)}" for c, image in images.items()
    )


def spell_set(chars: Iterable[str]) -> str:
    return unicode_tables.spell(CodePoints.of(*map(ord, chars)).toggles)


def main() -> int:
    return unicode_tables.write(__doc__, VERSIONS, OUTPUT, make)


if __name__ == "__main__":
    sys.exit(main())
