"""WordPiece and Unigram by pre-tokens: corpora in long lines against tokenizers, linear time."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.full.limits import Check, Checks, Growth
from tests.support import data

sys.path.insert(0, str(data.ROOT / "tests"))

from support import hf_models

SIZE = 2_000_000
LONG = 20_000
TEXTS = 3_000
BACKENDS = ("native", "wasm")
NAMES = {
    "bert_base_cased": hf_models.BERT,
    "xlmr": hf_models.LOW_LINES,
    "xlnet_base_cased": hf_models.LOW_LINES,
}


def _model(name: str) -> dict[str, Any]:
    kind = "WordPiece" if name.startswith("bert") else "Unigram"
    return {"type": kind, "byte_fallback": False} | hf_models.real(name)["model"]


def corpora() -> Iterator[Check]:
    """Lines joined to long ones, as the model's normalizer leaves them."""
    for name, pre_tokenizer in NAMES.items():
        model = _model(name)
        blob = hf_models.compiled(model, pre_tokenizer)
        other = hf_models.reference(model, pre_tokenizer)
        for corpus in ("en", "multi", "ja", "zh", "code"):
            lines = "\n".join(hf_models.normalized_lines(name, corpus, SIZE))
            if pre_tokenizer is hf_models.LOW_LINES:
                lines = lines.replace(" ", "\u2581")
            texts = [lines[i : i + LONG] for i in range(0, len(lines), LONG)]
            expected = [found.ids for found in other.encode_batch(texts, add_special_tokens=False)]
            for backend in BACKENDS:
                for tokenizer in hf_models.opened(blob, backend):
                    pairs = zip(texts, expected, strict=True)
                    wrong = sum(tokenizer.encode(text) != ids for text, ids in pairs)
                    what = f"{name} {backend} {corpus}: texts that differ of {len(texts)}"
                    yield what, str(wrong), "0", wrong == 0


def random_texts() -> Iterator[Check]:
    """Random characters, among them unknown ones, in pre-tokens of any length."""
    rng = random.Random(5)
    for name, pre_tokenizer in NAMES.items():
        model = _model(name)
        pieces = [*model["vocab"]] if name.startswith("bert") else [p for p, _ in model["vocab"]]
        blob = hf_models.compiled(model, pre_tokenizer)
        other = hf_models.reference(model, pre_tokenizer)
        texts = [
            "".join(
                rng.choice(pieces)
                if rng.random() < 0.8
                else rng.choice(" \u2581xq\U0001f642\u0378")
                for _ in range(rng.choice([3, 10, 60]))
            )
            for _ in range(TEXTS)
        ]
        for backend in BACKENDS:
            tokenizers = hf_models.opened(blob, backend)
            try:
                count = hf_models.assert_same(tokenizers, other, texts)
            except AssertionError as error:
                yield f"{name} {backend}: random texts", json.dumps(str(error))[:300], "", False
            else:
                yield f"{name} {backend}: random texts, tokens", f"{count:,}", "equal", True


def growth() -> Iterator[Check]:
    """1 MB without a cut costs at most 4.8 times 250 KB."""
    lines: list[Growth] = []
    for name, pre_tokenizer in NAMES.items():
        blob = hf_models.compiled(_model(name), pre_tokenizer)
        for backend in BACKENDS:
            (tokenizer,) = hf_models.opened(blob, backend, (None,))
            for unit in ("a", "\u00e9", "\u4e2d"):
                large = (unit * 1_000_000).encode()[:1_000_000]
                tokenizer.count(large)
                works = (partial(tokenizer.count, large[:250_000]), partial(tokenizer.count, large))
                lines.append(Growth(f"{name} {backend}: growth, {unit!a}", *works))
    for _ in range(3):
        for line in lines:
            if not line.check()[3]:
                line.measure()
    yield from (line.check() for line in lines)


ALL: dict[str, Checks] = {
    "hf_models_corpora": corpora,
    "hf_models_growth": growth,
    "hf_models_random": random_texts,
}
