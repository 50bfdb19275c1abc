"""Tasks that compare models of other libraries: in processes of their own, counted, resumable."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from tests.full.limits import Check

T = TypeVar("T")

BACKENDS = ("native", "wasm")
BATCH = 1000
_CHARACTERS = 200_000

Task = Callable[[], list[Check]]

size: int | None = None
"""Of `--size`: bytes of a corpus, random texts, code points."""
models: tuple[str, ...] = ()
"""Of `--model`: only these."""
_processes = 2
_done: Path | None = None


def configure(
    asked_size: int | None, processes: int, asked_models: Sequence[str], done: Path | None
) -> None:
    """Take the options of the command line."""
    global size, models, _processes, _done
    size, models, _processes, _done = asked_size, tuple(asked_models), processes, done


def chosen(names: Sequence[str]) -> list[str]:
    """Those of the names that were asked for."""
    return [name for name in names if not models or name in models]


def run(line: str, tasks: Mapping[str, Task], backend: str | None = None) -> Iterator[Check]:
    """Run tasks in processes whose drop-ins have this back end, and yield their lines.

    Their names begin with the model; those of a model share a process. With `--resume FILE`
    each task that holds is a line of the file, and is not run again.
    """
    known = _known()
    keys = {f"{line} {name} {size or 'whole'}": task for name, task in tasks.items()}
    for key in keys:
        yield from known.get(key, ())
    groups: dict[str, dict[str, Task]] = {}
    for name, (key, task) in zip(tasks, keys.items(), strict=True):
        if key not in known:
            groups.setdefault(name.split()[0], {})[key] = task
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if backend is not None:
        os.environ["ISOTOK_BACKEND"] = backend
    try:
        yield from _run_groups(list(groups.values()))
    finally:
        os.environ.pop("ISOTOK_BACKEND", None)


def _run_groups(groups: list[dict[str, Task]]) -> Iterator[Check]:
    """Run the tasks of a group one after the other in one process, which opens a model once."""
    waiting, done = SimpleQueue[dict[str, Task]](), SimpleQueue[tuple[str, list[Check]] | None]()
    for group in groups:
        waiting.put(group)

    def work() -> None:
        with (
            suppress(Empty),
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        ):
            while True:
                for key, task in waiting.get_nowait().items():
                    done.put((key, pool.submit(task).result()))

    with ThreadPoolExecutor(_processes) as threads:
        workers = [threads.submit(work) for _ in range(_processes)]
        for worker in workers:
            worker.add_done_callback(lambda _: done.put(None))
        for _ in workers:
            while (found := done.get()) is not None:
                _keep(*found)
                yield from found[1]
        for worker in workers:
            worker.result()


def _known() -> dict[str, list[Check]]:
    """Tasks that held before, by name."""
    if _done is None or not _done.exists():
        return {}
    rows = map(json.loads, _done.read_text().splitlines())
    return {row["task"]: [tuple(check) for check in row["checks"]] for row in rows}


def _keep(key: str, checks: list[Check]) -> None:
    if _done is not None and all(holds for *_, holds in checks):
        with _done.open("a") as file:
            file.write(json.dumps({"task": key, "checks": checks}) + "\n")


class Tally:
    """Texts that were compared, and what differed first."""

    def __init__(self, what: str) -> None:
        self.what, self.texts, self.wrong, self.first = what, 0, 0, ""
        self.begin = time.monotonic()

    def add(self, texts: int, compare: Callable[..., T], *args: Any, **options: Any) -> T | None:
        """Compare, and keep what an assertion or the other library's panic says."""
        self.texts += texts
        try:
            return compare(*args, **options)
        except AssertionError as error:
            self._fail(str(error))
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            self._fail(f"the other library panics: {error}")
        return None

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
