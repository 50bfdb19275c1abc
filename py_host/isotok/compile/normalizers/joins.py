"""Where a text may be taken apart: what a character can join, for the steps of a program.

For each character the steps are followed with the sets of letters that its image may begin and
end with, whatever stands beside it. What is not known exactly counts as joining: that costs
time, not correctness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from isotok.compile.normalizers import data, graphemes
from isotok.compile.normalizers.steps import (
    SELF,
    Form,
    Literal,
    Map,
    Precompiled,
    Run,
    Step,
    normal_form,
)

LEFT: Final = 1
RIGHT: Final = 2
SOFT: Final = 4


@dataclass(slots=True)
class _Ends:
    """What the image of a character may begin and end with; `wild`: with anything, where marks are
    sorted or dropped; `empty`: nothing may be left of it.
    """

    first: set[str]
    last: set[str]
    example: str
    flags: int = 0
    empty: bool = False
    wild: bool = False

    def char(self, letter: str) -> str:
        return self.example if letter == SELF else letter


def joins(letter: str, example: str, steps: Sequence[Step]) -> int:
    """Return `LEFT`, `RIGHT` and `SOFT` of a character."""
    ends = _Ends({letter}, {letter}, example)
    for step in steps:
        if ends.empty and isinstance(step, Form | Precompiled | Run | Literal):
            ends.flags |= LEFT | RIGHT
        match step:
            case Map():
                _map(ends, step)
            case Form():
                _form(ends, step)
            case Precompiled():
                _charsmap(ends, step)
            case Run():
                _run(ends, step)
            case Literal():
                _literal(ends, step)
            case _:
                pass
    return ends.flags


def _images(ends: _Ends, images: list[str], *, last: bool) -> set[str]:
    found: set[str] = set()
    for image in images:
        if image:
            found.add(image[-1] if last else image[0])
        else:
            ends.empty = True
    return found


def _map(ends: _Ends, step: Map) -> None:
    for letters, last in ((ends.first, False), (ends.last, True)):
        images = [step.of(letter, ends.example) for letter in letters]
        found = _images(ends, images, last=last)
        letters.clear()
        letters |= found


def _form(ends: _Ends, step: Form) -> None:
    decomposed = [normal_form(a, Form(step.name, composes=False), ends.example) for a in ends.first]
    for text in decomposed:
        char = ends.char(text[0])
        if data.combining_class(char) or (step.composes and char in data.seconds()):
            ends.flags |= LEFT
    for letters, last in ((ends.first, False), (ends.last, True)):
        images = [normal_form(letter, step, ends.example) for letter in letters]
        plain = [normal_form(a, Form(step.name, composes=False), ends.example) for a in letters]
        letters |= {text[-1 if last else 0] for text in (*images, *plain)}
        if step.composes:
            letters |= _composites(letters, last=last)
    ends.wild |= any(data.combining_class(ends.char(letter)) for letter in ends.last)


@cache
def _made_of(char: str, *, last: bool) -> frozenset[str]:
    return frozenset(
        made for pair, made in data.compositions().items() if pair[1 if last else 0] == char
    )


def _composites(letters: set[str], *, last: bool) -> set[str]:
    found = set(letters)
    todo = list(letters)
    while todo:
        letter = todo.pop()
        more = set(_made_of(letter, last=last)) | set(_made_of(letter, last=False))
        todo += more - found
        found |= more
    return found


def _charsmap(ends: _Ends, step: Precompiled) -> None:
    charsmap = step.charsmap
    classes = {_grapheme(ends.char(letter)) for letter in ends.first}
    ends.flags |= LEFT if classes & graphemes.LEFT else 0
    after = {_grapheme(ends.char(letter)) for letter in ends.last}
    ends.flags |= RIGHT if after & graphemes.RIGHT else 0
    ends.flags |= SOFT if (classes | after) & graphemes.SOFT else 0
    ends.wild |= bool(after & graphemes.EXTENDING)
    for letters, last in ((ends.first, False), (ends.last, True)):
        images = [image for letter in letters for image in charsmap.images_of(letter)]
        if "" in images:  # what is removed counts for the character before it
            ends.flags |= LEFT
        letters |= _images(ends, images, last=last)


@cache
def _grapheme(char: str) -> int:
    return graphemes.class_of(char)


def _run(ends: _Ends, step: Run) -> None:
    inside = [
        {letter for letter in letters if ord(ends.char(letter)) in step.points}
        for letters in (ends.first, ends.last)
    ]
    if any(inside) or ends.wild or ends.empty:
        ends.flags |= SOFT
    if inside[0]:
        ends.first |= set(step.content[:1])
    if inside[1]:
        ends.last |= set(step.content[-1:])
    ends.empty |= any(inside) and not step.content


def _literal(ends: _Ends, step: Literal) -> None:
    pattern = step.pattern
    first = {ends.char(letter) for letter in ends.first}
    last = {ends.char(letter) for letter in ends.last}
    if len(set(pattern)) == 1:
        if pattern[0] in first | last or ends.wild or ends.empty:
            ends.flags |= SOFT
    elif first & set(pattern[1:]) or ends.wild:
        ends.flags |= LEFT
    if pattern[0] in first:
        ends.first |= set(step.content[:1])
        ends.empty |= not step.content
    if pattern[-1] in last:
        ends.last |= set(step.content[-1:])
        ends.wild |= not step.content
