"""The machine that the driver runs: it reads a symbol at a time and says where to cut."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from isotok.compile.pretok.symbols import Symbols


class Cut(NamedTuple):
    """The end of a segment.

    Parameters
    ----------
    drop : bool
        The segment that ends here is not part of the result.
    join : bool
        It goes on from the cut before, which is taken back.
    """

    drop: bool
    join: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """What a row does with a symbol.

    Parameters
    ----------
    next : int
        Row afterwards.
    back, here : Cut, optional
        Cuts in front of the character before this one, and in front of this one.
    last : Cut, optional
        Cut at the place noted last.
    rewind : bool
        Go back to that place; the symbol is not read.
    note : bool
        Note the place in front of this character.
    enters : bool
        The next row may fail in the same way when it is entered again further on.
    """

    next: int
    back: Cut | None = None
    here: Cut | None = None
    last: Cut | None = None
    rewind: bool = False
    note: bool = False
    enters: bool = False

    @property
    def action(self) -> Hashable:
        """All but `next`."""
        return self.back, self.here, self.last, self.rewind, self.note, self.enters


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Machine:
    """Rows of one cell per symbol, the end of the text last; row 0 is the start."""

    symbols: Symbols
    rows: tuple[Row, ...]

    @property
    def joins(self) -> bool:
        """Whether a cut may be taken back by a later one."""
        cuts = (cut for cell in self.cells() for cut in (cell.back, cell.here, cell.last))
        return any(cut is not None and cut.join for cut in cuts)

    def cells(self) -> Iterable[Cell]:
        """Yield all cells."""
        return (cell for row in self.rows for cell in row)

    def piece_drops(self) -> tuple[bool, ...] | None:
        """For each row, whether the segment that is being read is dropped.

        None if the machine is not *immediate*: if it does not say in front of each
        character for good whether it cuts there, and whether it drops what begins.
        """
        for cell in self.cells():
            joins = cell.here is not None and cell.here.join
            if cell.back or cell.rewind or cell.note or joins:
                return None
        drops = [_first_drops(self, row) for row in range(1, len(self.rows))]
        if any(len(one) > 1 for one in drops):
            return None
        return (False, *(True in one for one in drops))


def _first_drops(machine: Machine, row: int) -> set[bool]:
    """Return what the next cut may say about dropping."""
    found, seen, todo = set[bool](), {row}, [row]
    while todo:
        for cell in machine.rows[todo.pop()]:
            if cell.here is not None:
                found.add(cell.here.drop)
            elif cell.next not in seen:
                seen.add(cell.next)
                todo.append(cell.next)
    return found


def without_idle_notes(machine: Machine) -> Machine:
    """Remove notes that no rewind can come to."""
    used = {i for i, row in enumerate(machine.rows) if any(cell.rewind for cell in row)}
    changed = True
    while changed:
        more = {
            i
            for i, row in enumerate(machine.rows)
            if i not in used
            and any(cell.next in used and not (cell.note or cell.here) for cell in row)
        }
        changed = bool(more)
        used |= more
    rows = (
        tuple(replace(cell, note=cell.note and cell.next in used) for cell in row)
        for row in machine.rows
    )
    return Machine(machine.symbols, tuple(rows))


def minimized(machine: Machine) -> Machine:
    """Merge rows that do the same on all texts (Moore), in order of first use."""
    group = _numbered([tuple(cell.action for cell in row) for row in machine.rows])
    while True:
        finer = _numbered(
            [(group[i], *(group[cell.next] for cell in row)) for i, row in enumerate(machine.rows)]
        )
        if len(set(finer)) == len(set(group)):
            break
        group = finer
    return _renumbered(machine, group)


def _numbered(keys: list[tuple[Hashable, ...]]) -> list[int]:
    numbers: dict[tuple[Hashable, ...], int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _renumbered(machine: Machine, group: list[int]) -> Machine:
    """Keep one row per group, numbered as a walk from the start meets them."""
    order = {group[0]: 0}
    rows: list[Row] = []
    todo = [0]
    while todo:
        row = machine.rows[todo.pop(0)]
        for cell in row:
            if group[cell.next] not in order:
                order[group[cell.next]] = len(order)
                todo.append(cell.next)
        rows.append(tuple(replace(cell, next=order[group[cell.next]]) for cell in row))
    return Machine(machine.symbols, tuple(rows))
