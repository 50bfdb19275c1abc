"""From steps to the three arrays of a program (FORMAT.md, section 14)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile._fields import MAGIC, pack_fields, scalar
from isotok.compile.normalizers import data, graphemes
from isotok.compile.normalizers.joins import LEFT, RIGHT, SOFT
from isotok.compile.normalizers.reader import fail, read_normalizer, read_rewrites
from isotok.compile.normalizers.rows import COLUMNS, Texts, make_rows
from isotok.compile.normalizers.steps import (
    Form,
    Literal,
    Map,
    Precompiled,
    Prefix,
    Run,
    Split,
    Step,
    Strip,
)
from isotok.compile.pretok.code_points import CodePoints
from isotok.compile.pretok.huggingface import PreTokenizer
from isotok.compile.pretok.nodes import Chars, Concat
from isotok.compile.pretok.stages import Stage

_MAP, _FORM, _CHARSMAP, _RUN, _LITERAL, _STRIP, _PREFIX, _SPLIT = range(1, 9)
_BLOCKS, _LOWER, _COLLAPSE, _JOINED = 1, 2, 4, 8
_ESCAPE: Final = 4  # ISOTOK_NORM_ESCAPE
_MOST_STEPS: Final = 16
_MOST_EXPANSION: Final = 4096
_NONE: Final = 0xFFFFFFFF
_SPACE_SYMBOL: Final = "\u2581"
_MOST_HARD: Final = 8


@dataclass(frozen=True, slots=True)
class Normalizer:
    """A program for the core.

    Parameters
    ----------
    header, tables, text : array, array, bytes
        `unicode_header`, `unicode_tables` and `unicode_text`.
    charsmap : bytes
        `precompiled_charsmap`, or nothing.
    escapes : bool
        No U+0020 is in what comes out.
    stages : tuple of Stage
        What is left to cut after the program has rewritten the text.
    """

    header: array[int]
    tables: array[int]
    text: bytes
    charsmap: bytes
    escapes: bool
    stages: tuple[Stage, ...]

    def fields(self) -> list[tuple[int, array[int] | bytes]]:
        """Return the fields of the model compiler."""
        fields: list[tuple[int, array[int] | bytes]] = [
            (abi.FIELD_UNICODE_HEADER, self.header),
            (abi.FIELD_UNICODE_TABLES, self.tables),
            (abi.FIELD_UNICODE_TEXT, self.text),
            (abi.FIELD_NORMALIZER_FLAGS, scalar(_ESCAPE if self.escapes else 0)),
        ]
        return [*fields, *([(abi.FIELD_CHARSMAP, self.charsmap)] if self.charsmap else [])]

    def fields_bytes(self) -> bytes:
        """Return the same, to be appended to what `pack_fields` returned."""
        return pack_fields(self.fields())[len(MAGIC) :]


def make_normalizer(
    normalizer: object, pre_tokenizer: PreTokenizer | None = None
) -> Normalizer | None:
    """Compile the member `normalizer` and what a pre-tokenizer rewrites.

    Parameters
    ----------
    normalizer : object
        As json.loads returns it.
    pre_tokenizer : PreTokenizer, optional
        As `read_pre_tokenizer` returns it.

    Returns
    -------
    Normalizer or None
        None: text stays what it is, and the stages of the pre-tokenizer are unchanged.

    Raises
    ------
    TokenizerError
        It is malformed, or does something that cannot be reproduced exactly; the error names
        the normalizer and where it stands.
    """
    pre = pre_tokenizer or PreTokenizer()
    steps = read_normalizer(normalizer)
    rewrites, used = read_rewrites(pre)
    steps = _merge([*steps, *rewrites])
    if not steps:
        return None
    _check(steps)
    stages = pre.stages[used:]
    # of use to models of characters only, and where what cuts knows that no space is left
    escapes = not pre.byte_level and (bool(pre.space) or cuts_spaces(stages)) and _escapes(steps)
    return _pack(steps, escapes=escapes, stages=stages)


def cuts_spaces(stages: Sequence[Stage]) -> bool:
    """Whether nothing is cut but at U+0020."""
    space = Chars(CodePoints.of(0x20))
    return all(stage.node in (space, Concat((space,))) for stage in stages)


def _merge(steps: Sequence[Step]) -> list[Step]:
    """Make one step of adjacent maps."""
    merged: list[Step] = []
    for step in steps:
        if isinstance(step, Map) and merged and isinstance(merged[-1], Map):
            merged[-1] = Map((*merged[-1].parts, *step.parts))
        else:
            merged.append(step)
    return merged


def _check(steps: Sequence[Step]) -> None:
    if len(steps) > _MOST_STEPS:
        raise fail("normalizer", f"more than {_MOST_STEPS} steps")
    if sum(isinstance(step, Precompiled) for step in steps) > 1:
        raise fail("normalizer", "Precompiled twice")
    if sum(isinstance(step, Split) for step in steps) and not isinstance(steps[-1], Split):
        raise fail("normalizer", "steps after WhitespaceSplit with Metaspace")


def _escapes(steps: Sequence[Step]) -> bool:
    """Whether a step removes all spaces and no later one makes any."""
    escapes = False
    for step in steps:
        match step:
            case Map(parts):
                for part in parts:
                    made = (*part.table.values(), *(image for _, image in part.sets))
                    if any(" " in image for image in made):
                        escapes = False
                    elif " " not in part.of(" ", " "):
                        escapes = True
            case Form(name):
                escapes = escapes and not any(" " in i for i in data.character_map(name).values())
            case Precompiled(charsmap):
                escapes = escapes and not any(" " in i for i in charsmap.images())
            case Split(content):
                escapes = " " not in content
            case Run(_, _, content) | Literal(_, content) | Prefix(content):
                escapes = escapes and " " not in content
            case _:
                pass
    return escapes


def _operations(steps: Sequence[Step], texts: Texts) -> tuple[list[int], list[int]]:
    """Return the words of the operations, and the literals."""
    words: list[int] = []
    literals: list[int] = []
    for number, step in enumerate(steps):
        column = COLUMNS + number
        match step:
            case Map():
                words += _MAP, column, 0, 0
            case Form(_, composes):
                words += _FORM, column, int(composes), 0
            case Precompiled():
                words += _CHARSMAP, column, 0, 0
            case Run(_, least, content):
                words += _RUN, column, least, texts.code(content)
            case Literal(pattern, content):
                words += _LITERAL, len(pattern), len(literals), texts.code(content)
                literals += map(ord, pattern)
            case Strip(left, right):
                words += _STRIP, 0, int(left) | 2 * right, 0
            case Prefix(content, unless, only_start):
                but = ord(unless) if unless else _NONE
                words += _PREFIX, int(only_start), but, texts.code(content)
            case Split(content):
                words += _SPLIT, 0, ord(content), texts.code(content)
    return words, literals


def _pack(steps: Sequence[Step], *, escapes: bool, stages: tuple[Stage, ...]) -> Normalizer:
    texts = Texts()
    words, literals = _operations(steps, texts)
    rows = make_rows(steps, texts, compact=escapes)
    composes = any(isinstance(step, Form) and step.composes for step in steps)
    pairs = sorted(data.compositions().items()) if composes else []
    charsmaps = [step for step in steps if isinstance(step, Precompiled)]
    cells = graphemes.automaton() if charsmaps else ()
    flags, hard = _ascii(steps, rows.plain, rows.flags, escapes=escapes)
    shown = [*hard[:_MOST_HARD], *[0] * _MOST_HARD][:_MOST_HARD]
    expansion = rows.expansion(steps)
    header = [
        1, len(steps), rows.stride, rows.count, rows.middles, rows.blocks, len(pairs), flags,
        int.from_bytes(bytes(shown[:4]), "little"), int.from_bytes(bytes(shown[4:]), "little"),
        min(len(hard), _MOST_HARD + 1), len(cells[0]) if cells else 0, len(cells),
        expansion, len(literals), min(4 * expansion, _MOST_EXPANSION),
    ]  # fmt: skip
    triples = [ord(char) for (a, b), made in pairs for char in (a, b, made)]
    return Normalizer(
        array("I", [*header, *words, *literals, *triples]),
        array("H", [*rows.numbers, *(cell for row in cells for cell in row)]),
        texts.to_bytes(),
        charsmaps[0].raw if charsmaps else b"",
        escapes,
        stages,
    )


def _ascii(
    steps: Sequence[Step], plain: Sequence[str], flags: Sequence[int], *, escapes: bool
) -> tuple[int, list[int]]:
    """Return the flags of a program that are about ASCII, and which printable characters are
    not copied in blocks.
    """
    lower = all(plain[ord(c)] == c.lower() for c in map(chr, range(65, 91)))
    hard: list[int] = []
    for point in range(0x21, 0x7F):
        char = chr(point)
        wanted = char.lower() if lower else char
        if flags[point] & ~16 or plain[point] != wanted:
            hard.append(point)
    result = _BLOCKS | (_LOWER if lower else 0)
    result |= _JOINED if any(flag & LEFT for flag in flags) else 0
    space = plain[0x20]
    splits = [step.content for step in steps if isinstance(step, Split)]
    if splits:
        easy = splits == [_SPACE_SYMBOL] and escapes
    else:
        easy = space == (_SPACE_SYMBOL if escapes else " ")
    ends = splits or any(isinstance(step, Strip) and step.right for step in steps)
    if not easy or flags[0x20] & (LEFT | RIGHT):
        hard.append(0x20)
    elif flags[0x20] & SOFT or ends:
        result |= _COLLAPSE
    return (result if len(hard) <= _MOST_HARD else result & ~_BLOCKS), hard
