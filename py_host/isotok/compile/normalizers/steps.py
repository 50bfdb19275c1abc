"""The steps of a program: what each does to one character, seen by the compiler.

A text here is a tuple of *letters*: characters, or `SELF`, which stands for any one of a set of
characters that no step tells apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from isotok.compile.normalizers import data
from isotok.compile.normalizers.charsmap import Charsmap
from isotok.compile.pretok.code_points import CodePoints

SELF: Final = "\ud800"


@dataclass(frozen=True, slots=True)
class Images:
    """A map of single characters.

    Parameters
    ----------
    table : mapping of str to str
    sets : tuple of (CodePoints, str)
        Images of sets, after the table; `SELF` in them is the character itself.
    """

    table: Mapping[str, str]
    sets: tuple[tuple[CodePoints, str], ...] = ()

    def of(self, letter: str, example: str) -> str:
        """Return the image of a letter; `example` is what SELF stands for."""
        char = example if letter == SELF else letter
        if char in self.table:
            return self.table[char]
        for points, image in self.sets:
            if ord(char) in points:
                return image.replace(SELF, letter)
        return letter


@dataclass(frozen=True, slots=True)
class Map:
    """Maps, one after the other."""

    parts: tuple[Images, ...]

    def of(self, text: str, example: str) -> str:
        """Return the image of a text."""
        for part in self.parts:
            text = "".join(part.of(letter, example) for letter in text)
        return text


@dataclass(frozen=True, slots=True)
class Form:
    """A normal form; `table` holds its decompositions."""

    name: str
    composes: bool

    @property
    def table(self) -> dict[str, str]:
        """Return the decompositions."""
        return data.character_map(self.name)


@dataclass(frozen=True, slots=True)
class Precompiled:
    """The charsmap of Precompiled."""

    charsmap: Charsmap
    raw: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """At least `least` characters of a set, as many as there are, become `content`."""

    points: CodePoints
    least: int
    content: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A text of two characters or more becomes `content`."""

    pattern: str
    content: str


@dataclass(frozen=True, slots=True)
class Strip:
    """Whitespace goes from the ends of a text."""

    left: bool
    right: bool


@dataclass(frozen=True, slots=True)
class Prefix:
    """A text in front of a text that is not empty.

    Parameters
    ----------
    content : str
    unless : str
        Not if the text begins with this character.
    only_start : bool
        Only if the text begins where the whole input does.
    """

    content: str
    unless: str = ""
    only_start: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """Whitespace goes; each word gets a prefix, unless it begins with it."""

    content: str


Step = Map | Form | Precompiled | Run | Literal | Strip | Prefix | Split


def normal_form(text: str, form: Form, example: str) -> str:
    """Return the normal form of a text of letters."""

    def class_of(letter: str) -> int:
        return data.combining_class(example if letter == SELF else letter)

    parts: list[str] = []
    for letter in text:
        parts += letter if letter == SELF else data.decompose(letter, form.table)
    begin = 0
    for i, letter in enumerate([*parts, "a"]):
        if class_of(letter) == 0:
            parts[begin:i] = sorted(parts[begin:i], key=class_of)
            begin = i + 1
    return "".join(_compose(parts, class_of) if form.composes else parts)


def _compose(parts: Iterable[str], class_of: Callable[[str], int]) -> list[str]:
    out: list[str] = []
    starter, before = -1, 0
    for letter in parts:
        number = class_of(letter)
        if starter >= 0 and (before == 0 or before < number) and SELF not in (out[starter], letter):
            made = data.compose(out[starter], letter)
            if made is not None:
                out[starter] = made
                continue
        if number == 0:
            starter = len(out)
        if starter >= 0:
            before = number
        out.append(letter)
    return out
