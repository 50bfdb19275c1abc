"""SentencePiece's model files: what decoding needs of them, and changed copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from isotok.compat.sentencepiece._wire import (
    Message,
    bytes_field,
    fields,
    float_field,
    number_field,
    replaced,
)

PIECES: Final = 1
TRAINER_SPEC: Final = 2
NORMALIZER_SPEC: Final = 3
DENORMALIZER_SPEC: Final = 5

PIECE_TEXT: Final = 1
PIECE_SCORE: Final = 2
PIECE_TYPE: Final = 3

MODEL_TYPE: Final = 3
UNK_SURFACE: Final = 44

NAME: Final = 1
CHARSMAP: Final = 2
NORMALIZER_FLAGS: Final = {
    "add_dummy_prefix": 3,
    "remove_extra_whitespaces": 4,
    "escape_whitespaces": 5,
}
RULE_TSV: Final = 6

DEFAULT_UNK_SURFACE: Final = " \u2047 ".encode()


class Settings(NamedTuple):
    """What decoding depends on beside the pieces."""

    unk_surface: bytes
    strip_one: bool
    """One space in front is taken away."""
    strip_all: bool
    """All spaces in front are."""
    denormalizer: bytes
    """Its NormalizerSpec; empty if there is none."""


def settings_of(proto: bytes) -> Settings:
    """Read the settings of a ModelProto."""
    specs = _specs(proto)
    trainer, normalizer = Message(specs[TRAINER_SPEC]), Message(specs[NORMALIZER_SPEC])
    denormalizer = specs[DENORMALIZER_SPEC]
    strip_all = normalizer.flag(NORMALIZER_FLAGS["remove_extra_whitespaces"], True)
    return Settings(
        unk_surface=trainer.bytes.get(UNK_SURFACE, DEFAULT_UNK_SURFACE),
        strip_one=strip_all or normalizer.flag(NORMALIZER_FLAGS["add_dummy_prefix"], True),
        strip_all=strip_all,
        denormalizer=denormalizer if Message(denormalizer).bytes.get(CHARSMAP) else b"",
    )


def normalizer_spec_of(proto: bytes) -> bytes:
    """Return the NormalizerSpec of a ModelProto."""
    return _specs(proto)[NORMALIZER_SPEC]


def _specs(proto: bytes) -> dict[int, bytes]:
    found = {TRAINER_SPEC: b"", NORMALIZER_SPEC: b"", DENORMALIZER_SPEC: b""}
    for field in fields(proto):
        if field.number in found and isinstance(field.value, bytes):
            found[field.number] += field.value
    return found


def model_type_of(proto: bytes) -> int:
    """Return the model type of a ModelProto: 1 unigram, 2 bpe, 3 word, 4 char."""
    return Message(_specs(proto)[TRAINER_SPEC]).numbers.get(MODEL_TYPE, 1)


def with_model_type(proto: bytes, number: int) -> bytes:
    """Make a copy with another model type."""
    trainer = replaced(_specs(proto)[TRAINER_SPEC], {MODEL_TYPE: number_field(MODEL_TYPE, number)})
    return replaced(proto, {TRAINER_SPEC: bytes_field(TRAINER_SPEC, trainer)})


def with_normalizer_flags(spec: bytes, flags: Mapping[str, bool]) -> bytes:
    """Make a copy of a NormalizerSpec with other flags."""
    numbers = {NORMALIZER_FLAGS[name]: value for name, value in flags.items()}
    changes = {number: number_field(number, int(value)) for number, value in numbers.items()}
    return replaced(spec, changes)


def with_normalizer(proto: bytes, spec: bytes) -> bytes:
    """Make a copy of a ModelProto with another NormalizerSpec."""
    return replaced(proto, {NORMALIZER_SPEC: bytes_field(NORMALIZER_SPEC, spec)})


class PieceChange(NamedTuple):
    """What becomes of a piece."""

    type: int
    text: bytes | None = None
    """None: it keeps its text."""


def with_pieces(proto: bytes, changes: Mapping[int, PieceChange]) -> bytes:
    """Make a copy of a ModelProto in which the pieces with these ids are others."""
    out: list[bytes] = []
    token_id = 0
    for field in fields(proto):
        data = proto[field.begin : field.end]
        if field.number == PIECES and isinstance(field.value, bytes):
            change = changes.get(token_id)
            token_id += 1
            if change is not None:
                data = bytes_field(PIECES, _changed(field.value, change))
        out.append(data)
    return b"".join(out)


def _changed(piece: bytes, change: PieceChange) -> bytes:
    fields_of = {PIECE_TYPE: number_field(PIECE_TYPE, change.type)}
    if change.text is not None:
        fields_of[PIECE_TEXT] = bytes_field(PIECE_TEXT, change.text)
    return replaced(piece, fields_of)


def normalizer_model(spec: bytes) -> bytes:
    """Make a model whose only use is to normalize as `spec` says."""
    unknown = bytes_field(PIECE_TEXT, b"<unk>") + number_field(PIECE_TYPE, 2)
    letter = bytes_field(PIECE_TEXT, b"a") + float_field(PIECE_SCORE, 0.0)
    pieces = bytes_field(PIECES, unknown) + bytes_field(PIECES, letter)
    return pieces + bytes_field(NORMALIZER_SPEC, spec)
