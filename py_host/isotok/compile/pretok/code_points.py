"""Sets of code points as ranges.

A set is the sorted positions where membership changes (an inversion list), so its size
depends on its ranges, not on Unicode. Surrogates may be members; no text holds them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Final

LIMIT: Final = 0x110000
"""One past the last code point."""


@dataclass(frozen=True, slots=True)
class CodePoints:
    """An immutable set of code points.

    Parameters
    ----------
    toggles : tuple of int
        Ascending; a code point is a member if an odd number of toggles are <= it.
    """

    toggles: tuple[int, ...] = ()

    @classmethod
    def of(cls, *points: int) -> CodePoints:
        """Return the set of these code points."""
        return cls.from_ranges((point, point) for point in points)

    @classmethod
    def from_ranges(cls, ranges: Iterable[tuple[int, int]]) -> CodePoints:
        """Return the union of ranges (first, last), both ends included, in any order."""
        toggles: list[int] = []
        for first, last in sorted(ranges):
            if toggles and first <= toggles[-1]:
                toggles[-1] = max(toggles[-1], last + 1)
            else:
                toggles += (first, last + 1)
        return cls(_below_limit(tuple(toggles)))

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield (first, last) of each range, ascending."""
        bounds = (*self.toggles, LIMIT) if len(self.toggles) % 2 else self.toggles
        for i in range(0, len(bounds), 2):
            yield bounds[i], bounds[i + 1] - 1

    def __contains__(self, point: int) -> bool:
        return bisect_right(self.toggles, point) % 2 == 1

    def __bool__(self) -> bool:
        return bool(self.toggles)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges())

    def __or__(self, other: CodePoints) -> CodePoints:
        return _combine(self, other, frozenset((1, 2, 3)))

    def __and__(self, other: CodePoints) -> CodePoints:
        return _combine(self, other, frozenset((3,)))

    def __sub__(self, other: CodePoints) -> CodePoints:
        return _combine(self, other, frozenset((1,)))

    def __invert__(self) -> CodePoints:
        return CodePoints(self.toggles[1:] if self.toggles[:1] == (0,) else (0, *self.toggles))


NONE: Final = CodePoints()
ALL: Final = CodePoints((0,))


def _below_limit(toggles: tuple[int, ...]) -> tuple[int, ...]:
    """Drop a toggle at the end of the code space: every set has one spelling."""
    return toggles[:-1] if toggles[-1:] == (LIMIT,) else toggles


def _combine(a: CodePoints, b: CodePoints, keep: frozenset[int]) -> CodePoints:
    """Return the points whose membership (bit 0: in a, bit 1: in b) is one of `keep`."""
    toggles: list[int] = []
    state, inside = 0, False
    tagged_a = ((point, 1) for point in a.toggles)
    tagged_b = ((point, 2) for point in b.toggles)
    events = list(merge(tagged_a, tagged_b))
    for i, (point, bit) in enumerate(events):
        state ^= bit
        if i + 1 < len(events) and events[i + 1][0] == point:
            continue
        if (state in keep) != inside:
            inside = not inside
            toggles.append(point)
    return CodePoints(_below_limit(tuple(toggles)))
