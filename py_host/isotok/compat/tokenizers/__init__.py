"""The Python package tokenizers, over isotok.

Programs for it run with one changed line::

    from isotok.compat import tokenizers  # was: import tokenizers

A tokenizer is made from a tokenizer.json, or put together from a model and other components. It
gives the ids, offsets, tokens and texts of tokenizers 0.23.3, or names what isotok cannot reproduce
of it. Models are not trained here, and nothing is downloaded.
"""

from __future__ import annotations

from enum import Enum

from isotok.compat.tokenizers import decoders, models, normalizers, pre_tokenizers, processors
from isotok.compat.tokenizers._added import AddedToken
from isotok.compat.tokenizers._encoding import Encoding
from isotok.compat.tokenizers._normalized import NormalizedString
from isotok.compat.tokenizers._regex import Regex
from isotok.compat.tokenizers._token import Token
from isotok.compat.tokenizers._tokenizer import Tokenizer
from isotok.compat.tokenizers.implementations import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
)

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "Encoding",
    "NormalizedString",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "SplitDelimiterBehavior",
    "Token",
    "Tokenizer",
    "__version__",
    "decoders",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
]

__version__ = "0.23.3"
"""Of the package whose results these are."""

Offsets = tuple[int, int]
TextInputSequence = str
PreTokenizedInputSequence = list[str] | tuple[str, ...]
TextEncodeInput = TextInputSequence | tuple[TextInputSequence, TextInputSequence] | list[str]
PreTokenizedEncodeInput = (
    PreTokenizedInputSequence
    | tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]
    | list[PreTokenizedInputSequence]
)
InputSequence = TextInputSequence | PreTokenizedInputSequence
EncodeInput = TextEncodeInput | PreTokenizedEncodeInput


class SplitDelimiterBehavior(Enum):
    """What becomes of what separates pieces."""

    REMOVED = "removed"
    ISOLATED = "isolated"
    MERGED_WITH_PREVIOUS = "merged_with_previous"
    MERGED_WITH_NEXT = "merged_with_next"
    CONTIGUOUS = "contiguous"
