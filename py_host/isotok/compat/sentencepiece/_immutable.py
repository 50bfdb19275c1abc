"""The read-only results of sentencepiece 0.2.1, with places in code points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

from isotok.compat.sentencepiece._tokens import Span, Tokens, serialized_nbest

T = TypeVar("T")


class ReadOnlyList(Sequence[T]):
    """A sequence that prints its elements one below the other."""

    def __init__(self, name: str, items: Sequence[T]) -> None:
        self._name = name
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return list(self._items[index])
        if not -len(self) <= index < len(self):
            name = "nbests" if self._name == "nbests" else "piece"
            raise IndexError(f"{name} index is out of range")
        return self._items[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __repr__(self) -> str:
        return "\n".join(f"{self._name} {{\n{item}}}" for item in self._items)


class ImmutableSentencePieceText_ImmutableSentencePiece:
    """One piece of a text."""

    __slots__ = ("_fields",)

    def __init__(
        self, piece: bytes = b"", surface: bytes = b"", id: int = 0, span: Span = (0, 0)
    ) -> None:
        self._fields = piece, surface, id, span

    @property
    def piece(self) -> str:
        """The piece."""
        return self.piece_as_bytes.decode()

    @property
    def piece_as_bytes(self) -> bytes:
        """The piece as bytes."""
        return self._fields[0]

    @property
    def surface(self) -> str:
        """What stands in the text there."""
        return self.surface_as_bytes.decode()

    @property
    def surface_as_bytes(self) -> bytes:
        """What stands in the text there, as bytes."""
        return self._fields[1]

    @property
    def id(self) -> int:
        """Id of the piece."""
        return self._fields[2]

    @property
    def begin(self) -> int:
        """Code point at which it begins in the text."""
        return self._fields[3][0]

    @property
    def end(self) -> int:
        """Code point at which it ends in the text."""
        return self._fields[3][1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImmutableSentencePieceText_ImmutableSentencePiece):
            return NotImplemented
        return self._fields == other._fields

    def __hash__(self) -> int:
        return hash(self._fields)

    def __repr__(self) -> str:
        values = (f'piece: "{self.piece}"', f"id: {self.id}", f'surface: "{self.surface}"')
        return "\n".join([*values, f"begin: {self.begin}", f"end: {self.end}", ""])


class _Serialized:
    """Two are equal if their bytes are."""

    __slots__ = ()

    def SerializeAsString(self) -> bytes:
        """Bytes of the protobuf message."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Serialized):
            return NotImplemented
        return self.SerializeAsString() == other.SerializeAsString()

    def __hash__(self) -> int:
        return hash(self.SerializeAsString())


class ImmutableSentencePieceText(_Serialized):
    """A text and its pieces."""

    __slots__ = ("_tokens",)

    def __init__(self, tokens: Tokens | None = None) -> None:
        self._tokens = Tokens(b"") if tokens is None else tokens.in_code_points()

    @property
    def text(self) -> str:
        """The text."""
        return self._tokens.text.decode()

    @property
    def text_as_bytes(self) -> bytes:
        """The text as bytes."""
        return self._tokens.text

    @property
    def score(self) -> float:
        """Score of the segmentation where there is one, else 0."""
        return self._tokens.score or 0.0

    @property
    def pieces(self) -> ReadOnlyList[ImmutableSentencePieceText_ImmutableSentencePiece]:
        """The pieces in order."""
        kind = ImmutableSentencePieceText_ImmutableSentencePiece
        own = self._tokens
        columns = zip(own.pieces, own.surfaces, own.ids, own.spans, strict=True)
        return ReadOnlyList("pieces", [kind(p, s or b"", i, span) for p, s, i, span in columns])

    def SerializeAsString(self) -> bytes:
        """Bytes of the protobuf message; places count code points."""
        return self._tokens.serialized()

    def __repr__(self) -> str:
        return f'text: "{self.text}"\nscore: {self.score}\n{self.pieces}'


class ImmutableNBestSentencePieceText(_Serialized):
    """Several segmentations of a text."""

    __slots__ = ("_found",)

    def __init__(self, found: Sequence[Tokens] = ()) -> None:
        self._found = list(found)

    @property
    def nbests(self) -> ReadOnlyList[ImmutableSentencePieceText]:
        """The segmentations."""
        return ReadOnlyList("nbests", [ImmutableSentencePieceText(each) for each in self._found])

    def SerializeAsString(self) -> bytes:
        """Bytes of the protobuf message; places count code points."""
        return serialized_nbest(tokens.in_code_points() for tokens in self._found)

    def __repr__(self) -> str:
        return str(self.nbests)
