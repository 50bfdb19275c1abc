"""Texts and ids cut into chunks at random, and what a tokenizer makes of them as they come."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TypeVar

import isotok

from support import texts

LONGEST = 3000  # bytes of a text: some models have pieces of 8,000

T = TypeVar("T", str, bytes, list[int])


def cut(whole: T, generator: random.Random, longest: int = 40) -> list[T]:
    """Chunks of 0 to `longest` elements; now and then all but a few are of one."""
    small = generator.random() < 0.3 and len(whole) < 10_000
    ends = [0]
    while ends[-1] < len(whole):
        size = 1 if small and generator.random() < 0.9 else generator.randrange(longest + 1)
        ends.append(min(ends[-1] + size, len(whole)))
    return [whole[begin:end] for begin, end in pairwise(ends)]


def split_pairs(text: str, generator: random.Random) -> str:
    """Write some characters as pairs of surrogates, as JSON does."""

    def pair(code: int) -> str:
        return chr(0xD7C0 + (code >> 10)) + chr(0xDC00 + (code & 0x3FF))

    return "".join(
        pair(ord(each)) if ord(each) > 0xFFFF and generator.random() < 0.7 else each
        for each in text
    )


def random_text(pieces: Sequence[bytes], generator: random.Random) -> str | bytes:
    """Text of a model's pieces; a str half the time, with surrogates."""
    source = texts.from_pieces(pieces, generator, generator.choice([4, 30, 300]))
    data = next(source)[:LONGEST]
    if generator.random() < 0.2:
        data = generator.choice(texts.CORNERS) + data + generator.choice(texts.CORNERS)
    if generator.random() < 0.5:
        return data
    return split_pairs(data.decode(errors="surrogateescape"), generator)


def encode(tok: isotok.Tokenizer, chunks: Sequence[str | bytes], bos: bool, eos: bool) -> list[int]:
    """Ids of a text in chunks."""
    return list(chain.from_iterable(tok.encode_stream(chunks, bos=bos, eos=eos)))


def check_encode(tok: isotok.Tokenizer, pieces: Sequence[bytes], seed: str) -> None:
    """One random text, cut at random."""
    generator = random.Random(seed)
    text = random_text(pieces, generator)
    flags = generator.random() < 0.5, generator.random() < 0.5
    bos = flags[0] and tok.bos_id is not None
    eos = flags[1] and tok.eos_id is not None
    chunks = cut(text, generator, generator.choice([3, 40, 1000]))
    assert encode(tok, chunks, bos, eos) == tok.encode(text, bos=bos, eos=eos), (seed, chunks)


def check_decode(tok: isotok.Tokenizer, seed: str) -> None:
    """Random ids, cut at random: the same text, and no part is cut inside a character."""
    generator = random.Random(seed)
    few = generator.sample(range(len(tok)), min(len(tok), generator.choice([3, 300])))
    ids = generator.choices(few, k=generator.randrange(200))
    parts = list(tok.decode_stream(cut(ids, generator, generator.choice([2, 30]))))
    assert "".join(parts) == tok.decode(ids), (seed, ids)
    assert "" not in parts


def pieces_of(tok: isotok.Tokenizer) -> list[bytes]:
    """Texts of up to some thousand pieces."""
    step = max(1, len(tok) // 3000)
    return [tok.id_to_bytes(index) for index in range(0, len(tok), step)]
