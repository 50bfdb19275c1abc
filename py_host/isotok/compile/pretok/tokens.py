"""The automaton that finds the end of one match, as a backtracking engine would.

A state is the list of the threads that a backtracking search would try, in its order and
without repetitions. Reading a symbol first follows the threads up to the instructions
that take a character - tests of the next character are decided by that symbol - and where
a thread arrives at the end of the pattern, all threads after it are dropped: the search
would never come to them. Then each thread that may takes the symbol.

Text that no match covers is a *gap*. A last thread takes one character of any kind, and
as many more as cannot begin a match.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from isotok.compile.pretok.contexts import Contexts
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.nfa import Before, Glance, Peek, Program, Split, Take
from isotok.compile.pretok.symbols import Symbols

MATCH: Final = 0
GAP: Final = 1
_MAX_STATES: Final = 2000


class Step(NamedTuple):
    """What reading a symbol does.

    Parameters
    ----------
    accept : {None, MATCH, GAP}
        Whether what was read before the symbol may be a token, and of which kind.
    then : int or None
        The state afterwards; None: no thread is left.
    """

    accept: int | None
    then: int | None


class _Take(NamedTuple):
    mask: int
    then: int


class _Split(NamedTuple):
    targets: tuple[int, ...]


class _Test(NamedTuple):
    masks: tuple[int, ...]
    """Symbols that pass, by context."""
    then: int


class _Match(NamedTuple):
    kind: int


_Threads = tuple[int, ...]


class Tokens:
    """The automaton of one pattern; states are numbered as they are found.

    Parameters
    ----------
    program : Program
        The pattern.
    symbols : Symbols
        What is read.
    contexts : Contexts
        Of the program.
    pattern : str
        For error messages.
    """

    def __init__(
        self, program: Program, symbols: Symbols, contexts: Contexts, pattern: str
    ) -> None:
        self.symbols = symbols
        self.contexts = contexts
        self.pattern = pattern
        self._code = [_bind(one, program, symbols, contexts) for one in program.code]
        self._states: dict[_Threads, int] = {}
        self._threads: list[_Threads] = []
        self._known: dict[tuple[int, int, int], Step] = {}
        self._sure: dict[tuple[int, int], int | None] = {}
        gap = self._add_gap(program.start)
        self.start = self._number((program.start, gap))

    def _add_gap(self, start: int) -> int:
        """Append the thread of gaps."""
        outside = sum(
            1 << symbol
            for symbol in range(self.symbols.end)
            if not any(
                self._follow((start,), context, symbol)[1] for context in range(self.contexts.count)
            )
        )
        everything = (1 << self.symbols.end) - 1
        at = len(self._code)
        self._code += [
            _Take(everything, at + 1),
            _Split((at + 2, at + 3)),
            _Take(outside, at + 1),
            _Match(GAP),
        ]
        return at

    def _number(self, threads: _Threads) -> int:
        if threads not in self._states:
            if len(self._states) >= _MAX_STATES:
                raise PatternError(f"more than {_MAX_STATES} states", self.pattern)
            self._states[threads] = len(self._states)
            self._threads.append(threads)
        return self._states[threads]

    def context_after(self, symbol: int) -> int:
        """Return the context behind a symbol."""
        return self.contexts.after[self.symbols.classes[symbol]]

    def step(self, state: int, context: int, symbol: int) -> Step:
        """Read a symbol."""
        key = state, context, symbol
        found = self._known.get(key)
        if found is None:
            accept, threads = self._follow(self._threads[state], context, symbol)
            found = Step(accept, self._number(threads) if threads else None)
            self._known[key] = found
        return found

    def _follow(self, threads: _Threads, context: int, symbol: int) -> tuple[int | None, _Threads]:
        bit = 1 << symbol
        seen: set[int] = set()
        taken: dict[int, None] = {}
        todo = list(reversed(threads))
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            match self._code[at]:
                case _Take(mask, then):
                    if mask & bit:
                        taken[then] = None
                case _Split(targets):
                    todo += reversed(targets)
                case _Test(masks, then):
                    if masks[context] & bit:
                        todo.append(then)
                case _Match(kind):
                    return kind, tuple(taken)
        return None, tuple(taken)

    def first(self, context: int, symbol: int) -> int:
        """Return the state after the first character of a token."""
        then = self.step(self.start, context, symbol).then
        assert then is not None, "the gap takes every character"
        return then

    def sure_kind(self, context: int, symbol: int) -> int | None:
        """Return the kind of every token that begins with this symbol, None if it differs."""
        key = context, symbol
        if key not in self._sure:
            kinds = self._final_kinds(self.first(context, symbol), self.context_after(symbol))
            self._sure[key] = kinds.pop() if len(kinds) == 1 else None
        return self._sure[key]

    def _final_kinds(self, state: int, context: int) -> set[int]:
        """Return the kinds that a token can have in the end."""
        kinds: set[int] = set()
        todo: list[tuple[int, int, int | None]] = [(state, context, None)]
        seen = set(todo)
        while todo:
            state, context, last = todo.pop()
            for symbol in range(len(self.symbols)):
                accept, then = self.step(state, context, symbol)
                kind = last if accept is None else accept
                if then is None or symbol == self.symbols.end:
                    assert kind is not None, "one character is always a token"
                    kinds.add(kind)
                    continue
                after = then, self.context_after(symbol), kind
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return kinds


def _bind(
    one: object, program: Program, symbols: Symbols, contexts: Contexts
) -> _Take | _Split | _Test | _Match:
    """Replace the sets of an instruction by symbols."""
    everything = (1 << len(symbols)) - 1
    match one:
        case Take(points, then):
            return _Take(symbols.mask(points), then)
        case Split(targets):
            return _Split(targets)
        case Peek(points, at_end, then):
            return _Test((symbols.mask(points, at_end),) * contexts.count, then)
        case Before(points, at_start, then):
            passes = contexts.passes[points, at_start]
            return _Test(
                tuple(everything if i in passes else 0 for i in range(contexts.count)), then
            )
        case Glance(look, negative, then):
            first = program.looks.index(look) * contexts.count
            masks = (symbols.look_mask(first + i, negative) for i in range(contexts.count))
            return _Test(tuple(masks), then)
        case _:
            return _Match(MATCH)
