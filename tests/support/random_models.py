"""Random small models for property tests: dense with what real models have rarely."""

from __future__ import annotations

import random
from dataclasses import dataclass

from support.models import (
    BPE,
    BYTES,
    CHAR,
    NORMAL,
    SPECIALS,
    UNIGRAM,
    UNUSED,
    USER_DEFINED,
    WORD,
    Piece,
    charsmap,
    model,
)

ALPHABETS = ("ab", "abc▁", "a▁é日", "a😀\u0301か\u3099", "ab <>\n")
SCORES = (-1.0, -1.0, -2.0, -2.5, -3.25, -7.125, -0.0, 0.0, 1.5, -50000.5, -130000.25)


@dataclass(frozen=True)
class RandomModel:
    source: bytes
    letters: str  # what texts for it are made of


def word(generator: random.Random, letters: str, longest: int) -> str:
    return "".join(generator.choices(letters, k=generator.randrange(1, longest + 1)))


def pieces_of(generator: random.Random, letters: str, algorithm: int) -> list[Piece]:
    texts = {letter for letter in letters if generator.random() < 0.8}
    texts |= {word(generator, letters, 6) for _ in range(generator.randrange(1, 25))}
    texts |= {"▁" + text for text in list(texts)[:6]}
    kinds = [NORMAL] * 12 + [USER_DEFINED, UNUSED, UNUSED]
    # Scores beyond 1e5 are for sums; in BPE they are only an order.
    scores = SCORES if generator.random() < 0.4 else SCORES[:6]
    return [
        (text, generator.choice(scores), generator.choice(kinds))
        for text in sorted(texts)
        if not (algorithm == BPE and text in ("<s>", "</s>", "<unk>"))
    ]


def rules_of(generator: random.Random, letters: str) -> dict[str | bytes, str | bytes]:
    return {
        word(generator, letters, 3): word(generator, letters + " ", 4) * generator.randrange(3)
        for _ in range(generator.randrange(1, 6))
    }


def random_model(seed: int) -> RandomModel:
    """Make the model of this seed."""
    generator = random.Random(f"model {seed}")
    letters = generator.choice(ALPHABETS)
    algorithm = generator.choice([UNIGRAM, UNIGRAM, BPE, BPE, BPE, WORD, CHAR])
    pieces = pieces_of(generator, letters, algorithm)
    if algorithm == UNIGRAM and not pieces:
        pieces = [("a", -1.0, NORMAL)]
    fallback = generator.random() < 0.4
    trainer: dict[str, str | bytes | float] = {
        "model_type": algorithm,
        "byte_fallback": fallback,
        "treat_whitespace_as_suffix": generator.random() < 0.15,
    }
    if generator.random() < 0.2:
        trainer["unk_surface"] = generator.choice(["", "▁", "??"])
    flags: dict[str, str | bytes | float] = {
        "add_dummy_prefix": generator.random() < 0.7,
        "remove_extra_whitespaces": generator.random() < 0.6,
        "escape_whitespaces": generator.random() < 0.85,
    }
    if generator.random() < 0.5:
        flags["precompiled_charsmap"] = charsmap(rules_of(generator, letters))
    denormalizer = None
    if generator.random() < 0.2:
        denormalizer = {**flags, "precompiled_charsmap": charsmap(rules_of(generator, letters))}
    all_pieces = [*SPECIALS, *(BYTES if fallback else []), *pieces]
    return RandomModel(model(all_pieces, trainer, flags, denormalizer), letters + " ")


def random_text(generator: random.Random, letters: str, longest: int = 40) -> bytes:
    """Text of the model's letters, now and then with others and stray bytes."""
    text = word(generator, letters, longest).encode()
    if generator.random() < 0.2:
        at = generator.randrange(len(text) + 1)
        stray = generator.choice([b"\xff", b"\xe3\x81", b"\0", "\ufffd".encode(), "Ａ".encode()])
        text = text[:at] + stray + text[at:]
    return text
