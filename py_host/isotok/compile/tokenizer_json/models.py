"""Which module reads which type of model: the seam where further types are put in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from isotok.compile.tokenizer_json.bpe import bpe_fields
from isotok.compile.tokenizer_json.byte_normalizer import settle_bytes
from isotok.compile.tokenizer_json.checked import maybe
from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import broken
from isotok.compile.tokenizer_json.unigram import read_unigram
from isotok.compile.tokenizer_json.words import word_level_fields, word_piece_fields

READERS: Final[Mapping[str, Callable[[Document], bytes]]] = {
    "BPE": bpe_fields,
    "Unigram": read_unigram,
    "WordPiece": word_piece_fields,
    "WordLevel": word_level_fields,
}
"""From a document to a source for `compile_model`, by type of model."""


def model_fields(document: Document) -> bytes:
    """Return a source for `compile_model`; refuse types that there is no reader for."""
    kind = type_of_model(document)
    if kind not in READERS:
        raise broken("model.type", f"{kind!r} is none of {', '.join(READERS)}")
    return READERS[kind](settle_bytes(document))


def type_of_model(document: Document) -> str:
    """Return the type, which older files do not name: the first that has these members."""
    found = maybe(document.model, "type", str, "model")
    if found is not None:
        return found
    vocab = document.large.get("model.vocab")
    if "model.merges" in document.large or vocab is None:
        return "BPE"
    if not vocab.is_object:
        return "Unigram"
    return "WordPiece" if "max_input_chars_per_word" in document.model else "WordLevel"
