"""Rank files here and in tiktoken: what is compared. The same names as in `hf`, so that a test
can take either; `add`: special tokens in the text are found (`allowed_special="all"`)."""

from __future__ import annotations

import atexit
import random
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import isotok
import pytest
from isotok.compat import tiktoken as drop_in
from isotok.compile import compile_model
from isotok.compile._tiktoken import SPECIAL_TOKENS, read_ranks
from isotok.compile.pretok.tiktoken import PATTERNS

from support import data, hf

FILES = {"cl100k_base": "cl100k_base", "o200k_base": "o200k_base", "o200k_harmony": "o200k_base"}
NAMES = tuple(FILES)
SECOND_TEXTS = {"o200k_harmony": "<|reserved_200018|>"}
"""Texts of an id that has another text: in a model an id has one. The drop-ins find both."""


# ---- Models ---------------------------------------------------------------------------


@cache
def source(name: str) -> bytes:
    path = data.models_dir() / f"{FILES[name]}.tiktoken"
    if not path.exists():
        pytest.skip(data.absence(path))
    return path.read_bytes()


@cache
def _definition(name: str) -> dict[str, Any]:
    return {
        "pat_str": PATTERNS[name],
        "mergeable_ranks": read_ranks(source(name)),
        "special_tokens": dict(SPECIAL_TOKENS[name]),
    }


@cache
def reference(name: str) -> Any:
    import tiktoken

    return tiktoken.Encoding(name, **_definition(name))


@cache
def opened(name: str, backend: str, cache_bytes: int | None = None) -> isotok.Tokenizer:
    blob = compile_model(source(name), name=f"{name}.tiktoken")
    tok = isotok.load(blob, backend=backend, cache_bytes=cache_bytes)  # type: ignore[arg-type]
    atexit.register(tok.close)
    return tok


@cache
def compatible(name: str) -> drop_in.Encoding:
    """The drop-in, on the back end of the environment."""
    return drop_in.Encoding(name, **_definition(name))


class Texts(hf.Texts):
    """Random texts of a rank file."""

    def __init__(self, name: str) -> None:
        self.reference = reference(name)
        self.tokens = sorted({*SPECIAL_TOKENS[name]} - {SECOND_TEXTS.get(name)})
        self.known = sorted(
            {*_definition(name)["mergeable_ranks"].values(), *SPECIAL_TOKENS[name].values()}
        )

    def pieces(self, rng: random.Random, count: int) -> str:
        return str(self.reference.decode(rng.choices(self.known, k=count)))

    def ids(self, rng: random.Random) -> list[int]:
        return rng.choices(self.known, k=rng.randrange(10))


# ---- What is compared -----------------------------------------------------------------


def ids_of(ref: Any, text: str, *, add: bool) -> list[int]:
    """What tiktoken gives; where its engine runs out of stack, what it gives for the pre-token.

    That happens for about a million characters of white space, which are one.
    """
    found: list[int]
    try:
        found = ref.encode(text, allowed_special="all") if add else ref.encode_ordinary(text)
    except BaseException as error:
        if type(error).__name__ not in ("PanicException", "ValueError") or not text.isspace():
            raise
        found = ref._encode_single_piece(text)
    return found


def _special(add: bool) -> Any:
    return "all" if add else "none"


def same_ids(tok: isotok.Tokenizer, ref: Any, texts: Sequence[str], *, add: bool) -> None:
    """Ids as a batch, and their number."""
    wanted = [ids_of(ref, text, add=add) for text in texts]
    found = tok.encode_batch(texts, output="list", special=_special(add))
    assert found == wanted, next(t for t, a, b in zip(texts, found, wanted, strict=True) if a != b)
    assert tok.count_batch(texts, special=_special(add)) == [len(ids) for ids in wanted]


def same_encodings(tok: isotok.Tokenizer, ref: Any, texts: Sequence[str], *, add: bool) -> None:
    """Ids as a batch and one by one, tokens, and offsets in code points."""
    same_ids(tok, ref, texts, add=add)
    for text in texts:
        found = tok.encode_with_offsets(text, special=_special(add))
        assert found.ids == ids_of(ref, text, add=add), text
        begins = _begins(text, "utf-8", 1)
        spans = _spans(ref, text, found.ids, begins)
        assert found.offsets == [(begin, end) for begin, end, *_ in spans], text


def same_compatible(name: str, ref: Any, texts: Sequence[str], *, add: bool) -> None:
    """All that the drop-in does with a text."""
    ours = compatible(name)
    wanted = [ids_of(ref, text, add=add) for text in texts]
    if add:
        assert ours.encode_batch(list(texts), num_threads=1, allowed_special="all") == wanted
    else:
        assert ours.encode_ordinary_batch(list(texts), num_threads=1) == wanted
    for text, ids in zip(texts, wanted, strict=True):
        assert ids_of(ours, text, add=add) == ids, text
        assert ours.decode_tokens_bytes(ids) == ref.decode_tokens_bytes(ids), text
        assert ours.decode_with_offsets(ids) == ref.decode_with_offsets(ids), text


def _begins(text: str, codec: str, width: int) -> list[int]:
    """Where each character begins, in units of `width` bytes of an encoding; and the end."""
    return [0, *accumulate(len(char.encode(codec)) // width for char in text)]


def _spans(
    ref: Any, text: str, ids: list[int], begins: list[int]
) -> list[tuple[int, int, int, int]]:
    """For each token: its characters, and its bytes; a character that it shares is all its."""
    found: list[tuple[int, int, int, int]] = []
    at = 0
    for part in ref.decode_tokens_bytes(ids):
        end = at + len(part)
        first, last = bisect_right(begins, at) - 1, bisect_right(begins, end - 1)
        found.append((first, last, at, end))
        at = end
    assert at == begins[-1], text
    return found


def same_in_units(tok: isotok.Tokenizer, ref: Any, text: str) -> None:
    """Offsets in bytes and UTF-16 units, of whole characters."""
    ids = ids_of(ref, text, add=True)
    spans = _spans(ref, text, ids, _begins(text, "utf-8", 1))
    for unit, codec, width in (("byte", "utf-8", 1), ("utf16", "utf-16-le", 2)):
        at = _begins(text, codec, width)
        found = tok.encode_with_offsets(text, unit=unit, special="all")  # type: ignore[arg-type]
        assert found.offsets == [(at[begin], at[end]) for begin, end, *_ in spans], (text, unit)


def same_limits(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """`truncate` gives the first ids, `fits` knows how many there are."""
    for add in (True, False):
        ids = ids_of(ref, text, add=add)
        limit = rng.randrange(len(ids) + 2)
        assert tok.truncate(text, limit, special=_special(add)) == ids[:limit], (text, limit)
        assert tok.fits(text, limit, special=_special(add)) is (len(ids) <= limit), (text, limit)


def same_streams(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """Bytes that come in parts."""
    for add in (True, False):
        parts = hf.cut(text.encode(), rng)
        with tok.encoder(special=_special(add)) as encoder:
            found = [number for part in parts for number in encoder.push(part)]
            assert found + encoder.flush() == ids_of(ref, text, add=add), parts


def same_texts(tok: isotok.Tokenizer, ref: Any, ids: list[int], rng: random.Random) -> None:
    """Decoded at once and as they come."""
    want = ref.decode(ids)
    assert tok.decode(ids) == want, ids
    assert tok.decode_bytes(ids) == ref.decode_bytes(ids), ids
    with tok.decoder() as decoder:
        found = "".join(map(decoder.push, hf.cut(ids, rng))) + decoder.flush()
    assert found == want, ids
