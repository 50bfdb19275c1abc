"""What another library says of a batch of texts, asked once, and the comparisons with it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import isotok

Options = dict[str, Any]
Offsets = list[tuple[int, int]]
Decoded = tuple[Options, list[str]]


class Answers(Protocol):
    """Ids and offsets of texts, with special tokens (`add`) or without."""

    texts: list[str]
    add: bool
    ids: list[list[int]]
    options: Options
    """Of our calls that are to answer the same."""

    @property
    def offsets(self) -> list[Offsets]: ...

    @property
    def decoded(self) -> Sequence[Decoded]: ...

    def decoded_of(self, numbers: Sequence[int]) -> Iterator[Decoded]:
        """Yield options of `decode` and the texts that ids of texts with these numbers give."""
        ...


def _first(answers: Answers, found: list[list[int]]) -> str:
    """Return the first text whose ids differ."""
    each = zip(answers.texts, found, answers.ids, strict=True)
    return next(text for text, ours, theirs in each if ours != theirs)


def same_ids(tok: isotok.Tokenizer, answers: Answers) -> None:
    """Ids as a batch, and their number."""
    found = tok.encode_batch(answers.texts, output="list", **answers.options)
    assert found == answers.ids, _first(answers, found)
    sizes = [len(ids) for ids in answers.ids]
    assert tok.count_batch(answers.texts, **answers.options) == sizes


def same_offsets(tok: isotok.Tokenizer, answers: Answers) -> None:
    """Ids one by one, and offsets in code points."""
    each = zip(answers.texts, answers.ids, answers.offsets, strict=True)
    for text, ids, offsets in each:
        found = tok.encode_with_offsets(text, **answers.options)
        assert found.ids == ids, text
        assert found.offsets == offsets, text


def same_decoded(tok: isotok.Tokenizer, answers: Answers) -> None:
    """Texts of the ids."""
    for options, texts in answers.decoded:
        found = tok.decode_batch(answers.ids, **options)
        pairs = zip(answers.ids, found, texts, strict=True)
        assert found == texts, (options, next(ids for ids, a, b in pairs if a != b))


def same_stream(
    tok: isotok.Tokenizer, text: str, ids: list[int], rng: random.Random, **options: Any
) -> None:
    """Bytes that come in parts."""
    parts = cut(text.encode(), rng)
    with tok.encoder(**options) as encoder:
        found = [number for part in parts for number in encoder.push(part)]
        assert found + encoder.flush() == ids, parts


def same_limit(
    tok: isotok.Tokenizer, text: str, ids: list[int], rng: random.Random, **options: Any
) -> None:
    """`truncate` gives the first ids, `fits` knows how many there are."""
    limit = rng.randrange(len(ids) + 2)
    assert tok.truncate(text, limit, **options) == ids[:limit], (text, limit)
    assert tok.fits(text, limit, **options) is (len(ids) <= limit), (text, limit)
    assert tok.fits(text, len(ids), **options), text


def same_text(
    tok: isotok.Tokenizer, ids: list[int], text: str, rng: random.Random, **options: Any
) -> None:
    """Ids decoded at once and as they come."""
    assert tok.decode(ids, **options) == text, ids
    with tok.decoder(**options) as decoder:
        found = "".join(map(decoder.push, cut(ids, rng))) + decoder.flush()
    assert found == text, ids


def cut(whole: Any, rng: random.Random) -> list[Any]:
    """Parts of a text or of ids: cut at up to eight places, now and then at very many."""
    size = len(whole)
    count = min(size, 2000) if rng.random() < 0.1 else rng.randrange(8)
    at = sorted(rng.choices(range(size + 1), k=count))
    return [whole[a:b] for a, b in zip([0, *at], [*at, size], strict=True)]
