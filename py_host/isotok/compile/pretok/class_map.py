"""The class of every code point as two tables (core/src/pretokenize.h)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

BLOCK: Final = 64
_BMP_PAGES: Final = 1024
_PLANE_PAGES: Final = 512  # what the bits of any four bytes can address
_FIRST_GROUP: Final = _BMP_PAGES + _PLANE_PAGES
_LAST_PLANE_PAGE: Final = 0x10FFFF >> 12


class ClassMap:
    """Blocks of 64 classes, and the pages that name them.

    Blocks and groups of pages are numbered as an ascending walk over the code points first
    meets them, so equal maps are equal bytes.

    Parameters
    ----------
    pages : array of uint16
    blocks : array of uint8
    """

    def __init__(self, pages: array[int], blocks: array[int]) -> None:
        self.pages = pages
        self.blocks = blocks

    @classmethod
    def of_runs(cls, starts: Sequence[int], classes: Sequence[int]) -> ClassMap:
        """Make a map: code points from `starts[i]` on are of `classes[i]`."""
        runs = _Runs(starts, classes)
        bmp = [runs.block(page) for page in range(_BMP_PAGES)]
        rest = range(_BMP_PAGES, (_LAST_PLANE_PAGE + 1) * BLOCK)
        numbers = _Numbers(bmp[:2])
        names = [0, 1, *map(numbers.of, bmp[2:])]
        return cls(*_with_groups(names, [numbers.of(runs.block(i)) for i in rest], numbers))

    def remapped(self, classes: bytes) -> ClassMap:
        """Return the map after class i has become `classes[i]`."""
        blocks = [block.translate(classes.ljust(256, b"\0")) for block in self._old_blocks()]
        numbers = _Numbers(blocks[:2])
        known = [0, 1, *map(numbers.of, blocks[2:])]
        names = [known[page] for page in self.pages[:_BMP_PAGES]]
        planes = self.pages[_BMP_PAGES + 16 : _BMP_PAGES + _LAST_PLANE_PAGE + 1]
        rest = [known[page] for at in planes for page in self.pages[at : at + BLOCK]]
        return ClassMap(*_with_groups(names, rest, numbers))

    def _old_blocks(self) -> Iterator[bytes]:
        raw = self.blocks.tobytes()
        return (raw[at : at + BLOCK] for at in range(0, len(raw), BLOCK))


class _Numbers:
    """Numbers of blocks; the first two are those of ASCII, whatever they hold."""

    def __init__(self, ascii_blocks: Iterable[bytes]) -> None:
        self.ascii = b"".join(ascii_blocks)
        self.numbers: dict[bytes, int] = {}

    def of(self, block: bytes) -> int:
        return self.numbers.setdefault(block, len(self.numbers) + 2)


def _with_groups(
    names: list[int], rest: list[int], numbers: _Numbers
) -> tuple[array[int], array[int]]:
    """Return pages and blocks; `rest`: blocks of the code points from U+10000 on."""
    groups: dict[tuple[int, ...], int] = {}
    planes: list[int] = []
    for at in range(0, len(rest), BLOCK):
        group = tuple(rest[at : at + BLOCK])
        planes.append(groups.setdefault(group, len(groups)))
    filler = planes[-1]
    planes = [filler] * 16 + planes
    planes += [filler] * (_PLANE_PAGES - len(planes))
    pages = array("H", names)
    pages.extend(_FIRST_GROUP + number * BLOCK for number in planes)
    for group in groups:
        pages.extend(group)
    return pages, array("B", numbers.ascii + b"".join(numbers.numbers))


class _Runs:
    """Reads runs 64 code points at a time, mostly in ascending order."""

    def __init__(self, starts: Sequence[int], classes: Sequence[int]) -> None:
        self.starts = (*starts, 0x110000)
        self.classes = classes
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
