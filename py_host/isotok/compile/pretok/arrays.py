"""The compiled form: three flat arrays, as they lie in a blob and as the driver reads them.

core/src/pretokenize.h says what is where. Class of a code point: two tables, so that no
character needs more than three loads; equal blocks of 64 code points are kept once.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from isotok.compile.pretok.alphabet import Alphabet
from isotok.compile.pretok.chain import Chain, Pass
from isotok.compile.pretok.class_map import ClassMap
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.facts import facts_of
from isotok.compile.pretok.lookahead import UNKNOWN, Reverse
from isotok.compile.pretok.machine import Cell, Machine
from isotok.compile.pretok.stages import byte_letters

DROP_HERE: Final = 1
BACK: Final = 1 << 5
DROP_BACK: Final = 1 << 6
JOIN_HERE: Final = 1 << 7
JOIN_BACK: Final = 1 << 8
ENTERS: Final = 1 << 9
DONE: Final = 1 << 10
REWIND: Final = 1 << 11
SLOW: Final = 1 << 12
NOTE: Final = 1 << 13
HERE: Final = 1 << 14
CUT: Final = 1 << 15

JOINS, ON_BYTES, DROPS = 1, 2, 4
MAX_PASSES: Final = 6
MAX_CELLS: Final = 1 << 16
NO_SYMBOL: Final = 255
HEADER_WORDS, PASS_WORDS = 5, 6


@dataclass(frozen=True)
class PretokArrays:
    """A pre-tokenizer that is ready for a blob.

    Parameters
    ----------
    header : array of uint32
        How many there are of everything, and where each pass is.
    tables : array of uint16
        Pages of the class map, then the tables of the passes.
    classes : array of uint8
        Blocks of the class map, then the classes of bytes.
    """

    header: array[int]
    tables: array[int]
    classes: array[int]

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        return sum(len(one) * one.itemsize for one in (self.header, self.tables, self.classes))

    def to_bytes(self) -> tuple[bytes, bytes, bytes]:
        """Return the arrays, little-endian."""
        copies = [array(one.typecode, one) for one in (self.header, self.tables, self.classes)]
        if sys.byteorder == "big":
            for one in copies:
                one.byteswap()
        header, tables, classes = (one.tobytes() for one in copies)
        return header, tables, classes


def make_arrays(chain: Chain) -> PretokArrays:
    """Lay out a chain.

    Raises
    ------
    PatternError
        It has more passes, states or classes than the driver can have.
    """
    if len(chain.passes) > MAX_PASSES:
        raise PatternError(f"a Sequence that takes {len(chain.passes)} passes over the text")
    columns = _text_columns(chain)
    of_bytes = _Columns(chain.byte_alphabet, [one for one in chain.passes if one.on_bytes])
    found = ClassMap.of_runs(*columns.runs())
    tables, classes = found.pages, found.blocks
    byte_count = of_bytes.count if any(one.on_bytes for one in chain.passes) else 0
    header = array("I", [len(chain.passes), len(tables), len(classes), columns.count, byte_count])
    for one in chain.passes:
        header.extend(_add_pass(one, of_bytes if one.on_bytes else columns, tables))
    if byte_count:
        letters = map(chain.byte_alphabet.class_of, byte_letters())
        classes.extend(of_bytes.class_of[i] for i in letters)
    assert array("I").itemsize == 4, "C's unsigned int has 32 bits where CPython runs"
    return PretokArrays(header, tables, classes)


def class_runs(chain: Chain) -> tuple[Sequence[int], Sequence[int]]:
    """Return where runs of code points of one class begin, and the classes."""
    return _text_columns(chain).runs()


def _text_columns(chain: Chain) -> _Columns:
    return _Columns(chain.alphabet, [one for one in chain.passes if not one.on_bytes])


class _Columns:
    """Classes that no pass tells apart become one.

    The symbols of a pass with look-aheads keep their own columns; there only the columns
    of its reverse automaton are classes.
    """

    def __init__(self, alphabet: Alphabet, passes: Sequence[Pass]) -> None:
        self.alphabet = alphabet
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

    def runs(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return where runs of one class begin, and their classes."""
        return self.alphabet.starts, [self.class_of[i] for i in self.alphabet.classes]


def _add_pass(one: Pass, columns: _Columns, tables: array[int]) -> list[int]:
    """Append the tables of a pass; return its words of the header."""
    machine = one.machine
    kept = columns.kept if one.reverse is None else list(range(machine.symbols.end))
    kept = [*kept, machine.symbols.end]
    rows, stride = len(machine.rows), len(kept)
    if rows * stride > MAX_CELLS:
        raise PatternError(f"an automaton of {rows} states")
    tables.extend(row[i].next * stride for row in machine.rows for i in kept)
    tables.extend(_flags(row[i], i == machine.symbols.end) for row in machine.rows for i in kept)
    tables.extend(facts_of(machine))
    kind = (JOINS if machine.joins else 0) | (ON_BYTES if one.on_bytes else 0)
    kind |= DROPS if _drops(machine) else 0
    reverse = [0, 0, 0] if one.reverse is None else _add_reverse(one.reverse, columns, tables)
    return [rows, stride, kind, *reverse]


def _flags(cell: Cell, is_end: bool) -> int:
    here, back = cell.last or cell.here, cell.back
    bits = (REWIND if cell.rewind else 0) | (ENTERS if cell.enters else 0)
    bits |= DONE if is_end and not cell.rewind else 0
    if back is not None:
        bits |= (DROP_BACK if back.drop else 0) | (JOIN_BACK if back.join else 0)
    if here is not None:
        bits |= JOIN_HERE if here.join else 0
    bits |= SLOW if bits or (back and here) else 0
    if here is not None:
        bits |= (DROP_HERE if here.drop else 0) | (0 if cell.rewind else HERE | CUT)
    return bits | (NOTE if cell.note else 0) | (BACK | CUT if back is not None else 0)


def _drops(machine: Machine) -> bool:
    cuts = (cut for cell in machine.cells() for cut in (cell.back, cell.here, cell.last))
    return any(cut is not None and cut.drop for cut in cuts)


def _add_reverse(reverse: Reverse, columns: _Columns, tables: array[int]) -> list[int]:
    """Append the tables of the pass from right to left; return its words of the header."""
    assert reverse.final == 0, "the driver begins with row 0 at the end of a text"
    count = columns.count
    if len(reverse.next) * count > MAX_CELLS:
        raise PatternError(f"look-aheads of {len(reverse.next)} states")
    tables.extend(row[i] * count for row in reverse.next for i in columns.kept)
    tables.extend(
        NO_SYMBOL if row[i] == UNKNOWN else row[i] for row in reverse.symbol for i in columns.kept
    )
    return [len(reverse.next), reverse.closed, reverse.open]
