"""What the normalizers of tokenizers do to each code point.

The data file is made by tools/normalizer_unicode.py from the engine itself.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Final, TypedDict

from isotok.compile.pretok.code_points import CodePoints

HANGUL: Final = range(0xAC00, 0xAC00 + 11172)
_LEADS: Final = range(0x1100, 0x1100 + 19)
_VOWELS: Final = range(0x1161, 0x1161 + 21)
_TAILS: Final = range(0x11A8, 0x11A8 + 27)


class _Data(TypedDict):
    made_by: str
    versions: dict[str, str]
    maps: dict[str, str]
    compositions: str
    classes: dict[str, str]
    sets: dict[str, str]


@cache
def _data() -> _Data:
    text = files("isotok").joinpath("data/unicode_maps.json").read_text("utf-8")
    data: _Data = json.loads(text)
    return data


def versions() -> dict[str, str]:
    """Return the versions of the engine that the data is of."""
    return _data()["versions"]


def _points(spelled: str) -> CodePoints:
    return CodePoints(tuple(accumulate(int(step, 16) for step in spelled.split())))


@cache
def character_set(name: str) -> CodePoints:
    """Return a set by its name in the data file."""
    return _points(_data()["sets"][name])


@cache
def character_map(name: str) -> dict[str, str]:
    """Return the images of the characters that a map changes, Hangul syllables apart."""
    pairs = (item.split(":") for item in _data()["maps"][name].split())
    images = {
        chr(int(point, 16)): "".join(chr(int(i, 16)) for i in image.split(".") if i)
        for point, image in pairs
    }
    return character_map("nfd") | images if name == "nfkd" else images


@cache
def compositions() -> dict[tuple[str, str], str]:
    """Return what pairs of characters compose to, Hangul apart."""
    triples = (item.split(".") for item in _data()["compositions"].split())
    return {(chr(int(a, 16)), chr(int(b, 16))): chr(int(c, 16)) for a, b, c in triples}


@cache
def combining_classes() -> dict[int, CodePoints]:
    """Return the members of each combining class but 0."""
    return {int(number): _points(text) for number, text in _data()["classes"].items()}


@cache
def combining_class(char: str) -> int:
    """Return the combining class of a character."""
    point = ord(char)
    return next((n for n, points in combining_classes().items() if point in points), 0)


def compose(first: str, second: str) -> str | None:
    """Return what two characters compose to."""
    a, b = ord(first), ord(second)
    if a in _LEADS and b in _VOWELS:
        return chr(HANGUL.start + ((a - _LEADS.start) * 21 + b - _VOWELS.start) * 28)
    if a in HANGUL and b in _TAILS and (a - HANGUL.start) % 28 == 0:
        return chr(a + b - _TAILS.start + 1)
    return compositions().get((first, second))


@cache
def seconds() -> frozenset[str]:
    """Return the characters that compose with one in front of them."""
    hangul = (*map(chr, _VOWELS), *map(chr, _TAILS))
    return frozenset(b for _, b in compositions()) | frozenset(hangul)


def decompose(char: str, images: dict[str, str]) -> str:
    """Return the full decomposition of a character."""
    index = ord(char) - HANGUL.start
    if 0 <= index < len(HANGUL):
        tail = chr(_TAILS.start - 1 + index % 28) if index % 28 else ""
        return chr(_LEADS.start + index // 588) + chr(_VOWELS.start + index % 588 // 28) + tail
    return images.get(char, char)
