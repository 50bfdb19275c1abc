"""A BPE model as files of others: tokenizer.json, blob, rank file."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Final

from isotok.errors import TokenizerError
from isotok.train._data import ModelData, is_lone_byte
from isotok.train._options import GPT2_PATTERN
from isotok.train._spelling import spell

_BYTE_TOKEN: Final = re.compile(r"(?:<0x[0-9A-F]{2}>)+")


def tokenizer_json(data: ModelData) -> dict[str, Any]:
    """Return the document that gives the model's ids in tokenizers.

    A model of Unicode units gets 128 more entries, ``<0x00>`` to ``<0x7F>`` behind its own, which
    no text gives: readers of byte_fallback expect all 256.
    """
    spelled = letters(data)
    vocabulary = {text: number for number, text in enumerate(spelled)}
    if len(vocabulary) != len(spelled):
        raise TokenizerError(
            "two tokens are spelled alike in a tokenizer.json: one has the text of a byte, "
            "<0x..>; save the model with save_pretrained"
        )
    merges = [[spelled[a], spelled[b]] for a, b, _, _ in data.merges]
    fallback = data.unit == "unicode"
    if fallback:
        for byte in range(128):
            vocabulary.setdefault(f"<0x{byte:02X}>", len(vocabulary))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(text, number) for text, number in data.special],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer(data.pat_str, byte_level=not fallback),
        "post_processor": None,
        "decoder": _FALLBACK_DECODER if fallback else byte_level_step(use_regex=True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": fallback,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": merges,
        },
    }


_FALLBACK_DECODER: Final = {
    "type": "Sequence",
    "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}],
}


def pre_tokenizer(pat_str: str | None, *, byte_level: bool) -> dict[str, Any]:
    """Return the pre-tokenizer of a pattern; text that it does not match is lost."""
    if pat_str is None and byte_level:
        return byte_level_step(use_regex=True)
    pattern = {"Regex": GPT2_PATTERN if pat_str is None else pat_str}
    split = {"type": "Split", "pattern": pattern, "behavior": "Removed", "invert": True}
    if not byte_level:
        return split
    return {"type": "Sequence", "pretokenizers": [split, byte_level_step(use_regex=False)]}


def byte_level_step(*, use_regex: bool) -> dict[str, Any]:
    """Return the step that spells bytes as letters; with GPT-2's pattern or without one."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def _added(text: str, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def letters(data: ModelData) -> list[str]:
    """Return the texts of all tokens in a tokenizer.json."""
    if data.unit == "byte":
        found = [spell(token, "gpt2") for token in data.tokens]
    else:
        found = [_fallback_text(token) for token in data.tokens]
        for left, right, made, _ in data.merges:
            found[made] = found[left] + found[right]
    for text, number in data.special:
        found[number] = text
    return found


def _fallback_text(token: bytes) -> str:
    if is_lone_byte(token):
        return f"<0x{token[0]:02X}>"
    text = token.decode(errors="replace")
    if _BYTE_TOKEN.fullmatch(text):
        raise TokenizerError(f"token {text!r} has the text of a byte in a tokenizer.json")
    return text


def tokenizer_json_bytes(data: ModelData) -> bytes:
    """Return the file."""
    return json.dumps(tokenizer_json(data), ensure_ascii=False, indent=2).encode() + b"\n"


def rank_file(data: ModelData) -> bytes:
    """Return tiktoken's rank file: each token that is not special, in base64, and its id.

    Raises
    ------
    TokenizerError
        The model has Unicode units, or its merges are not in the order of the ids.
    """
    if data.unit != "byte":
        raise TokenizerError("rank files are of byte models; this one has Unicode units")
    made = [merge[2] for merge in data.merges]
    if made != sorted(set(made)):
        raise TokenizerError(
            "a rank file ranks merges by id, and here they are in another order; write a "
            "tokenizer.json"
        )
    lines = [
        b"%s %d\n" % (base64.b64encode(token), number)
        for number, token in enumerate(data.tokens)
        if number not in data.special_ids
    ]
    return b"".join(lines)


def blob(data: ModelData) -> bytes:
    """Return the `.isotok` file."""
    from isotok.compile import compile_model

    document = json.dumps(tokenizer_json(data)).encode()
    return compile_model(document)
