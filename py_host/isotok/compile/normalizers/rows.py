"""The tables of a program: what it needs to know of each code point, in rows.

Code points that no step tells apart share a row; a three-stage table leads from code points to
rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from isotok.compile.normalizers import data, graphemes
from isotok.compile.normalizers.joins import joins
from isotok.compile.normalizers.reader import fail, spaces
from isotok.compile.normalizers.steps import (
    SELF,
    Form,
    Literal,
    Map,
    Precompiled,
    Prefix,
    Run,
    Split,
    Step,
    Strip,
    normal_form,
)
from isotok.compile.pretok.code_points import LIMIT, CodePoints

SLOW: Final = 8
SPACE: Final = 16
COLUMNS: Final = 2
"""Columns in front of those of the steps: flags and combining class; the image."""
_BLOCK: Final = 128
_MIDDLE: Final = 32
_MOST: Final = 0xFFFF
_SELF_BYTE: Final = b"\xff"


class Texts:
    """The pool of texts: each is its size in a byte, then itself, at an even place.

    A code is half of the place; 0 stands for "as it is".
    """

    def __init__(self) -> None:
        self._pool = bytearray(2)
        self._codes: dict[str, int] = {}

    def code(self, text: str) -> int:
        """Return the code of a text; `SELF` in it is the character that it is the image of."""
        code = self._codes.get(text)
        if code is None:
            raw = b"".join(_SELF_BYTE if c == SELF else c.encode() for c in text)
            if len(raw) > 255:
                raise fail("normalizer", "the image of a character of more than 255 bytes")
            code = len(self._pool) // 2
            if code > _MOST:
                raise fail("normalizer", "more than 128 KiB of different images")
            self._pool += bytes([len(raw)]) + raw
            self._pool += bytes(len(self._pool) % 2)
            self._codes[text] = code
        return code

    def to_bytes(self) -> bytes:
        """Return the pool."""
        return bytes(self._pool)


class Rows:
    """The finished tables."""

    def __init__(self) -> None:
        self.stride = 0
        self.count = 0
        self.middles = 0
        self.blocks = 0
        self.numbers = array("H")
        self.plain = [""] * 128
        """What ASCII characters become between two boundaries."""
        self.flags = [0] * 128
        self.longest: list[int] = []
        """Of each step, the characters that one may become."""

    def expansion(self, steps: Sequence[Step]) -> int:
        """Return how many characters one may become, at most."""
        result = 1
        for step, longest in zip(steps, self.longest, strict=True):
            result = min(result * longest, _MOST)
            if isinstance(step, Prefix | Split):
                result += len(step.content)
        return min(result, _MOST)


def make_rows(steps: Sequence[Step], texts: Texts, *, compact: bool) -> Rows:
    """Make the tables.

    Parameters
    ----------
    steps : sequence of Step
    texts : Texts
        Grows.
    compact : bool
        U+2581 has another form in internal text.
    """
    maker = _Maker(steps, texts, compact=compact)
    singles = _singles(steps)
    rows = Rows()
    numbers: dict[tuple[int, ...], int] = {}
    lines: list[tuple[int, ...]] = []
    of_point = array("H", [0]) * LIMIT

    def number(row: tuple[int, ...]) -> int:
        found = numbers.get(row)
        if found is None:
            found = numbers[row] = len(lines)
            lines.append(row)
            if found > _MOST:
                raise fail("normalizer", "more than 65,536 kinds of characters")
        return found

    apart = frozenset(singles)
    for first, end in _atoms(steps):
        example = next((char for char in map(chr, range(first, end)) if char not in apart), None)
        if example is None:
            continue
        line = number(maker.row(SELF, example))
        if line:
            of_point[first:end] = array("H", [line]) * (end - first)
    for char in singles:
        row = maker.row(char, char)
        of_point[ord(char)] = number(row)
        if char < "\x80":
            rows.flags[ord(char)] = row[0] & 0xFF
            rows.plain[ord(char)] = maker.image
    rows.stride = COLUMNS + len(steps)
    rows.count = len(lines)
    rows.longest = maker.longest
    _fold(rows, of_point)
    for line in lines:
        rows.numbers.extend(line)
    return rows


def _fold(rows: Rows, of_point: array[int]) -> None:
    blocks: dict[bytes, int] = {}
    middles: dict[bytes, int] = {}
    top, span = array("H"), _BLOCK * _MIDDLE
    for start in range(0, LIMIT, span):
        middle = array("H")
        for block in range(start, start + span, _BLOCK):
            raw = of_point[block : block + _BLOCK].tobytes()
            middle.append(blocks.setdefault(raw, len(blocks)))
        top.append(middles.setdefault(middle.tobytes(), len(middles)))
    rows.middles, rows.blocks = len(middles), len(blocks)
    rows.numbers = top
    for raw in (*middles, *blocks):
        rows.numbers.frombytes(raw)


def _singles(steps: Sequence[Step]) -> list[str]:
    """Return the characters that are looked at one by one."""
    found = set(map(chr, range(128))) | {"\u2581", "\ufffd"}
    for step in steps:
        match step:
            case Map(parts):
                for part in parts:
                    found |= part.table.keys()
            case Form():
                found |= step.table.keys() | data.seconds()
                found |= {char for pair in data.compositions() for char in pair}
            case Precompiled(charsmap):
                found |= {*charsmap.letters()}
            case Literal(pattern):
                found |= set(pattern)
            case _:
                pass
    return sorted(found)


def _atoms(steps: Sequence[Step]) -> Iterable[tuple[int, int]]:
    """Yield ranges of which no step tells members apart, singles aside."""
    sets: list[CodePoints] = []
    for step in steps:
        match step:
            case Map(parts):
                sets += [points for part in parts for points, _ in part.sets]
            case Form():
                sets += data.combining_classes().values()
                sets += [CodePoints.from_ranges([(data.HANGUL[0], data.HANGUL[-1])])]
                sets += [graphemes.classes()[number] for number in (13, 14)]
            case Precompiled():
                sets += graphemes.classes()
            case Run(points):
                sets.append(points)
            case Strip() | Split():
                sets.append(spaces())
            case _:
                pass
    toggles = {point for points in sets for point in points.toggles}
    bounds = sorted(toggles | {0, 0xD800, 0xE000, LIMIT})
    return pairwise(bounds)


class _Maker:
    """Makes rows; `image` is what the last character becomes on its own."""

    def __init__(self, steps: Sequence[Step], texts: Texts, *, compact: bool) -> None:
        self._compact = compact
        self._steps = steps
        self._texts = texts
        self._forms = any(isinstance(step, Form) for step in steps)
        self._spaces = spaces() if any(isinstance(s, Strip | Split) for s in steps) else None
        self._gone = [_gone(steps[:i]) for i in range(len(steps))]
        self.longest = [1] * len(steps)
        self.image = ""

    def row(self, letter: str, example: str) -> tuple[int, ...]:
        if 0xD800 <= ord(example) < 0xE000:
            return (0,) * (COLUMNS + len(self._steps))
        flags = joins(letter, example, self._steps) | self._space(letter, example) * SPACE
        more, image = self._alone(letter, example)
        flags |= more
        self.image = image
        code = 0
        if self._compact and "\u2581" in image:
            flags |= SLOW
        if not flags & SLOW and image != letter:
            if len(image.encode("utf-8", "surrogatepass")) > 255:
                flags |= SLOW
            else:
                code = self._texts.code(image)
        combining = data.combining_class(example) if self._forms else 0
        cells = [self._cell(i, step, letter, example) for i, step in enumerate(self._steps)]
        return (flags | combining << 8, code, *cells)

    def _space(self, letter: str, example: str) -> bool:
        char = example if letter == SELF else letter
        return self._spaces is not None and ord(char) in self._spaces

    def _cell(self, index: int, step: Step, letter: str, example: str) -> int:
        match step:
            case Map():
                image = step.of(letter, example)
            case Form():
                point = ord(example)
                image = letter if point in data.HANGUL else step.table.get(letter, letter)
                if point in data.HANGUL:
                    self.longest[index] = max(self.longest[index], 3)
            case Precompiled(charsmap):
                if letter not in self._gone[index]:
                    size = max(map(len, charsmap.images_of(letter)), default=0)
                    self.longest[index] = max(self.longest[index], size)
                return graphemes.class_of(example)
            case Run(points, _, content):
                self.longest[index] = max(self.longest[index], len(content))
                return int(ord(example) in points)
            case Literal(_, content):
                self.longest[index] = max(self.longest[index], len(content))
                return 0
            case _:
                return 0
        self.longest[index] = max(self.longest[index], len(image))
        return 0 if image == letter else self._texts.code(image)

    def _alone(self, letter: str, example: str) -> tuple[int, str]:
        """Return flags and the image of a character between two boundaries."""
        text, flags = letter, 0
        for step in self._steps:
            match step:
                case Map():
                    text = step.of(text, example)
                case Form():
                    if SELF in text and ord(example) in data.HANGUL:
                        flags |= 0 if step.composes else SLOW
                    text = normal_form(text, step, example)
                case Precompiled():
                    text = _charsmap(text, step, example)
                case Run(points, least, content):
                    text = _run(text, points, least, content, example)
                case Literal(pattern, content):
                    text = text.replace(pattern, content)
                case Strip(_, True):
                    where = [self._space(c, example) for c in text]
                    if where and where[-1]:
                        flags |= SLOW
                case Split(content):
                    where = [self._space(c, example) for c in text]
                    if any(where) or text[:1] == content or not text:
                        flags |= SLOW
                case _:
                    pass
        return flags, text


def _gone(steps: Sequence[Step]) -> frozenset[str]:
    """Return characters that are not there behind the steps: what a normal form decomposes."""
    gone: set[str] = set()
    for step in steps:
        match step:
            case Form():
                table = {} if step.composes else step.table
                gone = {letter for letter, image in table.items() if image != letter}
            case Map(parts):
                for part in parts:
                    images = (*part.table.values(), *(image for _, image in part.sets))
                    gone.difference_update(*images)
            case Precompiled(charsmap):
                gone.difference_update(*charsmap.images())
            case Run(_, _, content) | Literal(_, content) | Prefix(content) | Split(content):
                gone -= set(content)
            case _:
                pass
    return frozenset(gone)


def _charsmap(text: str, step: Precompiled, example: str) -> str:
    out: list[str] = []
    begin = 0
    chars = [example if c == SELF else c for c in text]
    for end in graphemes.clusters([graphemes.class_of(c) for c in chars]):
        cluster, begin = text[begin:end], end
        size = sum(len(c.encode()) for c in chars[end - len(cluster) : end])
        whole = step.charsmap.shortest(cluster) if size < 6 else None
        if whole is not None:
            out.append(whole)
            continue
        for char in cluster:
            found = step.charsmap.shortest(char)
            out.append(char if found is None else found)
    return "".join(out)


def _run(text: str, points: CodePoints, least: int, content: str, example: str) -> str:
    out: list[str] = []
    run = ""
    for char in [*text, ""]:
        if char and ord(example if char == SELF else char) in points:
            run += char
            continue
        out += [content if run and len(run) >= least else run, char]
        run = ""
    return "".join(out)
