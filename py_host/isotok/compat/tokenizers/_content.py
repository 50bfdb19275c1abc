"""What an encoding holds, and how encodings are cut, joined and padded.

SOURCE  `Encoding` of tokenizers 0.23.3, whose results these are, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from isotok.compat.tokenizers._columns import Column, Lazy, changed, joined, sliced, value

T = TypeVar("T")
Offsets = tuple[int, int]


@dataclass(slots=True)
class Content:
    """Seven columns of one length, what was cut off, and which tokens are of which sequence.

    Parameters
    ----------
    ids, type_ids, tokens, words, offsets, special, attention : list, or Lazy
        One element per token.
    overflowing : list of Content
        What truncation has cut off.
    ranges : dict
        Of each sequence, its tokens as a half-open range. Empty: all are of sequence 0.
    """

    ids: list[int] = field(default_factory=list[int])
    type_ids: Column[int] = field(default_factory=list[int])
    tokens: Column[str] = field(default_factory=list[str])
    words: Column[int | None] = field(default_factory=list[int | None])
    offsets: Column[Offsets] = field(default_factory=list[Offsets])
    special: Column[int] = field(default_factory=list[int])
    attention: Column[int] = field(default_factory=list[int])
    overflowing: list[Content] = field(default_factory=list["Content"])
    ranges: dict[int, Offsets] = field(default_factory=dict[int, Offsets])

    def __len__(self) -> int:
        return len(self.ids)

    def clone(self) -> Content:
        """Return one that can be changed alone."""
        copy = self.part(None, None)
        copy.overflowing = [one.clone() for one in self.overflowing]
        copy.ranges = dict(self.ranges)
        return copy

    def part(self, begin: int | None, end: int | None) -> Content:
        """Return some of the tokens, without overflowing parts and ranges; None: all."""
        if begin is None or end is None:
            return Content(
                self.ids,
                self.type_ids,
                self.tokens,
                self.words,
                self.offsets,
                self.special,
                self.attention,
            )
        return Content(
            self.ids[begin:end],
            sliced(self.type_ids, begin, end),
            sliced(self.tokens, begin, end),
            sliced(self.words, begin, end),
            sliced(self.offsets, begin, end),
            sliced(self.special, begin, end),
            sliced(self.attention, begin, end),
        )

    def all_of(self, sequence: int) -> None:
        """Make all tokens those of a sequence."""
        self.ranges[sequence] = (0, len(self.ids))

    def replace(self, other: Content) -> None:
        """Become another."""
        self.ids, self.type_ids = other.ids, other.type_ids
        self.tokens, self.words = other.tokens, other.words
        self.offsets = other.offsets
        self.special, self.attention = other.special, other.attention
        self.overflowing, self.ranges = other.overflowing, other.ranges


def of_text(
    ids: list[int],
    tokens: Column[str],
    offsets: Column[Offsets],
    words: Column[int | None],
    type_id: int,
) -> Content:
    """Return the content of a text."""
    size = len(ids)
    return Content(ids, [type_id] * size, tokens, words, offsets, [0] * size, [1] * size)


def of_specials(ids: list[int], tokens: list[str], type_id: int) -> Content:
    """Return the content of tokens that come from no text."""
    size = len(ids)
    nothing: list[int | None] = [None] * size
    return Content(ids, [type_id] * size, tokens, nothing, [(0, 0)] * size, [1] * size, [1] * size)


# ---- Truncation -----------------------------------------------------------------------


def truncate(content: Content, most: int, stride: int, direction: str) -> None:
    """Keep at most so many tokens; the others become overflowing parts.

    Raises
    ------
    ValueError
        The stride is not smaller than what is kept.
    """
    if most >= len(content):
        return
    if most == 0:
        whole = content.clone()
        content.replace(Content(overflowing=[whole]))
        return
    if stride >= most:
        raise ValueError(
            f"`stride` must be strictly less than `max_len={most}` (note that `max_len` may be "
            "shorter than the max length of the original model, as it subtracts the number of "
            "special characters"
        )
    parts = (content.part(begin, end) for begin, end in _places(len(content), most, stride, direction))
    kept = next(parts)
    kept.overflowing = list(parts)
    content.replace(kept)


def _places(size: int, most: int, stride: int, direction: str) -> Iterator[Offsets]:
    """Half-open ranges of at most `most` tokens, each `stride` tokens into the one before."""
    step = most - stride
    if direction == "right":
        for begin in range(0, size, step):
            end = min(begin + most, size)
            yield begin, end
            if end == size:
                return
    else:
        for end in range(size, 0, -step):
            begin = max(end - most, 0)
            yield begin, end
            if begin == 0:
                return


_COLUMNS: Final = ("type_ids", "tokens", "words", "offsets", "special", "attention")

# ---- Joining --------------------------------------------------------------------------


def merge(contents: Iterable[Content], *, growing: bool) -> Content:
    """Join encodings; with `growing`, the offsets of each begin where those before it end."""
    result = Content()
    for content in contents:
        _append(result, content, growing)
    return result


def force(content: Content) -> Content:
    """Make all columns now, and return the content."""
    for name in _COLUMNS:
        setattr(content, name, value(getattr(content, name)))
    for one in content.overflowing:
        force(one)
    return content


def flat(contents: Iterable[Content]) -> Content:
    """Join encodings without overflowing parts and ranges, and make all columns."""
    result = Content()
    for content in contents:
        result.ids.extend(content.ids)
        for name in _COLUMNS:
            getattr(result, name).extend(value(getattr(content, name)))
    return result


def append(left: Content, right: Content) -> None:
    """Put `right` behind `left`, and each combination of their overflowing parts."""
    _append(left, right, False)


def _append(left: Content, right: Content, growing: bool) -> None:
    if left.overflowing or right.overflowing:
        left.overflowing = list(_combinations(left, right, growing))
    size = len(left)
    for sequence, (begin, end) in right.ranges.items():
        left.ranges[sequence] = (size + begin, size + end)
    left.offsets = _offsets(left, right) if growing else joined(left.offsets, right.offsets)
    left.ids = left.ids + right.ids
    left.type_ids = joined(left.type_ids, right.type_ids)
    left.tokens = joined(left.tokens, right.tokens)
    left.words = joined(left.words, right.words)
    left.special = joined(left.special, right.special)
    left.attention = joined(left.attention, right.attention)


def _combinations(left: Content, right: Content, growing: bool) -> Iterator[Content]:
    for one in left.overflowing:
        for other in (right, *right.overflowing):
            yield _appended(one, other, growing)
    for other in right.overflowing:
        yield _appended(left, other, growing)


def _appended(left: Content, right: Content, growing: bool) -> Content:
    copy = left.clone()
    _append(copy, right, growing)
    return copy


def _offsets(left: Content, right: Content) -> Column[Offsets]:
    before = value(left.offsets)
    start = before[-1][1] if before else 0
    return before + [(start + begin, start + end) for begin, end in value(right.offsets)]


# ---- Padding --------------------------------------------------------------------------


@dataclass(frozen=True)
class Pad:
    """What is put beside a text that is too short."""

    id: int
    type_id: int
    token: str
    left: bool


def pad(content: Content, length: int, with_: Pad) -> None:
    """Make it, and its overflowing parts, at least so long."""
    for one in content.overflowing:
        pad(one, length, with_)
    size = length - len(content)
    if size <= 0:
        return
    content.ids = _padded(content.ids, with_.id, size, with_.left)
    content.type_ids = _beside(content.type_ids, with_.type_id, size, with_.left)
    content.tokens = _beside(content.tokens, with_.token, size, with_.left)
    content.words = _beside(content.words, None, size, with_.left)
    content.offsets = _beside(content.offsets, (0, 0), size, with_.left)
    content.special = _beside(content.special, 1, size, with_.left)
    content.attention = _beside(content.attention, 0, size, with_.left)
    if with_.left:
        moved = {k: (begin + size, end + size) for k, (begin, end) in content.ranges.items()}
        content.ranges = moved


def _padded(made: list[T], element: T, size: int, left: bool) -> list[T]:
    return [element] * size + made if left else made + [element] * size


def _beside(column: Column[T], element: T, size: int, left: bool) -> Column[T]:
    return changed(column, lambda made: _padded(made, element, size, left))


# ---- Pickling -------------------------------------------------------------------------

_MEMBERS: Final = {
    "ids": "ids",
    "type_ids": "type_ids",
    "tokens": "tokens",
    "words": "words",
    "offsets": "offsets",
    "special_tokens_mask": "special",
    "attention_mask": "attention",
}


def to_json(content: Content) -> dict[str, Any]:
    """Return what tokenizers pickles, as JSON."""
    columns = {name: value(getattr(content, ours)) for name, ours in _MEMBERS.items()}
    ranges = {str(k): {"start": a, "end": b} for k, (a, b) in content.ranges.items()}
    overflowing = [to_json(one) for one in content.overflowing]
    return {**columns, "overflowing": overflowing, "sequence_ranges": ranges}


def from_json(state: dict[str, Any]) -> Content:
    """Return what `to_json` was given."""
    content = Content(**{ours: list(state[name]) for name, ours in _MEMBERS.items()})
    content.offsets = [(begin, end) for begin, end in state["offsets"]]
    content.overflowing = [from_json(one) for one in state["overflowing"]]
    content.ranges = {
        int(k): (one["start"], one["end"]) for k, one in state["sequence_ranges"].items()
    }
    return content


__all__ = ["Content", "Lazy", "Offsets", "Pad", "append", "force", "merge", "of_specials", "of_text"]
