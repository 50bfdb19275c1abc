"""Unigram by pre-tokens in float64: ids and offsets against tokenizers itself."""

from __future__ import annotations

import random
from typing import Any

import isotok
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isotok.compile import compile_model
from isotok.compile._models import unigram_fields
from isotok.errors import TokenizerError
from support import data, hf_models
from support.hf_models import (
    CACHES,
    LOW_LINES,
    PRE_TOKENIZERS,
    WHITESPACE,
    assert_same,
    compiled,
    reference,
)

pytest.importorskip("tokenizers", reason="the reference library is not installed")

LETTERS = "abc<u>é中🙂"
TEXTS = st.text(LETTERS + " .\u2581", max_size=14)
PIECES = st.text(LETTERS + "\u2581", max_size=4)
# Sums of these tie in float64, in float32, or only nearly; positive ones let unknown text win.
SCORES = st.sampled_from(
    [0.0, -1.0, -2.0, -3.0, -0.1, -0.2, -0.3, -10.0, -1e-9, -1.0000000001, 0.7, 30.0, 31.5, 1e300]
)
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    texts = draw(st.lists(PIECES, min_size=1, max_size=16))  # with duplicates and empty ones
    bytes_given = draw(st.sampled_from([0, 0, 0xA9, 256]))
    texts += BYTES[:bytes_given]
    few = draw(st.lists(SCORES, min_size=1, max_size=4))
    scores = [draw(st.sampled_from(few)) for _ in texts]
    unk = draw(st.sampled_from(["first", "<u>", "none"]))
    vocab = list(zip(texts, scores, strict=True))
    if unk == "<u>":
        vocab.append(("<u>", draw(SCORES)))
    elif unk == "first":
        vocab = [("<unk>", draw(SCORES)), *vocab]
    ids = {"first": 0, "<u>": len(vocab) - 1, "none": None}
    return {
        "type": "Unigram",
        "unk_id": ids[unk],
        "vocab": vocab,
        "byte_fallback": draw(st.booleans()),
    }


@given(models(), st.sampled_from(PRE_TOKENIZERS), st.lists(TEXTS, min_size=1, max_size=8))
def test_random(model: dict[str, Any], pre_tokenizer: Any, texts: list[str]) -> None:
    if all(not text for text, _ in model["vocab"]):
        with pytest.raises(TokenizerError):
            compiled(model, pre_tokenizer)
        return
    blob = compiled(model, pre_tokenizer)
    for backend in ("native", "wasm"):
        tokenizers = hf_models.opened(blob, backend, (None, 0))
        assert_same(tokenizers, reference(model, pre_tokenizer), [*texts, *texts, " ".join(texts)])


def _many(seed: int) -> tuple[dict[str, Any], list[str]]:
    """A vocabulary of near ties, and texts that use them over and over."""
    rng = random.Random(seed)
    parts = ["".join(rng.choices("abcé", k=rng.randint(1, 5))) for _ in range(300)]
    pieces = sorted({*"abcé", *parts})
    vocab = [
        ("<unk>", 0.0),
        *((piece, -len(piece) * rng.choice([0.1, 0.3, 1])) for piece in pieces),
    ]
    texts = [" ".join("".join(rng.choices("aabbcéx", k=rng.randint(1, 12))) for _ in range(300))]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}
    return model, texts


@pytest.mark.parametrize("seed", range(6))
def test_near_ties(backend: str, seed: int) -> None:
    model, texts = _many(seed)
    tokenizers = hf_models.opened(compiled(model, WHITESPACE), backend)
    assert assert_same(tokenizers, reference(model, WHITESPACE), texts * 3) > 500


@pytest.mark.parametrize("bytes_given", [0, 0xC4, 256])
def test_long_runs(backend: str, bytes_given: int) -> None:
    """Unknown runs and pieces of more bytes than a token of the core holds, with byte pieces."""
    vocab = [("<unk>", 0.0), ("a", -1.0), ("b" * 400, -2.0)]
    vocab += [(text, -3.0) for text in BYTES[:bytes_given]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": True}
    tokenizers = hf_models.opened(compiled(model, WHITESPACE), backend)
    texts = ["é" * n for n in (1, 127, 128, 300)] + ["x" * n for n in (254, 255, 256, 511)]
    texts += ["a" + "中" * 200 + "a " + "x" * 700 + " a" + "b" * 801 + "x", "\u0103" * 200]
    assert_same(tokenizers, reference(model, WHITESPACE), [*texts, " ".join(texts)])
    for tokenizer in tokenizers:
        ids = tokenizer.encode(texts[-2])
        chunks = [bytes([byte]) for byte in texts[-2].encode()]
        assert [i for part in tokenizer.encode_stream(chunks) for i in part] == ids
        assert tokenizer.fits(texts[-2], len(ids))
        assert not tokenizer.fits(texts[-2], len(ids) - 1)


def test_scores_are_rounded_only_where_they_are() -> None:
    """Scores that float32 holds need no second table."""
    sizes = [
        len(compile_model(unigram_fields([("<unk>", 0.0), ("a", score)] * 400, None)))
        for score in (-0.5, -0.1)
    ]
    assert sizes[1] - sizes[0] >= 8 * 800


def test_no_sampling(backend: str) -> None:
    """What the float32 segmenter has is refused, not answered by another one."""
    tokenizer = hf_models.opened(compiled(_many(1)[0]), backend, (None,))[0]
    with pytest.raises(TokenizerError, match="sampling"):
        tokenizer.sample("abc", alpha=0.5)
    with pytest.raises(TokenizerError, match="sampling"):
        tokenizer.nbest("abc", 3)


def test_packed() -> None:
    """The packed form, and a blob compiled again, give the same blob."""
    for score in (-0.5, -0.1):
        vocab = [
            ("<unk>", 0.0),
            ("a", score),
            ("", -40.25),
            ("a", -2.0),
            *((b, -3.0) for b in BYTES),
        ]
        blob = compile_model(
            unigram_fields(vocab, 0, byte_fallback=True, added={"<new>": 999, "<unk>": 0})
        )
        packed = compile_model(blob, "packed")
        assert compile_model(packed) == compile_model(blob) == blob
        assert isotok.load(blob, verify="full").encode("<new>", special="all") == [999]


@pytest.mark.parametrize(
    ("vocab", "unk_id", "message"),
    [
        ([("a", float("nan"))], None, "'a' is not finite"),
        ([("a", 1.0)], 1, "unk_id: 1 is not the id"),
        ([("a", 1.0), ("a", 1.0)], 0, "unk_id: 0 has no text, or the same as a later"),
        ([("", 1.0), ("a", 1.0)], 0, "unk_id: 0 has no text"),
        ([("", 1.0)], None, "no piece can be matched"),
    ],
)
def test_refusals(vocab: list[tuple[str, float]], unk_id: int | None, message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        compile_model(unigram_fields(vocab, unk_id))


@pytest.mark.parametrize("corpus", ["en", "multi", "ja"])
@pytest.mark.parametrize("name", ["xlmr", "xlnet_base_cased"])
def test_real(backend: str, name: str, corpus: str) -> None:
    """Real vocabularies, on normalized text whose spaces are ▁."""
    whole = hf_models.real(name)
    if not whole:
        pytest.skip(data.absence(data.models_dir() / f"{name}.tokenizer.json"))
    model = {"type": "Unigram", "byte_fallback": False} | whole["model"]
    texts = [
        "\u2581" + line.replace(" ", "\u2581")
        for line in hf_models.normalized_lines(name, corpus, 50_000)
    ]
    tokenizers = hf_models.opened(compiled(model, LOW_LINES), backend, CACHES)
    other = reference(model, LOW_LINES)
    assert assert_same(tokenizers, other, [*texts, "".join(texts)]) > 500
