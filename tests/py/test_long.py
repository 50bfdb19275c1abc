"""One long text in several threads: the ids of the whole, wherever it is cut."""

from __future__ import annotations

import random
import signal
import threading
from pathlib import Path

import isotok
import pytest
from conftest import Opener, need
from isotok import TokenizerError, _long
from isotok.compile import compile_model
from support import chunks, data, parts
from support.arrays import np
from support.random_models import random_model, random_text
from support.toy import HELLO, WORLD, byte_model

OWN = sorted(data.VECTOR_MODELS.glob("*.model"))


@pytest.fixture
def tok(backend: str) -> isotok.Tokenizer:
    return isotok.load(byte_model(), backend=backend)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let texts of some KB be long."""
    monkeypatch.setattr(_long, "LEAST_PART", 500)


# ---- Parts ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_cut_everywhere(path: Path, opened: Opener) -> None:
    """At every place where a text may be cut, and at some; in any order."""
    tok = opened(path, "native")
    generator = random.Random(path.stem)
    pieces = chunks.pieces_of(tok)
    cuts = 0
    for _ in range(40):
        text = chunks.random_text(pieces, generator)
        raw = text if isinstance(text, bytes) else isotok._text.to_utf8(text)
        for size in (1, 50, 1000):
            joined = parts.encode(tok, raw, size, generator)
            assert joined.ids == tok.encode(raw), (raw, size)
            cuts += joined.parts - 1
    whole_text, wide = tok.info.features >> 9 & 1, tok.info.features >> 10 & 1
    never = whole_text or (wide and tok.info.algorithm == "unigram")
    assert (cuts > 0) == (not never and tok._backend.info()[10] <= 256)


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_random_models(first: int) -> None:
    """Rules that eat and make spaces, keys over keys, scores beyond 100,000."""
    cuts = 0
    for seed in range(first, first + 20):
        made = random_model(seed)
        generator = random.Random(f"long {seed}")
        with isotok.load(bytes(compile_model(made.source)), backend="native") as tok:
            for longest in (10, 60, 300, 2000):
                raw = random_text(generator, made.letters, longest)
                for size in (1, 7, 100):
                    joined = parts.encode(tok, raw, size, generator)
                    assert joined.ids == tok.encode(raw), (seed, raw, size)
                    cuts += joined.parts - 1
    assert cuts > 1000


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("cache_bytes", [0, 4096, None])
def test_near_ties_over_many_recentrings(seed: int, cache_bytes: int | None) -> None:
    """What float32 decides by the score carried so far, it decides here too."""
    source, text = parts.near_ties(seed)
    tok = isotok.load(source, backend="native", cache_bytes=cache_bytes)
    expected = tok.encode(text)
    for size in (1, 5000, 40_000):
        joined = parts.encode(tok, text, size, random.Random(seed))
        assert joined.ids == expected, size
        # No part was right by luck alone: some had to be segmented again, most had not.
        assert 0 < joined.again < joined.size / 2


@pytest.mark.parametrize("path", data.real_models(), ids=lambda path: path.stem)
def test_real_models(path: Path, opened: Opener) -> None:
    """More than the 100,000 at which scores are re-centred; test full has all of the corpora."""
    tok = opened(path, "native")
    for corpus in sorted(need(data.corpora_dir()).glob("*.txt")):
        with corpus.open("rb") as file:
            file.seek(corpus.stat().st_size // 5)
            text = file.read(500_000)
        expected = tok.encode_to_numpy(text)
        found = tok.encode_long(text, threads=2)
        assert np.array_equal(found, expected), corpus.name
        joined = parts.encode(tok, text, 3000, random.Random(corpus.stem))
        assert joined.ids == expected.tolist(), corpus.name
        assert joined.parts > 100
        assert joined.again <= joined.size * 0.05


# ---- The method -------------------------------------------------------------------------


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("threads", [None, 0, 1, 2, 3, 20])
def test_threads_change_nothing(tok: isotok.Tokenizer, threads: int | None) -> None:
    text = "hello wörld \ud83d\ude00 日本 <tag>\n" * 300 + "  "
    for flags in ({}, {"bos": True}, {"eos": True}, {"bos": True, "eos": True}):
        ids = tok.encode(text, **flags)
        found = tok.encode_long(text, threads=threads, **flags)
        assert found.dtype == np.uint32 and found.tolist() == ids
        assert tok.encode_long(text, threads=threads, output="list", **flags) == ids
    assert tok.encode_long(text.encode(errors="replace"), threads=threads).tolist() == tok.encode(
        text.encode(errors="replace")
    )


@pytest.mark.usefixtures("small_parts")
def test_threads_are_used() -> None:
    """Natively, and no thread is left."""
    threads = threading.active_count()
    seen: set[int] = set()
    tok = isotok.load(byte_model(), backend="native")
    text = b"hello world " * 20_000
    real = tok._backend.long_text(text)

    class Watched:
        cuts, join, ids = real.cuts, real.join, real.ids

        def encode(self, begin: int, end: int) -> object:
            seen.add(threading.get_ident())
            return real.encode(begin, end)

    _long._encode_parts(Watched(), real.cuts(1000), 2)
    assert memoryview(real.ids()).cast("B").cast("I").tolist() == [HELLO, WORLD] * 20_000
    assert seen and threading.get_ident() not in seen
    assert threading.active_count() == threads


def test_short_texts(tok: isotok.Tokenizer) -> None:
    assert tok.encode_long("", threads=2).tolist() == []
    assert tok.encode_long("hello world", threads=2, output="list") == [HELLO, WORLD]
    assert tok.encode_long("", threads=2, bos=True, eos=True, output="list") == [1, 2]


@pytest.mark.usefixtures("small_parts")
def test_texts_without_a_cut(backend: str, opened: Opener) -> None:
    for name, text in (("bpe_runs", "a" * 30_000), ("uni_ill_formed", "hello " * 5000)):
        tok = opened(data.VECTOR_MODELS / f"{name}.model", backend)
        assert tok.encode_long(text, threads=2).tolist() == tok.encode(text)


def test_errors(tok: isotok.Tokenizer) -> None:
    with pytest.raises(TokenizerError, match="is negative"):
        tok.encode_long("a", threads=-1)
    with pytest.raises(TokenizerError, match='use "numpy" or "list"'):
        tok.encode_long("a", threads=2, output="set")  # type: ignore[call-overload]
    for threads in (1, 2):
        with pytest.raises(TypeError, match="must be str or bytes"):
            tok.encode_long(5, threads=threads)  # type: ignore[call-overload]
    tok.close()
    with pytest.raises(isotok.ClosedError):
        tok.encode_long("hello " * 50_000, threads=2)


class Alarm(Exception):
    """A signal came."""


def test_signals_interrupt() -> None:
    tok = isotok.load(byte_model(), backend="native")
    text = b"hello " * 20_000_000
    threads = threading.active_count()

    def stop(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Alarm):
            tok.encode_long(text, threads=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert threading.active_count() == threads
    assert tok.encode("hello") == [HELLO]
