"""Models of tokenizer.json and rank files against tokenizers and tiktoken, natively and in wasm.

Every such file of the data folder: corpora as lines, documents and whole files; hostile texts;
every code point in six contexts; a million random texts of each model. Ids, offsets, tokens and
decoded text, with special tokens (`add_special_tokens`, `allowed_special="all"`) and without, and
all columns of the drop-ins' encodings. The other library is asked once, for both back ends.

`--size` reads only so many bytes of a corpus, and takes so many random texts and code points;
`--model` takes only these models; `--resume FILE` goes on where it was stopped.
docs/tokenizer_json.md says how long it takes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from tests.full import hf_tasks
from tests.full.hf_tasks import BACKENDS, BATCH, Tally, Task, batches
from tests.full.limits import Check, Checks
from tests.support import data

sys.path.insert(0, str(data.ROOT / "tests"))

from support import answers, hf, ranks
from support.answers import Answers

NAMES = (*hf.NAMES, *ranks.NAMES)
TEXTS = 1_000_000
PARTS = 8
"""Random texts of a model are split into so many tasks."""
CONTEXTS = ("{}", "{0}{0}", "a{}", "1{}", " {}", "{}\n")
SAMPLE = 20
"""Texts of a batch that go through streams, limits and units of offsets."""
COLUMNS = 100
"""Texts of a batch of random ones that go through the drop-in."""
JOINED = 40
"""Code points that are a text in wasm where offsets are compared: a call for each takes hours."""
LIMIT = 0x110000

_last: list[str] = []


def kind_of(name: str) -> ModuleType:
    """What knows the model and its library."""
    return ranks if name in ranks.NAMES else hf


def _begin(name: str, what: str) -> tuple[ModuleType, Any, Tally]:
    """The kind of a model, its other library, and a tally; tokens have equal texts by now."""
    kind, tally = kind_of(name), Tally(f"{name} {what}")
    if _last != [name]:  # both libraries' models are large: those of the task before go
        for module in (hf, ranks):
            module.forget()
        _last[:] = [name]
        for backend in BACKENDS:
            tally.add(0, kind.same_names, name, backend)
    return kind, kind.reference(name), tally


def _tasks(
    line: str, make: Callable[..., list[Check]], arguments: dict[str, Sequence[Any]]
) -> Iterator[Check]:
    """Run a task for each model and argument; those of a model follow on one another."""
    tasks: dict[str, Task] = {
        f"{name} {argument}": partial(make, name, *values)
        for name in hf_tasks.chosen(NAMES)
        for argument, values in arguments.items()
    }
    return hf_tasks.run(line, tasks)


# ---- Corpora --------------------------------------------------------------------------


def _compared(name: str, what: str, texts: list[str]) -> Check:
    kind, ref, tally = _begin(name, what)
    rng = random.Random(what)
    for batch in batches(texts):
        long = len(batch[0]) > 2000
        sample = [0] if long else rng.sample(range(len(batch)), min(len(batch), SAMPLE))
        dropped = rng.randrange(2)  # who is asked through the drop-in with special tokens
        for add in (True, False):
            found = tally.add(len(batch), kind.Answers, ref, batch, add=add)
            if found is None:
                continue
            odd = kind.odd_texts(name, found)
            for i, backend in enumerate(BACKENDS):
                tok, whole = kind.opened(name, backend), (i == dropped) == add
                tally.add(0, answers.same_ids, tok, found)
                if not whole:
                    tally.add(0, answers.same_offsets, tok, found)
                numbers = range(len(batch)) if whole else odd
                tally.add(0, kind.same_columns, kind.compatible(name, backend), found, numbers)
                if add:
                    tally.add(0, answers.same_decoded, tok, found)
                _samples(tally, tok, found, sample, rng)
    return tally.line()


def _samples(
    tally: Tally, tok: Any, found: Answers, numbers: Sequence[int], rng: random.Random
) -> None:
    """Streams of texts, and of ids with what they decode to."""
    for i in numbers:
        text, ids = found.texts[i], found.ids[i]
        tally.add(0, answers.same_stream, tok, text, ids, rng, **found.options)
    for options, texts in found.decoded_of(numbers):
        for i, text in zip(numbers, texts, strict=True):
            tally.add(0, answers.same_text, tok, found.ids[i], text, rng, **options)


def _kinds(text: str) -> dict[str, list[str]]:
    return {"lines": text.splitlines(), "documents": hf.documents(text), "whole": [text]}


def _corpus(name: str, corpus: str, size: int) -> list[Check]:
    kinds = _kinds(hf.corpus(corpus, size))
    return [_compared(name, f"{corpus} {kind}", texts) for kind, texts in kinds.items()]


def corpora() -> Iterator[Check]:
    """All corpora through all models."""
    size = hf_tasks.size or 1 << 30
    return _tasks("hf_corpora", _corpus, {corpus: (corpus, size) for corpus in hf.CORPORA})


def _stress(name: str, size: int) -> list[Check]:
    checks: list[Check] = []
    for title, text in hf.stress(size).items():
        for kind, texts in _kinds(text).items():
            if kind != "lines" or max(map(len, texts), default=0) < 10_000:
                checks.append(_compared(name, f"{title} {kind}", texts))
    return checks


def stress() -> Iterator[Check]:
    """The hostile corpora; bytes that are ill-formed as Python replaces them."""
    return _tasks("hf_stress", _stress, {"stress": (hf_tasks.size or 1 << 30,)})


# ---- Code points ----------------------------------------------------------------------


def _code_points(name: str, context: str, stride: int) -> list[Check]:
    kind, ref, tally = _begin(name, ascii(context))
    native, wasm = (kind.opened(name, backend) for backend in BACKENDS)
    points = [p for p in range(stride // 2, LIMIT, stride) if not 0xD800 <= p < 0xE000]
    for i, batch in enumerate(batches([context.format(chr(point)) for point in points])):
        found = tally.add(len(batch), kind.Answers, ref, batch, add=True)
        if found is None:
            continue
        tally.add(0, answers.same_ids, native, found)
        tally.add(0, answers.same_ids, wasm, found)
        tally.add(0, answers.same_offsets, native, found)
        tally.add(0, answers.same_decoded, native, found)
        tally.add(0, _same_joined, native, wasm, found)
        odd = kind.odd_texts(name, found) if context == "{}" or i % 10 == 0 else []
        numbers = sorted({*odd, *range(0, len(batch), 10 if context == "{}" else 100)})
        ours = kind.compatible(name, BACKENDS[i % 2])
        tally.add(0, kind.same_columns, ours, found, numbers)
    return [tally.line()]


def _same_joined(native: Any, wasm: Any, found: Answers) -> None:
    """Offsets and decoded text in wasm, of some texts as one, are the native ones."""
    for i in range(0, len(found.texts), JOINED):
        text = "".join(found.texts[i : i + JOINED])
        each = [tok.encode_with_offsets(text, **found.options) for tok in (native, wasm)]
        assert each[0] == each[1], text
        ids = [number for one in found.ids[i : i + JOINED] for number in one]
        for options, _ in found.decoded_of(()):
            assert native.decode(ids, **options) == wasm.decode(ids, **options), ids


def code_points() -> Iterator[Check]:
    """Every code point in six contexts."""
    stride = max(1, LIMIT // (hf_tasks.size or LIMIT))
    return _tasks(
        "hf_code_points",
        _code_points,
        {ascii(context): (context, stride) for context in CONTEXTS},
    )


# ---- Random texts ---------------------------------------------------------------------


def _random(name: str, part: int, count: int) -> list[Check]:
    kind, ref, tally = _begin(name, f"part {part}")
    makes, rng = kind.Texts(name), random.Random(part)
    for begin in range(0, count, BATCH):
        texts = [makes.text(rng) for _ in range(min(BATCH, count - begin))]
        add = rng.random() < 0.5
        found = tally.add(len(texts), kind.Answers, ref, texts, add=add)
        some = tally.add(0, kind.Answers, ref, texts[:SAMPLE], add=not add)
        if found is None or some is None:
            continue
        numbers = sorted({*kind.odd_texts(name, found), *range(min(COLUMNS, len(texts)))})
        ids = [makes.ids(rng) for _ in range(2 * SAMPLE)]
        for backend in BACKENDS:
            tok, ours = kind.opened(name, backend), kind.compatible(name, backend)
            for each in (found, some):
                tally.add(0, answers.same_ids, tok, each)
                tally.add(0, answers.same_offsets, tok, each)
            tally.add(0, answers.same_decoded, tok, found)
            tally.add(0, kind.same_columns, ours, found, numbers)
            _more(tally, kind, tok, ref, (found, some), rng)
            for one in ids:
                tally.add(0, kind.same_texts, tok, ref, one, rng)
            if kind is hf:
                tally.add(0, _same_special, tok, ref, some.texts, rng)
    return [tally.line()]


def _more(
    tally: Tally, kind: ModuleType, tok: Any, ref: Any, both: Sequence[Answers], rng: random.Random
) -> None:
    """Streams, limits and units of some texts, with special tokens and without."""
    for each in both:
        for text, ids in list(zip(each.texts, each.ids, strict=True))[:SAMPLE]:
            tally.add(0, answers.same_stream, tok, text, ids, rng, **each.options)
            tally.add(0, answers.same_limit, tok, text, ids, rng, **each.options)
    for text in both[1].texts:
        tally.add(0, kind.same_in_units, tok, ref, text)


def _same_special(tok: Any, ref: Any, texts: list[str], rng: random.Random) -> None:
    """Special tokens of the text are text."""
    ref.encode_special_tokens = True
    try:
        for text in texts:
            hf.same_special(tok, ref, text, rng)
    finally:
        ref.encode_special_tokens = False


def random_texts() -> Iterator[Check]:
    """A million random texts of each model."""
    count = -(-min(TEXTS, hf_tasks.size or TEXTS) // PARTS)
    return _tasks("hf_random", _random, {f"part {part}": (part, count) for part in range(PARTS)})


ALL: dict[str, Checks] = {
    "hf_corpora": corpora,
    "hf_stress": stress,
    "hf_code_points": code_points,
    "hf_random": random_texts,
}
