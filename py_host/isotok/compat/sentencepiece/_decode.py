"""`SentencePieceProcessor.Decode`: from what it takes to what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from isotok.compat.sentencepiece import _arguments as arguments
from isotok.compat.sentencepiece._decoding import decode, decode_tokens
from isotok.compat.sentencepiece._errors import NOT_LOADED, OUT_OF_RANGE, internal
from isotok.compat.sentencepiece._immutable import ImmutableSentencePieceText
from isotok.compat.sentencepiece._model import Model
from isotok.compat.sentencepiece._outputs import Extra, need_protobuf, with_extra
from isotok.compat.sentencepiece._settings import threads_for
from isotok.compat.sentencepiece._tokens import Tokens
from isotok.errors import TokenizerError

KINDS: Final = (str, bytes, "proto", "serialized_proto", "immutable_proto", "offset_mapping")
_DOUBT: Final = "\ufffd"  # the core has it for bytes that are no UTF-8, sentencepiece the bytes


def decode_input(
    model: Model | None,
    values: Any,
    kind: Any,
    as_bytes: bool,
    extra: Extra,
    thread_pool: Any,
) -> Any:
    """Decode whatever `Decode` takes."""
    if values is None or (isinstance(values, (str, bytes)) and not values):
        values = ()
    if not arguments.is_sequence(values):
        values = [values]
    is_batch = _is_batch(values)
    pieces = _has_pieces(values, is_batch)
    if kind not in KINDS:
        raise ValueError(f"unknown return_type={kind} or input type")
    if not is_batch:
        return _Request(model, kind, as_bytes, extra, pieces).run(values)
    threads_for((), -1, thread_pool)
    items = [values[index] for index in range(len(values))]
    if pieces:
        as_bytes = as_bytes or isinstance(_first_filled(items)[0], bytes)
    request = _Request(model, kind, as_bytes, extra, pieces)
    converted = [request.convert(item) for item in items]
    return [request.result(item) for item in converted]


def _is_batch(values: Any) -> bool:
    if hasattr(values, "ndim"):
        return values.ndim > 1
    return len(values) > 0 and arguments.is_sequence(values[0])


def _has_pieces(values: Any, is_batch: bool) -> bool:
    """Whether pieces are decoded and not ids; empty sequences do not tell."""
    if is_batch:
        values = _first_filled(values)
    if len(values) == 0 or hasattr(values, "dtype"):
        return False
    return isinstance(values[0], (str, bytes))


def _first_filled(values: Any) -> Any:
    """First sequence of a batch that is not empty; an empty one if there is none."""
    filled = (item for item in values if arguments.is_sequence(item) and len(item) > 0)
    return next(filled, ())


@dataclass(frozen=True, slots=True)
class _Request:
    model: Model | None
    kind: Any
    as_bytes: bool
    extra: Extra
    pieces: bool

    def run(self, values: Any) -> Any:
        """Decode one sequence."""
        request = self
        if self.pieces and isinstance(values[0], bytes) and self.kind in (str, "offset_mapping"):
            request = _Request(self.model, self.kind, True, self.extra, True)
        return request.result(request.convert(values))

    def convert(self, values: Any) -> list[bytes] | list[int]:
        """Check the types of a sequence."""
        if not self.pieces:
            is_list = type(values) is list
            return cast("list[int]", values) if is_list else arguments.whole_numbers(values)
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
            raise TypeError("Input must be a list or tuple of str or bytes")
        return arguments.each_bytes(cast("Sequence[object]", values))

    def result(self, values: list[bytes] | list[int]) -> Any:
        """Decode a checked sequence."""
        if self.model is None:
            if values and not self.pieces:
                raise IndexError(OUT_OF_RANGE)
            raise internal(NOT_LOADED)
        if self.kind is str or self.kind is bytes:
            return self._text(self.model, values)
        if not values and self.kind == "immutable_proto":
            return ""  # as 0.2.1, the last to have this kind
        tokens = self._tokens(self.model, values)
        if self.kind == "serialized_proto":
            return tokens.serialized()
        if self.kind == "immutable_proto":
            return ImmutableSentencePieceText(tokens)
        if self.kind == "offset_mapping":
            mapping = tokens.offset_mapping(self.as_bytes)
            text: str | bytes = tokens.text if self.as_bytes else tokens.text.decode()
            return {"text": text, **mapping}
        return need_protobuf().SentencePieceText.FromString(tokens.serialized())

    def _text(self, model: Model, values: list[bytes] | list[int]) -> str | bytes:
        if self.extra:
            return self._typed(self._tokens(model, values).text)
        if self.pieces:
            pieces = tuple(cast("list[bytes]", values))
            text = model.tokenizer.decode_pieces(pieces)
            if _DOUBT in text:
                return self._typed(decode_tokens(model, pieces).text)
        else:
            ids = cast("list[int]", values)
            text = _decode_ids(model, ids)
            if _DOUBT in text:
                found = ids if model.compat is None else list(map(model.resolved, ids))
                return self._typed(decode(model, model.pieces(ids), found).text)
        return text.encode() if self.kind is bytes or self.as_bytes else text

    def _typed(self, text: bytes) -> str | bytes:
        return text if self.kind is bytes or self.as_bytes else text.decode()

    def _tokens(self, model: Model, values: list[bytes] | list[int]) -> Tokens:
        if self.pieces:
            pieces = cast("list[bytes]", values)
        else:
            ids = _checked(model, _numbers(values))
            if not self.extra:
                return decode(model, model.pieces(ids), list(map(model.resolved, ids)))
            pieces = model.pieces(ids)
        if self.extra:
            ids = [model.find(piece) for piece in pieces]
            nowhere = [(0, 0)] * len(ids)
            plain = Tokens(b"", ids, list(pieces), nowhere, [None] * len(ids))
            pieces = with_extra(model, plain, self.extra).pieces
        return decode_tokens(model, pieces)


def _decode_ids(model: Model, ids: list[int]) -> str:
    try:
        return model.tokenizer.decode(ids)
    except (TokenizerError, TypeError, OverflowError):
        return model.tokenizer.decode(_checked(model, _numbers(ids)))


def _numbers(values: list[bytes] | list[int]) -> list[int]:
    low, high = arguments.INT_MIN, arguments.INT_MAX
    if all(type(value) is int and low <= value <= high for value in values):
        return cast("list[int]", values)
    return arguments.whole_numbers(values)


def _checked(model: Model, ids: list[int]) -> list[int]:
    if not all(0 <= token_id < model.size for token_id in ids):
        raise IndexError(OUT_OF_RANGE)
    return ids
