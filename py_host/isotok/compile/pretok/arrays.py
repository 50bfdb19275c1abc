"""The compiled form: flat arrays, as the driver (core/src/pretokenize.h) reads them.

Class of a code point: two tables, so that no character needs more than three loads.
`blocks` are runs of 64 classes, the first two those of ASCII. `pages` names the block for
`point >> 6` below U+10000; above, `pages[1024 + (point >> 12)]` says where in `pages` the
64 entries for `point >> 6 & 63` begin.

A pass over bytes (after ByteLevel) has a class for each of the 256 bytes instead.

Cells of a pass: a row per state, a column per symbol. The bits are those of pretokenize.h.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from isotok.compile.pretok.alphabet import Alphabet
from isotok.compile.pretok.chain import Chain, Pass
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.lookahead import UNKNOWN, Reverse
from isotok.compile.pretok.machine import Cell
from isotok.compile.pretok.stages import byte_letters

BACK: Final = 1 << 31
HERE: Final = 1 << 30
NOTE: Final = 1 << 29
SLOW: Final = 1 << 28
REWIND: Final = 1 << 27
DONE: Final = 1 << 26
ENTERS: Final = 1 << 25
DROP_BACK: Final = 1 << 24
DROP_HERE: Final = 1 << 23
JOIN_BACK: Final = 1 << 22
JOIN_HERE: Final = 1 << 21
MAX_CELLS: Final = 1 << 20

NO_SYMBOL: Final = 255
_SYMBOL_SHIFT: Final = 24

_BLOCK: Final = 64
_BMP_PAGES: Final = 1024
_PLANE_PAGES: Final = 512  # what the bits of any four bytes can address
_LAST_PLANE_PAGE: Final = 0x10FFFF >> 12


@dataclass(frozen=True)
class PassArrays:
    """One pass.

    Parameters
    ----------
    cells : array of uint32
        Rows of `stride` cells; row 0 is the start, the last column the end of the text.
    stride : int
        Symbols and the end.
    reverse : array of uint32
        Rows of the automaton that finds the symbols, one cell per class: empty if symbols
        are classes.
    reverse_final, reverse_open : int
        Where its rows for the end of the text, and of text that goes on, begin.
    joins : bool
        A cut may be taken back by the next one.
    byte_classes : array of uint8
        Of each byte, if the pass reads bytes; else empty.
    """

    cells: array[int]
    stride: int
    reverse: array[int]
    reverse_final: int
    reverse_open: int
    joins: bool
    byte_classes: array[int]


@dataclass(frozen=True)
class PretokArrays:
    """All of a pre-tokenizer."""

    pages: array[int]
    blocks: array[int]
    classes: int
    passes: tuple[PassArrays, ...]

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        arrays = [self.pages, self.blocks]
        for one in self.passes:
            arrays += [one.cells, one.reverse, one.byte_classes]
        return sum(len(one) * one.itemsize for one in arrays)


def make_arrays(chain: Chain) -> PretokArrays:
    """Lay out a chain."""
    columns = _Columns(chain.alphabet, [one for one in chain.passes if not one.on_bytes])
    of_bytes = _Columns(chain.byte_alphabet, [one for one in chain.passes if one.on_bytes])
    pages, blocks = _class_map(chain.alphabet, columns.class_of)
    passes = tuple(
        _pass_arrays(one, of_bytes if one.on_bytes else columns, chain) for one in chain.passes
    )
    return PretokArrays(pages, blocks, columns.count, passes)


class _Columns:
    """Classes that no pass tells apart become one.

    The symbols of a pass with look-aheads keep their own columns; there only the columns
    of its reverse automaton are classes.
    """

    def __init__(self, alphabet: Alphabet, passes: Sequence[Pass]) -> None:
        columns: list[list[object]] = [[] for _ in range(len(alphabet))]
        for one in passes:
            for i, column in enumerate(columns):
                if one.reverse is None:
                    column += [row[i] for row in one.machine.rows]
                else:
                    column += [row[i] for row in (*one.reverse.next, *one.reverse.symbol)]
        numbers: dict[tuple[object, ...], int] = {}
        self.class_of = [numbers.setdefault(tuple(column), len(numbers)) for column in columns]
        self.count = len(numbers)
        self.kept = [self.class_of.index(i) for i in range(self.count)]
        if self.count > NO_SYMBOL - 1:
            raise PatternError(f"{self.count} classes of characters")


def _pass_arrays(one: Pass, columns: _Columns, chain: Chain) -> PassArrays:
    machine = one.machine
    if one.reverse is None:
        kept = columns.kept
    else:
        kept = list(range(machine.symbols.end))
    stride = len(kept) + 1
    if len(machine.rows) * stride > MAX_CELLS:
        raise PatternError(f"an automaton of {len(machine.rows)} states")
    cells = array("I")
    for row in machine.rows:
        cells.extend(_encode(row[i], stride) for i in kept)
        cells.append(_encode(row[-1], stride) | (0 if row[-1].rewind else DONE | SLOW))
    reverse = array("I")
    if one.reverse is not None:
        reverse.extend(_encode_reverse(one.reverse, columns))
    final, opened = (one.reverse.final, one.reverse.open) if one.reverse else (0, 0)
    byte_classes = array("B")
    if one.on_bytes:
        classes = map(chain.byte_alphabet.class_of, byte_letters())
        byte_classes.extend(columns.class_of[i] for i in classes)
    return PassArrays(
        cells,
        stride,
        reverse,
        final * columns.count,
        opened * columns.count,
        machine.joins,
        byte_classes,
    )


def _encode(cell: Cell, stride: int) -> int:
    bits = cell.next * stride | (NOTE if cell.note else 0)
    slow = (REWIND if cell.rewind else 0) | (ENTERS if cell.enters else 0)
    here = cell.last or cell.here
    if cell.back is not None:
        bits |= BACK
        slow |= (DROP_BACK if cell.back.drop else 0) | (JOIN_BACK if cell.back.join else 0)
    if here is not None:
        bits |= 0 if cell.rewind else HERE
        slow |= (DROP_HERE if here.drop else 0) | (JOIN_HERE if here.join else 0)
    return bits | slow | (SLOW if slow else 0)


def _encode_reverse(reverse: Reverse, columns: _Columns) -> Sequence[int]:
    cells: list[int] = []
    for following, symbols in zip(reverse.next, reverse.symbol, strict=True):
        for i in columns.kept:
            symbol = NO_SYMBOL if symbols[i] == UNKNOWN else symbols[i]
            cells.append(following[i] * columns.count | symbol << _SYMBOL_SHIFT)
    return cells


def _class_map(alphabet: Alphabet, class_of: list[int]) -> tuple[array[int], array[int]]:
    """Return `pages` and `blocks`."""
    blocks: dict[bytes, int] = {}
    groups: dict[tuple[int, ...], int] = {}
    flat = _BlockReader(alphabet, class_of)
    for page in range(2):  # ASCII first, whatever it holds
        blocks[flat.block(page) + bytes([page])] = page
    names = list(range(2))
    names += [_number(blocks, flat.block(page)) for page in range(2, _BMP_PAGES)]
    pages = array("H", names)
    planes: list[int] = []
    for page in range(_BMP_PAGES >> 6, _LAST_PLANE_PAGE + 1):
        group = tuple(_number(blocks, flat.block(page << 6 | i)) for i in range(_BLOCK))
        planes.append(groups.setdefault(group, len(groups)))
    first = _BMP_PAGES + _PLANE_PAGES
    filler = planes[-1]
    numbered = [filler] * 16 + planes + [filler] * (_PLANE_PAGES - 16 - len(planes))
    pages.extend(first + number * _BLOCK for number in numbered)
    for group in groups:
        pages.extend(group)
    return pages, array("B", b"".join(block[:_BLOCK] for block in blocks))


def _number(blocks: dict[bytes, int], block: bytes) -> int:
    return blocks.setdefault(block, len(blocks))


class _BlockReader:
    """Reads the runs of an alphabet 64 code points at a time, in ascending order."""

    def __init__(self, alphabet: Alphabet, class_of: list[int]) -> None:
        self.starts = (*alphabet.starts, 0x110000)
        self.classes = [class_of[i] for i in alphabet.classes]
        self.run = 0

    def block(self, page: int) -> bytes:
        """Return the classes of `page << 6` and the 63 that follow."""
        point, end = page << 6, (page + 1) << 6
        if self.starts[self.run] > point:
            self.run = 0
        result = bytearray()
        while point < end:
            while self.starts[self.run + 1] <= point:
                self.run += 1
            stop = min(end, self.starts[self.run + 1])
            result += bytes([self.classes[self.run]]) * (stop - point)
            point = stop
        return bytes(result)
