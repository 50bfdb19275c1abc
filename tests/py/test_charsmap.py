"""Charsmaps of Precompiled: the rules that are in them, whatever their units are."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Sequence

import pytest
from isotok.compat.sentencepiece._charsmap import compile_rules
from isotok.compile.normalizers.charsmap import Charsmap
from isotok.errors import TokenizerError

LETTERS = "ab\u00e9\u0301\u0915\u4e2d\U0001f642"


def made(rules: dict[str, str]) -> Charsmap:
    return Charsmap(compile_rules({a.encode(): b.encode() for a, b in rules.items()}))


def written(units: Sequence[int], pool: bytes = b"x\0") -> bytes:
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + pool


def test_random_rules() -> None:
    """All keys and replacements, those of a first character, and the shortest that fits."""
    rng = random.Random(20261130)

    def text(least: int, most: int) -> str:
        return "".join(rng.choices(LETTERS, k=rng.randrange(least, most)))

    for _ in range(300):
        rules = {text(1, 4): text(0, 3) for _ in range(rng.randrange(1, 30))}
        charsmap = made(rules)
        assert dict(charsmap.rules()) == rules
        assert [*charsmap.letters()] == sorted({key[0] for key in rules})
        assert {*charsmap.images()} == {*rules.values()}
        for letter in LETTERS:
            wanted = sorted({image for key, image in rules.items() if key[0] == letter})
            assert sorted(charsmap.images_of(letter)) == wanted
            longer = letter + text(0, 4)
            keys = [longer[:n] for n in range(1, len(longer) + 1) if longer[:n] in rules]
            assert charsmap.shortest(longer) == (rules[keys[0]] if keys else None)
        for other in ("", "\0", "\ud800", "z"):
            assert charsmap.shortest(other) is None
            assert not other or [*charsmap.images_of(other)] == []


def _ladder(depth: int, *, cycle: bool) -> list[int]:
    """Nodes of which each has two children with the same children, and no key anywhere."""
    units = [0] * (256 * (depth + 1))
    for level in range(depth):
        base, following = 256 * level, 256 * (0 if cycle else level + 1)
        for label in (0x61, 0x62):
            place = base ^ label
            units[place] = (place ^ following) << 10 | label
    return units


@pytest.mark.parametrize(
    "data",
    [
        written(_ladder(200, cycle=False)),
        written(_ladder(1, cycle=True)),
        written([0x100 | 1 << 10, 5]),
        written([1 << 10] * 4 + [0xFFFFFFFF] * 8),
        written(_ladder(3, cycle=False), pool=b"\xff\0"),
        b"\4\0\0\0\0\0\0",
        written([])[:4],
        written([0])[:-4] + b"\xff\xff\xff\x7f",
    ],
    ids=["ladder", "cycle", "root", "outside", "pool", "short", "empty", "size"],
)
def test_hostile(data: bytes) -> None:
    """An error, or no rule at all, in seconds: what shares endings is not walked for ever."""
    begin = time.process_time()
    try:
        assert [*Charsmap(data).rules()] == []
    except TokenizerError as error:
        assert "charsmap" in str(error)
    assert time.process_time() - begin < 30


def test_long_replacements() -> None:
    """One text without an end for all keys is not read again for each of them."""
    assert made({"a": "x" * 1000}).shortest("a") == "x" * 1000
    with pytest.raises(TokenizerError, match="1,024 bytes"):
        made({"a": "x" * 1024})
