"""BPE by a list of merges: small random lists against tokenizers."""

from __future__ import annotations

import json
import random
from array import array

import isotok
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isotok import _layout_gen as abi
from isotok.compile import compile_model
from isotok.compile._fields import pack_fields, scalar
from isotok.errors import TokenizerError
from support import hf, toy_hf
from support.toy_bpe import GEMMA, Toy, toys

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


def test_long_tokens(backend: str) -> None:
    """Of more bytes than an entry of the segmenter has room for."""
    source, text = toy_hf.bytes_bpe(), "é"
    vocab: dict[str, int] = source["model"]["vocab"]
    letters = "Ã©"
    while len(letters) < 1000:
        source["model"]["merges"].append(f"{letters} {letters}")
        letters += letters
        vocab[letters] = len(vocab)
    whole = json.dumps(source)
    reference = tokenizers.Tokenizer.from_str(whole)
    tok = isotok.load(compile_model(whole.encode()), backend=backend)  # type: ignore[arg-type]
    texts = [text * n for n in (128, 129, 300, 512, 700)] + ["x" + text * 600 + " ab" + text * 130]
    hf.same_encodings(tok, reference, [*texts, *texts], add=False)


def _toy() -> bytes:
    vocab = {letter: i for i, letter in enumerate(["<unk>", "a", "b", "▁", "ab", "aba", "▁a"])}
    merges = ["a b", "ab a", "▁ a"]
    model = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "vocab": vocab}
    return json.dumps({"model": model | {"merges": merges}, "normalizer": GEMMA}).encode()


def _fields(**changes: object) -> bytes:
    """The fields of a model of two letters and two longer pieces, changed."""
    fields: dict[str, object] = {
        "ALGORITHM": scalar(abi.BPE),
        "PIECE_TEXT": "<unk>ababcé".encode(),
        "PIECE_SIZES": array("H", [5, 1, 1, 2, 1, 2]),
        "SCORES": array("f", bytes(24)),
        "TYPES": bytes([abi.UNKNOWN] + [abi.NORMAL] * 5),
        "MERGE_COUNTS": bytes([0, 0, 0, 1, 0, 0]),
        "MERGE_SPLITS": array("I", [1]),
    }
    fields |= changes
    return pack_fields((getattr(abi, f"FIELD_{name}"), value) for name, value in fields.items())  # type: ignore[misc]


@pytest.mark.parametrize(
    "changes",
    [
        {"MERGE_COUNTS": bytes(5)},
        {"MERGE_COUNTS": b""},
        {"MERGE_SPLITS": array("I")},
        {"MERGE_SPLITS": array("I", [1, 1])},
        {"MERGE_SPLITS": array("I", [0])},
        {"MERGE_SPLITS": array("I", [2])},
        {"MERGE_COUNTS": bytes([1, 0, 0, 0, 0, 0])},
        {"MERGE_COUNTS": bytes([0, 0, 0, 0, 0, 1])},
        {"ALGORITHM": scalar(abi.UNIGRAM)},
        {"TYPES": bytes([abi.UNKNOWN] + [abi.NORMAL] * 2 + [abi.CONTROL] + [abi.NORMAL] * 2)},
    ],
)
def test_fields_that_do_not_fit(changes: dict[str, object], backend: str) -> None:
    """Counts and splits are checked before anything reads them."""
    assert compile_model(_fields())
    with pytest.raises(TokenizerError, match="field"):
        compile_model(_fields(**changes), backend=backend)  # type: ignore[arg-type]


def test_damaged(backend: str) -> None:
    """Any change of a blob is refused or harmless."""
    whole, rng = bytearray(compile_model(_toy())), random.Random(5)
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(64, len(whole))] = rng.choice(
                [0, 1, 0x7F, 0xFF, rng.randrange(256)]
            )
        try:
            tok = isotok.load(bytes(damaged), backend=backend)  # type: ignore[arg-type]
        except TokenizerError:
            continue
        assert tok.count("ab aba  b a" * 20) >= 0
        assert tok.decode(list(tok.encode("aba"))) is not None


def test_a_wrong_rank_is_found() -> None:
    """The tests above tell pairs from texts: with ranks by text alone the ids are others."""
    merges = [["b", "c"], ["a", "b"], ["a", "bc"], ["ab", "c"]]
    vocab = {token: i for i, token in enumerate(["<unk>", "a", "b", "c", "bc", "ab", "abc"])}
    model = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "vocab": vocab}
    for listed, want in ((merges, [6]), (merges[1:3], [5, 3]), (merges[:2], [1, 4])):
        source = json.dumps({"model": model | {"merges": listed}})
        reference = tokenizers.Tokenizer.from_str(source)
        assert reference.encode("abc").ids == want
        assert list(isotok.load(source.encode()).encode("abc")) == want
