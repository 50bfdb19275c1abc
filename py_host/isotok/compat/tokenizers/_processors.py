"""post_processor: what is put around a text, or a pair.

SOURCE  The processors of tokenizers 0.23.3, one after the other and each with its own habits: what
        they do to type ids, to sequence ids and to overflowing parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from isotok.compat.tokenizers._columns import Column, Lazy, joined, value
from isotok.compat.tokenizers._content import Content, Offsets, merged, of_specials
from isotok.compile.tokenizer_json.checked import Json, flat, optional

Processor = Callable[[list[Content], bool], list[Content]]

_SPACES: Final = (
    "Ġ\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White_Space of Unicode, and the letter that stands for a space among bytes."""


@dataclass(frozen=True)
class PostProcessor:
    """All processors of a tokenizer.json.

    Parameters
    ----------
    steps : tuple of Processor
    single, pair : int
        Tokens that they put around one text, and around two.
    """

    steps: tuple[Processor, ...]
    single: int
    pair: int

    def process(self, content: Content, other: Content | None, add_special_tokens: bool) -> Content:
        """Return a text, or two, with what is around them."""
        contents = [_in_sequence(content, 0)]
        if other is not None:
            contents.append(_in_sequence(other, 1))
        for step in self.steps:
            contents = step(contents, add_special_tokens)
        return contents[0] if len(contents) == 1 else merged(contents)


def _in_sequence(content: Content, sequence: int) -> Content:
    """Give a text its number, which is its type as well; its overflowing parts keep theirs."""
    found = content.all_of(sequence, sequence)
    if content.overflowing != []:
        found.overflowing = content.changed_parts(lambda one: one.all_of(sequence))
    return found


def without_processor(content: Content, other: Content | None) -> Content:
    """Return a text, or two, where there is no post_processor."""
    if other is None:
        return content
    return merged([content.all_of(0), other.all_of(1)])


def read_post_processor(document: Json | None) -> PostProcessor | None:
    """Return the processors of a post_processor that the compiler has taken."""
    if document is None:
        return None
    steps: list[Processor] = []
    single = pair = 0
    for _, step in flat(document, "post_processor", "processors"):
        made, for_one, for_two = _KINDS[step["type"]](step)
        steps.append(made)
        single += for_one
        pair += for_two
    return PostProcessor(tuple(steps), single, pair)


# ---- ByteLevel ------------------------------------------------------------------------


def _byte_level(step: Json) -> tuple[Processor, int, int]:
    trim, prefix = _trims(step)

    def process(contents: list[Content], add_special_tokens: bool) -> list[Content]:
        if trim:
            contents = _trim_all(contents, prefix)
        return [one.all_of(i) for i, one in enumerate(contents)]

    return process, 0, 0


def _trims(step: Json) -> tuple[bool, bool]:
    return (
        optional(step, "trim_offsets", bool, True, "post_processor"),
        optional(step, "add_prefix_space", bool, True, "post_processor"),
    )


def _trim_all(contents: Sequence[Content], prefix: bool) -> list[Content]:
    def trimmed(part: Content) -> Content:
        return replace(part, offsets=_trimmed(part, prefix))

    return [one.each_part(trimmed) for one in contents]


def _trimmed(content: Content, prefix: bool) -> Column[Offsets]:
    tokens, offsets = content.tokens, content.offsets

    def make() -> list[Offsets]:
        made = zip(value(tokens), value(offsets), strict=True)
        return [_trim(token, span, i == 0, prefix) for i, (token, span) in enumerate(made)]

    return Lazy(make, tokens.depth + 1) if isinstance(tokens, Lazy) else make()


def _trim(token: str, span: Offsets, first: bool, prefix: bool) -> Offsets:
    """Leave out the white space that a token begins and ends with."""
    begin, end = span
    leading = len(token) - len(token.lstrip(_SPACES))
    trailing = len(token) - len(token.rstrip(_SPACES))
    if leading and not ((first or begin == 0) and prefix and leading == 1):
        begin = min(begin + leading, end)
    if trailing and end >= trailing:
        end = max(end - trailing, begin)
    return begin, end


# ---- Templates ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    """A step of a template: a sequence, or tokens."""

    type_id: int
    sequence: int | None
    ids: list[int]
    tokens: list[str]


def _template(step: Json) -> tuple[Processor, int, int]:
    specials: dict[str, Json] = step["special_tokens"]
    single, pair = (_pieces(step[name], specials) for name in ("single", "pair"))

    def process(contents: list[Content], add_special_tokens: bool) -> list[Content]:
        found: list[Content] = []
        for piece in single if len(contents) == 1 else pair:
            if piece.sequence is not None:
                one = contents[piece.sequence]
                found.append(one.all_of(piece.sequence, piece.type_id))
            elif add_special_tokens:
                found.append(of_specials(piece.ids, piece.tokens, piece.type_id))
        return found

    return process, sum(len(p.ids) for p in single), sum(len(p.ids) for p in pair)


def _pieces(steps: Sequence[Json], specials: Mapping[str, Json]) -> list[_Piece]:
    found: list[_Piece] = []
    for step in steps:
        kind, part = next(iter(step.items()))
        if kind == "Sequence":
            found.append(_Piece(part["type_id"], int(part["id"] != "A"), [], []))
        else:
            special = specials[part["id"]]
            found.append(_Piece(part["type_id"], None, special["ids"], special["tokens"]))
    return found


@dataclass(frozen=True)
class _Ends:
    """Tokens in front of a sequence and behind it, and where the sequence is in the result."""

    before: Content
    after: Content
    sequence: int
    type_zero: bool

    def around(self, content: Content) -> Content:
        """Return a text with the two around it; its overflowing parts without any of their own."""
        return content.each_part(self._around)

    def _around(self, content: Content) -> Content:
        before, after, size = self.before, self.after, len(content)
        type_ids = [0] * size if self.type_zero else content.type_ids
        whole = [*before.ids, *content.ids, *after.ids]
        return Content(
            whole,
            joined([before.type_ids, type_ids, after.type_ids]),
            joined([before.tokens, content.tokens, after.tokens]),
            joined([before.words, content.words, after.words]),
            joined([before.offsets, content.offsets, after.offsets]),
            joined([before.special, [0] * size, after.special]),
            [1] * len(whole),
            ranges={self.sequence: (len(before), len(before) + size)},
        )


def _end(pair: Any, type_id: int) -> Content:
    return of_specials([pair[1]], [pair[0]], type_id)


def _bert(step: Json) -> tuple[Processor, int, int]:
    nothing = Content()
    first = _Ends(_end(step["cls"], 0), _end(step["sep"], 0), 0, False)
    second = _Ends(nothing, _end(step["sep"], 1), 1, False)

    def process(contents: list[Content], add_special_tokens: bool) -> list[Content]:
        if not add_special_tokens:
            return contents
        return [(second if i else first).around(one) for i, one in enumerate(contents)]

    return process, 2, 3


def _roberta(step: Json) -> tuple[Processor, int, int]:
    trim, prefix = _trims(step)
    cls, sep = _end(step["cls"], 0), _end(step["sep"], 0)
    first, second = _Ends(cls, sep, 0, True), _Ends(sep, sep, 1, True)

    def process(contents: list[Content], add_special_tokens: bool) -> list[Content]:
        if trim:
            contents = _trim_all(contents, prefix)
        contents = [one.typed(0) for one in contents]
        if not add_special_tokens:
            return contents
        return [(second if i else first).around(one) for i, one in enumerate(contents)]

    return process, 2, 4


_KINDS: Final[Mapping[str, Callable[[Json], tuple[Processor, int, int]]]] = {
    "ByteLevel": _byte_level,
    "TemplateProcessing": _template,
    "BertProcessing": _bert,
    "RobertaProcessing": _roberta,
}
