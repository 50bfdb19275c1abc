"""`tekken.json` of Mistral: ranks and a pattern of tiktoken in JSON.

Special tokens come first: the id of a token is its rank and their number. The file's own
library never finds them in text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from isotok.compile._fields import MOST_IDS
from isotok.compile._tiktoken import tiktoken_fields
from isotok.compile.tokenizer_json.checked import Json, member, need, optional
from isotok.compile.tokenizer_json.errors import broken, shorten
from isotok.compile.tokenizer_json.parts import Span, entries

if TYPE_CHECKING:
    from typing_extensions import Buffer

_OLD: Final = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
]
"""Of files up to version 7 that name none."""
_LAST_OLD: Final = 7


def is_tekken(document: Mapping[str, Any], large: Mapping[str, Span]) -> bool:
    """Whether a file with these members is one."""
    return "config" in document and "vocab" in large and "model" not in document


def tekken_fields(data: Buffer, document: Mapping[str, Any], large: Mapping[str, Span]) -> bytes:
    """Return a source for `compile_model` that gives the ids of mistral-common.

    Parameters
    ----------
    data : bytes-like
        The file.
    document, large : mapping
        As `split_document` returns them.

    Raises
    ------
    TokenizerError
        A member is missing or not what it should be; ranks are not 0, 1, 2 …
    """
    config = cast("Json", member(document, "config", dict, ""))
    pattern = member(config, "pattern", str, "config")
    size = member(config, "default_vocab_size", int, "config")
    first = member(config, "default_num_special_tokens", int, "config")
    if not 0 <= first < size <= MOST_IDS:
        raise broken("config", f"{first} special tokens of {size} tokens")
    special = _special_tokens(document, config, first)
    return tiktoken_fields(_ranks(data, large["vocab"], size - first, first), pattern, special)


def _special_tokens(document: Mapping[str, Any], config: Json, count: int) -> dict[str, int]:
    """Texts and ids; those that have no text of their own are numbered."""
    version = optional(config, "version", str, f"v{_LAST_OLD}", "config")
    given = document.get("special_tokens")
    if given is None:
        if not version[1:].isdecimal() or int(version[1:3]) > _LAST_OLD:
            raise broken("special_tokens", f"a file of version {shorten(version)} without them")
        given = [{"rank": i, "token_str": text} for i, text in enumerate(_OLD)]
    tokens: dict[str, int] = {}
    for i, value in enumerate(cast("list[object]", need(given, list, "special_tokens"))):
        path = f"special_tokens[{i}]"
        part = cast("Json", need(value, dict, path))
        rank = member(part, "rank", int, path)
        text = member(part, "token_str", str, path)
        if text in tokens or not 0 <= rank < count:
            raise broken(path, f"{shorten(text)} of rank {rank}: twice, or out of range")
        tokens[text] = rank
    tokens |= {f"<SPECIAL_{i}>": i for i in range(len(tokens), count)}
    return tokens


def _ranks(data: Buffer, span: Span, count: int, first: int) -> dict[bytes, int]:
    """Tokens and ids; the file may hold more tokens than the model has."""
    ranks: dict[bytes, int] = {}
    for values in entries(data, span):
        for value in cast("list[object]", values):
            if len(ranks) == count:
                return ranks
            rank = len(ranks)
            token = _token(value, rank, f"vocab[{rank}]")
            if token in ranks:
                raise broken(f"vocab[{rank}]", f"{shorten(token)} is there twice")
            ranks[token] = first + rank
    if len(ranks) < count:
        raise broken("vocab", f"{len(ranks)} tokens, but config needs {count}")
    return ranks


def _token(value: object, rank: int, path: str) -> bytes:
    part = cast("Json", need(value, dict, path))
    if member(part, "rank", int, path) != rank:
        raise broken(path, f"rank {part['rank']} where {rank} should be")
    spelled = member(part, "token_bytes", str, path)
    try:
        token = base64.b64decode(spelled, validate=True)
    except (binascii.Error, ValueError):
        raise broken(path, f"{shorten(spelled)} is not base64") from None
    if rank < 256 and token != bytes([rank]):
        raise broken(path, f"{shorten(token)} where the byte {rank:#04x} should be")
    return token
