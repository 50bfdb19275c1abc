"""Models of tokenizer.json that segment pre-tokens: WordPiece, WordLevel, Unigram."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile._fields import MOST_IDS, pack_fields, pretokenizer_fields, scalar
from isotok.compile._texts import Texts, encoded
from isotok.errors import TokenizerError

PretokBytes = tuple[bytes, bytes, bytes]
"""As `PretokArrays.to_bytes` returns it."""

_MAX_FLOAT: Final = (2 - 2**-23) * 2.0**127
_NOT_IN_TEXT: Final = -math.inf
"""Score of an id that the model itself never gives."""
_BYTES: Final = frozenset(b"<0x%02X>" % byte for byte in range(256))


@dataclass(frozen=True)
class Words:
    """A vocabulary without a map, or of Unigram.

    Parameters
    ----------
    texts : Texts
        By id; an empty one where there is no text with this id.
    ids : mapping of str to int
        Of the unknown and the added tokens that are there; others do not matter.
    """

    texts: Texts
    ids: Mapping[str, int]


@dataclass
class _Pieces:
    """Pieces by id; an id that stands for nothing is UNUSED and has no text."""

    texts: Texts
    size: int
    more: dict[int, bytes] = field(init=False, default_factory=dict[int, bytes])
    """Texts of added tokens."""
    types: bytearray = field(init=False)
    scores: array[float] = field(init=False)

    def __post_init__(self) -> None:
        self.types = bytearray([abi.UNUSED]) * self.size
        self.scores = array("d", [_NOT_IN_TEXT]) * self.size

    def text(self, number: int) -> bytes:
        """Return the text of a piece."""
        known = self.texts[number] if number < len(self.texts) else b""
        return self.more.get(number, known)

    def put(self, number: int, text: str, kind: int) -> None:
        """Set a piece that was not set yet."""
        if self.types[number] != abi.UNUSED or self.text(number):
            raise _same_id(self.text(number), text, number)
        self.more[number] = encoded(text)
        self.types[number] = kind if text else abi.UNUSED

    def all_texts(self) -> Texts:
        """Return the texts of all."""
        return self.texts.with_more(self.more, self.size)


def wordpiece_fields(
    vocab: Mapping[str, int] | Words,
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
    vocab : mapping of str to int, or Words
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
    continuation = min(max_chars, 0xFFFFFFFF).to_bytes(4, "little") + encoded(prefix)
    more = [(abi.FIELD_CONTINUATION, continuation)]
    return _word_fields(abi.WORDPIECE, vocab, unk_token, (added or {}, plain), more, pretokenizer)


def wordlevel_fields(
    vocab: Mapping[str, int] | Words,
    unk_token: str,
    *,
    added: Mapping[str, int] | None = None,
    plain: Collection[str] = (),
    pretokenizer: PretokBytes | None = None,
) -> bytes:
    """Return a source for `compile_model` that gives the ids of WordLevel.

    Parameters
    ----------
    vocab : mapping of str to int, or Words
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
    words = Words(
        Texts(encoded(text) for text, _ in vocab),
        {text: number for number, (text, _) in enumerate(vocab)},
    )
    scores = array("d", (score for _, score in vocab))
    around = added or {}, plain
    return scored_fields(
        words, scores, unk_id, around, byte_fallback=byte_fallback, pretokenizer=pretokenizer
    )


def scored_fields(
    words: Words,
    scores: array[float],
    unk_id: int | None,
    around: tuple[Mapping[str, int], Collection[str]],
    *,
    byte_fallback: bool,
    pretokenizer: PretokBytes | None,
) -> bytes:
    """Do what `unigram_fields` does; `around`: added tokens, and which of them are plain."""
    wrong = next((i for i, score in enumerate(scores) if not math.isfinite(score)), None)
    if wrong is not None:
        text = words.texts[wrong].decode()
        raise TokenizerError(f"vocabulary: the score of {text[:60]!r} is not finite")
    pieces = _empty(words.texts, around[0])
    pieces.scores[: len(scores)] = scores
    for number, text in enumerate(words.texts):
        if text:
            pieces.types[number] = abi.BYTE if byte_fallback and text in _BYTES else abi.NORMAL
    if unk_id is not None and not 0 <= unk_id < len(scores):
        raise TokenizerError(f"unk_id: {unk_id} is not the id of a piece")
    if unk_id is not None and words.texts[unk_id]:
        pieces.types[unk_id] = abi.UNKNOWN
    for number in words.texts.earlier():
        pieces.types[number] = abi.UNUSED
    if unk_id is not None and pieces.types[unk_id] != abi.UNKNOWN:
        raise TokenizerError(f"unk_id: {unk_id} has no text, or the same as a later piece")
    _add(pieces, *around, words.ids)
    more: list[tuple[int, array[int] | array[float]]] = []
    if any(map(_is_rounded, pieces.scores)):
        more.append((abi.FIELD_EXACT_SCORES, pieces.scores))
    if byte_fallback:
        more.append((abi.FIELD_BYTE_FALLBACK, scalar(1)))
    return _fields(abi.UNIGRAM, pieces, unk_id, more, pretokenizer)


def _word_fields(
    algorithm: int,
    vocab: Mapping[str, int] | Words,
    unk_token: str,
    added: tuple[Mapping[str, int], Collection[str]],
    more: Sequence[tuple[int, bytes]],
    pretokenizer: PretokBytes | None,
) -> bytes:
    words = vocab if isinstance(vocab, Words) else _words_of(vocab)
    pieces = _empty(words.texts, added[0])
    for number, text in enumerate(words.texts):
        pieces.scores[number] = 0.0 if text else _NOT_IN_TEXT
        pieces.types[number] = abi.NORMAL if text else abi.UNUSED
    unk_id = words.ids.get(unk_token) if unk_token else None
    if unk_id is not None:
        pieces.types[unk_id] = abi.UNKNOWN
    _add(pieces, *added, words.ids)
    return _fields(algorithm, pieces, unk_id, more, pretokenizer)


def _words_of(vocab: Mapping[str, int]) -> Words:
    if min(vocab.values(), default=0) < 0:
        raise TokenizerError("vocabulary: an id is negative")
    texts: dict[int, str] = {}
    for text, number in vocab.items():
        if texts.setdefault(number, text) != text:
            raise _same_id(encoded(texts[number]), text, number)
    size = 1 + max(texts, default=-1)
    if not 0 < size <= MOST_IDS:
        raise _out_of_range()
    return Words(Texts(encoded(texts.get(number, "")) for number in range(size)), vocab)


def _same_id(first: bytes, second: str, number: int) -> TokenizerError:
    return TokenizerError(
        f"vocabulary: {second[:60]!r} has id {number}, which is that of {first.decode()[:60]!r} too"
    )


def _out_of_range() -> TokenizerError:
    return TokenizerError(f"vocabulary: ids must be below {MOST_IDS:,}, and there must be one")


def _empty(texts: Texts, added: Mapping[str, int]) -> _Pieces:
    size = max(len(texts), 1 + max(added.values(), default=-1))
    if not 0 < size <= MOST_IDS or min(added.values(), default=0) < 0:
        raise _out_of_range()
    return _Pieces(texts, size)


def _add(
    pieces: _Pieces, added: Mapping[str, int], plain: Collection[str], vocab: Mapping[str, int]
) -> None:
    """Mark added tokens; the model itself never gives those that are not in its vocabulary."""
    for text, number in added.items():
        if not text or vocab.get(text) != number:
            kind = abi.USER_DEFINED if text in plain else abi.CONTROL
            pieces.put(number, text, kind)
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
    texts = pieces.all_texts()
    return pack_fields(
        [
            (abi.FIELD_ALGORITHM, scalar(algorithm)),
            (abi.FIELD_PARITY, scalar(abi.PARITY_HF)),
            (abi.FIELD_NORMALIZER_FLAGS, scalar(0)),
            (abi.FIELD_PRETOKENS, scalar(abi.NO_TOKEN if unk_id is None else unk_id)),
            (abi.FIELD_PIECE_TEXT, texts.pool()),
            (abi.FIELD_PIECE_SIZES, texts.sizes()),
            (abi.FIELD_SCORES, array("f", map(_rounded, pieces.scores))),
            (abi.FIELD_TYPES, bytes(pieces.types)),
            *more,
            *pretokenizer_fields(pretokenizer),
        ]
    )
