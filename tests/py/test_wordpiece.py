"""WordPiece by pre-tokens: ids and offsets against tokenizers itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from isotok.compile import compile_model
from isotok.compile._models import wordpiece_fields
from isotok.errors import TokenizerError
from support import data, hf_models
from support.hf_models import PRE_TOKENIZERS, WHITESPACE, assert_same, compiled, reference

pytest.importorskip("tokenizers", reason="the reference library is not installed")

LETTERS = "ab#é中🙂"
TEXTS = st.text(LETTERS + " .\u2581", max_size=14)
PIECES = st.builds(str.__add__, st.sampled_from(["", "##", "#", "é"]), st.text(LETTERS, max_size=3))


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    texts = draw(st.lists(PIECES, min_size=1, max_size=14, unique=True))
    unk = draw(st.sampled_from(["[UNK]", "a", "##a", "missing"]))
    if unk == "[UNK]" and unk not in texts:
        texts.append(unk)
    step = draw(st.sampled_from([1, 3]))
    return {
        "type": "WordPiece",
        "unk_token": unk,
        "continuing_subword_prefix": draw(st.sampled_from(["##", "##", "#", "", "é", "xyz"])),
        "max_input_chars_per_word": draw(st.sampled_from([100, 100, 0, 1, 3, 5])),
        "vocab": {text: 1 + step * i for i, text in enumerate(texts)},
    }


@given(models(), st.sampled_from(PRE_TOKENIZERS), st.lists(TEXTS, min_size=1, max_size=8))
def test_random(model: dict[str, Any], pre_tokenizer: Any, texts: list[str]) -> None:
    if all(not text for text in model["vocab"]):
        with pytest.raises(TokenizerError):
            compiled(model, pre_tokenizer)
        return
    blob = compiled(model, pre_tokenizer)
    for backend in ("native", "wasm"):
        tokenizers = hf_models.opened(blob, backend, (None, 0))
        assert_same(tokenizers, reference(model, pre_tokenizer), [*texts, *texts, " ".join(texts)])


VOCAB = {"[UNK]": 0, "ab": 1, "##c": 2, "##" + "c" * 300: 3, "d" * 600: 4, "é": 5, "##é": 7}
MODEL: dict[str, Any] = {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 700,
    "vocab": VOCAB,
}


def test_long_pieces(backend: str) -> None:
    """Pieces and unknown words of more bytes than a token of the core holds."""
    tokenizers = hf_models.opened(compiled(MODEL, WHITESPACE), backend)
    texts = ["ab" + "c" * n for n in (1, 299, 300, 301, 599, 600, 601)]
    texts += ["d" * n for n in (599, 600, 601)] + ["x" * n for n in (254, 255, 256, 510, 511)]
    texts += ["é" * 700, "é" * 701, " ".join(texts)]
    assert_same(tokenizers, reference(MODEL, WHITESPACE), texts)


def test_limits_and_parts(backend: str) -> None:
    """Limits and chunks do not divide a long unknown word."""
    tokenizer = hf_models.opened(compiled(MODEL, WHITESPACE), backend, (None,))[0]
    text = "ab " + "x" * 690 + " abc " + "d" * 600
    assert tokenizer.encode(text) == [1, 0, 1, 2, 4]
    for step in (1, 2, 97, 300):
        chunks = [text[i : i + step].encode() for i in range(0, len(text), step)]
        assert [i for ids in tokenizer.encode_stream(chunks) for i in ids] == [1, 0, 1, 2, 4]
    assert [tokenizer.fits(text, limit) for limit in (4, 5)] == [False, True]


def test_added_tokens(backend: str) -> None:
    """Tokens of the vocabulary are in text too, but with "none"; others if they are asked for."""
    added = {"[UNK]": 0, "ab": 1, "[NEW]": 12}
    tokenizer = hf_models.opened(
        compile_model(wordpiece_fields(VOCAB, "[UNK]", added=added)), backend, (None,)
    )[0]
    assert tokenizer.encode("abc", special={"[NEW]"}) == [1, 2]
    assert tokenizer.encode("abc", special="none") == [0, 2]
    assert tokenizer.encode("[NEW]", special="none") == [0]
    assert tokenizer.encode("[NEW]é[UNK]ab", special="all") == [12, 5, 0, 1]
    assert tokenizer.id_to_piece(12) == "[NEW]"
    assert tokenizer.piece_to_id("[NEW]") == 12
    assert tokenizer.info.algorithm == "wordpiece"


def test_packed() -> None:
    """The packed form, and a blob compiled again, give the same blob."""
    blob = compiled(MODEL, WHITESPACE)
    packed = compile_model(blob, "packed")
    assert len(packed) < len(blob)
    assert compile_model(packed) == compile_model(blob) == blob
    with pytest.raises(TokenizerError, match="another library's ids"):
        compile_model(blob, "model")


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ({"a": 1, "b": 1}, "'b' has id 1, which is that of 'a' too"),
        ({"a": -1}, "negative"),
        ({"a": 0xFFFF00}, "below 16,776,960"),
        ({"a" * 8000: 0}, "8,000 bytes"),
        ({"a" * 70_000: 0}, "7,999 bytes"),
        ({"\ud800": 0}, "surrogate"),
        ({}, "must be one"),
    ],
)
def test_refusals(vocab: dict[str, int], message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        compile_model(wordpiece_fields(vocab, "a"))


@pytest.mark.parametrize("corpus", ["en", "multi", "zh"])
def test_bert(backend: str, corpus: str) -> None:
    """The vocabulary of BERT on text that its normalizer has changed already."""
    whole = hf_models.real("bert_base_cased")
    if not whole:
        pytest.skip(data.absence(data.models_dir() / "bert_base_cased.tokenizer.json"))
    model = {"type": "WordPiece"} | whole["model"]
    texts = hf_models.normalized_lines("bert_base_cased", corpus, 60_000)
    tokenizers = hf_models.opened(compiled(model, hf_models.BERT), backend)
    other = reference(model, hf_models.BERT)
    assert assert_same(tokenizers, other, [*texts, "\n".join(texts)]) > 20_000
