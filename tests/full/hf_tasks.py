"""Tasks that compare models of other libraries: in processes of their own, counted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from tests.full.limits import Check

BACKENDS = ("native", "wasm")
BATCH = 1000
_CHARACTERS = 200_000

Task = Callable[[], list[Check]]

size: int | None = None
"""Of `--size`: bytes of a corpus, random texts, code points."""
models: tuple[str, ...] = ()
"""Of `--model`: only these."""
_processes = 2


def configure(asked_size: int | None, processes: int, asked_models: Sequence[str]) -> None:
    """Take the options of the command line."""
    global size, models, _processes
    size, models, _processes = asked_size, tuple(asked_models), processes


def chosen(names: Sequence[str]) -> list[str]:
    """Those of the names that were asked for."""
    return [name for name in names if not models or name in models]


def run(backend: str, tasks: list[Task]) -> Iterator[Check]:
    """Run tasks in processes whose drop-ins have this back end, and yield their lines in order."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["ISOTOK_BACKEND"] = backend
    try:
        with ProcessPoolExecutor(_processes, mp_context=get_context("spawn")) as pool:
            for done in [pool.submit(task) for task in tasks]:
                yield from done.result()
    finally:
        del os.environ["ISOTOK_BACKEND"]


class Tally:
    """Texts that were compared, and what differed first."""

    def __init__(self, what: str) -> None:
        self.what, self.texts, self.wrong, self.first = what, 0, 0, ""
        self.begin = time.monotonic()

    def add(self, texts: int, compare: Callable[..., None], *args: Any, **options: Any) -> None:
        """Compare, and keep what an assertion or the other library's panic says."""
        self.texts += texts
        try:
            compare(*args, **options)
        except AssertionError as error:
            self._fail(str(error))
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            self._fail(f"the other library panics: {error}")

    def line(self) -> Check:
        """The line to print."""
        value = f"{self.texts:,} texts, {self.wrong} batches differ"
        value += f" in {time.monotonic() - self.begin:.0f} s"
        return self.what, value + (f": {self.first}" if self.first else ""), "0", self.wrong == 0

    def _fail(self, message: str) -> None:
        self.wrong += 1
        self.first = self.first or ascii(message)[:300]


def batches(texts: list[str]) -> Iterator[list[str]]:
    """Batches of at most so many texts and characters."""
    batch: list[str] = []
    total = 0
    for text in texts:
        batch.append(text)
        total += len(text)
        if len(batch) == BATCH or total > _CHARACTERS:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
