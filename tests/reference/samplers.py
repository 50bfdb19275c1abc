"""The samplers of isotok in plain Python: which segmentation a seed draws.

Slow, standard library only, written from the rules below and not from the C core. It uses
math.exp and math.log, whose last bit may differ from the core's: that changes a draw once in
10^14 or so.

A draw is named by (seed, place, detail, purpose) and comes from Philox4x32-10: the seed is the
key, the counter is (place, lower 32 bits; place, upper; detail; purpose). `place` and sizes
count bytes of *internal* text: normalized text in which U+2581 is one byte where the model is
`compact`.

    ffbs     a token of the lattice: place = its first byte, detail = its size, purpose 0
    gumbel   the same with purpose 1
    dropout  a merge: place = first byte, detail = left size << 16 | right size, purpose 2
    n-best   a path: place = its position among the n best, detail 0, purpose 3
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from isotok_reference import (
    MATCHABLE,
    SPACE,
    UNUSED,
    USER_DEFINED,
    Bpe,
    Reference,
    Segments,
    Token,
    Unigram,
    char_size,
    f32,
)

FFBS, GUMBEL, DROPOUT, NBEST = range(4)
MASK = 0xFFFFFFFF


def philox(key: int, counter: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Ten rounds of Philox4x32 (Salmon et al. 2011)."""
    a, b, c, d = counter
    k0, k1 = key & MASK, key >> 32
    for _ in range(10):
        x, y = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = y >> 32 ^ b ^ k0, y & MASK, x >> 32 ^ d ^ k1, x & MASK
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return a, b, c, d


def draw(seed: int, place: int, detail: int, purpose: int) -> float:
    """One of (k + 1/2) / 2^52: k is the upper 52 bits of the first two words."""
    low, high, _, _ = philox(seed, (place & MASK, place >> 32, detail, purpose))
    return ((high << 32 | low) // 4096 + 0.5) / 2.0**52


class Mass:
    """Probability mass as sum * exp(top), and the last thing that was drawn from it."""

    def __init__(self) -> None:
        self.top = self.sum = 0.0

    def offer(self, x: float, u: Callable[[], float]) -> bool:
        """Add exp(x); whether it is drawn, of all that was offered so far."""
        if self.sum == 0.0:
            self.top, self.sum = x, 1.0
            return True
        share = 1.0
        if x > self.top:
            self.sum = self.sum * math.exp(self.top - x) + 1.0
            self.top = x
        else:
            share = math.exp(x - self.top)
            self.sum += share
        return u() * self.sum < share

    def log(self) -> float:
        return self.top + math.log(self.sum)


class Edge(NamedTuple):
    """A token that may be used in the lattice."""

    begin: int
    end: int  # of a character: a piece that ends inside one takes all of it
    size: int  # bytes of the piece
    weight: float
    id: int


def edges_at(unigram: Unigram, reference: Reference, text: bytes, begin: int) -> Iterator[Edge]:
    """Tokens that may begin at a place, the shortest first, the unknown character last.

    In the lattice a user-defined piece of L characters weighs 0.1 * (L - 1).
    """
    single = False
    for stop, index in unigram.trie.matches(text, begin):
        end, characters = begin, 0
        while end < stop:
            end += char_size(text, end)
            characters += 1
        user = reference.vocabulary.pieces[index].kind == USER_DEFINED
        weight = f32(0.1 * (characters - 1)) if user else unigram.weights[index]
        single |= characters == 1
        yield Edge(begin, end, stop - begin, weight, index)
    if not single:
        size = char_size(text, begin)
        yield Edge(begin, begin + size, size, unigram.unk_score, unigram.unk)


def lattice(reference: Reference, text: bytes) -> Iterator[Edge]:
    """All tokens that may be used in normalized text, by their beginning."""
    unigram = reference.segmenter
    assert isinstance(unigram, Unigram)
    at = 0
    while at < len(text):
        yield from edges_at(unigram, reference, text, at)
        at += char_size(text, at)


class Sampler:
    """Draws segmentations of normalized text with one seed."""

    def __init__(self, reference: Reference, compact: bool, seed: int) -> None:
        self.reference = reference
        self.compact = compact
        self.seed = seed

    def size(self, text: bytes) -> int:
        """Bytes of internal text."""
        return len(text) - (len(SPACE) - 1) * text.count(SPACE) * self.compact

    def unigram(self, text: bytes, alpha: float, *, gumbel: bool) -> Segments:
        """Forward filtering, backward sampling; or the best path through Gumbel noise."""
        masses = [Mass() for _ in range(len(text) + 1)]
        kept: dict[int, Edge] = {}
        masses[0].sum = 1.0
        for edge in lattice(self.reference, text):
            place = self.size(text[: edge.begin])
            size = self.size(text[edge.begin : edge.begin + edge.size])
            base, mass = masses[edge.begin].log(), masses[edge.end]
            if gumbel:
                noise = -math.log(-math.log(draw(self.seed, place, size, GUMBEL)))
                x = base + edge.weight + alpha * noise
                taken = mass.sum == 0.0 or x > mass.top
                if taken:
                    mass.top, mass.sum = x, 1.0
            else:
                name = (self.seed, place, size, FFBS)
                taken = mass.offer(base + alpha * edge.weight, lambda name=name: draw(*name))
            if taken:
                kept[edge.end] = edge
        result: Segments = []
        at = len(text)
        while at > 0:
            result.append((text[kept[at].begin : at], kept[at].id))
            at = kept[at].begin
        return result[::-1]

    def bpe(self, text: bytes, dropout: float) -> Segments:
        """Merge as ever, but for the pairs that are dropped."""
        bpe = self.reference.segmenter
        assert isinstance(bpe, Bpe)
        visible, pieces = bpe.vocabulary.visible, bpe.vocabulary.pieces
        symbols = bpe.split(text)
        parts: dict[bytes, tuple[bytes, bytes]] = {}  # of UNUSED pieces

        def record(i: int) -> None:
            if 0 <= i < len(symbols) - 1:
                (left, frozen), (right, frozen_too) = symbols[i : i + 2]
                index = visible.get(left + right, -1)
                if not frozen and not frozen_too and index >= 0 and pieces[index].kind == UNUSED:
                    parts[left + right] = (left, right)

        for i in range(len(symbols) - 1):
            record(i)
        while True:
            pairs: list[tuple[int, int]] = []
            place = 0
            for i in range(len(symbols) - 1):
                (left, frozen), (right, frozen_too) = symbols[i : i + 2]
                index = visible.get(left + right, -1)
                possible = not frozen and not frozen_too and index >= 0
                if possible and pieces[index].kind in MATCHABLE:
                    detail = self.size(left) << 16 | self.size(right)
                    if draw(self.seed, place, detail, DROPOUT) >= dropout:
                        pairs.append((-pieces[index].rank, i))
                place += self.size(left)
            if not pairs:
                break
            i = min(pairs)[1]
            symbols[i : i + 2] = [(symbols[i][0] + symbols[i + 1][0], False)]
            record(i - 1)
            record(i)
        return [part for symbol, _ in symbols for part in bpe.resplit(symbol, parts)]

    def encode(self, text: bytes, method: str, alpha: float) -> list[Token]:
        """Tokens of raw text; `method` is "ffbs", "gumbel" or "dropout"."""
        other = copy.copy(self.reference)
        other.segmenter = copy.copy(other.segmenter)

        def segment(normalized: bytes) -> Segments:
            if method == "dropout":
                return self.bpe(normalized, alpha)
            return self.unigram(normalized, alpha, gumbel=method == "gumbel")

        other.segmenter.segment = segment  # type: ignore[method-assign]
        return other.encode(text)
