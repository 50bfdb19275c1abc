"""WordLevel by pre-tokens: ids and offsets against tokenizers itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from isotok.compile import compile_model
from isotok.compile._models import wordlevel_fields
from support import hf_models
from support.hf_models import PRE_TOKENIZERS, WHITESPACE, assert_same, compiled, reference

pytest.importorskip("tokenizers", reason="the reference library is not installed")

LETTERS = "ab#é中 .\u2581"
TEXTS = st.text(LETTERS, max_size=10)


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    texts = draw(st.lists(st.text(LETTERS, min_size=1, max_size=3), max_size=14, unique=True))
    unk = draw(st.sampled_from(["<unk>", "a", "missing"]))
    if unk == "<unk>" or not texts:
        texts.append("<unk>")
    step = draw(st.sampled_from([1, 2]))
    vocab = {text: 1 + step * i for i, text in enumerate(texts)}
    return {"type": "WordLevel", "unk_token": unk, "vocab": vocab}


@given(models(), st.sampled_from(PRE_TOKENIZERS), st.lists(TEXTS, min_size=1, max_size=8))
def test_random(model: dict[str, Any], pre_tokenizer: Any, texts: list[str]) -> None:
    blob = compiled(model, pre_tokenizer)
    for backend in ("native", "wasm"):
        tokenizers = hf_models.opened(blob, backend, (None, 0))
        assert_same(tokenizers, reference(model, pre_tokenizer), [*texts, *texts, " ".join(texts)])


VOCAB = {"u": 0, "ab": 1, "d" * 600: 2, "the": 9}
MODEL: dict[str, Any] = {"type": "WordLevel", "unk_token": "u", "vocab": VOCAB}


def test_long_words(backend: str) -> None:
    """Words of more bytes than a token of the core holds, and more than any piece has."""
    tokenizers = hf_models.opened(compiled(MODEL, WHITESPACE), backend)
    texts = ["d" * n for n in (599, 600, 601, 30_000)] + ["the ab the u x" * 50]
    assert_same(tokenizers, reference(MODEL, WHITESPACE), [*texts, " ".join(texts)])


def test_whole_text(backend: str) -> None:
    """Without a pre-tokenizer all of the text is one word, however it comes."""
    tokenizer = hf_models.opened(compiled(MODEL), backend, (None,))[0]
    for text, ids in (("the", [9]), ("the ", [0]), ("d" * 600, [2]), ("é" * 20_000, [0]), ("", [])):
        assert tokenizer.encode(text) == ids
        chunks = [bytes([byte]) for byte in text.encode()]
        assert [i for part in tokenizer.encode_stream(chunks) for i in part] == ids


def test_packed() -> None:
    """The packed form, and a blob compiled again, give the same blob."""
    blob = compile_model(wordlevel_fields(VOCAB, "u", added={"the": 9, "new": 11}))
    packed = compile_model(blob, "packed")
    assert compile_model(packed) == compile_model(blob) == blob
