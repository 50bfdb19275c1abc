"""What always holds when a row is entered, for the check of a blob (core/src/pretokenize.h).

Two facts: how many characters were read since the last cut, as far as 2, and whether a place
behind that cut was noted. The check proves each cell from the facts of its row, without
memory of its own; here they are found, as the greatest that all ways into a row agree on.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from isotok.compile.pretok.machine import Cell, Machine

_ENOUGH: Final = 2
NOTED: Final = 4


class Facts(NamedTuple):
    """Facts of a row."""

    read: int
    noted: bool

    def met(self, other: Facts) -> Facts:
        """Return what both have."""
        return Facts(min(self.read, other.read), self.noted and other.noted)


def facts_of(machine: Machine) -> list[int]:
    """Return the facts of each row as a number: characters read, and NOTED."""
    facts: list[Facts | None] = [None] * len(machine.rows)
    facts[0] = Facts(0, False)
    todo = [0]
    while todo:
        row = todo.pop()
        now = facts[row]
        assert now is not None, "rows come here when they have facts"
        for symbol, cell in enumerate(machine.rows[row]):
            if symbol == machine.symbols.end and not cell.rewind:
                continue  # nothing is read behind the end
            then, known = _after(now, cell), facts[cell.next]
            met = then if known is None else known.met(then)
            if met != known:
                facts[cell.next] = met
                todo.append(cell.next)
    known = (one or Facts(_ENOUGH, True) for one in facts)  # no way leads to the others
    return [one.read | (NOTED if one.noted else 0) for one in known]


def _after(now: Facts, cell: Cell) -> Facts:
    read, noted = now
    if cell.rewind:
        return Facts(0, False)
    if cell.back is not None:
        read, noted = 1, False
    if cell.here is not None:
        read, noted = 0, False
    noted = noted or (cell.note and read > 0)
    return Facts(min(read + 1, _ENOUGH), noted)
