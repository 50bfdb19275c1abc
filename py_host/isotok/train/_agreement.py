"""How far a tokenizer agrees with another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isotok import Tokenizer


@dataclass(frozen=True)
class Agreement:
    """Of a student with its teacher, over texts; see docs/distil.md for the definitions.

    Parameters
    ----------
    texts : int
    token_f1, boundary_f1 : float
        Of (begin, end, id), and of the ends of tokens, counted over all texts.
    equal_texts : float
        Share of texts with the same ids.
    fertility : float
        Tokens of the student for each token of the teacher.
    """

    texts: int
    token_f1: float
    boundary_f1: float
    equal_texts: float
    fertility: float

    def as_dict(self) -> dict[str, float]:
        """Return all by name."""
        return asdict(self)


def agreement(teacher: Tokenizer, student: Tokenizer, texts: Iterable[str]) -> Agreement:
    """Encode texts with both and compare. Without texts all agrees."""
    number = equal = theirs = ours = tokens = ends = 0
    for text in texts:
        number += 1
        a = teacher.encode_with_offsets(text, unit="byte")
        b = student.encode_with_offsets(text, unit="byte")
        equal += a.ids == b.ids
        theirs += len(a.ids)
        ours += len(b.ids)
        tokens += len({*zip(a.offsets, a.ids, strict=True)} & {*zip(b.offsets, b.ids, strict=True)})
        ends += len({end for _, end in a.offsets} & {end for _, end in b.offsets})
    return Agreement(
        number,
        2 * tokens / max(theirs + ours, 1) if number else 1.0,
        min(1.0, 2 * ends / max(theirs + ours, 1)) if number else 1.0,
        equal / number if number else 1.0,
        ours / theirs if theirs else 1.0,
    )
