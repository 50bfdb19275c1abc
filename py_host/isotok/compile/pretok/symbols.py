"""What an automaton reads: a class, or a class and what the look-aheads say there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isotok.compile.pretok.alphabet import Alphabet
from isotok.compile.pretok.code_points import CodePoints


@dataclass(frozen=True)
class Symbols:
    """The symbols in front of the end of the text, which is the symbol `end`.

    Parameters
    ----------
    alphabet : Alphabet
        The classes.
    classes, looks : tuple of int
        Of each symbol its class, and a bit for each look-ahead that matches in a context.
    end_looks : int
        The same bits at the end of the text.
    """

    alphabet: Alphabet
    classes: tuple[int, ...]
    looks: tuple[int, ...]
    end_looks: int = 0

    @property
    def end(self) -> int:
        """The symbol of the end."""
        return len(self.classes)

    def __len__(self) -> int:
        return len(self.classes) + 1

    def mask(self, points: CodePoints, at_end: bool = False) -> int:
        """Return the symbols of a set as bits."""
        inside = self.alphabet.classes_in(points)
        mask = _bits(symbol for symbol, one in enumerate(self.classes) if one in inside)
        return mask | int(at_end) << self.end

    def look_mask(self, bit: int, negative: bool) -> int:
        """Return the symbols whose bit for a look-ahead is set (`negative`: is not)."""
        wanted = 0 if negative else 1
        looks = (*self.looks, self.end_looks)
        return _bits(symbol for symbol, bits in enumerate(looks) if bits >> bit & 1 == wanted)


def plain_symbols(alphabet: Alphabet) -> Symbols:
    """Return the symbols of patterns without look-aheads of more than one character."""
    return Symbols(alphabet, tuple(range(len(alphabet))), (0,) * len(alphabet))


def _bits(numbers: Iterable[int]) -> int:
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask
