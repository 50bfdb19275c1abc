"""What adds tokens, one merge after the other: in the extension, or in Python without it."""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np

from isotok.train._options import Learned, Options, Tick
from isotok.train._python import PythonEngine, first_tokens
from isotok.train._table import NativeTable, Table, native, packed, unpacked

_ANY: Final = 0xFFFFFFFF
_MERGE: Final = np.dtype(
    [("left", "<u4"), ("right", "<u4"), ("made", "<u4"), ("unused", "<u4"), ("count", "<i8")]
)


class Engine(Protocol):
    """A training run that can go on."""

    @property
    def learned(self) -> Learned:
        """What it has learned so far."""
        ...

    @property
    def last_count(self) -> int:
        """Count of the token that was added last."""
        ...

    @property
    def window_stats(self) -> dict[str, int]:
        """What a bounded window has cost."""
        ...

    def run(self, target: int, tick: Tick | None = None) -> None:
        """Add tokens until there are `target`, none is left, or `tick` returns true."""
        ...

    def step(self) -> bool:
        """Add one token, whatever the cutoff is; False if there is none."""
        ...

    def freeze(self) -> list[tuple[bytes, int]]:
        """Give characters without a token up, and return them with their counts."""
        ...

    def end(self, learned: Learned) -> None:
        """Set the result of a run that is over."""
        ...


class NativeEngine:
    """The run of the extension."""

    def __init__(self, options: Options, table: NativeTable, start: Learned | None) -> None:
        base = first_tokens(options) if options.initial_alphabet != "raw" else None
        pairs = [text for pair in sorted(options.forbidden) for text in pair]
        self._run: Any = native().bpe_run(
            table.counts,
            int(options.unit == "unicode"),
            int(options.tie_break == "largest_content"),
            None if base is None else packed(base),
            None,
            options.cutoff,
            options.max_token_length or 0,
            _ANY if options.limit_alphabet is None else options.limit_alphabet,
            packed(pairs) if pairs else None,
            options.hot_pair_window_size or 0,
        )
        self._learned: Learned | None = None
        self._exhausted = False
        if start is not None:
            merges = np.array([(a, b, made, 0, n) for a, b, made, n in start.merges], _MERGE)
            self._run.replay(*packed(start.tokens[256:]), merges)
            return
        for char in options.required:
            self._run.add_character(ord(char))

    @property
    def learned(self) -> Learned:
        """What it has learned so far."""
        if self._learned is None:
            pool, ends = self._run.tokens()
            merges: list[Any] = np.frombuffer(self._run.merges(), _MERGE).tolist()
            self._learned = Learned(
                list(unpacked(pool, ends)),
                [(left, right, made, count) for left, right, made, _, count in merges],
                exhausted=self._exhausted,
            )
        return self._learned

    @property
    def last_count(self) -> int:
        """Count of the token that was added last."""
        return self._run.last_count()

    @property
    def window_stats(self) -> dict[str, int]:
        """What a bounded window has cost."""
        return self._run.stats()

    def run(self, target: int, tick: Tick | None = None) -> None:
        """Add tokens until there are `target`, none is left, or `tick` returns true."""
        self._learned = None
        self._exhausted = self._run.run(target, tick) == 1

    def step(self) -> bool:
        """Add one token, whatever the cutoff is."""
        self._learned = None
        return self._run.step()

    def freeze(self) -> list[tuple[bytes, int]]:
        """Give characters without a token up, and return them with their counts."""
        characters, counts = self._run.freeze()
        points: list[int] = np.frombuffer(characters, "<u4").tolist()
        numbers: list[int] = np.frombuffer(counts, "<i8").tolist()
        return [(chr(point).encode(), n) for point, n in zip(points, numbers, strict=True)]

    def end(self, learned: Learned) -> None:
        """Set the result of a run that is over."""
        self._learned = learned


def new_engine(options: Options, table: Table, start: Learned | None = None) -> Engine:
    """Return a run over words with counts, from what another run has learned if that is given."""
    if isinstance(table, NativeTable):
        return NativeEngine(options, table, start)
    return PythonEngine(options, table.items(), start)
