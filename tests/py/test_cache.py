"""The token cache: its size, what it has done, and that no id depends on it."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import isotok
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from isotok import CacheInfo, ClosedError, LimitError, TokenizerError
from isotok.compile import compile_model
from support import data, oracle, spine, texts, toy_hf
from support.models import WORD, model
from support.random_models import random_model, random_text
from support.toy import LETTERS, WORDS, byte_model, toy_model

LEAST = 4096
SIZES = (0, None, LEAST)
NAMES = ("trained_unigram", "trained_bpe", "uni_ties", "uni_rounding", "uni_recentre", "bpe_user")
REFUSED = {name for name, row in spine.divergences().items() if row["what"] == "refused"}
MODELS = sorted(set(spine.spine()["models"]) - REFUSED)
TEXTS = st.one_of(st.text(max_size=60), st.text(alphabet="ab ▁é日the.-<>0x41\n\0", max_size=120))
ENTRY = 64  # bytes


def load(source: Any, backend: str, cache_bytes: int | None = None) -> isotok.Tokenizer:
    return isotok.load(source, backend=backend, cache_bytes=cache_bytes)  # type: ignore[arg-type]


# ---- Sizes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size", [-1, 1, LEAST - 1, (1 << 30) + 1, 1 << 40, True, False, 4096.0, "4096", b"", [4096]]
)
def test_sizes_that_are_refused(backend: str, size: Any) -> None:
    with pytest.raises(TokenizerError, match=r"cache_bytes: .* is neither 0 nor a whole number"):
        load(toy_model(), backend, size)


@pytest.mark.parametrize(
    ("size", "entries"),
    [
        (None, 1 << 17),
        (0, 0),
        (LEAST, 64),
        (2 * LEAST - 1, 64),
        (100_000, 1024),
        (1 << 20, 1 << 14),
    ],
)
def test_entries(backend: str, size: int | None, entries: int) -> None:
    """The largest power of two is used."""
    tok = load(toy_model(), backend, size)
    assert tok.encode("hello world") == [3, 4]
    assert tok.cache_info().entries == entries
    assert entries * ENTRY <= (1 << 23 if size is None else size)


def test_it_grows_natively(backend: str) -> None:
    """More different words than it has sets: a larger one, up to cache_bytes; the ids stay."""
    letters = [chr(0x4E00 + i) for i in range(300)] + list("abcdefgh")
    some = random.Random(5)
    words = ("".join(some.choices(letters, k=some.randint(4, 30))) for _ in range(70_000))
    text = " ".join(f"{word} the of and" for word in words)  # else it steps aside
    source = compile_model(json.dumps(toy_hf.bytes_bpe()).encode())
    plain = load(source, backend, 0).encode(text)
    for size, grown in ((None, 4), (8 << 20, 1), (12 << 20, 1), (16 << 20, 2), (64 << 20, 4)):
        tokenizer = load(source, backend, size)
        before = tokenizer.encode("a") and tokenizer.cache_info().entries
        for _ in range(3):
            assert tokenizer.encode(text) == plain
        info = tokenizer.cache_info()
        assert info.entries == before * (grown if backend == "native" else 1)
        assert info.hits > 0


def test_that_it_is_off() -> None:
    for backend in ("native", "wasm"):
        tok = load(toy_model(), backend, 0)
        tok.encode("hello world " * 50)
        assert tok.cache_info() == CacheInfo(0, 0, 0, 0, 0)


def test_models_that_have_no_use_for_it(backend: str) -> None:
    """A word model looks its words up anyway."""
    pieces = [("<unk>", 0.0, 2), *WORDS, *LETTERS]
    tok = load(model(pieces, {"model_type": WORD}), backend)  # type: ignore[arg-type]
    tok.encode("hello world " * 50)
    assert tok.cache_info() == CacheInfo(0, 0, 0, 0, 0)


def test_limits() -> None:
    """The cache is part of the memory that limits allow."""
    memory = 1 << 24
    tok = isotok.load(toy_model(), limits={"memory": memory})
    assert tok.cache_info().entries * ENTRY == memory // 64
    tok = isotok.load(toy_model(), limits={"memory": memory}, cache_bytes=1 << 20)
    assert tok.cache_info().entries * ENTRY == 1 << 20
    assert tok.encode("hello world") == [3, 4]
    with pytest.raises(LimitError):
        isotok.load(toy_model(), limits={"memory": memory}, cache_bytes=memory)


# ---- Ids ------------------------------------------------------------------------------


@cache
def openings(name: str) -> list[isotok.Tokenizer]:
    """A model with every size of cache on every back end; they stay, so the caches fill."""
    path = data.VECTOR_MODELS / f"{name}.model"
    return [load(path, backend, size) for backend in ("native", "wasm") for size in SIZES]


@pytest.fixture(scope="module", autouse=True)
def closing() -> Iterator[None]:
    """Let go of them before the interpreter ends."""
    yield
    openings.cache_clear()


def assert_same(tokenizers: list[isotok.Tokenizer], text: str | bytes) -> list[int]:
    """Every tokenizer gives the same for a text, three times: missed, kept, found."""
    first = tokenizers[0]
    ids, spans, normal = first.encode(text), first.encode_with_offsets(text), first.normalize(text)
    for tok in tokenizers:
        for _ in range(3):
            assert tok.encode(text) == ids
        assert tok.encode_with_offsets(text) == spans
        assert tok.count(text) == len(ids)
        assert tok.truncate(text, 3) == ids[:3]
        assert tok.encode_normalized(normal) == ids
        assert tok.encode_batch([text, text], output="list") == [ids, ids]
    return ids


@given(name=st.sampled_from(NAMES), text=TEXTS)
@example(name="trained_unigram", text="the year of the year and the " * 30)
@example(name="trained_bpe", text="the year of the year and the " * 30)
@example(name="uni_ties", text="ab abc " * 40)
@example(name="trained_unigram", text="-" * 23 + " " + "-" * 24 + " " + "-" * 25)
def test_no_id_depends_on_it(name: str, text: str) -> None:
    assert_same(openings(name), text)


def test_that_the_texts_above_were_looked_up() -> None:
    for name in NAMES:
        for index, tok in enumerate(openings(name)):
            assert_same([tok], "the year of the year ab abc " * 20)
            info = tok.cache_info()
            assert (info.hits > 0) == (SIZES[index % 3] != 0), (name, info)
            assert info.hits + info.uncertified <= info.probes


@given(seed=st.integers(0, 2**32))
def test_random_models(seed: int) -> None:
    made = random_model(seed)
    generator = random.Random(f"cache {seed}")
    blob = compile_model(made.source)
    tokenizers = [load(blob, "native", size) for size in SIZES]
    processor = oracle.Oracle(made.source) if oracle.available() else None
    words = [random_text(generator, made.letters) for _ in range(4)]
    for _ in range(3):
        text = b" ".join(generator.choices(words, k=40))
        ids = assert_same(tokenizers, text)
        if processor:
            assert processor.encode(text).ids == ids


@pytest.mark.parametrize("name", NAMES)
def test_long_texts(backend: str, name: str) -> None:
    """Texts of the model's pieces, in which the score passes 100,000 again and again."""
    without, default, tiny = (
        load(data.VECTOR_MODELS / f"{name}.model", backend, size) for size in SIZES
    )
    pieces = [without.id_to_bytes(index) for index in range(len(without))]
    generator = texts.from_pieces(pieces, random.Random(name))
    words = [next(generator) for _ in range(60)]
    order = random.Random(name)
    text = b" ".join(order.choices(words, k=20_000))
    ids = without.encode(text)
    for tok in (default, tiny):
        assert tok.encode(text) == ids
        assert tok.encode(text) == ids
        assert tok.cache_info().hits > 0


@pytest.mark.parametrize("size", [0, LEAST])
@pytest.mark.parametrize("model", MODELS)
def test_vectors(model: str, size: int, backend: str) -> None:
    """The golden ids, which other tests compare with the default size."""
    tok = load(data.VECTOR_MODELS / f"{model}.model", backend, size)
    for vector in spine.vectors_of(model, "encode"):
        assert tok.encode(spine.text_of(vector["text"])) == vector["ids"], vector["id"]


# ---- Copies, threads ---------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("size", SIZES)
def test_pickles_keep_the_size(backend: str, protocol: int, size: int | None) -> None:
    tok = load(byte_model(), backend, size)
    again = pickle.loads(pickle.dumps(tok, protocol))
    for each in (tok, again):
        assert each.encode("hello world") == [3, 4]
    assert again.cache_info().entries == tok.cache_info().entries
    assert again.backend == backend


def test_copies_share_the_sessions(backend: str) -> None:
    tok = load(byte_model(), backend)
    other = copy.deepcopy(tok)
    other.encode("hello world " * 9)
    assert other.cache_info() == tok.cache_info()
    assert tok.cache_info().hits > 0
    tok.close()
    with pytest.raises(ClosedError):
        tok.cache_info()
    assert other.cache_info().hits > 0


def test_threads(backend: str) -> None:
    """Each session has a cache of its own; four lines that would drive each other out."""
    tok = load(data.VECTOR_MODELS / "trained_unigram.model", backend, LEAST)
    plain = load(data.VECTOR_MODELS / "trained_unigram.model", backend, 0)
    generator = random.Random("threads")
    words = [random_text(generator, "etaoinshrdlu") for _ in range(3000)]
    lines = [b" ".join(generator.choices(words, k=2000)) for _ in range(4)]
    expected = [plain.encode(line) for line in lines]

    def work(number: int) -> None:
        for i in range(12):
            k = (i + number) % len(lines)
            assert tok.encode(lines[k]) == expected[k]
            tok.cache_info()

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work, number) for number in range(8)]:
            future.result()
    info = tok.cache_info()
    assert info.entries % 64 == 0
    assert 64 <= info.entries <= 64 * 16
    assert info.probes > 0


# ---- Counts -----------------------------------------------------------------------------


def test_counts(backend: str) -> None:
    """Two looks miss: the first is noted, the second makes an entry. Then it is found."""
    tok = load(toy_model(), backend)
    before = CacheInfo(131072, 0, 0, 0, 0)
    for hits in (0, 0, 2, 4):
        assert tok.encode("hello world") == [3, 4]
        after = tok.cache_info()
        assert after == before._replace(probes=before.probes + 2, hits=hits)
        before = after


def test_counts_outlive_a_difficult_text(backend: str) -> None:
    """A text without cuts grows the session, which is then replaced; the cache stays."""
    tok = load(data.VECTOR_MODELS / "trained_unigram.model", backend)
    for _ in range(3):
        tok.encode("the year")
    before = tok.cache_info()
    assert before.hits > 0
    tok.encode("e" * 100_000)
    between = tok.cache_info()
    assert (between.probes, between.hits) >= (before.probes, before.hits)
    tok.encode("the year")
    assert tok.cache_info().hits > between.hits


def test_the_example_of_the_documentation() -> None:
    text = (data.ROOT / "docs/cache.md").read_text("utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    exec(example, {})


def test_both_back_ends_count_alike() -> None:
    path = data.VECTOR_MODELS / "trained_unigram.model"
    native, wasm = (load(path, backend) for backend in ("native", "wasm"))
    for text in ("the year of the year " * 40, "日本語" * 99, "=" * 400, "e" * 9000):
        native.encode(text)
        wasm.encode(text)
    assert native.cache_info() == wasm.cache_info()
