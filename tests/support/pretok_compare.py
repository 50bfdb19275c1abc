"""One pre-tokenizer here and in its library, side by side."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.huggingface import read_pre_tokenizer
from isotok.compile.pretok.stages import byte_letters

from support import pretok, pretok_oracle, pretok_random

_LETTERS = [chr(point) for point in byte_letters()]


@dataclass(frozen=True)
class Difference:
    """The shortest of the texts that are cut in another way."""

    count: int
    text: str
    ours: object
    theirs: object


class Pair:
    """A pre-tokenizer that both have.

    Parameters
    ----------
    value : str or object
        A pattern of tiktoken, or a `pre_tokenizer` of a tokenizer.json.

    Raises
    ------
    PatternError
        Ours refuses it.
    """

    def __init__(self, value: Any) -> None:
        self.tiktoken = isinstance(value, str)
        if self.tiktoken:
            self.driver = pretok.of_tiktoken(value)
            self.oracle: Any = pretok_oracle.Tiktoken(value)
            self.prefix, self.byte_level = "", False
        else:
            plan = read_pre_tokenizer(value)
            self.driver = pretok.Driver(plan.stages)
            self.oracle = pretok_oracle.HuggingFace(value)
            self.byte_level = plan.byte_level
            self.prefix = plan.prefix if plan.byte_level else ""

    def ours(self, texts: Sequence[str]) -> list[Any]:
        """Cut; the form is that of `theirs`."""
        if self.prefix:
            texts = [text if text.startswith(self.prefix) else self.prefix + text for text in texts]
        raw = [text.encode() for text in texts]
        spans = self.driver.spans_of_many(raw)
        if not (self.tiktoken or self.byte_level):
            return spans
        pieces = [[one[a:b] for a, b in cuts] for one, cuts in zip(raw, spans, strict=True)]
        if self.tiktoken:
            return pieces
        return [["".join(map(_LETTERS.__getitem__, each)) for each in one] for one in pieces]

    def theirs(self, texts: Sequence[str]) -> list[Any]:
        """Cut by the library: spans of bytes, or pieces where bytes are spelled as letters or
        where it does not tell the spans.
        """
        if self.tiktoken:
            cuts = self.oracle.spans_of_many(texts)
            raw = [text.encode() for text in texts]
            return [[one[a:b] for a, b in each] for one, each in zip(raw, cuts, strict=True)]
        if self.byte_level:
            return self.oracle.pieces_of_many(texts)
        return self.oracle.spans_of_many(texts)

    def difference(self, texts: Sequence[str]) -> Difference | None:
        """Compare."""
        ours, theirs = self.ours(texts), self.theirs(texts)
        wrong = [i for i in range(len(texts)) if ours[i] != theirs[i]]
        if not wrong:
            return None
        worst = min(wrong, key=lambda i: len(texts[i]))
        return Difference(len(wrong), texts[worst], ours[worst], theirs[worst])

    def agrees_on(self, text: str) -> bool:
        """Whether a long text is cut alike."""
        if self.tiktoken:
            return self.oracle.agrees(text, self.driver.spans(text.encode()))
        return self.difference([text]) is None


def batches(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    """Yield lists of up to `size` texts."""
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass
class Comparison:
    """What became of random pre-tokenizers."""

    counts: Counter[str]
    problems: list[str]


def compare_random(make: Callable[[random.Random], Any], seed: str, count: int) -> Comparison:
    """Compare `count` random pre-tokenizers, in one call and in parts."""
    rng = random.Random(seed)
    result = Comparison(Counter(), [])
    for _ in range(count):
        value = make(rng)
        texts = [pretok_random.text(rng, pretok_random.SHORT, 12) for _ in range(100)]
        texts += [pretok_random.text_of_runs(rng) for _ in range(20)]
        if isinstance(value, str):
            texts = [text[:16] for text in texts]  # the oracle needs all their substrings
        _compare_one(value, texts, rng, result)
    return result


def _compare_one(value: Any, texts: list[str], rng: random.Random, result: Comparison) -> None:
    if not _opens_there(value, texts):
        result.counts["refused there"] += 1
        return
    try:
        pair = Pair(value)
    except PatternError:
        result.counts["refused here"] += 1
        return
    result.counts["compared"] += 1
    result.counts["with a memo"] += pair.driver.remembers
    wrong = pair.difference(texts)
    if wrong is not None:
        result.problems.append(f"{value!r}: {wrong}")
    for text in texts[::12]:
        raw = text.encode()
        parts = [rng.randint(1, 4) for _ in range(len(raw) + 1)]
        if pair.driver.ends_in_parts(raw, parts, rng.randint(4, 7)) != pair.driver.ends(raw):
            result.problems.append(f"{value!r}: {text!r} in parts {parts}")


def _opens_there(value: Any, texts: list[str]) -> bool:
    """Whether the library takes the pre-tokenizer, and survives the texts."""
    try:
        if isinstance(value, str):
            pretok_oracle.Tiktoken(value).spans_of_many(texts)
        else:
            pretok_oracle.HuggingFace(value)
    except BaseException as error:  # a panic is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return False
    return True
