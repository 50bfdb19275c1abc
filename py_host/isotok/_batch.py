"""Batches: texts in, flat ids or lists out, in one thread or several."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from operator import index
from typing import TYPE_CHECKING, Final, TypeVar

from isotok._results import Batch, need_numpy
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from isotok._backend import Backend

Texts = tuple[str | bytes, ...]
T = TypeVar("T")

PARTS_PER_THREAD: Final = 4
"""So that a thread with long texts does not keep the others waiting."""


def encode_batch(
    backend: Backend, texts: Iterable[str | bytes], threads: int, flags: int, output: str
) -> Batch | list[list[int]]:
    """Encode texts; see `Tokenizer.encode_batch`."""
    if isinstance(texts, (str, bytes)):
        raise TypeError("texts must be a sequence of texts; for one text use encode()")
    if index(threads) < 1:
        raise TokenizerError(f"threads: {threads} is less than 1; use 1 or more")
    every = tuple(texts)
    for text in every:
        if not isinstance(text, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"text must be str or bytes, not {type(text)!r}")
    if output == "list":
        encode_lists = backend.encode_batch  # fails first if the tokenizer is closed
        parts = _each_part(every, threads, lambda part: encode_lists(part, flags, 0, True))
        return [ids for part in parts for ids in part]
    if output == "numpy":
        need_numpy()
        encode = backend.encode_batch
        return _concatenate(_each_part(every, threads, lambda part: encode(part, flags, 0, False)))
    raise TokenizerError(f'output: {output!r} is unknown; use "numpy" or "list"')


def _each_part(texts: Texts, threads: int, work: Callable[[Texts], T]) -> list[T]:
    """Results of `work` for consecutive parts of the texts."""
    if threads == 1 or len(texts) < 2 or sys.platform == "emscripten":  # has no threads
        return [work(texts)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(texts))) as pool:
        return list(pool.map(work, _parts(texts, threads * PARTS_PER_THREAD)))


def _parts(texts: Texts, count: int) -> list[Texts]:
    """Cut into at most `count` parts of about equal length in characters and texts."""
    weights = [len(text) + 16 for text in texts]
    share = sum(weights) / count
    cuts = [0]
    filled = 0.0
    for number, weight in enumerate(weights):
        filled += weight
        if filled >= share * len(cuts) and number + 1 < len(texts):
            cuts.append(number + 1)
    cuts.append(len(texts))
    return [texts[begin:end] for begin, end in pairwise(cuts) if end > begin]


def _concatenate(parts: list[tuple[Buffer, Buffer]]) -> Batch:
    import numpy as np

    ids = [np.frombuffer(memoryview(part), dtype=np.uint32) for part, _ in parts]
    ends = [np.frombuffer(memoryview(part), dtype=np.uint64) for _, part in parts]
    offsets = np.zeros(sum(map(len, ends)) + 1, dtype=np.int64)
    text, base = 1, 0
    for part_ids, part_ends in zip(ids, ends, strict=True):
        offsets[text : text + len(part_ends)] = part_ends
        offsets[text : text + len(part_ends)] += base
        text += len(part_ends)
        base += len(part_ids)
    return Batch(ids[0] if len(ids) == 1 else np.concatenate(ids), offsets)
