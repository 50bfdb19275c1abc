"""Parsing a pattern of either dialect into nodes. What it cannot express it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from string import ascii_lowercase
from typing import Final

from isotok.compile.pretok.brackets import read_set
from isotok.compile.pretok.code_points import ALL, NONE, CodePoints
from isotok.compile.pretok.nodes import (
    Ahead,
    Behind,
    Chars,
    Choice,
    Concat,
    Mode,
    Node,
    Repeat,
    is_nullable,
    look,
)
from isotok.compile.pretok.reader import Dialect, Flags, Reader

_NEWLINE: Final = CodePoints.of(10)
_MAX_DEPTH: Final = 50
_MAX_COUNT: Final = 1000
_MAX_PATTERN: Final = 20_000
_GROUPS: Final = {
    "(?P": "a named group",
    "(?<": "a named group",
    "(?'": "a named group",
    "(?(": "a conditional",
    "(?#": "a comment",
    "(?|": "a branch reset",
    "(?~": "an absent operator",
    "(?&": "a subroutine call",
    "(?R": "a recursion",
    "(*": "a verb or call-out",
}
_ESCAPES: Final = {
    "G": "\\G (end of the previous match)",
    "K": "\\K (keep out)",
    "R": "\\R (general newline)",
    "X": "\\X (grapheme cluster)",
    "N": "\\N",
    "O": "\\O",
    "Z": "\\Z",
    "h": "\\h",
    "H": "\\H",
    "k": "a back-reference",
    "g": "a subroutine call",
    "y": "\\y (text segment boundary)",
    "Y": "\\Y",
}


def parse(pattern: str, dialect: Dialect) -> Node:
    """Parse a pattern.

    Parameters
    ----------
    pattern : str
        As the engine gets it.
    dialect : {"tiktoken", "tokenizers"}
        Whose engine.

    Returns
    -------
    Node
        Never a capture: groups only group.

    Raises
    ------
    PatternError
        It holds something that cannot be reproduced exactly; the error names it.
    """
    reader = Reader(pattern, dialect)
    if len(pattern) > _MAX_PATTERN:
        reader.refuse(f"a pattern of more than {_MAX_PATTERN} characters")
    node = _choice(reader, Flags(), 0)
    if not reader.done:
        reader.refuse("a ) without (")
    return node


def _choice(reader: Reader, flags: Flags, depth: int) -> Node:
    if depth > _MAX_DEPTH:
        reader.refuse(f"groups nested more than {_MAX_DEPTH} deep")
    flags = _leading_flags(reader, flags)
    items = [_sequence(reader, flags, depth)]
    while reader.take("|"):
        items.append(_sequence(reader, flags, depth))
    return items[0] if len(items) == 1 else Choice(tuple(items))


def _leading_flags(reader: Reader, flags: Flags) -> Flags:
    """Read ``(?i)`` at the start of a group, where both dialects agree on what it covers."""
    start = reader.at
    if not reader.peek("(?"):
        return flags
    reader.at += 2
    changed = _flags(reader, flags)
    if changed is not None and reader.take(")"):
        return changed
    reader.at = start
    return flags


def _flags(reader: Reader, flags: Flags) -> Flags | None:
    """Read letters such as ``i-m``; None if something else comes."""
    value, changed = True, replace(flags)
    dot_all = "s" if reader.dialect == "tiktoken" else "m"
    while not reader.done and reader.pattern[reader.at] in "imsxuU-":
        letter = reader.next("flags")
        if letter == "-":
            value = False
        elif letter == "i":
            changed.ignore_case = value
        elif letter == dot_all:
            changed.dot_all = value
        else:
            reader.refuse(f"the flag {letter}", reader.at - 1)
    return changed if reader.peek(")") or reader.peek(":") else None


def _sequence(reader: Reader, flags: Flags, depth: int) -> Node:
    items: list[Node] = []
    while not reader.done and not reader.peek("|") and not reader.peek(")"):
        start = reader.at
        items.append(_repeats(reader, _atom(reader, flags, depth), start))
    return items[0] if len(items) == 1 else Concat(tuple(items))


def _atom(reader: Reader, flags: Flags, depth: int) -> Node:
    start = reader.at
    character = reader.next("a pattern")
    if character == "(":
        reader.at = start
        return _group(reader, flags, depth)
    if character == "[":
        return _chars(read_set(reader, flags), flags, start)
    if character == "\\":
        return _escaped(reader, flags, start)
    if character == ".":
        return Chars(ALL if flags.dot_all else ~_NEWLINE)
    if character in "^$":
        return _anchor(character, reader.dialect)
    if character in "*+?":
        reader.refuse("a repeat of nothing", start)
    if character in "{}" and not (character == "}" and reader.dialect == "tokenizers"):
        reader.refuse(f"{character} outside a repeat; write \\{character}", start)
    return _chars(reader.fold(CodePoints.of(ord(character)), flags, start), flags, start)


def _chars(points: CodePoints, flags: Flags, start: int) -> Chars:
    letters = ascii_lowercase if flags.ignore_case else ""
    return Chars(points, "".join(x for x in letters if ord(x) in points), start)


def _anchor(character: str, dialect: Dialect) -> Node:
    if dialect == "tiktoken":
        return Behind(NONE, at_start=True) if character == "^" else Ahead(NONE, at_end=True)
    if character == "$":
        return Ahead(_NEWLINE, at_end=True)
    after_newline = Concat((Behind(_NEWLINE, at_start=False), Ahead(ALL, at_end=False)))
    return Choice((Behind(NONE, at_start=True), after_newline))


def _escaped(reader: Reader, flags: Flags, start: int) -> Node:
    letter = reader.next("an escape")
    if letter in "bB":
        return _word_boundary(reader.set_of("\\w"), negative=letter == "B")
    if letter == "A":
        return Behind(NONE, at_start=True)
    if letter == "z":
        return Ahead(NONE, at_end=True)
    if letter in _ESCAPES:
        reader.refuse(_ESCAPES[letter], start)
    if letter.isdigit():
        reader.refuse("a back-reference or octal number", start)
    reader.at -= 1
    return _chars(reader.fold(reader.escape(in_class=False), flags, start), flags, start)


def _word_boundary(word: CodePoints, *, negative: bool) -> Node:
    sides = ((False, True), (True, False)) if not negative else ((False, False), (True, True))
    return Choice(
        tuple(
            Concat(
                (
                    Behind(word if before else ~word, at_start=not before),
                    Ahead(word if after else ~word, at_end=not after),
                )
            )
            for before, after in sides
        )
    )


def _group(reader: Reader, flags: Flags, depth: int) -> Node:
    start = reader.at

    def inside(skip: int, inner: Flags = flags) -> Node:
        reader.at = start + skip
        node = _choice(reader, inner, depth + 1)
        if not reader.take(")"):
            reader.refuse("a group without )", start)
        return node

    kinds: dict[str, Callable[[], Node]] = {
        "(?:": lambda: inside(3),
        "(?=": lambda: look(inside(3), False, start),
        "(?!": lambda: look(inside(3), True, start),
        "(?<=": lambda: _behind(reader, inside(4), False, start),
        "(?<!": lambda: _behind(reader, inside(4), True, start),
        "(?>": lambda: _atomic(reader, inside(3), start),
    }
    for opening, kind in kinds.items():
        if reader.peek(opening):
            return kind()
    for opening, name in _GROUPS.items():
        if reader.peek(opening):
            reader.refuse(name)
    if not reader.peek("(?"):
        return inside(1)
    reader.at += 2
    inner = _flags(reader, flags)
    if inner is None:
        reader.refuse("a group of an unknown kind", start)
    if not reader.take(":"):
        reader.refuse("flags in the middle of a group", start)
    return inside(reader.at - start, inner)


def _behind(reader: Reader, body: Node, negative: bool, start: int) -> Node:
    seen = look(body, negative, start)
    if not isinstance(seen, Ahead):
        reader.refuse("a look-behind that is not one character", start)
    return Behind(seen.points, seen.at_end)


def _atomic(reader: Reader, body: Node, start: int) -> Node:
    if isinstance(body, Repeat) and body.mode == "greedy" and isinstance(body.body, Chars):
        return replace(body, mode="possessive")
    if isinstance(body, Chars):
        return body
    reader.refuse("an atomic group that is not one repeated character", start)


def _repeats(reader: Reader, node: Node, start: int) -> Node:
    while not reader.done:
        offset = reader.at
        bounds = _bounds(reader)
        if bounds is None:
            return node
        if isinstance(node, Ahead | Behind) or is_nullable(node):
            reader.refuse("a repeat of something that may match nothing", start)
        node = _repeat(reader, node, bounds, offset)
    return node


def _repeat(reader: Reader, body: Node, bounds: tuple[int, int | None, bool], offset: int) -> Node:
    """Read the mode behind a repeat; Ruby has none behind braces."""
    low, high, braces = bounds
    ruby = braces and reader.dialect == "tokenizers"
    mode: Mode = "greedy"
    if reader.peek("+") and not ruby:
        reader.at += 1
        mode = "possessive"
        if not isinstance(body, Chars):
            reader.refuse("a possessive repeat of a group", offset)
    elif reader.peek("?") and not (ruby and low == high):
        reader.at += 1
        mode = "lazy"
    return Repeat(body, low, high, mode, offset)


def _bounds(reader: Reader) -> tuple[int, int | None, bool] | None:
    """Read ``*``, ``+``, ``?`` or ``{…}``: least, most, whether in braces."""
    for character, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
        if reader.take(character):
            return low, high, False
    if not reader.peek("{"):
        return None
    start = reader.at
    end = reader.pattern.find("}", start)
    low_text, comma, high_text = reader.pattern[start + 1 : max(end, start)].partition(",")
    open_low = not low_text and bool(high_text) and reader.dialect == "tokenizers"
    if not (open_low or _is_number(low_text)) or not (not high_text or _is_number(high_text)):
        reader.refuse("{ outside a repeat; write \\{")
    reader.at = end + 1
    low = int(low_text or 0)
    high = (int(high_text) if high_text else None) if comma else low
    if max(low, high or 0) > _MAX_COUNT:
        reader.refuse(f"a repeat of more than {_MAX_COUNT}", start)
    if high is not None and (high < low or high == 0):
        reader.refuse("a repeat whose most is below its least, or 0", start)
    return low, high, True


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
