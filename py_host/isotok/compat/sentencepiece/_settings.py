"""What sentencepiece keeps for the whole process: the source of seeds, threads, settings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random
from time import monotonic
from typing import Final

from isotok.compat.sentencepiece._arguments import thread_count, whole

_SEEDS: Final = Random(os.urandom(16))


def next_seed() -> int:
    """Draw the seed of the next sample."""
    return _SEEDS.getrandbits(64)


def SetRandomGeneratorSeed(seed: int) -> None:
    """Start the source of random numbers anew: the same calls draw the same samples again.

    They do in every process, which those of sentencepiece do not.
    """
    number = whole("seed", seed) if not hasattr(seed, "bit_length") else int(seed)
    if not 0 <= number < 1 << 32:
        raise TypeError(f"seed must be a whole number from 0 to 2**32 - 1, not {seed!r}")
    _SEEDS.seed(number)


def SetMinLogLevel(v: int) -> None:
    """Accept a log level; nothing is logged."""
    whole("v", v)


class _Clock:
    """Time limit of n-best search."""

    milliseconds = 0


def SetNBestTimeout(timeout_ms: int) -> None:
    """Let n-best searches that take longer give the best segmentation alone; 0: none do.

    A search has a limit of work in any case. It is not interrupted: the limit decides about
    the result only.
    """
    _Clock.milliseconds = whole("timeout_ms", timeout_ms)


def is_too_late(begin: float) -> bool:
    """Whether a search that began at this time (`time.monotonic`) took too long."""
    return 0 < _Clock.milliseconds < (monotonic() - begin) * 1000


def SetDataDir(data_dir: str) -> None:
    """Accept the folder of normalization rules; the named rules are made from Unicode data."""
    if not isinstance(data_dir, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"data_dir must be a str, not {data_dir!r}")


set_random_generator_seed = SetRandomGeneratorSeed
set_min_log_level = SetMinLogLevel
set_nbest_timeout = SetNBestTimeout
set_data_dir = SetDataDir


class ThreadPool:
    """A number of threads for batches; they run only while a batch is encoded."""

    def __init__(self, num_threads: int, /) -> None:
        self._num_threads = thread_count(whole("num_threads", num_threads))

    def num_threads(self) -> int:
        """Return the number of threads."""
        return self._num_threads


BYTES_PER_THREAD: Final = 1 << 16
"""Starting a thread for less text costs more than it gains."""


def threads_for(texts: Sequence[bytes], num_threads: object, thread_pool: object) -> int:
    """Number of threads for a batch: what was asked for, if the batch is worth it."""
    wanted = whole("num_threads", num_threads)
    if thread_pool is not None:
        if not isinstance(thread_pool, ThreadPool):
            raise RuntimeError(f"thread_pool must be a ThreadPool, not {thread_pool!r}")
        wanted = thread_pool.num_threads()
    return max(1, min(thread_count(wanted), sum(map(len, texts)) // BYTES_PER_THREAD))


def random_source() -> Random:
    """Make a source of random numbers for one call, seeded by the source of all."""
    return Random(next_seed())
