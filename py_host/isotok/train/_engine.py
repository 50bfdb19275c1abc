"""What adds tokens, one merge after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from isotok.train._counts_file import Item
from isotok.train._options import Learned, Options, Progress
from isotok.train._python import PythonEngine


class Engine(Protocol):
    """A training run that can go on."""

    @property
    def learned(self) -> Learned:
        """What it has learned so far."""
        ...

    def replay(self, learned: Learned) -> None:
        """Begin where another run of the same options ended."""
        ...

    def run(self, target: int, progress: Progress | None = None) -> None:
        """Add tokens until there are `target`, or none is left to add."""
        ...

    def step(self) -> bool:
        """Add one token, whatever the cutoff is; False if there is none."""
        ...

    def run_with_fallback(
        self, target: int, ratio: float, progress: Progress | None = None
    ) -> None:
        """Train characters, then bytes of those without a token, then go on with the rest."""
        ...


def new_engine(options: Options, words: Iterable[Item]) -> Engine:
    """Return a run over words with counts."""
    return PythonEngine(options, words)
