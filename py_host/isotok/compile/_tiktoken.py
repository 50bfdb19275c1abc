"""Rank files of tiktoken -> ModelSpec arrays."""

from __future__ import annotations

import base64
import binascii
import io
import json
import os
import re
from array import array
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from isotok import _layout_gen as abi
from isotok.compile._fields import MOST_IDS, byte_level_fields
from isotok.compile._texts import Texts
from isotok.errors import Status, TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer


def _read_encodings() -> dict[str, dict[str, int]]:
    """Special tokens by name of an encoding; `reserved` says which numbers have names like it."""
    text = files("isotok").joinpath("data/tiktoken_encodings.json").read_text("utf-8")
    return {
        name: encoding["special"]
        | {f"<|reserved_{i}|>": i for i in range(*encoding.get("reserved", (0, 0)))}
        for name, encoding in json.loads(text).items()
    }


SPECIAL_TOKENS: Final[Mapping[str, Mapping[str, int]]] = _read_encodings()
"""Special tokens by name of an encoding, as tiktoken defines them."""


def read_ranks(data: Buffer) -> dict[bytes, int]:
    """Read a rank file: lines of a token in base64, a space, its rank.

    Raises
    ------
    TokenizerError
        A line is not of this form; the error names it.
    """
    return dict(_read_lines(data))


def _read_lines(data: Buffer) -> Iterator[tuple[bytes, int]]:
    for number, line in enumerate(io.BytesIO(data), 1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            yield base64.b64decode(token, validate=True), int(rank)
        except (ValueError, binascii.Error) as error:
            raise TokenizerError(
                f"rank file, line {number}: {line[:60]!r} is not a token in base64, a space "
                "and its rank"
            ) from error


_FIRST_LINE: Final = re.compile(rb"[A-Za-z0-9+/]{2,}={0,2} [0-9]+\r?\n")


def is_rank_file(head: bytes) -> bool:
    """Whether a file that begins like this is one."""
    return _FIRST_LINE.match(head) is not None


def named_fields(data: Buffer, name: str) -> bytes:
    """Return a source for `compile_model` from a rank file and its name.

    Parameters
    ----------
    data : bytes-like
        The rank file, which holds no pattern.
    name : str
        The file's name or path: that of an encoding and ``.tiktoken``.

    Raises
    ------
    TokenizerError
        No encoding has this name.
    """
    from isotok.compile.pretok.tiktoken import PATTERNS

    encoding = os.path.basename(name).removesuffix(".tiktoken")
    if encoding not in SPECIAL_TOKENS:
        raise TokenizerError(
            f"rank file: it holds no pattern, and {encoding!r} is no encoding whose pattern is "
            f"known ({', '.join(SPECIAL_TOKENS)}); rename the file to NAME.tiktoken, or use "
            "isotok.compat.tiktoken.Encoding, which takes a pattern",
            status=Status.E_UNSUPPORTED,
            what=abi.WHAT_SOURCE_KIND,
        )
    special = SPECIAL_TOKENS[encoding]
    texts, numbers = Texts(), array("I")
    for token, rank in _read_lines(data):
        if not 0 <= rank < MOST_IDS:
            raise TokenizerError(f"rank file: token {token[:60]!r} has the rank {rank}")
        texts.extend([token])
        numbers.append(rank)
    if next(texts.earlier(), None) is not None:  # of equal tokens the last counts
        return tiktoken_fields(read_ranks(data), PATTERNS[encoding], special)
    return _fields(texts, numbers, PATTERNS[encoding], special)


def tiktoken_fields(
    ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]
) -> bytes:
    """Return a source for `compile_model` that gives the ids of tiktoken.

    Parameters
    ----------
    ranks : mapping of bytes to int
        Rank, which is the id, of each token; all 256 bytes among them.
    pattern : str
        What tiktoken calls `pat_str`.
    special_tokens : mapping of str to int

    Raises
    ------
    TokenizerError
        Two tokens have one id, an id is out of range, or the pattern cannot be compiled.
    """
    size = 1 + max((*ranks.values(), *special_tokens.values()), default=-1)
    if not 0 < size <= MOST_IDS or min(ranks.values(), default=0) < 0:
        raise TokenizerError(f"ranks and special tokens: ids must be below {MOST_IDS:,}")
    return _fields(Texts(ranks), array("I", ranks.values()), pattern, special_tokens)


def _fields(
    texts: Texts, numbers: array[int], pattern: str, special_tokens: Mapping[str, int]
) -> bytes:
    count = 1 + max(numbers, default=-1)
    size = max(count, 1 + max(special_tokens.values(), default=-1))
    types = bytearray([abi.UNUSED]) * size
    for token, rank in zip(texts, numbers, strict=True):
        _put(types, rank, token, abi.NORMAL)
    more: dict[int, bytes] = {}
    for text, number in special_tokens.items():
        # o200k_harmony has 200018 twice: the first text is the one that is found and decoded
        if number < 0 or types[number] != abi.CONTROL:
            more[number] = text.encode()
            _put(types, number, more[number], abi.CONTROL)
    pieces = texts.by_number(numbers, count).with_more(more, size)
    scores = array("f", (-float(number) for number in range(size)))
    return byte_level_fields(
        pieces,
        bytes(types),
        scores,
        _pretokenizer(pattern),
        parity=abi.PARITY_TIKTOKEN,
        whole=True,
    )


def _put(types: bytearray, number: int, text: bytes, kind: int) -> None:
    if not text:
        raise TokenizerError(f"token {number} is empty")
    if number < 0 or types[number] != abi.UNUSED:
        raise TokenizerError(
            f"token {text[:60]!r} has id {number}, which is another's, or negative"
        )
    types[number] = kind


def _pretokenizer(pattern: str) -> tuple[bytes, bytes, bytes]:
    from isotok.compile.pretok.arrays import make_arrays
    from isotok.compile.pretok.chain import make_chain
    from isotok.compile.pretok.tiktoken import tiktoken_stage

    return make_arrays(make_chain([tiktoken_stage(pattern)])).to_bytes()
