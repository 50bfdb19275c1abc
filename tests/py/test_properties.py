"""Properties that hold for every model and every text.

Random models are made from a seed that hypothesis chooses; texts are of their letters, or
any text and any bytes.
"""

from __future__ import annotations

import random

import isotok
import isotok_reference
import pytest
from conftest import Opener
from hypothesis import given, settings
from hypothesis import strategies as st
from isotok.compile import compile_model
from support import core, data, oracle
from support.random_models import RandomModel, random_model, random_text

SEEDS = st.integers(0, 2**32)
MODELS = sorted(path.stem for path in data.VECTOR_MODELS.glob("*.model"))
TRAINED = ["trained_unigram", "trained_bpe"]
TEXTS = st.one_of(st.text(max_size=60), st.text(alphabet="ab ▁é日<>0x41\n\ufdfa", max_size=80))
BYTES = st.one_of(st.binary(max_size=80), TEXTS.map(lambda text: text.encode(errors="replace")))


def sample(seed: int, count: int = 12) -> tuple[RandomModel, list[bytes]]:
    """Return a random model, and texts for it."""
    made = random_model(seed)
    generator = random.Random(f"text {seed}")
    texts = [random_text(generator, made.letters) for _ in range(count)]
    return made, [*texts, random_text(generator, made.letters, 400)]


# ---- Random models: all implementations agree ---------------------------------------


@given(seed=SEEDS)
def test_random_models(seed: int) -> None:
    """Native, wasm, the reference and sentencepiece give the same for everything."""
    made, texts = sample(seed)
    reference = isotok_reference.load(made.source)
    processor = oracle.Oracle(made.source) if oracle.available() else None
    count = len(reference.vocabulary.pieces)
    generator = random.Random(seed)
    tokenizers = [isotok.load(made.source, backend=name) for name in ("native", "wasm")]
    for text in texts:
        tokens = reference.encode(text)
        ids = [token.id for token in tokens]
        spans = [(token.begin, token.end) for token in tokens]
        normalized, offsets = reference.normalize(text)
        any_ids = [generator.randrange(count) for _ in range(8)]
        if processor:
            found = processor.encode(text)
            assert found.ids == ids
            assert list(zip(found.begin, found.end, strict=True)) == spans
            assert found.pieces == [token.piece for token in tokens]
            assert processor.normalize(text) == (normalized, offsets)
            assert processor.decode(ids) == reference.decode(ids)
            assert processor.decode(any_ids) == reference.decode(any_ids)
        for tok in tokenizers:
            assert tok.encode(text) == ids
            found = tok.encode_with_offsets(text, unit="byte")
            assert (found.ids, found.offsets) == (ids, spans)
            pieces = [token.piece.decode(errors="replace") for token in tokens]
            assert found.pieces == pieces
            assert tok.normalize(text) == normalized
            if normalized:
                result = tok.normalize(text, with_offsets=True, unit="byte")
                assert result.offsets == offsets
            for each in (ids, any_ids):
                assert tok.decode(each) == reference.decode(each).decode(errors="replace")
            if reference.denormalizer is None:
                assert tok.decode_bytes(any_ids) == reference.decode(any_ids, raw=True)


@given(seed=SEEDS)
def test_same_blob(seed: int) -> None:
    """One model gives the same bytes natively, in wasm, again, and by way of packed."""
    source = random_model(seed).source
    blob = compile_model(source, backend="native")
    assert compile_model(source, backend="wasm") == blob
    packed = compile_model(source, form="packed", backend="native")
    assert compile_model(source, form="packed", backend="wasm") == packed
    assert compile_model(packed, backend="wasm") == blob
    isotok.load(blob, verify="full", backend="native").close()


# ---- Plans: capacity, memory and parts change nothing -------------------------------


PLANS = st.builds(
    core.Plan,
    capacity=st.integers(1, 40),
    parts=st.lists(st.integers(1, 30), max_size=4),
    more_memory=st.one_of(st.none(), st.integers(0, 4096)),
)


@given(seed=SEEDS, plan=PLANS, unit=st.sampled_from(sorted(core.UNITS)))
def test_plans(seed: int, plan: core.Plan, unit: str) -> None:
    made, texts = sample(seed, 4)
    model = core.Model(bytes(compile_model(made.source)))
    for text in texts:
        expected = core.encode(model, text, core.Plan(), unit)
        assert core.encode(model, text, plan, unit) == expected
        limit = len(expected["ids"]) // 2
        if limit:
            cut = core.encode(model, text, plan, unit, limit)
            assert cut == {name: values[:limit] for name, values in expected.items()}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25)
@given(text=BYTES, plan=PLANS, repeat=st.integers(1, 60))
def test_plans_of_own_models(name: str, text: bytes, plan: core.Plan, repeat: int) -> None:
    model = own_core_model(name)
    text = (text * repeat)[:2000]
    assert core.encode(model, text, plan) == core.encode(model, text, core.Plan())


OPENED: dict[str, core.Model] = {}


def own_core_model(name: str) -> core.Model:
    if name not in OPENED:
        source = (data.VECTOR_MODELS / f"{name}.model").read_bytes()
        OPENED[name] = core.Model(bytes(compile_model(source)))
    return OPENED[name]


# ---- Texts ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=30)
@given(text=st.one_of(TEXTS, BYTES))
def test_one_text(name: str, opened: Opener, text: str | bytes) -> None:
    path = data.VECTOR_MODELS / f"{name}.model"
    native, wasm = opened(path, "native"), opened(path, "wasm")
    ids = native.encode(text)
    assert wasm.encode(text) == ids
    assert all(0 <= each < native.vocab_size for each in ids)
    assert native.count(text) == wasm.count(text) == len(ids)
    assert native.encode_to_numpy(text).tolist() == ids
    assert native.decode(ids) == wasm.decode(ids)
    assert native.normalize(text) == wasm.normalize(text)
    for unit, size in sizes(text).items():
        found = native.encode_with_offsets(text, unit=unit)
        assert found == wasm.encode_with_offsets(text, unit=unit)
        assert found.ids == ids
        positions = [0, *(place for span in found.offsets for place in span)]
        assert all(0 <= place <= size for place in positions)
        assert all(begin <= end for begin, end in found.offsets)
        begins = [begin for begin, _ in found.offsets]
        assert begins == sorted(begins)


def sizes(text: str | bytes) -> dict[str, int]:
    """Length of a text in each unit."""
    if isinstance(text, bytes):
        units = {unit: isotok_reference.unit_positions(text, unit)[-1] for unit in core.UNITS}
        return units | {"byte": len(text)}
    return {
        "byte": len(text.encode()),
        "codepoint": len(text),
        "utf16": len(text.encode("utf-16-le")) // 2,
    }


@settings(max_examples=30)
@given(texts=st.lists(st.one_of(TEXTS, BYTES), max_size=8), limit=st.integers(0, 12))
@pytest.mark.parametrize("name", TRAINED)
def test_batch_and_limits(
    name: str, backend: str, opened: Opener, texts: list[str | bytes], limit: int
) -> None:
    tok = opened(data.VECTOR_MODELS / f"{name}.model", backend)
    singles = [tok.encode(text, bos=True, eos=True) for text in texts]
    for threads in (1, 3):
        lists = tok.encode_batch(texts, threads=threads, bos=True, eos=True, output="list")
        assert lists == singles
        batch = tok.encode_batch(texts, threads=threads, bos=True, eos=True)
        assert batch.ids.tolist() == [each for ids in singles for each in ids]
        assert batch.offsets.tolist() == [
            sum(map(len, singles[:number])) for number in range(len(texts) + 1)
        ]
    for text, ids in zip(texts, singles, strict=True):
        assert tok.fits(text, limit, bos=True, eos=True) == (len(ids) <= limit)
        assert tok.truncate(text, limit, bos=True, eos=True) == ids[:limit]
        assert ids[0] == tok.bos_id
        assert ids[-1] == tok.eos_id
        assert ids[1:-1] == tok.encode(text)


@settings(max_examples=150)
@given(text=st.text(max_size=60))
def test_round_trip(backend: str, opened: Opener, text: str) -> None:
    """Without normalization and with byte fallback, decoding gives the text back."""
    for name in ("bpe_bytes", "char_bytes"):
        tok = opened(data.VECTOR_MODELS / f"{name}.model", backend)
        if "\u2581" not in text:  # which reads as a space afterwards
            assert tok.decode(tok.encode(text)) == text
            assert tok.decode_bytes(tok.encode(text)) == text.encode()


@settings(max_examples=150)
@given(text=TEXTS)
def test_decode_is_normalize(backend: str, opened: Opener, text: str) -> None:
    """Without unknowns, decoding gives the normalized text, ▁ as spaces, less the prefix."""
    tok = opened(data.VECTOR_MODELS / "trained_unigram.model", backend)
    normalized = tok.normalize(text).replace("\u2581", " ")
    assert tok.decode(tok.encode(text)) == normalized.removeprefix(" ")


# ---- Every code point ---------------------------------------------------------------


def every_code_point() -> list[bytes]:
    """All scalars alone; those of 17 planes' private use and the unassigned ones thinned."""
    dense = [*range(0xD800), *range(0xE000, 0x20000)]
    sparse = range(0x20000, 0x110000, 97)
    return [chr(point).encode() for point in [*dense, *sparse]]


def own_or_real() -> list[str]:
    real = {path.stem: path for path in data.real_models()}
    return ["uni_rules", "bpe_user", *(name for name in ("sp_test_model", "xlmr") if name in real)]


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", own_or_real())
def test_every_code_point(name: str, backend: str) -> None:
    own = data.VECTOR_MODELS / f"{name}.model"
    path = own if own.exists() else data.models_dir() / f"{name}.model"
    points = every_code_point()
    expected = oracle.Oracle(path.read_bytes()).sp.encode(points, num_threads=1)
    with isotok.load(path, backend=backend) as tok:
        assert tok.encode_batch(points, output="list") == expected
