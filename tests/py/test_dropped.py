"""Text between pre-tokens that gives no token: runs of white space of any length, with offsets and
without, through the token cache, in parts, and up to limits; against tokenizers.
"""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest
from support import core, hf_models
from support.hf_models import BERT, WHITESPACE, WHITESPACE_SPLIT

pytest.importorskip("tokenizers", reason="the reference library is not installed")

WORDS = ["ab", "abc", "abcabc", "c", "é", "中", "x", "xx", "unknown", ".", "..", "a-b", "🙂"]
SPACES = [" ", " ", "  ", "\n", "\t", "\r\n", "\u3000", "\u00a0", "\u2028"]
LENGTHS = (1, 1, 1, 2, 3, 7, 23, 24, 25, 126, 127, 128, 254, 255, 256, 257, 300, 510, 511, 700)
REMOVED = {
    "type": "Split",
    "pattern": {"Regex": r"[\s.]+|b"},
    "behavior": "Removed",
    "invert": False,
}
WORDPIECE: dict[str, Any] = {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {
        text: i
        for i, text in enumerate(["[UNK]", "ab", "##c", "##ab", "c", "é", ".", "a", "-", "b", "中"])
    },
}
WORDLEVEL: dict[str, Any] = {
    "type": "WordLevel",
    "unk_token": "[UNK]",
    "vocab": {"[UNK]": 0, "ab": 1, "abc": 2, "c": 3, ".": 4, "é": 5},
}


def unigram(*, fallback: bool) -> dict[str, Any]:
    vocab = [["<unk>", 0.0], ["ab", -1.0], ["c", -2.0], ["a", -3.0], ["b", -3.5], ["é", -4.0]]
    if fallback:
        vocab += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
    return {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": fallback}


MODELS = {
    "wordpiece": WORDPIECE,
    "wordlevel": WORDLEVEL,
    "unigram": unigram(fallback=False),
    "unigram with bytes": unigram(fallback=True),
}
CUTS: list[Any] = [BERT, WHITESPACE, WHITESPACE_SPLIT, REMOVED]


def text_of(rng: random.Random, words: int) -> str:
    """Words between runs, which at times begin the text and end it."""
    parts: list[str] = []
    for _ in range(rng.randint(0, words)):
        run = rng.choice(LENGTHS) if rng.random() < 0.15 else rng.randint(0, 3)
        parts.append("".join(rng.choices(SPACES[:3] if run > 9 else SPACES, k=run)))
        parts.append(rng.choice(WORDS))
    return "".join(parts) + " " * rng.choice((0, 0, 1, 2, 255, 256, 600))


@pytest.mark.parametrize("pre_tokenizer", CUTS, ids=["bert", "whitespace", "split", "removed"])
@pytest.mark.parametrize("name", MODELS)
def test_runs(name: str, pre_tokenizer: Any, backend: str) -> None:
    rng = random.Random(f"{name} {pre_tokenizer}")
    model = MODELS[name]
    tokenizers = hf_models.opened(hf_models.compiled(model, pre_tokenizer), backend)
    other = hf_models.reference(model, pre_tokenizer)
    texts = [text_of(rng, 40) for _ in range(40)] + ["", " ", " " * 1000, "ab" + " " * 1000 + "ab"]
    assert hf_models.assert_same(tokenizers, other, texts) > 300


@pytest.mark.parametrize("name", MODELS)
def test_parts_and_limits(name: str, backend: str) -> None:
    """Chunks, limits and outputs that just fit give the same ids."""
    rng = random.Random(name)
    blob = hf_models.compiled(MODELS[name], BERT)
    other = hf_models.reference(MODELS[name], BERT)
    for tokenizer in hf_models.opened(blob, backend):
        for _ in range(12):
            text = text_of(rng, 60)
            ids = other.encode(text).ids
            raw, chunks = text.encode(), []
            while raw:
                size = rng.choice((1, 2, 3, 17, 100, 300))
                chunks.append(raw[:size])
                raw = raw[size:]
            assert [i for some in tokenizer.encode_stream(chunks) for i in some] == ids
            for limit in {0, 1, 2, len(ids) // 2, len(ids) - 1, len(ids), len(ids) + 1}:
                if limit >= 0:
                    assert tokenizer.truncate(text, limit) == ids[:limit]
                    assert tokenizer.fits(text, limit) == (len(ids) <= limit)
            buffer = array("I", bytes(4 * len(ids) + 4))
            assert tokenizer.encode_into(memoryview(buffer)[: len(ids)], text) == len(ids)
            assert buffer[: len(ids)].tolist() == ids and buffer[-1] == 0


@pytest.mark.parametrize("pre_tokenizer", CUTS[:2], ids=["bert", "whitespace"])
@pytest.mark.parametrize("name", MODELS)
def test_little_room(name: str, pre_tokenizer: Any) -> None:
    """Outputs of a few tokens, text in parts, little memory: with spans and without."""
    rng = random.Random(f"room {name} {pre_tokenizer}")
    blob = hf_models.compiled(MODELS[name], pre_tokenizer)
    other, model = hf_models.reference(MODELS[name], pre_tokenizer), core.Model(blob)
    for _ in range(25):
        text = text_of(rng, 60) * rng.choice((1, 1, 3))
        want = other.encode(text)
        for spans in (True, False):
            plan = core.Plan(
                rng.choice((1, 2, 3, 5, 8, 33, 300)),
                rng.choice(((), (1,), (7, 2), (100, 300))),
                rng.choice((None, 0, 100)),
                rng.choice((0, 4096, 4096)),
                spans,
            )
            found = core.encode(model, text.encode(), plan, "codepoint")
            assert found["ids"] == want.ids, (text, plan)
            if spans:
                offsets = list(zip(found["begin"], found["end"], strict=True))
                assert offsets == want.offsets, (text, plan)
            limit = rng.randint(1, len(want.ids) + 2)
            cut = core.encode(model, text.encode(), plan, "codepoint", limit)
            assert cut["ids"] == want.ids[:limit], (text, plan, limit)


def test_long(backend: str) -> None:
    """More text than a window holds, of words, of spaces, and of both."""
    blob = hf_models.compiled(WORDPIECE, BERT)
    other = hf_models.reference(WORDPIECE, BERT)
    tokenizers = hf_models.opened(blob, backend)
    spaces = " " * 100_000
    texts = ["ab  " * 50_000, spaces, f"ab{spaces}abc", f"{spaces}x{spaces}", "ab\n" * 300 + spaces]
    assert hf_models.assert_same(tokenizers, other, texts) > 50_000
