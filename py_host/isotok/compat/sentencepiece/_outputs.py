"""From tokens to what the caller asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from isotok import _layout_gen as abi
from isotok._arguments import flags_of
from isotok.compat.sentencepiece._encoding import (
    Sampling,
    encode_ids,
    encode_pieces,
    encode_tokens,
    nbest,
    nbest_tokens,
    offset_mapping,
)
from isotok.compat.sentencepiece._errors import invalid, missing_package
from isotok.compat.sentencepiece._immutable import (
    ImmutableNBestSentencePieceText,
    ImmutableSentencePieceText,
)
from isotok.compat.sentencepiece._model import Model
from isotok.compat.sentencepiece._tokens import Tokens, serialized_nbest

PROTOS: Final = ("proto", "serialized_proto", "immutable_proto", "offset_mapping")

Extra = tuple[str, ...]
"""Names of the extra options of sentencepiece 0.2.1, in their order."""


def need_numpy() -> Any:
    """Import numpy."""
    try:
        import numpy as np
    except ImportError as error:
        raise missing_package("numpy", "return_type='numpy'") from error
    return np


def need_protobuf() -> Any:
    """Import the messages; protobuf makes their classes."""
    try:
        from isotok.compat.sentencepiece import sentencepiece_pb2
    except ImportError as error:
        raise missing_package("protobuf", "return_type='proto'") from error
    return sentencepiece_pb2


def read_only_array(ids: Any) -> Any:
    """Make an int32 array that cannot be written to of a list of ids or of their memory."""
    np = need_numpy()
    if isinstance(ids, list):
        array = np.array(ids, dtype=np.int32)
    else:
        array = np.frombuffer(memoryview(ids), dtype=np.int32)
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True)
class Output:
    """What the caller wants of the tokens of a text."""

    kind: Any
    add_bos: bool = False
    add_eos: bool = False
    reverse: bool = False
    emit_unk_piece: bool = False
    as_bytes: bool = False
    """Of offset_mapping: bytes and their places instead of str and code points."""
    extra: Extra = ()

    def check_kind(self) -> None:
        """Messages have no place for the options."""
        asked = self.add_bos or self.add_eos or self.reverse or self.emit_unk_piece
        if asked and self.kind in PROTOS:
            raise RuntimeError(
                "UNIMPLEMENTED: add_bos, add_eos, reverse, and emit_unk_piece is not supported "
                "in proto API"
            )

    def check_model(self, model: Model) -> None:
        """The model must have the pieces that are asked for."""
        for asked, token_id, name in (
            (self.add_bos, model.bos_id, "BOS"),
            (self.add_eos, model.eos_id, "EOS"),
        ):
            if asked and token_id < 0:
                raise invalid(f"{name} token is not defined as a control symbol in this model.")
        if self.emit_unk_piece and self.kind in (str, bytes) and model.unk_id < 0:
            raise invalid("UNK token is not defined in this model.")

    # -- one segmentation ---------------------------------------------------------

    def encode(self, model: Model, text: bytes, sampling: Sampling | None) -> Any:
        """Encode a text."""
        if self.extra:
            tokens = encode_tokens(model, text, sampling)
            return self.of_tokens(model, with_extra(model, tokens, self.extra))
        if self.kind is int:
            return self._ids(model, text, sampling)
        if self.kind is str or self.kind is bytes:
            return self._pieces(model, text, sampling)
        if self.kind == "numpy":
            return self._array(model, text, sampling)
        if self.kind == "offset_mapping" and sampling is None:
            return offset_mapping(model, text, self.as_bytes)
        return self.of_tokens(model, encode_tokens(model, text, sampling))

    def _ids(self, model: Model, text: bytes, sampling: Sampling | None) -> list[int]:
        if sampling is None and not self.reverse:
            return model.backend.encode(text, flags_of(self.add_bos, self.add_eos), 0)
        return self._of_ids(model, encode_ids(model, text, sampling))

    def _pieces(
        self, model: Model, text: bytes, sampling: Sampling | None
    ) -> list[str] | list[bytes]:
        if self.kind is str and sampling is None and not self.emit_unk_piece:
            ids = self._ids(model, text, None)
            if model.unk_id not in ids:
                return model.texts(ids)
        return self._of_pieces(model, encode_pieces(model, text, sampling))

    def _array(self, model: Model, text: bytes, sampling: Sampling | None) -> Any:
        if sampling is not None or self.reverse:
            return read_only_array(self._of_ids(model, encode_ids(model, text, sampling)))
        flags = (abi.BOS if self.add_bos else 0) | (abi.EOS if self.add_eos else 0)
        return read_only_array(model.backend.encode_ids(text, flags, 0))

    def of_tokens(self, model: Model, tokens: Tokens) -> Any:
        """Make the result of tokens."""
        if self.kind is int:
            return self._of_ids(model, tokens.ids)
        if self.kind is str or self.kind is bytes:
            return self._of_pieces(model, tokens.pieces)
        if self.kind == "numpy":
            return read_only_array(self._of_ids(model, tokens.ids))
        if self.kind == "offset_mapping":
            return tokens.offset_mapping(self.as_bytes)
        if self.kind == "serialized_proto":
            return tokens.serialized()
        if self.kind == "immutable_proto":
            return ImmutableSentencePieceText(tokens)
        return need_protobuf().SentencePieceText.FromString(tokens.serialized())

    def _of_ids(self, model: Model, ids: list[int]) -> list[int]:
        if self.reverse:
            ids = ids[::-1]
        front = [model.bos_id] if self.add_bos else []
        back = [model.eos_id] if self.add_eos else []
        return [*front, *ids, *back] if front or back else ids

    def _of_pieces(self, model: Model, pieces: list[bytes]) -> list[str] | list[bytes]:
        if self.emit_unk_piece:
            unknown = model.piece(model.unk_id)
            pieces = [unknown if model.find(each) == model.unk_id else each for each in pieces]
        if self.reverse:
            pieces = pieces[::-1]
        front = [model.piece(model.bos_id)] if self.add_bos else []
        back = [model.piece(model.eos_id)] if self.add_eos else []
        every = [*front, *pieces, *back]
        return [piece.decode() for piece in every] if self.kind is str else every

    # -- several ------------------------------------------------------------------

    def nbest(self, model: Model, text: bytes, size: int) -> Any:
        """Encode a text to its best segmentations."""
        if (self.kind is int or self.kind == "numpy") and not self.extra:
            found, _ = nbest(model, text, size)
            every = [self._of_ids(model, ids) for ids in found]
            return every if self.kind is int else [read_only_array(ids) for ids in every]
        return self.of_several(model, nbest_tokens(model, text, size))

    def of_several(self, model: Model, found: Sequence[Tokens]) -> Any:
        """Make the result of several segmentations."""
        if self.extra:
            found = [with_extra(model, tokens, self.extra) for tokens in found]
        if self.kind == "serialized_proto":
            return serialized_nbest(found)
        if self.kind == "immutable_proto":
            return ImmutableNBestSentencePieceText(found)
        if self.kind == "proto":
            return need_protobuf().NBestSentencePieceText.FromString(serialized_nbest(found))
        return [self.of_tokens(model, tokens) for tokens in found]


def with_extra(model: Model, tokens: Tokens, extra: Extra) -> Tokens:
    """Apply the extra options one after the other, as sentencepiece does."""
    columns = (tokens.ids, tokens.pieces, tokens.spans, tokens.surfaces)
    rows = list(zip(*columns, strict=True))
    end = len(tokens.text)
    for name in extra:
        if name == "reverse":
            rows.reverse()
        elif name == "eos":
            rows.append((model.eos_id, model.piece(model.eos_id), (end, end), None))
        elif name == "bos":
            rows.insert(0, (model.bos_id, model.piece(model.bos_id), (0, 0), None))
        else:
            rows = [(row[0], _name(model, row[0], row[1]), *row[2:]) for row in rows]
    made = Tokens(tokens.text, score=tokens.score)
    for token_id, piece, span, surface in rows:
        made.ids.append(token_id)
        made.pieces.append(piece)
        made.spans.append(span)
        made.surfaces.append(surface)
    return made


def _name(model: Model, token_id: int, piece: bytes) -> bytes:
    """Piece of a token, of an unknown one that of the unknown piece."""
    if not model.is_unknown(token_id):
        return piece
    return model.piece(token_id) if token_id >= 0 else b"<unk>"


def over(values: object, function: Callable[[Any], Any]) -> Any:
    """Apply `function` to a text, or to each of a list."""
    if isinstance(values, list):
        return [function(value) for value in values]  # pyright: ignore[reportUnknownVariableType]
    return function(values)
