"""The part of `SentencePieceProcessor` that looks pieces up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from isotok.compat.sentencepiece import _arguments as arguments
from isotok.compat.sentencepiece._errors import OUT_OF_RANGE
from isotok.compat.sentencepiece._model import BYTE, CONTROL, NO_ID, Model

T = TypeVar("T")


class Lookups:
    """Ids, texts, scores and types of pieces; of one id, or of a sequence of them."""

    _model: Model | None

    def GetPieceSize(self) -> int:
        """Return the number of pieces."""
        return 0 if self._model is None else self._model.size

    def PieceToId(self, piece: Any) -> Any:
        """Return the id of a piece, or of each of a sequence; an unknown one has unk_id."""
        if isinstance(piece, (str, bytes, bytearray)):
            try:
                data = piece.encode() if isinstance(piece, str) else bytes(piece)
            except UnicodeEncodeError:
                raise TypeError("Sequence elements must be str or bytes") from None
            return self._find(data)
        if not isinstance(piece, Sequence):
            raise TypeError(f"piece must be str, bytes or a sequence of them, not {piece!r}")
        try:
            texts = arguments.each_bytes(cast("Sequence[object]", piece))
        except TypeError:
            raise TypeError("Sequence elements must be str or bytes") from None
        return [self._find(text) for text in texts]

    def _find(self, piece: bytes) -> int:
        return 0 if self._model is None else self._model.find(piece)

    def _each(self, ids: Any, function: Callable[[Model, int], T]) -> T | list[T]:
        """Result of `function` for an id, or for each of a sequence."""
        try:
            return self._one(arguments.whole("id", ids), function)
        except TypeError:
            numbers = arguments.whole_numbers(ids)
        if not all(0 <= number < self.GetPieceSize() for number in numbers):
            raise IndexError(OUT_OF_RANGE)
        return [self._one(number, function) for number in numbers]

    def _one(self, number: int, function: Callable[[Model, int], T]) -> T:
        if self._model is None or not 0 <= number < self._model.size:
            raise IndexError(OUT_OF_RANGE)
        return function(self._model, number)

    def IdToPiece(self, id: Any) -> Any:
        """Return the text of a piece."""
        return self._each(id, Model.text)

    def GetScore(self, id: Any) -> Any:
        """Return the score of a piece."""
        return self._each(id, Model.score)

    def IsUnknown(self, id: Any) -> Any:
        """Whether it is the unknown piece."""
        return self._each(id, Model.is_unknown)

    def IsControl(self, id: Any) -> Any:
        """Whether it is a control piece."""
        return self._each(id, lambda model, number: model.type(number) == CONTROL)

    def IsUnused(self, id: Any) -> Any:
        """Whether encoding does not use it."""
        return self._each(id, Model.is_unused)

    def IsByte(self, id: Any) -> Any:
        """Whether it stands for one byte."""
        return self._each(id, lambda model, number: model.type(number) == BYTE)

    def unk_id(self) -> int:
        """Return the id of the unknown piece, or -1."""
        return NO_ID if self._model is None else self._model.unk_id

    def bos_id(self) -> int:
        """Return the id of BOS, or -1."""
        return NO_ID if self._model is None else self._model.bos_id

    def eos_id(self) -> int:
        """Return the id of EOS, or -1."""
        return NO_ID if self._model is None else self._model.eos_id

    def pad_id(self) -> int:
        """Return the id of padding, or -1."""
        return NO_ID if self._model is None else self._model.pad_id

    def __len__(self) -> int:
        return self.GetPieceSize()

    def __getitem__(self, piece: Any) -> Any:
        return self.PieceToId(piece)

    get_piece_size = piece_size = vocab_size = GetPieceSize
    piece_to_id = PieceToId
    id_to_piece = IdToPiece
    get_score = GetScore
    is_unknown = IsUnknown
    is_control = IsControl
    is_unused = IsUnused
    is_byte = IsByte
