"""`tokenizer.json` of Hugging Face, `tekken.json` of Mistral -> ModelSpec arrays.

| module | what |
|---|---|
| `parts` | the JSON: small members parsed, large ones found |
| `document` | its members, their shapes checked; added tokens and their ids |
| `pipeline` | normalizer and pre-tokenizer as operations |
| `byte_normalizer` | a normalizer that is a pre-tokenizer |
| `models` | which reader for which type of model |
| `bpe`, `affixes`, `merges`, `vocabulary` | BPE |
| `tekken` | the other JSON |

What tokenizers refuses is refused, with the place in the JSON; what cannot be reproduced exactly
is refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotok.compile.tokenizer_json.document import Document, make_document, read_document
from isotok.compile.tokenizer_json.models import model_fields
from isotok.compile.tokenizer_json.parts import split_document
from isotok.compile.tokenizer_json.tekken import is_tekken, tekken_fields

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Document", "read_document", "tokenizer_json_fields"]


def tokenizer_json_fields(data: Buffer) -> bytes:
    """Return a source for `compile_model` that gives the ids of tokenizers.

    Parameters
    ----------
    data : bytes-like
        A tokenizer.json, or a tekken.json.

    Raises
    ------
    TokenizerError
        It is broken, or does something that is not supported; the error names it.
    """
    document, large = split_document(data)
    if is_tekken(document, large):
        return tekken_fields(data, document, large)
    return model_fields(make_document(data, document, large))
