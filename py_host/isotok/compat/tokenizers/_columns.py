"""Columns of an encoding: lists that may be made when they are first asked for.

A list in a column is never changed, so columns can share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar, cast

T = TypeVar("T")

_DEEPEST: Final = 32
"""Lazy columns made of lazy columns made of …: past that, one is made at once."""


class Lazy(Generic[T]):
    """A list that is made when it is asked for, once.

    Two threads may both make it: they make the same.
    """

    __slots__ = ("_made", "_make", "depth")

    def __init__(self, make: Callable[[], list[T]], depth: int = 0) -> None:
        self._make: Callable[[], list[T]] | None = make
        self._made: list[T] | None = None
        self.depth = depth

    def get(self) -> list[T]:
        """The list."""
        make = self._make
        if make is not None:
            self._made = make()
            self._make = None
        return cast("list[T]", self._made)


Column: TypeAlias = "list[T] | Lazy[T]"


def value(column: Column[T]) -> list[T]:
    """The list of a column."""
    return column.get() if isinstance(column, Lazy) else column


def changed(column: Column[T], change: Callable[[list[T]], list[T]]) -> Column[T]:
    """Return what a function makes of a column, made when its list is."""
    if not isinstance(column, Lazy):
        return change(column)
    if column.depth >= _DEEPEST:
        return change(column.get())
    return Lazy(lambda: change(column.get()), column.depth + 1)


def sliced(column: Column[T], begin: int, end: int) -> Column[T]:
    """Return a part of a column."""
    return changed(column, lambda made: made[begin:end])


def joined(columns: Sequence[Column[T]]) -> Column[T]:
    """Return columns end to end as one."""
    depth = max([one.depth for one in columns if isinstance(one, Lazy)], default=-1)
    if 0 <= depth < _DEEPEST:
        return Lazy(lambda: _together(columns), depth + 1)
    return _together(columns)


def _together(columns: Sequence[Column[T]]) -> list[T]:
    found: list[T] = []
    for column in columns:
        found += column.get() if isinstance(column, Lazy) else column
    return found
