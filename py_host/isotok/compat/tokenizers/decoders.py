"""Decoders: what makes a text of tokens, as parts of a tokenizer; and `DecodeStream`."""

from __future__ import annotations

from isotok.compat.tokenizers._decode_stream import DecodeStream
from isotok.compat.tokenizers._decoders import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevel,
    Decoder,
    Fuse,
    Metaspace,
    Replace,
    Sequence,
    Strip,
    WordPiece,
)

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "DecodeStream",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "Sequence",
    "Strip",
    "WordPiece",
]
