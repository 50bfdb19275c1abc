"""Decoders on lists of tokens, one after the other.

`Tokenizer.decode` has the core do this. Here it is for tokens that are in no vocabulary, and for
decoders that the core does not have.

SOURCE  `decode_chain` of the decoders of tokenizers 0.23.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from isotok.compat.tokenizers._run import normalized
from isotok.compile.tokenizer_json.bytes_of_letters import bytes_of
from isotok.compile.tokenizer_json.checked import flat

Json = Mapping[str, Any]
Step = Callable[[Json, list[str]], list[str]]

_BYTE: Final = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")
_BROKEN: Final = "\ufffd"
_CLEANUP: Final = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def decoded(decoder: Json | None, tokens: Sequence[str]) -> str:
    """Return the text of tokens."""
    if decoder is None:
        return " ".join(tokens)
    found = list(tokens)
    for _, step in flat(decoder, "decoder", "decoders"):
        found = _STEPS[step["type"]](step, found)
    return "".join(found)


def _byte_level(_: Json, tokens: list[str]) -> list[str]:
    # what does not consist of letters, the empty token too, stands for itself
    return [b"".join(map(bytes_of, tokens)).decode(errors="replace")]


def _replace(step: Json, tokens: list[str]) -> list[str]:
    match step["pattern"]:
        case {"String": str(text)}:
            return [token and token.replace(text, step["content"]) for token in tokens]
        case _:
            as_normalizer = {**step, "type": "Replace"}
            return [normalized(as_normalizer, token) for token in tokens]


def _word_piece(step: Json, tokens: list[str]) -> list[str]:
    prefix: str = step.get("prefix", "##")
    cleanup = step.get("cleanup", True)
    found: list[str] = []
    for i, token in enumerate(tokens):
        if i:
            begins = token.startswith(prefix)
            token = token[len(prefix) :] if begins else f" {token}"
        found.append(_cleaned(token) if cleanup else token)
    return found


def _cleaned(text: str) -> str:
    for before, after in _CLEANUP:
        text = text.replace(before, after)
    return text


def _byte_fallback(_: Json, tokens: list[str]) -> list[str]:
    found: list[str] = []
    for is_byte, run in groupby(tokens, lambda token: _BYTE.fullmatch(token) is not None):
        if not is_byte:
            found += run
            continue
        data = bytes(int(token[3:5], 16) for token in run)
        try:
            found.append(data.decode())
        except UnicodeDecodeError:
            found += [_BROKEN] * len(data)
    return found


def _fuse(_: Json, tokens: list[str]) -> list[str]:
    return ["".join(tokens)]


def _strip(step: Json, tokens: list[str]) -> list[str]:
    return [_stripped(token, step["content"], step["start"], step["stop"]) for token in tokens]


def _stripped(token: str, content: str, start: int, stop: int) -> str:
    size = len(token)
    front = min(size - len(token.lstrip(content)), start)
    back = min(size - len(token.rstrip(content)), stop)
    if back == size < stop:
        raise ValueError(
            f"Strip of {stop} characters {content!r} at the end of {token!r}, which has not so "
            "many: tokenizers panics here"
        )
    if front + back > size:
        raise ValueError(
            f"Strip takes {front} characters in front of {token!r} and {back} behind: tokenizers "
            "panics here"
        )
    return token[front : size - back]


def _metaspace(step: Json, tokens: list[str]) -> list[str]:
    symbol: str = step["replacement"]
    prefixed = step.get("prepend_scheme", "always") != "never" and step.get(
        "add_prefix_space", True
    )
    found = [token.replace(symbol, " ") for token in tokens]
    if prefixed and tokens:
        found[0] = tokens[0].replace(symbol, "")
    return found


def _bpe(step: Json, tokens: list[str]) -> list[str]:
    suffix: str = step.get("suffix", "</w>")
    last = len(tokens) - 1
    return [token.replace(suffix, " " if i < last else "") for i, token in enumerate(tokens)]


def _ctc(step: Json, tokens: list[str]) -> list[str]:
    found: list[str] = []
    for token, _ in groupby(tokens):
        token = token.replace(step["pad_token"], "")
        if step["cleanup"]:
            token = _cleaned(token).replace(step["word_delimiter_token"], " ")
        if token:
            found.append(token)
    return found


_STEPS: Final[Mapping[str, Step]] = {
    "ByteLevel": _byte_level,
    "Replace": _replace,
    "WordPiece": _word_piece,
    "ByteFallback": _byte_fallback,
    "Fuse": _fuse,
    "Strip": _strip,
    "Metaspace": _metaspace,
    "BPEDecoder": _bpe,
    "CTC": _ctc,
}
