"""Nodes as a graph of instructions whose order of branches is their priority.

Sets are numbers in a table; `alphabet` replaces them by classes of characters.

A possessive repeat of one set needs no machinery of its own: giving back could only help
at a place where the set goes on, so its exit asks that the set does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from isotok.compile.pretok.code_points import CodePoints
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.nodes import (
    Ahead,
    Behind,
    Chars,
    Choice,
    Concat,
    Look,
    Node,
    Repeat,
)

_MAX_INSTRUCTIONS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Take:
    """Take a character of a set, go to `then`."""

    points: CodePoints
    then: int
    folded: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Split:
    """Try the targets in this order."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Peek:
    """Go on if the next character is in the set, or there is none and `at_end`."""

    points: CodePoints
    at_end: bool
    then: int


@dataclass(frozen=True, slots=True)
class Before:
    """Go on if the character before is in the set, or there is none and `at_start`."""

    points: CodePoints
    at_start: bool
    then: int


@dataclass(frozen=True, slots=True)
class Glance:
    """Go on if the program from `look` on matches here (`negative`: does not)."""

    look: int
    negative: bool
    then: int


@dataclass(frozen=True, slots=True)
class Match:
    """The end of the pattern or of a look-ahead."""


Instruction = Take | Split | Peek | Before | Glance | Match


@dataclass
class Program:
    """Instructions; execution begins at `start`."""

    code: list[Instruction] = field(default_factory=list[Instruction])
    start: int = 0
    looks: list[int] = field(default_factory=list[int])
    """Where the bodies of the look-aheads begin."""


def compile_program(node: Node, pattern: str) -> Program:
    """Turn a pattern into a program; `pattern` is for error messages."""
    builder = _Builder(pattern)
    builder.program.start = builder.emit(node, builder.add(Match()))
    return builder.program


class _Builder:
    """Emits backwards: the instruction that follows is always known."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.program = Program()

    def add(self, instruction: Instruction) -> int:
        code = self.program.code
        if len(code) >= _MAX_INSTRUCTIONS:
            raise PatternError(f"more than {_MAX_INSTRUCTIONS} steps", self.pattern)
        code.append(instruction)
        return len(code) - 1

    def emit(self, node: Node, then: int) -> int:
        match node:
            case Chars(points, folded, offset):
                return self.add(Take(points, then, folded, offset))
            case Concat(items):
                for item in reversed(items):
                    then = self.emit(item, then)
                return then
            case Choice(items):
                return self.add(Split(tuple(self.emit(item, then) for item in items)))
            case Repeat():
                return self._repeat(node, then)
            case Ahead(points, at_end):
                return self.add(Peek(points, at_end, then))
            case Behind(points, at_start):
                return self.add(Before(points, at_start, then))
            case Look(body, negative, _):
                look = self.emit(body, self.add(Match()))
                self.program.looks.append(look)
                return self.add(Glance(look, negative, then))

    def _repeat(self, node: Repeat, then: int) -> int:
        leave = then
        if node.mode == "possessive":
            assert isinstance(node.body, Chars), "the parser lets no other pass"
            leave = self.add(Peek(~node.body.points, True, then))
        if node.high is None:
            start = self.add(Match())  # replaced when the body is known
            self.program.code[start] = self._branch(node, self.emit(node.body, start), leave)
        else:
            start = then
            for _ in range(node.high - node.low):
                start = self.add(self._branch(node, self.emit(node.body, start), leave))
        for _ in range(node.low):
            start = self.emit(node.body, start)
        return start

    @staticmethod
    def _branch(node: Repeat, again: int, leave: int) -> Split:
        return Split((leave, again) if node.mode == "lazy" else (again, leave))


def refuse_many_folds(program: Program, pairs: frozenset[str], pattern: str) -> None:
    """Refuse letters that an engine would also find in one character (``ss`` in ß)."""
    for instruction in program.code:
        if not isinstance(instruction, Take) or not instruction.folded:
            continue
        for follower in _takes_from(program, instruction.then):
            for first in instruction.folded:
                for second in follower.folded:
                    if first + second in pairs:
                        what = f"(?i) on {first}{second}, which a single character also matches"
                        raise PatternError(what, pattern, instruction.offset)


def _takes_from(program: Program, start: int) -> list[Take]:
    """Return the instructions that may take the next character."""
    found, seen, todo = list[Take](), set[int](), [start]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        match program.code[at]:
            case Take() as take:
                found.append(take)
            case Split(targets):
                todo += targets
            case Peek(_, _, then) | Before(_, _, then) | Glance(_, _, then):
                todo.append(then)
            case Match():
                pass
    return found
