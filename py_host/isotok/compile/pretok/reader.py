"""Reading a pattern character by character, and what all parts of the parser share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from isotok.compile.pretok import properties
from isotok.compile.pretok.code_points import LIMIT, CodePoints
from isotok.compile.pretok.errors import PatternError

Dialect = Literal["tiktoken", "tokenizers"]
"""Whose pattern it is: fancy-regex as tiktoken calls it, or Oniguruma (Ruby syntax) as
tokenizers calls it. The same pattern can mean different things."""

ASCII: Final = CodePoints.from_ranges([(0, 0x7F)])
_CASELESS: Final = ("c", "p", "z", "sm", "sc", "nd")
_CONTROLS: Final = {"r": 13, "n": 10, "t": 9, "f": 12, "v": 11, "a": 7}
_HEX: Final = "0123456789abcdefABCDEF"


@dataclass
class Flags:
    """Options that hold for a part of a pattern."""

    ignore_case: bool = False
    dot_all: bool = False


class Reader:
    """A position in a pattern of a dialect."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern = pattern
        self.dialect: Dialect = dialect
        self.at = 0
        caseless = CodePoints()
        for name in _CASELESS:
            caseless |= properties.need(dialect, name)
        self.caseless = caseless

    def refuse(self, construct: str, offset: int | None = None) -> NoReturn:
        """Raise the error for a construct that begins at `offset` (default: here)."""
        raise PatternError(construct, self.pattern, self.at if offset is None else offset)

    @property
    def done(self) -> bool:
        """Whether the pattern ends here."""
        return self.at == len(self.pattern)

    def peek(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Go past `text` if it comes next."""
        found = self.peek(text)
        if found:
            self.at += len(text)
        return found

    def next(self, what: str) -> str:
        """Go past one character; `what` is named if the pattern ends."""
        if self.done:
            self.refuse(f"a pattern that ends inside {what}")
        self.at += 1
        return self.pattern[self.at - 1]

    def set_of(self, name: str) -> CodePoints:
        """Return a set of this engine."""
        return properties.need(self.dialect, name)

    def fold(self, points: CodePoints, flags: Flags, offset: int) -> CodePoints:
        """Return the set with all cases of its letters, if the flags ask for it."""
        if not flags.ignore_case:
            return points
        others = points - ASCII - self.caseless
        if others:
            self.refuse("(?i) on characters outside ASCII that may have cases", offset)
        for first, last in (points & ASCII).ranges():
            for point in range(first, last + 1):
                letter = chr(point).lower()
                if "a" <= letter <= "z":
                    points |= self.set_of(f"fold {letter}")
        return points

    def escape(self, in_class: bool) -> CodePoints:
        r"""Read what follows a backslash, as far as it stands for a set of characters."""
        start = self.at - 1
        letter = self.next("an escape")
        if letter in "pP":
            return self._property(letter == "P", start, in_class)
        if letter in "sdw":
            return self._class(letter, in_class)
        if letter in "SDW":
            return ~self._class(letter.lower(), in_class)
        if letter in _CONTROLS:
            return CodePoints.of(_CONTROLS[letter])
        if letter in "xuU":
            return CodePoints.of(self._number(letter, start))
        if letter.isalnum() or letter in "<>" or ord(letter) > 0x7F:
            where = " in brackets" if in_class else ""
            self.refuse(f"the escape \\{letter}{where}", start)
        return CodePoints.of(ord(letter))

    def _class(self, letter: str, in_class: bool) -> CodePoints:
        """Oniguruma has six word characters (² ³ ¹ ¼ ½ ¾) that are none inside brackets."""
        inside = letter == "w" and in_class and self.dialect == "tokenizers"
        return self.set_of("[:word:]" if inside else f"\\{letter}")

    def _property(self, negative: bool, start: int, in_class: bool) -> CodePoints:
        name = self.next("a property")
        if name == "{":
            end = self.pattern.find("}", self.at)
            if end < 0:
                self.refuse("a property without }", start)
            name = self.pattern[self.at : end]
            self.at = end + 1
            if name.startswith("^"):
                name, negative = name[1:], not negative
        elif self.dialect == "tokenizers":
            self.refuse("a property without braces", start)
        if name.lower() == "word":
            points = self._class("w", in_class)
        else:
            points = properties.find_property(self.dialect, name)
        if points is None:
            self.refuse(f"the property {name!r}", start)
        return ~points if negative else points

    def _number(self, letter: str, start: int) -> int:
        r"""Read the digits of ``\x``, ``\u`` or ``\U``."""
        braces = letter == "x" or self.dialect == "tiktoken"
        if braces and self.take("{"):
            end = self.pattern.find("}", self.at)
            digits = self.pattern[self.at : end] if end > self.at else ""
            self.at = max(end + 1, self.at)
        elif letter == "U" and self.dialect == "tokenizers":
            digits = ""
        else:
            count = {"x": 2, "u": 4, "U": 8}[letter]
            digits = self.pattern[self.at : self.at + count]
            self.at += count
            if len(digits) < count:
                digits = ""
        if not digits or any(digit not in _HEX for digit in digits):
            self.refuse(f"the escape \\{letter} without its hexadecimal digits", start)
        point = int(digits, 16)
        raw_byte = letter == "x" and self.dialect == "tokenizers" and point > 0x7F
        if point >= LIMIT or (raw_byte and self.pattern[self.at - 1] != "}"):
            self.refuse(f"the character \\{letter}{digits}", start)
        return point
