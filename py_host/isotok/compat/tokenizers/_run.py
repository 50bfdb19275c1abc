"""Parts of a tokenizer run alone: each in the core, in a model that has nothing else to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from isotok import _layout_gen as abi
from isotok._backend import UNIT_NORMALIZED
from isotok._load import load
from isotok.compile.tokenizer_json import read_document
from isotok.compile.tokenizer_json.bytes_of_letters import BYTE_OF
from isotok.compile.tokenizer_json.checked import flat
from isotok.compile.tokenizer_json.models import model_fields

if TYPE_CHECKING:
    from isotok._backend import Backend

Json = Mapping[str, Any]

LETTER_OF: Final = {byte: chr(letter) for letter, byte in BYTE_OF.items()}
LETTERS: Final = [LETTER_OF[byte] for byte in range(256)]
"""Letters that stand for bytes."""

WORD: Final[dict[str, Any]] = {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}
"""A model that takes any text."""
BYTES: Final[dict[str, Any]] = {
    "type": "BPE",
    "vocab": {letter: byte for byte, letter in enumerate(LETTERS)},
    "merges": [],
}
"""The same for bytes."""
BYTE_DECODER: Final = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}
_ALL: Final = abi.PRETOKENS | abi.NO_SPECIAL | abi.NO_TEMPLATE


def spelled(data: bytes) -> str:
    """Return bytes as letters."""
    return "".join([LETTERS[byte] for byte in data])


def opened(**members: Any) -> Backend:
    """Open a tokenizer.json of some members."""
    return _opened(json.dumps({"version": "1.0", **members}, sort_keys=True))


@lru_cache(maxsize=16)
def _opened(document: str) -> Backend:
    fields = model_fields(read_document(document.encode()))
    return load(fields)._backend  # pyright: ignore[reportPrivateUsage]


def normalized(normalizer: Json, text: str) -> str:
    """Return what a normalizer makes of a text."""
    for _, step in flat(normalizer, "normalizer", "normalizers"):
        if step["type"] == "ByteLevel":
            text = spelled(text.encode())
        else:
            data, _ = opened(model=WORD, normalizer=step).normalize(text, 0, abi.UNIT_BYTE, False)
            text = data.decode()
    return text


def pre_tokens(pre_tokenizer: Json, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the pieces that a pre-tokenizer cuts a text into, with their characters."""
    steps = flat(pre_tokenizer, "pre_tokenizer", "pretokenizers")
    if not steps:
        return [(text, (0, len(text)))]
    byte_level = any(step["type"] == "ByteLevel" for _, step in steps)
    members: dict[str, Any] = {"model": BYTES, "decoder": BYTE_DECODER}
    made = opened(**(members if byte_level else {"model": WORD}), pre_tokenizer=pre_tokenizer)
    _, places, _ = made.encode_spans(text, _ALL, UNIT_NORMALIZED)
    _, offsets, _ = made.encode_spans(text, _ALL, abi.UNIT_CODEPOINT)
    data, _ = made.normalize(text, 0, abi.UNIT_BYTE, False)
    pieces = [data[begin:end] for begin, end in places]
    texts = [spelled(piece) if byte_level else piece.decode() for piece in pieces]
    return list(zip(texts, offsets, strict=True))
