"""Proof that reading again takes linear time, or refusal.

A machine goes back when a token that could have ended at a noted place never comes to a
better end. What it had read since then, its *tail*, is read again. That is quadratic only
if many tails lie over one place: `a*b|a` on "aaaa…" reads to the end for every a.

Tails over one place begin one after the other, each in the run that began where the one
before it began. So there is a graph: a note e leads to a note f if, while the tail of e
goes on, the run that would start at e can come to f. If that graph, of the notes whose
tails have no longest length, has no cycle, then no place lies under more of them than the
longest path has notes, and under short tails only as often as they are long.

If there is a cycle, it may still be that every endless tail goes round in a single row, and
that all these rows go on and fail at the same symbols. Then the way a tail ends does not
depend on where it entered its row: once one has failed, entering such a row in front of that
place is known to fail (`Cell.enters`), and each stretch is read to its end once. Anything
else is refused.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final, TypeVar

from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.machine import Cell, Machine

_T = TypeVar("_T")
_MAX_TAIL: Final = 1024
_MAX_WORK: Final = 5_000_000

_Note = tuple[int, int]
"""Row and symbol of a cell that notes the place in front of it."""


def checked_time(machine: Machine, pattern: str) -> Machine:
    """Return the machine if its time is linear, with `enters` set where that is needed.

    Raises
    ------
    PatternError
        The pattern may need quadratic time.
    """
    tails = _Tails(machine, pattern)
    if not tails.notes:
        return machine
    endless = {note for note in tails.notes if tails.is_endless(tails.first(note))}
    firsts = {tails.first(note) for note in tails.notes - endless}
    if max(map(tails.length, firsts), default=0) > _MAX_TAIL:
        raise PatternError(f"a match that may give back more than {_MAX_TAIL} characters", pattern)
    graph = {note: tails.followers(note) & endless for note in endless}
    if not _has_cycle(graph):
        return machine
    rows = tails.loop_rows(endless)
    if not tails.fail_alike(rows):
        raise PatternError("a pattern that may take quadratic time", pattern)
    return _with_enters(machine, rows)


class _Tails:
    """The rows that a run goes through between a note and a rewind."""

    def __init__(self, machine: Machine, pattern: str) -> None:
        self.rows = machine.rows
        self.pattern = pattern
        self.work = 0
        columns = {tuple(row[i] for row in machine.rows): i for i in range(machine.symbols.end)}
        self.symbols = sorted(columns.values())
        """One of each kind of column."""
        quiet = [{row[i].next for i in self.symbols if _is_quiet(row[i])} for row in self.rows]
        self.failing = _leading_to({i for i, row in enumerate(self.rows) if _rewinds(row)}, quiet)
        """The rows from which a tail can end in a rewind."""
        self.next = [after & self.failing for after in quiet]
        self.notes: set[_Note] = {
            (i, symbol)
            for i, row in enumerate(self.rows)
            for symbol in self.symbols
            if row[symbol].note and row[symbol].next in self.failing
        }
        self.tail_rows = cache(self._tail_rows)
        self.is_endless = cache(self._is_endless)
        self.restarts = cache(self._restarts)

    def first(self, note: _Note) -> int:
        """Return the first row of the tails of a note."""
        return self.rows[note[0]][note[1]].next

    def spend(self, work: int) -> None:
        """Give up on patterns that would take minutes."""
        self.work += work
        if self.work > _MAX_WORK:
            raise PatternError("a pattern whose time cannot be bounded", self.pattern)

    def _tail_rows(self, first: int) -> frozenset[int]:
        """Return all rows of the tails that begin in a row."""
        seen, todo = {first}, [first]
        while todo:
            more = self.next[todo.pop()] - seen
            seen |= more
            todo += more
        self.spend(len(seen))
        return frozenset(seen)

    def _is_endless(self, first: int) -> bool:
        """Whether tails that begin in a row have no longest length."""
        return _has_cycle({row: self.next[row] for row in self.tail_rows(first)})

    def _restarts(self, first: int) -> frozenset[int]:
        """Return the rows in which the run begins that follows such a tail."""
        cells = (cell for row in self.tail_rows(first) for cell in self.rows[row])
        return frozenset(cell.next for cell in cells if cell.rewind)

    def length(self, first: int) -> int:
        """Return the longest length of tails that have one."""
        level, length = {first}, 1
        while level:
            level = {after for row in level for after in self.next[row]}
            self.spend(len(level))
            length += 1
        return length

    def followers(self, note: _Note) -> set[_Note]:
        """Return the notes to which a run that starts at `note` can come during its tail."""
        outer, found = self.first(note), set[_Note]()
        begin = {(outer, self.rows[row][note[1]].next) for row in self.restarts(outer)}
        seen, todo = set(begin), list(begin)
        while todo:
            outer, inner = todo.pop()
            self.spend(len(self.symbols))
            for symbol in self.symbols:
                beside, cell = self.rows[outer][symbol], self.rows[inner][symbol]
                if not _is_quiet(beside) or beside.next not in self.failing or cell.rewind:
                    continue
                after = {(beside.next, cell.next)}
                if (inner, symbol) in self.notes:
                    found.add((inner, symbol))
                    after |= {
                        (beside.next, self.rows[row][symbol].next)
                        for row in self.restarts(cell.next)
                    }
                todo += after - seen
                seen |= after
        return found

    def loop_rows(self, notes: set[_Note]) -> set[int]:
        """Return the rows in which endless tails go round: one in each tail, or none."""
        rows = {row for note in notes for row in self.tail_rows(self.first(note))}
        loops = {row for row in rows if row in self.next[row]}
        rest = {row: self.next[row] - {row} for row in rows}
        if _has_cycle(rest):
            return set()
        several = any(self.tail_rows(after) & loops for row in loops for after in rest[row])
        return set() if several else loops

    def fail_alike(self, rows: set[int]) -> bool:
        """Whether all rows, at least one, stay and rewind at the same symbols."""
        kinds = {
            tuple((_is_quiet(cell) and cell.next == i, cell.rewind) for cell in self.rows[i])
            for i in rows
        }
        return len(kinds) == 1


def _is_quiet(cell: Cell) -> bool:
    """Whether a tail goes on through the cell."""
    return not (cell.note or cell.rewind or cell.here or cell.back)


def _rewinds(row: tuple[Cell, ...]) -> bool:
    return any(cell.rewind for cell in row)


def _leading_to(targets: set[int], after: list[set[int]]) -> set[int]:
    """Return the rows from which one of the targets can be reached, and these."""
    before: dict[int, list[int]] = {}
    for row, others in enumerate(after):
        for other in others:
            before.setdefault(other, []).append(row)
    found, todo = set(targets), list(targets)
    while todo:
        more = set(before.get(todo.pop(), ())) - found
        found |= more
        todo += more
    return found


def _has_cycle(graph: dict[_T, set[_T]]) -> bool:
    """Whether the graph has a cycle; followers that are no nodes do not count."""
    waiting = {node: len(after & graph.keys()) for node, after in graph.items()}
    before: dict[_T, list[_T]] = {}
    for node, after in graph.items():
        for other in after:
            before.setdefault(other, []).append(node)
    ends = [node for node, count in waiting.items() if not count]
    done = 0
    while ends:
        done += 1
        for node in before.get(ends.pop(), ()):
            waiting[node] -= 1
            if not waiting[node]:
                ends.append(node)
    return done != len(waiting)


def _with_enters(machine: Machine, targets: set[int]) -> Machine:
    """Mark the cells through which a run comes into one of these rows."""
    rows = tuple(
        tuple(
            replace(cell, enters=True)
            if cell.next in targets and i != cell.next and _is_quiet(cell)
            else cell
            for cell in row
        )
        for i, row in enumerate(machine.rows)
    )
    return Machine(machine.symbols, rows)
