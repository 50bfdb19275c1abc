"""Look-aheads of more than one character: an automaton that reads from right to left.

Whether a look-ahead matches at a position depends on the character there and on what
holds one position later, so one pass from the end of the text decides it everywhere. Its
state is the set of instructions from which the rest of the text would match.

Where more text may follow, the pass begins in all states at once: a symbol is known as
soon as all of them agree on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from isotok.compile.pretok.alphabet import Alphabet
from isotok.compile.pretok.contexts import Contexts
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.nfa import Before, Glance, Match, Peek, Program, Split, Take
from isotok.compile.pretok.symbols import Symbols

UNKNOWN: Final = -1
_MAX_STATES: Final = 1000
_MAX_STEPS: Final = 400
_MAX_SYMBOLS: Final = 250

_State = tuple[frozenset[int], ...]
"""By context of the position: instructions that follow a Take and from which the text to
the right matches."""


@dataclass(frozen=True)
class Reverse:
    """The automaton that reads from right to left.

    Parameters
    ----------
    next : list of list of int
        State after reading a class, by state and class.
    symbol : list of list of int
        Symbol at the character that was read, by state and class; UNKNOWN if it depends
        on text that has not come yet.
    final, open : int
        State at the end of the text, and at the end of text that goes on.
    closed : int
        How many states there are in texts that end; they are the first, and know all symbols.
    """

    next: list[list[int]]
    symbol: list[list[int]]
    final: int
    open: int
    closed: int


def make_reverse(
    program: Program, alphabet: Alphabet, contexts: Contexts, pattern: str
) -> tuple[Reverse, Symbols]:
    """Build the automaton for all look-aheads of a program."""
    evaluate = _Evaluator(program, alphabet, contexts, pattern)
    states: dict[_State, int] = {}
    pairs: dict[tuple[int, int], int] = {}  # (class, looks) -> symbol
    next_rows: list[list[int]] = []
    symbol_rows: list[list[int]] = []
    end_state, end_looks = evaluate.step((), None)
    todo = [end_state]
    states[end_state] = 0
    while todo:
        state = todo.pop(0)
        next_rows.append([])
        symbol_rows.append([])
        for one in range(len(alphabet)):
            after, looks = evaluate.step(state, one)
            if after not in states:
                states[after] = len(states)
                todo.append(after)
            next_rows[-1].append(states[after])
            symbol_rows[-1].append(pairs.setdefault((one, looks), len(pairs)))
        if len(states) > _MAX_STATES or len(pairs) > _MAX_SYMBOLS:
            raise PatternError("a look-ahead with too many states", pattern)
    symbols = Symbols(
        alphabet, tuple(one for one, _ in pairs), tuple(looks for _, looks in pairs), end_looks
    )
    return _add_open_states(Reverse(next_rows, symbol_rows, 0, 0, len(next_rows)), pattern), symbols


def _add_open_states(reverse: Reverse, pattern: str) -> Reverse:
    """Add the states of a pass that begins where more text may follow."""
    count = len(reverse.next)
    everything = frozenset(range(count))
    numbers: dict[frozenset[int], int] = {frozenset((i,)): i for i in range(count)}
    next_rows, symbol_rows = list(reverse.next), list(reverse.symbol)
    todo = [everything] if everything not in numbers else []
    numbers.setdefault(everything, count)
    while todo:
        group = todo.pop(0)
        next_row: list[int] = []
        symbol_row: list[int] = []
        for one in range(len(reverse.next[0])):
            after = frozenset(reverse.next[i][one] for i in group)
            if after not in numbers:
                numbers[after] = len(numbers)
                todo.append(after)
            next_row.append(numbers[after])
            seen = {reverse.symbol[i][one] for i in group}
            symbol_row.append(seen.pop() if len(seen) == 1 else UNKNOWN)
        next_rows.append(next_row)
        symbol_rows.append(symbol_row)
        if len(numbers) > _MAX_STATES:
            raise PatternError("a look-ahead with too many states", pattern)
    return Reverse(next_rows, symbol_rows, reverse.final, numbers[everything], count)


class _Evaluator:
    """Which instructions match at a position, given those that match one later."""

    def __init__(
        self, program: Program, alphabet: Alphabet, contexts: Contexts, pattern: str
    ) -> None:
        self.code = program.code
        self.looks = program.looks
        self.alphabet = alphabet
        self.contexts = contexts
        self.targets = self._targets(pattern)

    def _targets(self, pattern: str) -> list[int]:
        """Return the instructions behind the Takes of look-aheads."""
        seen, todo, targets = set[int](), list(self.looks), set[int]()
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            match self.code[at]:
                case Take(_, then):
                    targets.add(then)
                    todo.append(then)
                case Split(branches):
                    todo += branches
                case Peek(_, _, then) | Before(_, _, then) | Glance(_, _, then):
                    todo.append(then)
                case Match():
                    pass
        if len(seen) > _MAX_STEPS:
            raise PatternError(f"look-aheads of more than {_MAX_STEPS} steps", pattern)
        return sorted(targets)

    def step(self, later: _State, one: int | None) -> tuple[_State, int]:
        """Return the state in front of a character of class `one` (None: at the end), and
        the look-aheads that match there: bit `look * contexts + context`.
        """
        count = self.contexts.count
        state: list[frozenset[int]] = []
        looks = 0
        for context in range(count):
            holds = self._tester(later, one, context)
            state.append(frozenset(filter(holds, self.targets)))
            looks |= sum(1 << i * count + context for i, at in enumerate(self.looks) if holds(at))
        return tuple(state), looks

    def _tester(self, later: _State, one: int | None, context: int) -> Callable[[int], bool]:
        inside = frozenset[int]() if one is None else self.alphabet.members[one]
        then_holds = frozenset[int]() if one is None else later[self.contexts.after[one]]
        numbers = self.alphabet.numbers

        @cache
        def holds(at: int) -> bool:
            match self.code[at]:
                case Take(points, then):
                    return numbers[points] in inside and then in then_holds
                case Split(branches):
                    return any(map(holds, branches))
                case Peek(points, at_end, then):
                    fits = at_end if one is None else numbers[points] in inside
                    return fits and holds(then)
                case Before(points, at_start, then):
                    return context in self.contexts.passes[points, at_start] and holds(then)
                case Glance(look, negative, then):
                    return holds(look) != negative and holds(then)
                case Match():
                    return True

        return holds
