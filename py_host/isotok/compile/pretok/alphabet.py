"""Classes: the code points that no set of the patterns tells apart."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from isotok.compile.pretok.code_points import CodePoints


@dataclass(frozen=True)
class Alphabet:
    """A partition of the code points into classes, numbered from 0.

    Parameters
    ----------
    starts, classes : tuple of int
        The code points from `starts[i]` to before `starts[i + 1]` are of `classes[i]`.
    members : tuple of frozenset
        The sets, by their number in `numbers`, that hold the class.
    """

    starts: tuple[int, ...]
    classes: tuple[int, ...]
    members: tuple[frozenset[int], ...]
    numbers: dict[CodePoints, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.members)

    def class_of(self, point: int) -> int:
        """Return the class of a code point."""
        return self.classes[bisect_right(self.starts, point) - 1]

    def classes_in(self, points: CodePoints) -> frozenset[int]:
        """Return the classes that a set consists of; it must be one of the sets."""
        number = self.numbers[points]
        return frozenset(i for i, inside in enumerate(self.members) if number in inside)


def make_alphabet(sets: Iterable[CodePoints]) -> Alphabet:
    """Partition the code points by membership in the sets."""
    numbers: dict[CodePoints, int] = {}
    for points in sets:
        numbers.setdefault(points, len(numbers))
    found: dict[frozenset[int], int] = {}
    starts: list[int] = []
    classes: list[int] = []
    for start, inside in _runs(list(numbers)):
        one = found.setdefault(inside, len(found))
        if not classes or classes[-1] != one:
            starts.append(start)
            classes.append(one)
    return Alphabet(tuple(starts), tuple(classes), tuple(found), numbers)


def _runs(sets: list[CodePoints]) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield where membership changes, and the numbers of the sets that hold from there."""
    toggles: dict[int, set[int]] = {0: set()}
    for number, points in enumerate(sets):
        for point in points.toggles:
            toggles.setdefault(point, set()).add(number)
    inside = frozenset[int]()
    for point in sorted(toggles):
        inside ^= toggles[point]
        yield point, inside
