"""What a pattern is after parsing: sets of code points, put together.

Everything about names, cases and dialects is settled by the parser; a leaf is a set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from isotok.compile.pretok.code_points import CodePoints

Mode = Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set. `folded`: its ASCII letters, if their case is ignored."""

    points: CodePoints
    folded: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Concat:
    """Its items, one after the other; none: the empty text."""

    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of its items that lets the whole match."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` from `low` to `high` (None: any number of) times."""

    body: Node
    low: int
    high: int | None
    mode: Mode
    offset: int


@dataclass(frozen=True, slots=True)
class Ahead:
    """The next character is in the set; `at_end`: or there is none."""

    points: CodePoints
    at_end: bool


@dataclass(frozen=True, slots=True)
class Behind:
    """The character before is in the set; `at_start`: or there is none."""

    points: CodePoints
    at_start: bool


@dataclass(frozen=True, slots=True)
class Look:
    """The text that follows begins with `body` (`negative`: does not)."""

    body: Node
    negative: bool
    offset: int


Node = Chars | Concat | Choice | Repeat | Ahead | Behind | Look
EMPTY = Concat()


def is_nullable(node: Node) -> bool:
    """Whether the node can match without taking a character."""
    match node:
        case Chars():
            return False
        case Concat(items):
            return all(map(is_nullable, items))
        case Choice(items):
            return any(map(is_nullable, items))
        case Repeat(body, low):
            return low == 0 or is_nullable(body)
        case _:
            return True


def takes_characters(node: Node) -> bool:
    """Whether a match of the node can have characters."""
    match node:
        case Chars():
            return True
        case Concat(items) | Choice(items):
            return any(map(takes_characters, items))
        case Repeat(body):
            return takes_characters(body)
        case _:
            return False


def look(body: Node, negative: bool, offset: int) -> Node:
    """Return a look-ahead, as a test of the next character where that is all it is."""
    seen = _next_character(body)
    if seen is None:
        return Look(body, negative, offset)
    points, at_end = seen
    return Ahead(~points, not at_end) if negative else Ahead(points, at_end)


def _next_character(node: Node) -> tuple[CodePoints, bool] | None:
    """Return what the next character must be for `node` to match, if that decides it."""
    match node:
        case Chars(points):
            return points, False
        case Ahead(points, at_end):
            return points, at_end
        case Repeat(body, 1):
            return _next_character(body)
        case Choice(items):
            seen = [_next_character(item) for item in items]
            union, at_end = CodePoints(), False
            for one in seen:
                if one is None:
                    return None
                union, at_end = union | one[0], at_end or one[1]
            return union, at_end
        case Concat((first, *rest)) if all(_is_always_nullable(item) for item in rest):
            return _next_character(first)
        case _:
            return None


def _is_always_nullable(node: Node) -> bool:
    """Whether the node matches the empty text wherever it is tried."""
    match node:
        case Concat(items):
            return all(map(_is_always_nullable, items))
        case Choice(items):
            return any(map(_is_always_nullable, items))
        case Repeat(body, low):
            return low == 0 or _is_always_nullable(body)
        case _:
            return False
