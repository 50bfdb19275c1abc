"""Tokens of a text with all that SentencePieceText says about them, and what is made of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Final

from isotok.compat.sentencepiece._model import SPACE, Model
from isotok.compat.sentencepiece._wire import bytes_field, float_field, number_field, varint

Span = tuple[int, int]
small_varint: Final = lru_cache(maxsize=1 << 14)(varint)


@lru_cache(maxsize=1 << 14)
def _piece_and_id(piece: bytes, token_id: int) -> bytes:
    return bytes_field(1, piece) + number_field(2, token_id)


@dataclass(slots=True)
class Tokens:
    """A text and its tokens, column by column: SentencePieceText."""

    text: bytes
    ids: list[int] = field(default_factory=list[int])
    pieces: list[bytes] = field(default_factory=list[bytes])
    spans: list[Span] = field(default_factory=list[Span])
    """Half-open ranges in the text, in bytes."""
    surfaces: list[bytes | None] = field(default_factory=list["bytes | None"])
    """What stands in the text there; None where SentencePiece leaves it out."""
    score: float | None = None

    def serialized(self) -> bytes:
        """Bytes of the protobuf message, as SentencePiece writes them."""
        out = [bytes_field(1, self.text)]
        head, number = _piece_and_id, small_varint
        columns = zip(self.pieces, self.ids, self.surfaces, self.spans, strict=True)
        for piece, token_id, surface, (begin, end) in columns:
            token = head(piece, token_id)
            if surface is not None:
                token += b"\x1a" + number(len(surface)) + surface
            token += b"\x20" + number(begin) + b"\x28" + number(end)
            out.append(b"\x12" + number(len(token)) + token)
        if self.score is not None:
            out.append(float_field(3, self.score))
        return b"".join(out)

    def offset_mapping(self, as_bytes: bool) -> dict[str, object]:
        """Ids, pieces and offsets; in code points and str, or in bytes."""
        if as_bytes:
            return {"ids": self.ids, "pieces": self.pieces, "offsets": self.spans}
        pieces = [piece.decode() for piece in self.pieces]
        at = code_points(self.text, (place for span in self.spans for place in span))
        try:
            offsets = [(at[begin], at[end]) for begin, end in self.spans]
        except KeyError:  # the denormalizer has made the text shorter
            raise ValueError("Invalid piece offsets in SentencePieceText") from None
        return {"ids": self.ids, "pieces": pieces, "offsets": offsets}

    def in_code_points(self) -> Tokens:
        """Make a copy whose ranges count code points; those behind the text end with it."""
        size = len(self.text)
        spans = [(min(begin, size), min(end, size)) for begin, end in self.spans]
        at = code_points(self.text, (place for span in spans for place in span))
        return replace(self, spans=[(at[begin], at[end]) for begin, end in spans])


def serialized_nbest(found: Iterable[Tokens]) -> bytes:
    """Bytes of NBestSentencePieceText."""
    return b"".join(bytes_field(1, each.serialized()) for each in found)


def character_size(lead: int) -> int:
    """Bytes of a character by its first, as SentencePiece counts, well-formed or not."""
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def code_points(text: bytes, places: Iterable[int]) -> dict[int, int]:
    """Code point number of places in a text that are given in bytes.

    Counted by lead bytes, as SentencePiece does; all bytes of a character have its number.
    Places behind the text are left out.
    """
    wanted = sorted(place for place in set(places) if place <= len(text))
    if text.isascii():
        return dict(zip(wanted, wanted, strict=True))
    found: dict[int, int] = {}
    at = number = 0
    try:
        for place in wanted:
            number += len(text[at:place].decode())
            at = place
            found[place] = number
    except UnicodeDecodeError:
        every = _code_point_of_bytes(text)
        return {place: every[place] for place in wanted}
    return found


def _code_point_of_bytes(text: bytes) -> list[int]:
    found: list[int] = []
    at = number = 0
    while at < len(text):
        size = min(character_size(text[at]), len(text) - at)
        found += [number] * size
        number += 1
        at += size
    return [*found, number]


def with_surfaces(
    model: Model, text: bytes, ids: list[int], pieces: list[bytes], spans: list[Span]
) -> Tokens:
    """Put tokens together. Of the bytes of an unknown text only the last has its surface."""
    surfaces: list[bytes | None] = [text[begin:end] for begin, end in spans]
    if not model.byte_ids.isdisjoint(ids):
        for position in _not_last(model, ids, pieces):
            surfaces[position] = None
    return Tokens(text, ids, pieces, spans, surfaces)


def _not_last(model: Model, ids: Sequence[int], pieces: Sequence[bytes]) -> Iterator[int]:
    """Places of bytes that are not the last one of a character (of a word model: word)."""
    of_bytes = model.byte_ids
    divide = _words if model.algorithm == "word" else _characters
    places = [place for place, token_id in enumerate(ids) if token_id in of_bytes]
    # In a run of bytes the place less its number among the bytes is the same.
    for _, run in groupby(enumerate(places), lambda numbered: numbered[1] - numbered[0]):
        at = [place for _, place in run]
        data = bytes(int(pieces[place][3:5], 16) for place in at)
        for begin, size in divide(data):
            yield from at[begin : begin + size - 1]


def _characters(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(data):
        size = min(character_size(data[at]), len(data) - at)
        yield at, size
        at += size


def _words(data: bytes) -> Iterator[tuple[int, int]]:
    """Parts that begin with the space symbol, and what is in front of the first."""
    begin = 0
    while begin < len(data):
        end = data.find(SPACE, begin + 1)
        end = len(data) if end < 0 else end
        yield begin, end - begin
        begin = end
