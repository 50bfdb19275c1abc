"""From the automaton of one match to a machine that cuts whole texts in one pass.

When an automaton has no thread left, the token ends at the last place where it could, and
the search goes on from there. Most often that place is here or one character back; then
the state that the next token has reached by now is known beforehand, and one cell says:
cut, go on. Only a token that ends earlier makes the driver go back and read again.

A machine of an earlier stage that is immediate (it knows in front of each character
whether it cuts) runs inside this one: for this stage, its cuts are ends of the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.machine import Cell, Cut, Machine, Row, minimized, without_idle_notes
from isotok.compile.pretok.tokens import GAP, MATCH, Tokens

_MAX_ROWS: Final = 5000
_KINDS: Final = (MATCH, GAP)


@dataclass(frozen=True)
class Behavior:
    """What becomes of matches and gaps.

    Parameters
    ----------
    joins : frozenset of (int, int)
        Kinds of neighbours with no cut between them.
    drops : frozenset of int
        Kinds that are not part of the result.
    """

    joins: frozenset[tuple[int, int]]
    drops: frozenset[int] = frozenset()

    def may_join(self, kind: int) -> bool:
        """Whether a token of this kind may go on in the next one."""
        return any((kind, other) in self.joins for other in _KINDS)


class _Last(NamedTuple):
    """The last place where the token could end, and the state there."""

    kind: int
    piece: int
    context: int
    next_token: int | None
    """One character back: the state of the next token, which has read that character."""
    next_sure: int | None


class _State(NamedTuple):
    piece: int
    """State of the earlier machine."""
    context: int
    token: int | None
    """State of the token; None: nothing is read yet."""
    previous: int | None = None
    """Kind of the token before, if its cut may still be taken back."""
    last: _Last | None = None
    dropped: bool = False
    """Inside a piece that an earlier stage dropped."""


class _Piece(NamedTuple):
    cut: bool
    next: int


class Earlier:
    """The immediate machine of the stages before."""

    def __init__(self, machine: Machine | None, drops: tuple[bool, ...] = (False,)) -> None:
        self._rows = machine.rows if machine is not None else None
        self._drops = drops

    def read(self, piece: int, symbol: int, end: int) -> _Piece:
        """Return whether the piece ends in front of the symbol, and the state after it."""
        if self._rows is None:
            return _Piece(symbol == end, 0)
        cell = self._rows[piece][symbol]
        return _Piece(symbol == end or cell.here is not None, cell.next)

    def drops(self, piece: int) -> bool:
        """Whether the piece is dropped whose last character led to this state."""
        return self._drops[piece]


def fuse(tokens: Tokens, behavior: Behavior, earlier: Earlier) -> Machine:
    """Build the machine of a stage.

    Parameters
    ----------
    tokens : Tokens
        The automaton of its pattern.
    behavior : Behavior
        What becomes of matches and gaps.
    earlier : Earlier
        The stages in front of it.

    Returns
    -------
    Machine
        Minimal.
    """
    return minimized(without_idle_notes(_Fuser(tokens, behavior, earlier).build()))


class _Fuser:
    def __init__(self, tokens: Tokens, behavior: Behavior, earlier: Earlier) -> None:
        self.tokens = tokens
        self.behavior = behavior
        self.earlier = earlier
        self.end = tokens.symbols.end
        self.numbers: dict[_State, int] = {}
        self.todo: list[_State] = []
        self.start = _State(0, tokens.contexts.start, None)

    def build(self) -> Machine:
        self.number(self.start)
        rows: list[Row] = []
        while len(rows) < len(self.todo):
            state = self.todo[len(rows)]
            rows.append(tuple(self.cell(state, symbol) for symbol in range(self.end + 1)))
        return Machine(self.tokens.symbols, tuple(rows))

    def number(self, state: _State) -> int:
        if state not in self.numbers:
            if len(self.numbers) >= _MAX_ROWS:
                raise PatternError(f"more than {_MAX_ROWS} states", self.tokens.pattern)
            self.numbers[state] = len(self.numbers)
            self.todo.append(state)
        return self.numbers[state]

    def cell(self, state: _State, symbol: int) -> Cell:
        piece = self.earlier.read(state.piece, symbol, self.end)
        if state.token is None and not state.dropped:
            return self.begin(state.context, symbol, piece.next, state.previous)
        if state.dropped:
            if not piece.cut:
                return Cell(self.number(state._replace(piece=piece.next)))
            after = self.begin(self.tokens.contexts.start, symbol, piece.next, None)
            return replace(after, here=Cut(drop=True, join=False))
        return self.read(state, symbol, piece)

    def begin(self, context: int, symbol: int, piece: int, previous: int | None) -> Cell:
        """Read the first character of a token."""
        if symbol == self.end:
            return Cell(self.number(self.start))
        if self.earlier.drops(piece):
            return Cell(self.number(_State(piece, 0, None, dropped=True)))
        token = self.tokens.first(context, symbol)
        after = self.tokens.context_after(symbol)
        return Cell(self.number(_State(piece, after, token, previous)))

    def read(self, state: _State, symbol: int, piece: _Piece) -> Cell:
        """Read a character inside a token."""
        assert state.token is not None
        seen = self.end if piece.cut else symbol
        accept, then = self.tokens.step(state.token, state.context, seen)
        if then is not None:
            return self.go_on(state, symbol, piece.next, accept, then)
        if accept is not None:
            return self.end_here(state, symbol, piece, accept)
        assert state.last is not None, "one character is always a token"
        if state.last.next_token is not None:
            return self.end_one_back(state, state.last, symbol)
        cut, previous = self.settle(state.previous, state.last.kind, None)
        fresh = _State(state.last.piece, state.last.context, None, previous)
        return Cell(self.number(fresh), last=cut, rewind=True)

    def go_on(self, state: _State, symbol: int, piece: int, accept: int | None, then: int) -> Cell:
        last = state.last
        if accept is not None:
            token = self.tokens.first(state.context, symbol)
            sure = self.tokens.sure_kind(state.context, symbol)
            last = _Last(accept, state.piece, state.context, token, sure)
        elif last is not None:
            last = last._replace(next_token=None, next_sure=None)
        after = self.tokens.context_after(symbol)
        number = self.number(_State(piece, after, then, state.previous, last))
        return Cell(number, note=accept is not None)

    def end_here(self, state: _State, symbol: int, piece: _Piece, kind: int) -> Cell:
        """The token ends in front of this character, which begins the next one."""
        context = self.tokens.contexts.start if piece.cut else state.context
        sure = None if symbol == self.end else self.tokens.sure_kind(context, symbol)
        cut, previous = self.settle(state.previous, kind, sure, is_end=piece.cut)
        return replace(self.begin(context, symbol, piece.next, previous), here=cut)

    def end_one_back(self, state: _State, last: _Last, symbol: int) -> Cell:
        """The token ended in front of the last character, which began the next one."""
        cut, previous = self.settle(state.previous, last.kind, last.next_sure)
        inner = _State(state.piece, state.context, last.next_token, previous)
        after = self.cell(inner, symbol)
        assert after.back is None and not after.rewind, "one character is always a token"
        return replace(after, back=cut)

    def settle(
        self, previous: int | None, kind: int, next_kind: int | None, *, is_end: bool = False
    ) -> tuple[Cut | None, int | None]:
        """Return the cut behind a token, and its kind if the cut may be taken back.

        `next_kind` is that of the next token if it is known yet; `is_end`: there is none
        in this piece.
        """
        joins = previous is not None and (previous, kind) in self.behavior.joins
        cut = Cut(kind in self.behavior.drops, joins)
        if is_end:
            return cut, None
        if next_kind is None:
            return cut, kind if self.behavior.may_join(kind) else None
        if (kind, next_kind) not in self.behavior.joins:
            return cut, None
        return (cut, kind) if joins else (None, None)
