"""Many threads, forked processes, pickles and copies."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import sys
import sysconfig
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import isotok
import pytest
from isotok import ClosedError
from support import sharing
from support.toy import HELLO, WORLD, byte_model

TEXTS = ["hello world", "", "wörld " * 300, "hello " * 4000, "日本", "x" * 50_000, "<tag>é" * 9]


@pytest.fixture
def tok(backend: str) -> isotok.Tokenizer:
    return isotok.load(byte_model(), backend=backend)


def test_threads_share_a_tokenizer(tok: isotok.Tokenizer) -> None:
    expected = [tok.encode_with_offsets(text) for text in TEXTS]
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for i in range(60):
            k = (i + number) % len(TEXTS)
            assert tok.encode(TEXTS[k]) == expected[k].ids
            assert tok.count(TEXTS[k]) == len(expected[k].ids)
            if i % 6 == 0:
                assert tok.encode_with_offsets(TEXTS[k]) == expected[k]
                assert tok.decode(expected[k].ids) == tok.normalize(TEXTS[k]).replace("▁", " ")[1:]

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work, number) for number in range(8)]:
            future.result()


def test_eight_threads_share_a_tokenizer_for_two_seconds(tok: isotok.Tokenizer) -> None:
    """All operations, streams and batches with threads of their own; test full: a minute."""
    assert sharing.share(tok, TEXTS, 2.0) > 50


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"),
    reason="this CPython has an interpreter lock; none without could be had from the registries",
)
def test_without_the_interpreter_lock(tok: isotok.Tokenizer) -> None:
    """Loading the extension does not switch the lock on, and eight threads get on without."""
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]  # pyright: ignore
    assert sharing.share(tok, TEXTS, 2.0) > 50


def test_closing_while_others_work(tok: isotok.Tokenizer) -> None:
    """A call that runs ends as usual; the next one says that the tokenizer is closed."""
    text = "hello " * 4000
    running = threading.Event()
    outcomes: list[str] = []

    def work() -> None:
        try:
            while True:
                assert tok.encode(text) == [HELLO] * 4000
                running.set()
        except ClosedError:
            outcomes.append("closed")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    running.wait()
    tok.close()
    for thread in threads:
        thread.join()
    assert outcomes == ["closed"] * 4


def in_child(work: Callable[[], None]) -> int:
    """Exit code of a forked process that does `work`."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork(tok: isotok.Tokenizer, backend: str) -> None:
    expected = [tok.encode(text) for text in TEXTS]

    def work() -> None:
        assert [tok.encode(text) for text in TEXTS] == expected
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(tok.encode, TEXTS)) == expected
        other = isotok.load(byte_model(), backend=backend)
        assert [other.encode(text) for text in TEXTS] == expected

    assert [in_child(work) for _ in range(3)] == [0, 0, 0]
    work()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_after_batches_and_streams(tok: isotok.Tokenizer) -> None:
    """Threads that a batch has started are gone; a stream goes on in both processes."""
    batch = tok.encode_batch(TEXTS * 4, threads=2, output="list")
    encoder, decoder = tok.encoder(), tok.decoder()
    begun, said = encoder.push("hello wor"), decoder.push(HELLO)

    def work() -> None:
        assert begun + encoder.push("ld") + encoder.flush() == [HELLO, WORLD]
        assert said + decoder.push(WORLD) + decoder.flush() == "hello world"
        assert tok.encode_batch(TEXTS * 4, threads=2, output="list") == batch
        assert tok.encode_long(TEXTS[3] * 20, threads=2).tolist() == [HELLO] * 80_000

    assert [in_child(work) for _ in range(2)] == [0, 0]
    work()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_while_other_threads_work(tok: isotok.Tokenizer) -> None:
    """Sessions that other threads hold at the fork are lost in the child, and no more."""
    stop = threading.Event()
    text = "hello " * 4000

    def work() -> None:
        while not stop.is_set():
            tok.encode(text)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()

    def in_the_child() -> None:
        assert tok.encode(text) == [HELLO] * 4000

    codes = [in_child(in_the_child) for _ in range(10)]
    stop.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 10


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(tok: isotok.Tokenizer, backend: str, protocol: int) -> None:
    again = pickle.loads(pickle.dumps(tok, protocol))
    assert again.backend == backend
    assert again.encode("hello world") == [HELLO, WORLD]
    tok.close()
    assert again.encode("hello world") == [HELLO, WORLD]


def test_pickle_out_of_band(tok: isotok.Tokenizer) -> None:
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(tok, 5, buffer_callback=buffers.append)
    assert len(data) < 500
    again = pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])
    assert again.encode("hello world") == [HELLO, WORLD]


def test_pickle_keeps_the_choice() -> None:
    limits = isotok.Limits(memory=1 << 24)
    again = pickle.loads(pickle.dumps(isotok.load(byte_model(), limits=limits)))
    assert again.backend == "wasm"
    assert again._options["limits"] == limits


def test_copies_close_by_themselves(tok: isotok.Tokenizer) -> None:
    others = [copy.copy(tok), copy.deepcopy(tok), copy.deepcopy({"tok": tok})["tok"]]
    tok.close()
    for other in others:
        assert other is not tok
        assert other.encode("hello") == [HELLO]
        other.close()
        with pytest.raises(ClosedError):
            other.encode("hello")


def test_memory_goes_with_the_last_reference(tok: isotok.Tokenizer) -> None:
    """Without the garbage collector: a model may be large."""
    gc.collect()
    gc.disable()
    try:
        tok.encode("hello world")
        gone = weakref.ref(tok)
        del tok
        # pytest's fixture still refers to it, so a second one is looked at as well.
        second = isotok.load(byte_model(), backend="wasm")
        machine = weakref.ref(second._backend._free[0].machine)  # type: ignore[attr-defined]
        second.encode("hello " * 99)
        second.close()
        assert machine() is None
        assert gone() is not None
    finally:
        gc.enable()
