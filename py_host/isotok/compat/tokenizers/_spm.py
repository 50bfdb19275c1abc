"""A SentencePiece model as the parts that a tokenizer is made of."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

from isotok.compat.sentencepiece._model_file import (
    CHARSMAP,
    MODEL_TYPE,
    NORMALIZER_SPEC,
    PIECE_SCORE,
    PIECE_TEXT,
    PIECES,
    TRAINER_SPEC,
)
from isotok.compat.sentencepiece._wire import WireError, fields

_BYTE_FALLBACK: Final = 35
_UNK_ID: Final = 40
_UNIGRAM: Final = 1

Value = int | bytes


def read_spm(path: str) -> tuple[list[tuple[str, float]], int, bool, bytes]:
    """Read pieces with their scores, the id of the unknown, byte_fallback and the rules.

    Raises
    ------
    ValueError
        It is no SentencePiece model, or one of another type.
    """
    pieces: list[tuple[str, float]] = []
    trainer: dict[int, Value] = {}
    rules = b""
    try:
        for field in fields(Path(path).read_bytes()):
            members = _members(field.value)
            if field.number == PIECES:
                text, score = members.get(PIECE_TEXT, b""), members.get(PIECE_SCORE)
                pieces.append((_bytes(text).decode(), _float(score)))
            elif field.number == TRAINER_SPEC:
                trainer = members
            elif field.number == NORMALIZER_SPEC:
                rules = _bytes(members.get(CHARSMAP, b""))
    except (WireError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: no SentencePiece model: {error}") from error
    if trainer.get(MODEL_TYPE, _UNIGRAM) != _UNIGRAM:
        raise ValueError(
            f"{path}: of the model types of SentencePiece only unigram is a Unigram here"
        )
    return pieces, int(trainer.get(_UNK_ID, 0)), bool(trainer.get(_BYTE_FALLBACK, 0)), rules


def _members(value: Value) -> dict[int, Value]:
    """Return the fields of a message; of one that comes again, the last."""
    if isinstance(value, int):
        return {}
    return {field.number: field.value for field in fields(value)}


def _bytes(value: Value) -> bytes:
    return value if isinstance(value, bytes) else b""


def _float(value: Value | None) -> float:
    return struct.unpack("<f", value)[0] if isinstance(value, bytes) and len(value) == 4 else 0.0
