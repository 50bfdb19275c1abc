"""BPE by a list of merges: small random lists against tokenizers."""

from __future__ import annotations

import isotok
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isotok.compile import compile_model
from support.toy_bpe import Toy, toys

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")


def _texts(toy: Toy, data: st.DataObject) -> list[str]:
    short = st.text(toy.letters, max_size=12)
    long = st.text(toy.letters[:2], min_size=60, max_size=200)  # what does not fit an array
    return [*data.draw(st.lists(short, min_size=3, max_size=6)), data.draw(long)]


@given(toy=toys(), data=st.data())
def test_same_ids(toy: Toy, data: st.DataObject) -> None:
    """Whatever the list: with the cache, without, and in parts."""
    reference = tokenizers.Tokenizer.from_str(toy.json)
    blob = compile_model(toy.json.encode())
    plain = isotok.load(blob, backend="native", cache_bytes=0, verify="full")
    cached = isotok.load(blob, backend="native")
    for text in _texts(toy, data):
        want = reference.encode(text, add_special_tokens=False).ids
        assert list(plain.encode(text)) == want
        assert list(cached.encode(text)) == want
        assert list(cached.encode(text)) == want
        assert [reference.id_to_token(i) for i in want] == reference.encode(text).tokens


@given(toy=toys(), data=st.data())
def test_same_in_wasm(toy: Toy, data: st.DataObject) -> None:
    """And from the packed form, which gives the same blob."""
    pytest.importorskip("wasmtime")
    source = toy.json.encode()
    packed = compile_model(source, "packed", backend="wasm")
    blob = compile_model(source)
    assert compile_model(packed) == blob
    assert compile_model(blob) == blob
    assert compile_model(blob, "packed") == packed
    native = isotok.load(blob, backend="native")
    wasm = isotok.load(blob, backend="wasm")
    for text in _texts(toy, data):
        assert list(wasm.encode(text)) == list(native.encode(text))
