"""Many texts at a time, in one thread and in several."""

from __future__ import annotations

import random
import signal
import threading
import time
from pathlib import Path

import isotok
import pytest
from conftest import Opener, need
from isotok import LimitError, TokenIdError, TokenizerError
from isotok.errors import Status
from support import chunks, data
from support.arrays import np
from support.models import NORMAL, UNKNOWN, model
from support.toy import HELLO, WORLD, byte_model

OWN = sorted(data.VECTOR_MODELS.glob("*.model"))


@pytest.fixture
def tok(backend: str) -> isotok.Tokenizer:
    return isotok.load(byte_model(), backend=backend)


def check_threads(tok: isotok.Tokenizer, texts: list[str | bytes], threads: int) -> None:
    """Every operation on many texts: the same as one by one, in any number of threads."""
    ids = [tok.encode(text) for text in texts]
    assert tok.encode_batch(texts, threads=threads, output="list") == ids
    assert tok.count_batch(texts, threads=threads) == [*map(len, ids)]
    batch = tok.encode_batch(texts, threads=threads)
    assert batch.ids.tolist() == [each for part in ids for each in part]
    assert np.diff(batch.offsets).tolist() == [*map(len, ids)]
    decoded = [*map(tok.decode, ids)]
    assert tok.decode_batch(ids, threads=threads) == decoded
    assert tok.decode_batch(batch, threads=threads) == decoded


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_threads_change_nothing(path: Path, backend: str, opened: Opener) -> None:
    tok = opened(path, backend)
    generator = random.Random(path.stem)
    pieces = chunks.pieces_of(tok)
    texts = [chunks.random_text(pieces, generator) for _ in range(30)]
    for threads in (1, 2, 3):
        check_threads(tok, texts, threads)


@pytest.mark.parametrize("path", data.real_models(), ids=lambda path: path.stem)
def test_real_models(path: Path, opened: Opener) -> None:
    """Natively; test full has all of the corpora, and wasm."""
    tok = opened(path, "native")
    for corpus in sorted(need(data.corpora_dir()).glob("*.txt")):
        with corpus.open("rb") as file:
            file.seek(corpus.stat().st_size // 4)
            text = file.read(200_000)
        texts: list[str | bytes] = [*text.split(b"\n"), text[:60_000]]
        one, two = tok.encode_batch(texts), tok.encode_batch(texts, threads=2)
        assert np.array_equal(one.ids, two.ids) and np.array_equal(one.offsets, two.offsets)
        assert np.diff(one.offsets).tolist() == tok.count_batch(texts, threads=2)


@pytest.mark.parametrize("threads", [None, 0, 1, 2, 50])
def test_any_number_of_threads(tok: isotok.Tokenizer, threads: int | None) -> None:
    texts = ["hello", "hello world", "", b"world"]
    assert tok.count_batch(texts, threads=threads, eos=True) == [2, 3, 1, 2]
    assert tok.encode_batch(texts, threads=threads, bos=True, output="list") == [
        [1, HELLO], [1, HELLO, WORLD], [1], [1, WORLD],
    ]  # fmt: skip
    assert tok.decode_batch([[HELLO], [HELLO, WORLD], []], threads=threads) == [
        "hello", "hello world", "",
    ]  # fmt: skip


def test_nothing(tok: isotok.Tokenizer) -> None:
    for threads in (1, 2):
        assert tok.count_batch([], threads=threads) == []
        assert tok.decode_batch([], threads=threads) == []
        assert tok.decode_batch(tok.encode_batch([], threads=threads)) == []
        assert tok.count_batch(["", ""], threads=threads) == [0, 0]


def test_ids_of_any_kind(tok: isotok.Tokenizer) -> None:
    ids = [
        [HELLO, WORLD],
        (WORLD,),
        np.array([HELLO]),
        np.array([WORLD, HELLO], np.uint32),
        range(0),
    ]
    assert tok.decode_batch(ids) == ["hello world", "world", "hello", "world hello", ""]
    assert tok.decode_batch(iter(ids), threads=2) == tok.decode_batch(ids)


@pytest.mark.parametrize("threads", [-1, -5])
def test_wrong_threads(tok: isotok.Tokenizer, threads: int) -> None:
    for call in (tok.encode_batch, tok.count_batch, tok.decode_batch):
        with pytest.raises(TokenizerError, match=r"threads: -\d is negative"):
            call([], threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_wrong_text_is_named(tok: isotok.Tokenizer, threads: int) -> None:
    for call in (tok.encode_batch, tok.count_batch):
        with pytest.raises(
            TypeError, match=r"texts\[2\]: text must be str or bytes, not <class 'int'"
        ):
            call(["a", "b", 5, "c"], threads=threads)  # type: ignore[list-item]
        with pytest.raises(TypeError, match="for one text use"):
            call("hello")


@pytest.mark.parametrize("threads", [1, 3])
def test_a_wrong_id_is_named(tok: isotok.Tokenizer, threads: int) -> None:
    good = [[HELLO] * 3] * 40
    for wrong in (-1, len(tok), 2**40):
        with pytest.raises(TokenIdError, match=r"out of range \(ids\[33\]\[1\]\)") as caught:
            tok.decode_batch([*good[:33], [HELLO, wrong], *good], threads=threads)
        assert (caught.value.index, caught.value.status) == (1, Status.E_ID_RANGE)
    array = np.array([HELLO, HELLO, len(tok), HELLO], np.uint32)
    with pytest.raises(TokenIdError, match=r"ids\[1\]\[0\]"):
        tok.decode_batch(isotok.Batch(array, np.array([0, 2, 4])), threads=threads)
    with pytest.raises(TypeError, match="sequence of int"):
        tok.decode_batch([[HELLO], "hello"])  # type: ignore[list-item]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("large", [3000, 300_000])
def test_an_error_in_a_text_names_it(threads: int, large: int) -> None:
    """In a call for many texts, and in one for a text that is larger than a window."""
    path = data.VECTOR_MODELS / "uni_long.model"
    tok = isotok.load(path, limits={"memory": 64 << 20, "fuel": 40_000_000})
    texts = ["a b c"] * 70
    texts[41] = "a" * large + "b" * large
    for call in (tok.encode_batch, tok.count_batch):
        if large == 3000:
            texts[41:55] = ["a" * 8000] * 14  # together more than one may
        with pytest.raises(LimitError, match=r"texts\[\d+\]: wasm: the call ran longer") as caught:
            call(texts, threads=threads)
        assert 41 <= caught.value.index < 55


def test_errors_of_options_name_no_text(backend: str) -> None:
    pieces = [("<unk>", 0.0, UNKNOWN), ("▁hello", -1.0, NORMAL)]
    tok = isotok.load(model(pieces), backend=backend)
    for threads in (1, 2):
        with pytest.raises(TokenizerError, match=r"^(texts?|options): an argument is not valid"):
            tok.encode_batch(["hello", "hello"], bos=True, threads=threads)


def test_closed(tok: isotok.Tokenizer) -> None:
    tok.close()
    for call in (tok.encode_batch, tok.count_batch, tok.decode_batch):
        with pytest.raises(isotok.ClosedError):
            call([])


class Alarm(Exception):
    """A signal came."""


@pytest.mark.parametrize("threads", [1, 2])
def test_signals_interrupt(threads: int, backend: str, tok: isotok.Tokenizer) -> None:
    """Ctrl-C is heard before a long batch is through, and no thread is left."""
    alive = threading.active_count()
    text = "hello world " * 2000
    texts = [text] * 40
    begin = time.perf_counter()
    tok.encode_batch(texts, threads=threads)
    each = (time.perf_counter() - begin) / 40
    many = [text] * max(200, int(3 / each))  # three seconds

    def stop(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begin = time.perf_counter()
        with pytest.raises(Alarm):
            tok.encode_batch(many, threads=threads)
        assert time.perf_counter() - begin < each * len(many)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert threading.active_count() == alive
    assert tok.encode("hello") == [HELLO]
