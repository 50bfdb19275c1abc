"""What may stand behind a token that is looked for in normalized text, where marks compose.

NFC makes one character of `>` and the U+0338 behind it: then `<tag>` is not in the normalized
text, although it is in the raw text. Whether it is depends on the marks that follow: of each
combining class the first one can compose, whatever stands between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from isotok.compile.normalizers import data
from isotok.compile.normalizers.steps import Form, Map, Step

BROKEN: Final = "-"
"""The token's last character is another one."""

Tail = tuple[str, frozenset[int]]
"""A character, and the classes of marks that stand behind it and compose with nothing."""


@dataclass(frozen=True)
class Joined:
    """A composing form between maps of single characters.

    Parameters
    ----------
    before, after : sequence of Map
    form : Form
    """

    before: Sequence[Map]
    form: Form
    after: Sequence[Map]

    def letters(self, char: str) -> str:
        """What is composed in the place of a character of the raw text."""
        text = char
        for step in self.before:
            text = step.of(text, char)
        return "".join(data.decompose(letter, self.form.table) for letter in text)

    @cached_property
    def followers(self) -> tuple[tuple[str, str], ...]:
        """Characters, and their letters, that begin with one that can compose backwards."""
        found = {
            *data.seconds(),
            *(
                chr(point)
                for members in data.combining_classes().values()
                for point in _of(members)
            ),
            *(char for char, text in self.form.table.items() if text),
        }
        for step in self.before:
            for part in step.parts:
                found |= part.table.keys()
                found.update(chr(i) for points, _ in part.sets for i in _of(points))
        pairs = ((char, self.letters(char)) for char in sorted(found) if _is_character(char))
        return tuple((char, text) for char, text in pairs if text and self.can_join(text[0]))

    @staticmethod
    def can_join(letter: str) -> bool:
        """Whether a character may compose with one in front of it, or hide it from others."""
        return letter in data.seconds() or data.combining_class(letter) != 0

    def classes(self, char: str) -> frozenset[int]:
        """Classes of the marks that compose with a character, 0 of those that are no marks."""
        seconds = {b for a, b in data.compositions() if a == char}
        return frozenset(map(data.combining_class, seconds))

    def begin(self, char: str) -> Tail | None:
        """Return what may happen behind a character of the raw text; None: nothing."""
        last = self.letters(char)[-1:]
        hangul = "\u1100" <= last <= "\u1112"
        return (last, frozenset()) if hangul or self.classes(last) else None

    def next(self, tail: Tail, letters: str) -> Tail | str | None:
        """Return where letters lead; None: nothing more can happen."""
        char, seen = tail
        for letter in letters:
            number = data.combining_class(letter)
            composes = data.compose(char, letter) is not None
            if number == 0:
                # marks that are kept stand between, whatever their class
                return BROKEN if composes and not seen else None
            if composes and number not in seen:
                return BROKEN
            seen |= {number if number in self.classes(char) else _OTHER}
        return char, seen

    def why_not(self, content: str) -> str:
        """Return why a normalized text cannot be found by single characters, or nothing."""
        if any(
            data.decompose(char, self.form.table) != char or self.can_join(char) for char in content
        ):
            return "with characters that compose"
        for char in {*data.compositions().values(), *_marks()}:
            image = char
            for step in self.after:
                image = step.of(image, char)
            if not image or not set(image).isdisjoint(content):
                return "with characters that a composed one, or a mark, becomes"
        return ""


_OTHER: Final = -1
"""A class of which no mark composes with the character."""


def joined_of(steps: Sequence[Step]) -> Joined | None:
    """Return the composing form among the steps, if there is one; the others are maps then."""
    places = [i for i, step in enumerate(steps) if isinstance(step, Form)]
    if len(places) != 1:
        return None
    form = steps[places[0]]
    assert isinstance(form, Form)
    if not form.composes:
        return None
    return Joined(_maps(steps[: places[0]]), form, _maps(steps[places[0] + 1 :]))


def _maps(steps: Sequence[Step]) -> list[Map]:
    return [step for step in steps if isinstance(step, Map)]


def _marks() -> set[str]:
    classes = data.combining_classes().values()
    return {chr(point) for members in classes for point in _of(members)}


def _of(points: object) -> list[int]:
    from isotok.compile.pretok.code_points import CodePoints

    assert isinstance(points, CodePoints)
    return [i for first, last in points.ranges() for i in range(first, last + 1)]


def _is_character(char: str) -> bool:
    return not 0xD800 <= ord(char) < 0xE000
