"""Which encoding a model has."""

from __future__ import annotations

from typing import Final

from isotok.compat.tiktoken._encoding import Encoding
from isotok.compat.tiktoken.registry import get_encoding

_NAMES: Final = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": (
        "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 "
        "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large"
    ),
    "p50k_base": (
        "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002 "
        "code-cushman-001 davinci-codex cushman-codex"
    ),
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": (
        "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada "
        "text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 "
        "text-similarity-ada-001 text-search-davinci-doc-001 text-search-curie-doc-001 "
        "text-search-babbage-doc-001 text-search-ada-doc-001 code-search-babbage-code-001 "
        "code-search-ada-code-001"
    ),
    "gpt2": "gpt2 gpt-2",
}
_PREFIXES: Final = {
    "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
    "cl100k_base": (
        "gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 "
        "ft:babbage-002"
    ),
    "o200k_harmony": "gpt-oss-",
}

MODEL_TO_ENCODING: dict[str, str] = {
    model: encoding for encoding, models in _NAMES.items() for model in models.split()
}
MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    prefix: encoding for encoding, prefixes in _PREFIXES.items() for prefix in prefixes.split()
}


def encoding_name_for_model(model_name: str) -> str:
    """Name of the encoding of a model; KeyError if the model is not known."""
    found = MODEL_TO_ENCODING.get(model_name)
    if found is not None:
        return found
    # gpt-4o- before gpt-4-: no name has both, but a fine-tuned one may.
    for prefix, encoding in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return encoding
    raise KeyError(f"{model_name}: no encoding is known for this model; name one with get_encoding")


def encoding_for_model(model_name: str) -> Encoding:
    """Encoding of a model; KeyError if the model is not known."""
    return get_encoding(encoding_name_for_model(model_name))
