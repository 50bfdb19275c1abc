"""isotok.compat.tokenizers on real models: encodings as those of tokenizers 0.23.3."""

from __future__ import annotations

import gzip
import random
from functools import cache
from typing import Any

import pytest
from isotok.compat import tokenizers as ours
from support import data
from support.encodings import same, same_calls

theirs = pytest.importorskip("tokenizers", reason="the reference library is not installed")

MODELS = ("gpt2", "llama3", "qwen3", "bert_base_cased", "xlmr", "llama2", "gemma3")
CORPORA = ("en", "ja", "zh", "code", "multi")
MORE = [
    " ",
    "  ",
    "\n",
    "\t",
    "a",
    "Hello",
    " world",
    "é",
    "中",
    "▁",
    "23",
    "👍🏽",
    "\u0301",
    "ﬁ",
    "<|",
]


@cache
def opened(name: str) -> tuple[Any, Any]:
    for path in data.models_dir().glob(f"{name}.tokenizer.json*"):
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
        return theirs.Tokenizer.from_buffer(raw), ours.Tokenizer.from_buffer(raw)
    pytest.skip(f"no {name}.tokenizer.json")


@cache
def lines() -> list[str]:
    found: list[str] = []
    for corpus in CORPORA:
        path = data.data_dir() / "corpora" / f"{corpus}.txt"
        if path.exists():
            with path.open("rb") as file:
                found += file.read(40_000).decode(errors="ignore").split("\n")
    return found or ["hello world"]


@pytest.mark.parametrize("name", MODELS)
def test_encodings(name: str) -> None:
    reference, tokenizer = opened(name)
    rng = random.Random(f"{name} 20261130")
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()][:30]
    bits = [*added, *MORE]

    def text() -> str:
        if rng.random() < 0.5:
            return rng.choice(lines())[: rng.randrange(60)]
        return "".join(rng.choice(bits) for _ in range(rng.randrange(9)))

    same_calls(reference, tokenizer, rng, text, 120)
    for line in rng.sample(lines(), 20):
        same(reference.encode(line), tokenizer.encode(line))
    reference.enable_truncation(64, stride=8)
    tokenizer.enable_truncation(64, stride=8)
    try:
        whole = "\n".join(lines()[:60])
        same(reference.encode(whole), tokenizer.encode(whole))
    finally:
        reference.no_truncation()
        tokenizer.no_truncation()
    assert tokenizer.get_vocab() == reference.get_vocab()
