"""Models of tokenizer.json here and in tokenizers, side by side: no normalizer, no added tokens."""

from __future__ import annotations

import gzip
import importlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import isotok
from isotok.compile import compile_model
from isotok.compile._models import unigram_fields, wordlevel_fields, wordpiece_fields
from isotok.compile.pretok.arrays import make_arrays
from isotok.compile.pretok.chain import make_chain
from isotok.compile.pretok.huggingface import read_pre_tokenizer
from isotok.errors import TokenizerError

from support import data

WHITESPACE = {"type": "Whitespace"}
WHITESPACE_SPLIT = {"type": "WhitespaceSplit"}
BERT = {"type": "BertPreTokenizer"}
LOW_LINES = {
    "type": "Split",
    "pattern": {"String": "\u2581"},
    "behavior": "MergedWithNext",
    "invert": False,
}
"""What Metaspace cuts, for text that has its ▁ already."""
PRE_TOKENIZERS: list[Any] = [None, WHITESPACE, WHITESPACE_SPLIT, BERT, LOW_LINES]
CACHES = (None, 4096, 0)
"""Bytes of a token cache: the usual one, a tiny one, none."""


@cache
def _arrays(value: str) -> tuple[bytes, bytes, bytes]:
    return make_arrays(make_chain(list(read_pre_tokenizer(json.loads(value)).stages))).to_bytes()


def compiled(model: dict[str, Any], pre_tokenizer: Any = None) -> bytes:
    """Compile the member `model` of a tokenizer.json."""
    pretok = None if pre_tokenizer is None else _arrays(json.dumps(pre_tokenizer))
    if model["type"] == "Unigram":
        return compile_model(
            unigram_fields(
                [(text, score) for text, score in model["vocab"]],
                model["unk_id"],
                byte_fallback=model["byte_fallback"],
                pretokenizer=pretok,
            )
        )
    if model["type"] == "WordLevel":
        return compile_model(
            wordlevel_fields(model["vocab"], model["unk_token"], pretokenizer=pretok)
        )
    return compile_model(
        wordpiece_fields(
            model["vocab"],
            model["unk_token"],
            prefix=model["continuing_subword_prefix"],
            max_chars=model["max_input_chars_per_word"],
            pretokenizer=pretok,
        )
    )


def reference(model: dict[str, Any], pre_tokenizer: Any = None) -> Any:
    """Make the same in tokenizers."""
    whole = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": None,
        "model": model,
    }
    return importlib.import_module("tokenizers").Tokenizer.from_str(json.dumps(whole))


def opened(blob: bytes, backend: str, caches: Sequence[int | None] = CACHES) -> list[Any]:
    """Open a model with each cache."""
    return [
        isotok.load(blob, backend=backend, cache_bytes=size, verify="full")  # type: ignore[call-overload]
        for size in caches
    ]


Result = tuple[list[int], list[tuple[int, int]]] | None
"""Ids and spans of characters; None: the model has no token for what is unknown."""


def theirs(tokenizer: Any, text: str) -> Result:
    """Encode with tokenizers."""
    try:
        found = tokenizer.encode(text, add_special_tokens=False)
    except Exception as error:
        assert "issing" in str(error), error
        return None
    return found.ids, found.offsets


def ours(tokenizer: isotok.Tokenizer, text: str) -> Result:
    """Encode here, in the ways that take different paths."""
    try:
        found = tokenizer.encode_with_offsets(text)
    except TokenizerError as error:
        assert "no unknown token" in str(error), error
        for encode in (tokenizer.encode, tokenizer.count):
            try:
                encode(text)
            except TokenizerError:
                continue
            raise AssertionError("an error once, and then none") from None
        return None
    ids = list(found.ids)
    assert tokenizer.encode(text) == ids
    assert tokenizer.count(text) == len(ids)
    return ids, [tuple(span) for span in found.offsets]


def assert_same(tokenizers: Iterable[isotok.Tokenizer], other: Any, texts: Iterable[str]) -> int:
    """Compare; the number of tokens."""
    tokenizers = list(tokenizers)
    count = 0
    for text in texts:
        expected = theirs(other, text)
        for tokenizer in tokenizers:
            found = ours(tokenizer, text)
            assert found == expected, (text, found, expected)
        count += 0 if expected is None else len(expected[0])
    return count


@cache
def real(name: str) -> dict[str, Any]:
    """A tokenizer.json of the data, parsed; `name` without its suffixes."""
    for path in sorted(data.models_dir().glob(f"{name}.tokenizer.json*")):
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    return {}


def normalized_lines(name: str, corpus: str, size: int) -> list[str]:
    """Return lines of a corpus as the model's own normalizer leaves them."""
    whole = importlib.import_module("tokenizers").Tokenizer.from_str(json.dumps(real(name)))
    text = (data.corpora_dir() / f"{corpus}.txt").read_bytes()[:size].decode("utf-8", "ignore")
    return [whole.normalizer.normalize_str(line) for line in text.splitlines()]
