"""Models of tokenizer.json and rank files against tokenizers and tiktoken, natively and in wasm.

Every such file of the data folder: corpora as lines, documents and whole files; hostile texts;
every code point in six contexts; a million random texts of each model. Ids, offsets, tokens and
decoded text, with special tokens (`add_special_tokens`, `allowed_special="all"`) and without, and
all columns of the drop-ins' encodings. Names end with the back end: `hf_corpora_native`.

`--size` reads only so many bytes of a corpus, and takes so many random texts and code points;
`--model` takes only these models. docs/tokenizer_json.md says how long it takes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from functools import partial
from types import ModuleType

from tests.full import hf_tasks
from tests.full.hf_tasks import BACKENDS, BATCH, Tally, batches
from tests.full.limits import Check, Checks
from tests.support import data

sys.path.insert(0, str(data.ROOT / "tests"))

from support import hf, ranks

NAMES = (*hf.NAMES, *ranks.NAMES)
TEXTS = 1_000_000
PARTS = 8
"""Random texts of a model are split into so many tasks."""
CONTEXTS = ("{}", "{0}{0}", "a{}", "1{}", " {}", "{}\n")
SAMPLE = 20
"""Texts of a batch that go through streams, limits and units of offsets."""
LIMIT = 0x110000


def kind_of(name: str) -> ModuleType:
    """What knows the model and its library."""
    return ranks if name in ranks.NAMES else hf


# ---- Corpora --------------------------------------------------------------------------


def _compared(name: str, backend: str, what: str, texts: list[str]) -> Check:
    kind = kind_of(name)
    tok, ref, rng = kind.opened(name, backend), kind.reference(name), random.Random(what)
    tally = Tally(f"{name} {backend} {what}")
    for batch in batches(texts):
        for add in (True, False):
            tally.add(len(batch), kind.same_encodings, tok, ref, batch, add=add)
        add = rng.random() < 0.7
        tally.add(len(batch), kind.same_compatible, name, ref, batch, add=add)
        sample = batch[:1] if len(batch[0]) > 2000 else rng.sample(batch, min(len(batch), SAMPLE))
        for text in sample:
            tally.add(1, kind.same_streams, tok, ref, text, rng)
            tally.add(1, kind.same_texts, tok, ref, kind.ids_of(ref, text, add=True), rng)
    return tally.line()


def _kinds(text: str) -> dict[str, list[str]]:
    return {"lines": text.splitlines(), "documents": hf.documents(text), "whole": [text]}


def _corpus(name: str, backend: str, corpus: str, size: int) -> list[Check]:
    kinds = _kinds(hf.corpus(corpus, size))
    return [_compared(name, backend, f"{corpus} {kind}", texts) for kind, texts in kinds.items()]


def corpora(backend: str) -> Iterator[Check]:
    """All corpora through all models."""
    size = hf_tasks.size or 1 << 30
    names = hf_tasks.chosen(NAMES)
    return hf_tasks.run(
        backend,
        [partial(_corpus, name, backend, corpus, size) for name in names for corpus in hf.CORPORA],
    )


def _stress(name: str, backend: str, size: int) -> list[Check]:
    checks: list[Check] = []
    for title, text in hf.stress(size).items():
        for kind, texts in _kinds(text).items():
            if kind != "lines" or max(map(len, texts), default=0) < 10_000:
                checks.append(_compared(name, backend, f"{title} {kind}", texts))
    return checks


def stress(backend: str) -> Iterator[Check]:
    """The hostile corpora; bytes that are ill-formed as Python replaces them."""
    size = hf_tasks.size or 1 << 30
    names = hf_tasks.chosen(NAMES)
    return hf_tasks.run(backend, [partial(_stress, name, backend, size) for name in names])


# ---- Code points ----------------------------------------------------------------------


def _code_points(name: str, backend: str, context: str, stride: int) -> list[Check]:
    kind = kind_of(name)
    tok, ref = kind.opened(name, backend), kind.reference(name)
    tally = Tally(f"{name} {backend} {context!r}")
    compare = kind.same_encodings if backend == "native" else kind.same_ids
    points = [p for p in range(stride // 2, LIMIT, stride) if not 0xD800 <= p < 0xE000]
    for i in range(0, len(points), BATCH):
        texts = [context.format(chr(point)) for point in points[i : i + BATCH]]
        tally.add(len(texts), compare, tok, ref, texts, add=True)
        if context == "{}" and backend == "native":
            tally.add(len(texts), kind.same_compatible, name, ref, texts, add=True)
    return [tally.line()]


def code_points(backend: str) -> Iterator[Check]:
    """Every code point in six contexts."""
    stride = max(1, LIMIT // (hf_tasks.size or LIMIT))
    names = hf_tasks.chosen(NAMES)
    return hf_tasks.run(
        backend,
        [
            partial(_code_points, name, backend, context, stride)
            for name in names
            for context in CONTEXTS
        ],
    )


# ---- Random texts ---------------------------------------------------------------------


def _random(name: str, backend: str, part: int, count: int) -> list[Check]:
    kind = kind_of(name)
    tok, ref = kind.opened(name, backend), kind.reference(name)
    tally, rng = Tally(f"{name} {backend} part {part}"), random.Random(part)
    makes = kind.Texts(name)
    for _ in range(0, count, BATCH):
        texts = [makes.text(rng) for _ in range(min(BATCH, count))]
        add = rng.random() < 0.5
        compare = kind.same_encodings if backend == "native" else kind.same_ids
        tally.add(len(texts), compare, tok, ref, texts, add=add)
        some = texts[:SAMPLE]
        tally.add(len(some), kind.same_encodings, tok, ref, some, add=not add)
        tally.add(5 * len(some), kind.same_compatible, name, ref, texts[: 5 * SAMPLE], add=add)
        for text in some:
            tally.add(1, kind.same_streams, tok, ref, text, rng)
            tally.add(1, kind.same_limits, tok, ref, text, rng)
            tally.add(1, kind.same_in_units, tok, ref, text)
        for _ in range(2 * SAMPLE):
            tally.add(1, kind.same_texts, tok, ref, makes.ids(rng), rng)
        if kind is hf:
            tally.add(len(some), _same_special, name, backend, some, rng)
    return [tally.line()]


def _same_special(name: str, backend: str, texts: list[str], rng: random.Random) -> None:
    """Special tokens of the text are text."""
    tok, ref = hf.opened(name, backend), hf.reference(name)
    ref.encode_special_tokens = True
    try:
        for text in texts:
            hf.same_special(tok, ref, text, rng)
    finally:
        ref.encode_special_tokens = False


def random_texts(backend: str) -> Iterator[Check]:
    """A million random texts of each model."""
    count = -(-min(TEXTS, hf_tasks.size or TEXTS) // PARTS)
    names = hf_tasks.chosen(NAMES)
    return hf_tasks.run(
        backend,
        [partial(_random, name, backend, part, count) for name in names for part in range(PARTS)],
    )


ALL: dict[str, Checks] = {}
for _backend in BACKENDS:
    ALL |= {
        f"hf_corpora_{_backend}": partial(corpora, _backend),
        f"hf_stress_{_backend}": partial(stress, _backend),
        f"hf_code_points_{_backend}": partial(code_points, _backend),
        f"hf_random_{_backend}": partial(random_texts, _backend),
    }
