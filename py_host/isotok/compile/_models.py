"""Models of tokenizer.json that segment pre-tokens: WordPiece, WordLevel, Unigram."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile._fields import pack_fields, pretokenizer_fields, scalar
from isotok.errors import TokenizerError

PretokBytes = tuple[bytes, bytes, bytes]
"""As `PretokArrays.to_bytes` returns it."""

_MAX_IDS: Final = 1 << 24
_MAX_FLOAT: Final = (2 - 2**-23) * 2.0**127
_NOT_IN_TEXT: Final = -math.inf
"""Score of an id that the model itself never gives."""
_BYTES: Final = {f"<0x{byte:02X}>": byte for byte in range(256)}


@dataclass
class _Pieces:
    """Pieces by id; an id that stands for nothing is UNUSED and has no text."""

    texts: list[bytes]
    types: bytearray = field(init=False)
    scores: array[float] = field(init=False)

    def __post_init__(self) -> None:
        self.types = bytearray([abi.UNUSED]) * len(self.texts)
        self.scores = array("d", [_NOT_IN_TEXT]) * len(self.texts)

    def put(self, number: int, text: str, kind: int, score: float) -> None:
        """Set a piece that was not set yet."""
        if self.types[number] != abi.UNUSED or self.texts[number]:
            raise TokenizerError(
                f"vocabulary: {text[:60]!r} has id {number}, which is that of "
                f"{self.texts[number].decode()[:60]!r} too"
            )
        self.texts[number] = _encoded(text)
        self.types[number] = kind if text else abi.UNUSED
        self.scores[number] = score


def wordpiece_fields(
    vocab: Mapping[str, int],
    unk_token: str,
    *,
    prefix: str = "##",
    max_chars: int = 100,
    added: Mapping[str, int] | None = None,
    plain: Collection[str] = (),
    pretokenizer: PretokBytes | None = None,
) -> bytes:
    """Return a source for `compile_model` that gives the ids of WordPiece.

    Parameters
    ----------
    vocab : mapping of str to int
        Text and id of every piece; those behind the first of a word with the prefix.
    unk_token : str
        What stands for a word that is not made of pieces; if it is not in `vocab`, such words are
        errors, as in tokenizers.
    prefix : str
        What tokenizers calls ``continuing_subword_prefix``.
    max_chars : int
        Longer words are unknown.
    added : mapping of str to int, optional
        Added tokens, in `vocab` or not.
    plain : collection of str
        Those of them that are not special.
    pretokenizer : tuple of bytes, optional
        How text is cut into words; without one all of it is a word.

    Raises
    ------
    TokenizerError
        Two pieces have one id, or an id is out of range.
    """
    continuation = min(max_chars, 0xFFFFFFFF).to_bytes(4, "little") + _encoded(prefix)
    more = [(abi.FIELD_CONTINUATION, continuation)]
    return _word_fields(abi.WORDPIECE, vocab, unk_token, (added or {}, plain), more, pretokenizer)


def wordlevel_fields(
    vocab: Mapping[str, int],
    unk_token: str,
    *,
    added: Mapping[str, int] | None = None,
    plain: Collection[str] = (),
    pretokenizer: PretokBytes | None = None,
) -> bytes:
    """Return a source for `compile_model` that gives the ids of WordLevel.

    Parameters
    ----------
    vocab : mapping of str to int
        Text and id of every word.
    unk_token, added, plain, pretokenizer
        As for `wordpiece_fields`.

    Raises
    ------
    TokenizerError
        Two words have one id, or an id is out of range.
    """
    return _word_fields(abi.WORD, vocab, unk_token, (added or {}, plain), [], pretokenizer)


def unigram_fields(
    vocab: Sequence[tuple[str, float]],
    unk_id: int | None,
    *,
    byte_fallback: bool = False,
    added: Mapping[str, int] | None = None,
    plain: Collection[str] = (),
    pretokenizer: PretokBytes | None = None,
) -> bytes:
    """Return a source for `compile_model` that gives the ids of Unigram.

    Parameters
    ----------
    vocab : sequence of (str, float)
        Text and score; the id is the place. Of equal texts the last one counts.
    unk_id : int or None
        What stands for unknown characters; None: they are errors, as in tokenizers.
    byte_fallback : bool
        Unknown text is spelled in pieces ``<0xHH>``, if all it needs are in `vocab`.
    added, plain, pretokenizer
        As for `wordpiece_fields`.

    Raises
    ------
    TokenizerError
        `unk_id` is none of the pieces that count, or a score is not finite.
    """
    added = added or {}
    last = {text: number for number, (text, _) in enumerate(vocab)}
    pieces = _empty(len(vocab), added)
    for number, (text, score) in enumerate(vocab):
        if not math.isfinite(score):
            raise TokenizerError(f"vocabulary: the score of {text[:60]!r} is not finite")
        kind = abi.NORMAL
        if number == unk_id:
            kind = abi.UNKNOWN
        elif byte_fallback and text in _BYTES:
            kind = abi.BYTE
        pieces.put(number, text, kind if last[text] == number else abi.UNUSED, score)
    if unk_id is not None and not 0 <= unk_id < len(vocab):
        raise TokenizerError(f"unk_id: {unk_id} is not the id of a piece")
    if unk_id is not None and pieces.types[unk_id] != abi.UNKNOWN:
        raise TokenizerError(f"unk_id: {unk_id} has no text, or the same as a later piece")
    _add(pieces, added, plain, last)
    more: list[tuple[int, array[int] | array[float]]] = []
    if any(map(_is_rounded, pieces.scores)):
        more.append((abi.FIELD_EXACT_SCORES, pieces.scores))
    if byte_fallback:
        more.append((abi.FIELD_BYTE_FALLBACK, scalar(1)))
    return _fields(abi.UNIGRAM, pieces, unk_id, more, pretokenizer)


def _word_fields(
    algorithm: int,
    vocab: Mapping[str, int],
    unk_token: str,
    added: tuple[Mapping[str, int], Collection[str]],
    more: Sequence[tuple[int, bytes]],
    pretokenizer: PretokBytes | None,
) -> bytes:
    if min(vocab.values(), default=0) < 0:
        raise TokenizerError("vocabulary: an id is negative")
    pieces = _empty(1 + max(vocab.values(), default=-1), added[0])
    for text, number in vocab.items():
        pieces.put(number, text, abi.UNKNOWN if text == unk_token else abi.NORMAL, 0.0)
    _add(pieces, *added, vocab)
    unk_id = vocab.get(unk_token) if unk_token else None
    return _fields(algorithm, pieces, unk_id, more, pretokenizer)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise TokenizerError(f"vocabulary: {text[:60]!r} holds a lone surrogate") from None


def _empty(size: int, added: Mapping[str, int]) -> _Pieces:
    size = max(size, 1 + max(added.values(), default=-1))
    if not 0 < size < _MAX_IDS or min(added.values(), default=0) < 0:
        raise TokenizerError(f"vocabulary: ids must be below {_MAX_IDS:,}, and there must be one")
    return _Pieces([b""] * size)


def _add(
    pieces: _Pieces, added: Mapping[str, int], plain: Collection[str], vocab: Mapping[str, int]
) -> None:
    """Mark added tokens; the model itself never gives those that are not in its vocabulary."""
    for text, number in added.items():
        if not text or vocab.get(text) != number:
            kind = abi.USER_DEFINED if text in plain else abi.CONTROL
            pieces.put(number, text, kind, _NOT_IN_TEXT)
        elif text not in plain:
            pieces.types[number] = abi.CONTROL


def _is_rounded(score: float) -> bool:
    return _rounded(score) != score


def _rounded(score: float) -> float:
    """Return a float32, finite if the score is."""
    if score == _NOT_IN_TEXT:
        return score
    return array("f", [min(max(score, -_MAX_FLOAT), _MAX_FLOAT)])[0]


def _fields(
    algorithm: int,
    pieces: _Pieces,
    unk_id: int | None,
    more: Sequence[tuple[int, array[int] | array[float] | bytes]],
    pretokenizer: PretokBytes | None,
) -> bytes:
    return pack_fields(
        [
            (abi.FIELD_ALGORITHM, scalar(algorithm)),
            (abi.FIELD_PARITY, scalar(abi.PARITY_HF)),
            (abi.FIELD_NORMALIZER_FLAGS, scalar(0)),
            (abi.FIELD_PRETOKENS, scalar(abi.NO_TOKEN if unk_id is None else unk_id)),
            (abi.FIELD_PIECE_TEXT, b"".join(pieces.texts)),
            (abi.FIELD_PIECE_SIZES, _sizes(pieces)),
            (abi.FIELD_SCORES, array("f", map(_rounded, pieces.scores))),
            (abi.FIELD_TYPES, bytes(pieces.types)),
            *more,
            *pretokenizer_fields(pretokenizer),
        ]
    )


def _sizes(pieces: _Pieces) -> array[int]:
    long = next((text for text in pieces.texts if len(text) > 0xFFFF), None)
    if long is not None:
        raise TokenizerError(f"vocabulary: {long[:30]!r}… is longer than 7,999 bytes")
    return array("H", map(len, pieces.texts))
