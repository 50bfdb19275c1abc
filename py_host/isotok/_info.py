"""What is known about an opened model."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, Literal, NamedTuple

from isotok._layout_gen import NO_TOKEN
from isotok.errors import TokenizerError

Compat = Literal["0.2.1"]
"""A release of sentencepiece whose ids and texts a model may give, not those of today."""


class PieceType(IntEnum):
    """Type of a piece, numbered as in SentencePiece."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


BIT_0_2_1: Final = 12
"""Of the features; that of `_blob_gen`, which is not imported for one number."""
ALGORITHMS: Final = {
    1: "unigram",
    2: "bpe",
    3: "word",
    4: "char",
    5: "wordpiece",
    6: "longest",
    7: "priority",
}
PARITIES: Final = {1: "sentencepiece", 2: "hf", 3: "tiktoken", 4: "isotok", 5: "distilled"}


class Info(NamedTuple):
    """Properties of a model; an id that it does not have is None."""

    algorithm: str
    """unigram, bpe, word, char, wordpiece; of distilled models: longest or priority."""
    parity: str
    """Whose ids it gives: sentencepiece, hf, tiktoken, isotok or distilled."""
    vocab_size: int
    unk_id: int | None
    bos_id: int | None
    eos_id: int | None
    pad_id: int | None
    features: int
    """Required-feature bits of the blob."""
    max_piece_bytes: int
    """Longest piece in bytes."""
    max_expansion: int
    """Normalized bytes <= bytes of the text * this + 16."""
    session_size: int
    """Bytes of working memory for one call on ordinary text."""
    compat: Compat | None
    """The release of sentencepiece up to which it gives the ids; None: those of today."""


class CacheInfo(NamedTuple):
    """What the token caches of a tokenizer have done; see `Tokenizer.cache_info`.

    Where a chunk of text was looked up, but neither found and certain nor found and uncertain, it
    was not in the cache, or has too many tokens for it.
    """

    entries: int
    """Chunks that fit; 0: there is no cache, or the model has no use for one."""
    probes: int
    """Chunks of text that were looked up …"""
    hits: int
    """… answered from the cache …"""
    uncertified: int
    """… found, but segmented again, since the answer might depend on the text before."""
    bypassed: int
    """Bytes of normalized text that were not looked up; the space may count as one byte."""


def id_or_none(number: int) -> int | None:
    """Translate the core's "no token"."""
    return None if number == NO_TOKEN else number


def info_of(fields: tuple[int, ...]) -> Info:
    """Make the Info from the members of `isotok_info`, without size and reserved."""
    parity, vocab_size, algorithm, features, unk, bos, eos, pad = fields[:8]
    max_piece_bytes, max_expansion, _, _, session_size = fields[8:13]
    return Info(
        algorithm=ALGORITHMS.get(algorithm, str(algorithm)),
        parity=PARITIES.get(parity, str(parity)),
        vocab_size=vocab_size,
        unk_id=id_or_none(unk),
        bos_id=id_or_none(bos),
        eos_id=id_or_none(eos),
        pad_id=id_or_none(pad),
        features=features,
        max_piece_bytes=max_piece_bytes,
        max_expansion=max_expansion,
        session_size=session_size,
        compat=compat_of(features),
    )


def compat_of(features: int) -> Compat | None:
    """Tell from the required-feature bits of a blob what `load` calls `compat`."""
    return "0.2.1" if features >> BIT_0_2_1 & 1 else None


def need_compat(compat: object) -> None:
    """Refuse a release that is not known."""
    if compat not in (None, "0.2.1"):
        raise TokenizerError(f'compat: {compat!r} is unknown; use "0.2.1" or None')
