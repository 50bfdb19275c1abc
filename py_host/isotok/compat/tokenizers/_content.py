"""What an encoding holds, and how encodings are cut, joined and padded.

SOURCE  `Encoding` of tokenizers 0.23.3, whose results these are, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar, cast

from isotok.compat.tokenizers._columns import Column, Lazy, changed, joined, sliced, value

T = TypeVar("T")
Offsets = tuple[int, int]


@dataclass(slots=True)
class Content:
    """Seven columns of one length, what was cut off, and which tokens are of which sequence.

    It is never changed: what changes one makes another, which shares with it what it can.

    Parameters
    ----------
    ids, type_ids, tokens, words, offsets, special, attention : list, or Lazy
        One element per token.
    overflowing : list of Content, or Lazy
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
    overflowing: Column[Content] = field(default_factory=list["Content"])
    ranges: Mapping[int, Offsets] = field(default_factory=dict[int, Offsets])

    def __len__(self) -> int:
        return len(self.ids)

    def all_of(self, sequence: int, type_id: int | None = None) -> Content:
        """Return one whose tokens are all of a sequence, and of a type."""
        return Content(  # faster than `replace`: it is done for every text
            self.ids,
            self.type_ids if type_id is None else [type_id] * len(self.ids),
            self.tokens,
            self.words,
            self.offsets,
            self.special,
            self.attention,
            self.overflowing,
            {**self.ranges, sequence: (0, len(self.ids))},
        )

    def typed(self, type_id: int) -> Content:
        """Return one whose tokens have this type."""
        return replace(self, type_ids=[type_id] * len(self.ids))

    def each_part(self, change: Callable[[Content], Content]) -> Content:
        """Return it changed, and its overflowing parts as well."""
        changed = change(self)
        changed.overflowing = self.changed_parts(change)
        return changed

    def changed_parts(self, change: Callable[[Content], Content]) -> Column[Content]:
        """Return the overflowing parts, each of them changed."""
        parts = self.overflowing
        if isinstance(parts, Lazy):
            return Lazy(lambda: [change(one) for one in parts.get()])
        return [change(one) for one in parts]


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


def truncated(content: Content, most: int, stride: int, direction: str) -> Content:
    """Return one with at most so many tokens; the others are overflowing parts.

    Raises
    ------
    ValueError
        The stride is not smaller than what is kept.
    """
    size = len(content)
    if most >= size:
        return content
    if most == 0:
        return Content(overflowing=[content])
    if stride >= most:
        raise ValueError(
            f"`stride` must be strictly less than `max_len={most}` (note that `max_len` may be "
            "shorter than the max length of the original model, as it subtracts the number of "
            "special characters"
        )
    places = _places(size, most, stride, direction)
    kept = _part(content, next(places))
    kept.overflowing = Lazy(lambda: [_part(content, place) for place in list(places)])
    return kept


def _part(content: Content, place: Offsets) -> Content:
    """Return some of the tokens, without overflowing parts and ranges."""
    begin, end = place
    return Content(
        content.ids[begin:end],
        sliced(content.type_ids, begin, end),
        sliced(content.tokens, begin, end),
        sliced(content.words, begin, end),
        sliced(content.offsets, begin, end),
        sliced(content.special, begin, end),
        sliced(content.attention, begin, end),
    )


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


# ---- Joining --------------------------------------------------------------------------

_COLUMNS: Final = ("type_ids", "tokens", "words", "offsets", "special", "attention")


def merged(contents: Sequence[Content], *, growing: bool = False) -> Content:
    """Join encodings; with `growing`, the offsets of each begin where those before it end."""
    if not growing and all(content.overflowing == [] for content in contents):
        return _end_to_end(contents)
    result = Content()
    for content in contents:
        result = _appended(result, content, growing)
    return result


def forced(content: Content) -> Content:
    """Return one whose columns are all made."""
    made = {name: value(getattr(content, name)) for name in _COLUMNS}
    return replace(content, **made, overflowing=content.changed_parts(forced))


def flat(contents: Iterable[Content]) -> Content:
    """Join encodings without overflowing parts and ranges, and make all columns."""
    columns: dict[str, list[Any]] = {name: [] for name in ("ids", *_COLUMNS)}
    for content in contents:
        for name, column in columns.items():
            column.extend(value(getattr(content, name)))
    return Content(**cast("dict[str, Any]", columns))


def _appended(left: Content, right: Content, growing: bool) -> Content:
    """Return `right` behind `left`, and each combination of their overflowing parts."""
    result = _end_to_end((left, right))
    if growing:
        result.offsets = _offsets(left, right)
    if left.overflowing != [] or right.overflowing != []:
        result.overflowing = Lazy(lambda: list(_combinations(left, right, growing)))
    return result


def _end_to_end(contents: Sequence[Content]) -> Content:
    ranges: dict[int, Offsets] = {}
    size = 0
    for content in contents:
        for sequence, (begin, end) in content.ranges.items():
            ranges[sequence] = (size + begin, size + end)
        size += len(content.ids)
    return Content(
        [number for content in contents for number in content.ids],
        joined([content.type_ids for content in contents]),
        joined([content.tokens for content in contents]),
        joined([content.words for content in contents]),
        joined([content.offsets for content in contents]),
        joined([content.special for content in contents]),
        joined([content.attention for content in contents]),
        [],
        ranges,
    )


def _combinations(left: Content, right: Content, growing: bool) -> Iterator[Content]:
    others = value(right.overflowing)
    for one in value(left.overflowing):
        for other in (right, *others):
            yield _appended(one, other, growing)
    for other in others:
        yield _appended(left, other, growing)


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


def padded(content: Content, length: int, with_: Pad) -> Content:
    """Return one that is, like its overflowing parts, at least so long."""
    parts = content.changed_parts(lambda one: padded(one, length, with_))
    size, left = length - len(content), with_.left
    if size <= 0:
        return replace(content, overflowing=parts)
    moved = size if left else 0
    return Content(
        _with_more(content.ids, with_.id, size, left),
        _beside(content.type_ids, with_.type_id, size, left),
        _beside(content.tokens, with_.token, size, left),
        _beside(content.words, None, size, left),
        _beside(content.offsets, (0, 0), size, left),
        _beside(content.special, 1, size, left),
        _beside(content.attention, 0, size, left),
        parts,
        {k: (begin + moved, end + moved) for k, (begin, end) in content.ranges.items()},
    )


def _with_more(made: list[T], element: T, size: int, left: bool) -> list[T]:
    return [element] * size + made if left else made + [element] * size


def _beside(column: Column[T], element: T, size: int, left: bool) -> Column[T]:
    return changed(column, lambda made: _with_more(made, element, size, left))


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
    overflowing = [to_json(one) for one in value(content.overflowing)]
    return {**columns, "overflowing": overflowing, "sequence_ranges": ranges}


def from_json(state: dict[str, Any]) -> Content:
    """Return what `to_json` was given."""
    columns: dict[str, Any] = {ours: list(state[name]) for name, ours in _MEMBERS.items()}
    content = Content(**columns)
    content.offsets = [(begin, end) for begin, end in state["offsets"]]
    content.overflowing = [from_json(one) for one in state["overflowing"]]
    content.ranges = {
        int(k): (one["start"], one["end"]) for k, one in state["sequence_ranges"].items()
    }
    return content
