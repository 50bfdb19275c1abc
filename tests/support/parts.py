"""One text in parts, as `Tokenizer.encode_long` has it encoded, but of any size and here."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import isotok

from support.models import NORMAL, SPECIALS, UNIGRAM, Piece, model


@dataclass(frozen=True)
class Joined:
    ids: list[int]
    parts: int
    again: int
    """Bytes of internal text that were segmented again."""
    size: int
    """Bytes of internal text of a unigram model."""


def encode(tok: isotok.Tokenizer, text: bytes, size: int, order: random.Random) -> Joined:
    """Encode a text in parts of `size` bytes and more, in any order, and join them."""
    long_text: Any = tok._backend.long_text(text)  # native only
    ranges = list(pairwise([0, *long_text.cuts(size)]))
    if not ranges:
        return Joined([], 0, 0, 0)
    shuffled = order.sample(range(len(ranges)), len(ranges))
    done = {number: long_text.encode(*ranges[number]) for number in shuffled}
    for number in range(len(ranges)):
        long_text.join(done.pop(number))
    total, again = long_text.again()
    ids = memoryview(long_text.ids()).cast("B").cast("I").tolist()
    return Joined(ids, len(ranges), again, total)


def near_ties(seed: int) -> tuple[bytes, bytes]:
    """A unigram model whose pieces are worth about as much as their parts, and a text for it.

    The score of the text passes 100,000 many times.
    """
    generator = random.Random(f"near ties {seed}")
    letters = "abc-▁"
    texts = set(letters)
    wanted = generator.randrange(8, 40)
    while len(texts) < wanted:
        texts.add("".join(generator.choices(letters[:4], k=generator.randrange(2, 6))))
    worth = {each: -generator.choice([1.1, 2.3, 3.7, 9.99, 12.508309364318848]) for each in letters}
    nudges = [0, 0, 0, 1e-6, -1e-6, 1e-3, -1e-3, 3e-2, -3e-2, 0.1, 2.0]
    pieces: list[Piece] = [
        (each, sum(worth[letter] for letter in each) + generator.choice(nudges), NORMAL)
        for each in sorted(texts)
    ]
    flags: dict[str, str | bytes | float] = {
        "add_dummy_prefix": generator.random() < 0.5,
        "remove_extra_whitespaces": False,
    }
    words = ["a", "bc", "abc", "cab", "--", "---", "ab-", "aab", "bca"]
    if generator.random() < 0.5:
        text = " ".join(generator.choices(words, k=40_000))
    else:
        text = "".join(generator.choices("abc-- ", k=150_000))
    return model([*SPECIALS, *pieces], {"model_type": UNIGRAM}, flags), text.encode()
