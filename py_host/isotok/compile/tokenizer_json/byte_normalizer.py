"""ByteLevel as the last normalizer: what it does is what the pre-tokenizer of this name does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from isotok.compile.tokenizer_json.checked import Json, flat
from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import shorten, unsupported

_BYTES: Final[Mapping[str, object]] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


def settle_bytes(document: Document) -> Document:
    """Return a document without that normalizer, which does the same.

    Letters of bytes have the spans of their characters in both, and nothing comes between: there
    must be no pre-tokenizer. Tokens that are looked for in letters have to be spelled the same.

    Raises
    ------
    TokenizerError
        It stands elsewhere, or something else works on the letters.
    """
    steps = flat(document.normalizer, "normalizer", "normalizers")
    where = next((path for path, step in steps[:-1] if step["type"] == "ByteLevel"), None)
    if where is not None:
        raise unsupported(where, "ByteLevel in front of another normalizer")
    if not steps or steps[-1][1]["type"] != "ByteLevel":
        return document
    where, _ = steps[-1]
    if flat(document.pre_tokenizer, "pre_tokenizer", "pretokenizers"):
        raise unsupported(where, "ByteLevel as a normalizer in front of a pre_tokenizer")
    for token in document.added_tokens:
        strips = token.lstrip or token.rstrip or token.single_word
        if token.normalized and (strips or not _is_plain(token.content)):
            what = f'{shorten(token.content)} with "normalized": true behind ByteLevel'
            raise unsupported("added_tokens", what)
    others: list[Json] = [step for _, step in steps[:-1]]
    left: Json | None = {"type": "Sequence", "normalizers": others} if others else None
    return replace(document, normalizer=left, pre_tokenizer=_BYTES)


def _is_plain(text: str) -> bool:
    """Whether the letters of its bytes are the text itself."""
    return all("!" <= letter <= "~" for letter in text)
