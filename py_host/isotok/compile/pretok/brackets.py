"""Bracketed sets: ``[a-z]``, ``[^…]``, nested ones, ``&&`` and POSIX names."""

from __future__ import annotations

from isotok.compile.pretok import properties
from isotok.compile.pretok.code_points import NONE, CodePoints
from isotok.compile.pretok.reader import Flags, Reader


def read_set(reader: Reader, flags: Flags) -> CodePoints:
    """Read a set whose ``[`` was taken, up to and including its ``]``."""
    start = reader.at - 1
    negative = reader.take("^")
    if reader.peek("]"):
        reader.refuse("brackets that begin with ]; write \\]")
    result: CodePoints | None = None
    while True:
        operand = _union(reader, flags, start)
        result = operand if result is None else result & operand
        if reader.take("]"):
            return ~result if negative else result
        reader.at += 2  # &&


def _union(reader: Reader, flags: Flags, start: int) -> CodePoints:
    """Read the items up to ``]`` or ``&&``, which are not taken."""
    points, items = NONE, 0
    while not reader.peek("]") and not reader.peek("&&"):
        if reader.done:
            reader.refuse("brackets without ]", start)
        points |= _item(reader, flags, is_first=items == 0)
        items += 1
    if not items:
        reader.refuse("an empty set in brackets", start)
    return points


def _item(reader: Reader, flags: Flags, *, is_first: bool) -> CodePoints:
    """Read a nested set, a class, a character or a range."""
    offset = reader.at
    if reader.peek("[:"):
        return _posix(reader)
    if reader.take("["):
        return read_set(reader, flags)
    for operator in ("--", "~~"):
        if reader.peek(operator):
            reader.refuse(f"{operator} in brackets; write \\{operator[0]}")
    first = _one(reader)
    if reader.pattern[offset] == "-" and not is_first and not reader.peek("]"):
        reader.refuse("- between other characters in brackets; write \\-", offset)
    if not _begins_range(reader):
        return reader.fold(first, flags, offset)
    reader.at += 1
    if reader.peek("["):
        reader.refuse("a range that ends in brackets", offset)
    last = _one(reader)
    if len(first) != 1 or len(last) != 1:
        reader.refuse("a range between classes", offset)
    low, high = first.toggles[0], last.toggles[0]
    if low > high:
        reader.refuse("a range whose ends are in the wrong order", offset)
    return reader.fold(CodePoints.from_ranges([(low, high)]), flags, offset)


def _begins_range(reader: Reader) -> bool:
    """Whether ``-`` comes next and is not the last character of the set."""
    after = reader.pattern[reader.at + 1 : reader.at + 2]
    return reader.peek("-") and after not in ("", "]")


def _one(reader: Reader) -> CodePoints:
    if reader.take("\\"):
        return reader.escape(in_class=True)
    return CodePoints.of(ord(reader.next("brackets")))


def _posix(reader: Reader) -> CodePoints:
    start = reader.at
    end = reader.pattern.find(":]", start)
    name = reader.pattern[start + 2 : end] if end > 0 else ""
    negative = name.startswith("^")
    points = properties.find(reader.dialect, f"[:{name.removeprefix('^')}:]")
    if points is None:
        reader.refuse(f"the POSIX class [:{name}:]", start)
    reader.at = end + 2
    return ~points if negative else points
