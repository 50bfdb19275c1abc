"""What the character before a position is to the look-behinds of a program."""

from __future__ import annotations

from dataclasses import dataclass

from isotok.compile.pretok.alphabet import Alphabet
from isotok.compile.pretok.code_points import CodePoints
from isotok.compile.pretok.nfa import Before, Program

Test = tuple[CodePoints, bool]
"""A look-behind: the set, and whether the start of the text will do."""


@dataclass(frozen=True)
class Contexts:
    """The characters before that the look-behinds tell apart, numbered from 0.

    Parameters
    ----------
    after : tuple of int
        Context behind a character of each class.
    start : int
        Context at the start of the text.
    passes : dict
        For each look-behind the contexts in which it holds.
    """

    after: tuple[int, ...]
    start: int
    passes: dict[Test, frozenset[int]]

    @property
    def count(self) -> int:
        """How many there are."""
        return max((*self.after, self.start)) + 1


def make_contexts(program: Program, alphabet: Alphabet) -> Contexts:
    """Find the contexts of a program; one if it has no look-behind."""
    tests: list[Test] = []
    for instruction in program.code:
        if isinstance(instruction, Before):
            test = instruction.points, instruction.at_start
            if test not in tests:
                tests.append(test)
    numbers: dict[tuple[bool, ...], int] = {}
    start = numbers.setdefault(tuple(at_start for _, at_start in tests), len(numbers))
    after: list[int] = []
    for inside in alphabet.members:
        vector = tuple(alphabet.numbers[points] in inside for points, _ in tests)
        after.append(numbers.setdefault(vector, len(numbers)))
    passes = {
        test: frozenset(number for vector, number in numbers.items() if vector[i])
        for i, test in enumerate(tests)
    }
    return Contexts(tuple(after), start, passes)
