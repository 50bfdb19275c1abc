"""Progress for people and programs."""

from __future__ import annotations

import json
import sys
import time
from typing import Final, Literal, TextIO

from isotok.errors import TokenizerError
from isotok.train._options import Progress

ProgressKind = Progress | Literal["bar", "json"] | None
_PAUSE: Final = 0.1


class ProgressBar:
    """Writes a line that is written over, at most ten times a second.

    Parameters
    ----------
    file : text file, optional
        Standard error if not given.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stderr
        self._stage = ""
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Show a state."""
        now = time.monotonic()
        ended = total is not None and done >= total
        if stage == self._stage and now - self._last < _PAUSE and not ended:
            return
        if self._stage and stage != self._stage:
            self._file.write("\n")
        self._stage, self._last = stage, now
        self._file.write(f"\r{stage} {done:,}" + (f" of {total:,}" if total is not None else ""))
        if ended:
            self._file.write("\n")
            self._stage = ""
        self._file.flush()


class JsonLines:
    """Writes a line of JSON for each call: stage, done, total (or null), seconds.

    Parameters
    ----------
    file : text file, optional
        Standard error if not given.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stderr
        self._begin = time.monotonic()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Write a state."""
        seconds = round(time.monotonic() - self._begin, 3)
        line = {"stage": stage, "done": done, "total": total, "seconds": seconds}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def progress_of(kind: ProgressKind) -> Progress | None:
    """Return what is called with (stage, done, total)."""
    if kind is None or callable(kind):
        return kind
    if kind == "bar":
        return ProgressBar()
    if kind == "json":
        return JsonLines()
    raise TokenizerError(f'progress: {kind!r} is neither callable nor "bar" or "json"')
