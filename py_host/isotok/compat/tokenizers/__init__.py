"""The Python package tokenizers, over isotok.

Programs for it run with one changed line::

    from isotok.compat import tokenizers  # was: import tokenizers

A tokenizer is made from a tokenizer.json, which gives the ids, offsets, tokens and texts of
tokenizers 0.23.3. Models are not put together here, nor trained, and nothing is downloaded.
"""

from __future__ import annotations

from isotok.compat.tokenizers import decoders
from isotok.compat.tokenizers._added import AddedToken
from isotok.compat.tokenizers._encoding import Encoding
from isotok.compat.tokenizers._tokenizer import Tokenizer

__all__ = ["AddedToken", "Encoding", "Tokenizer", "__version__", "decoders"]

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
