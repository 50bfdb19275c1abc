"""What only the extension module has: its sessions, its int objects, its buffers."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time

import isotok
import numpy as np
import pytest
from isotok import _native
from isotok.compile import compile_buffer
from isotok.errors import TokenizerError
from support.toy import HELLO, WORLD, toy_model


@pytest.fixture
def model() -> _native.Model:
    return _native.open(compile_buffer(toy_model(), "blob", backend="native"), 0, 0)


def test_sessions_are_kept_and_trimmed(model: _native.Model) -> None:
    assert model.sessions() == []
    model.encode("hello", 0, 0)
    (normal,) = model.sessions()
    assert normal < 1 << 20
    assert model.encode("x" * 3_000_000, 0, 0)
    assert model.encode_ids("hello " * 500_000, 0, 0)
    assert model.sessions() == [normal]


def test_one_session_for_each_call_at_a_time(model: _native.Model) -> None:
    start = threading.Barrier(20)

    def work() -> None:
        start.wait()
        for _ in range(20):
            model.encode("hello " * 2000, 0, 0)

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(model.sessions()) <= 16


def test_ints_are_shared(model: _native.Model) -> None:
    """One int object per id and model, where there is a global lock."""
    text = "hello " * 1000
    before = sys.getrefcount(HELLO)
    lists = [model.encode(text, 0, 0) for _ in range(10)]
    assert lists == [[HELLO] * 1000] * 10
    del lists
    assert sys.getrefcount(HELLO) - before < 10


def test_lists_do_not_leak(model: _native.Model) -> None:
    before = 0
    for i in range(220):
        if i == 20:  # everything that is made once is there
            gc.collect()  # pytest.raises makes cycles
            before = sys.getallocatedblocks()
        model.encode("hello world wörld " * 50, 3, 0)
        model.encode_spans("hello wörld " * 50, 0, 1)
        model.encode_ids("hello", 0, 0)
        model.encode_batch(("hello", b"world"), 0, 0, True)
        model.encode_batch(("hello", b"world"), 0, 0, False)
        model.normalize("hello", 0, 1, True)
        model.decode([HELLO, 0], False, 0)
        model.decode_pieces(("hello", b"x"))
        model.piece(HELLO)
        with pytest.raises(isotok.TokenIdError):
            model.decode([99], True, 0)
        with pytest.raises(TypeError):
            model.encode(None, 0, 0)  # type: ignore[arg-type]
    gc.collect()
    assert sys.getallocatedblocks() - before < 100


def test_the_lock_is_released(model: _native.Model) -> None:
    """While one thread encodes a long text, another one goes on."""
    text = b"x" * 40_000_000
    done = threading.Event()
    ticks = 0

    def work() -> None:
        model.count(text, 0, 0)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0)
    thread.join()
    assert ticks > 10


def test_texts_that_go_to_the_list_in_steps(model: _native.Model) -> None:
    text = "hello wörld " * 300_000
    ids = model.encode(text, 3, 0)
    assert ids == np.frombuffer(model.encode_ids(text, 3, 0), np.uint32).tolist()
    assert ids[1:7] * 300_000 == ids[1:-1]
    assert model.encode(text, 0, 1_000_000) == ids[1:1_000_001]


class Interrupted(Exception):
    """What the handler of a signal raises."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_signals_interrupt_long_work(model: _native.Model) -> None:
    def interrupt(*_: object) -> None:
        raise Interrupted

    text = b"hello " * 20_000_000
    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # hypothesis has a callback there, which would swallow the exception
    try:
        for method in (model.encode_ids, model.encode_spans):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(Interrupted):
                method(text, 0, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Interrupted):
            model.encode(text, 0, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert model.encode("hello", 0, 0) == [HELLO]


def test_buffer(model: _native.Model) -> None:
    buffer = model.encode_ids("hello hello", 0, 0)
    view = memoryview(buffer)
    assert (len(buffer), view.nbytes, view.readonly, view.format) == (8, 8, False, "B")
    assert np.frombuffer(buffer, np.uint32).ctypes.data % 64 == 0
    with pytest.raises(TypeError):
        _native.Buffer()
    with pytest.raises(TypeError):
        _native.Model()


def test_memory_that_is_not_aligned() -> None:
    blob = compile_buffer(toy_model(), "blob", backend="native")
    shifted = memoryview(bytearray(len(memoryview(blob)) + 128))
    start = next(
        i for i in range(1, 65) if np.frombuffer(shifted[i:], np.uint8).ctypes.data % 64 == 8
    )
    view = shifted[start : start + len(memoryview(blob))]
    view[:] = memoryview(blob)
    with pytest.raises(isotok.TokenizerError, match="aligned") as caught:
        _native.open(view, 0, 0)
    assert caught.value.status is isotok.Status.E_ALIGNMENT


@pytest.mark.parametrize("wrong", [(), (1,), ("x", 2, 3, 4, 5, 6)])
def test_numbers_of_arguments(model: _native.Model, wrong: tuple[object, ...]) -> None:
    names = ("encode", "encode_ids", "encode_spans", "encode_batch", "count", "normalize")
    for name in (*names, "sample", "nbest"):
        with pytest.raises(TypeError, match="arguments"):
            getattr(model, name)(*wrong)


def test_lists_of_a_batch(model: _native.Model) -> None:
    flat, ends = model.encode_batch(("hello", b"hello world", ""), 0, 0, False)
    assert model.lists(flat, ends) == [[HELLO], [HELLO, WORLD], []]
    wrong = np.array([1, 10**9], np.uint32), np.array([3, 1], np.uint64), np.array([9], np.uint64)
    for ids, bounds in ((wrong[0], ends), (flat, wrong[1]), (flat, wrong[2])):
        with pytest.raises(ValueError, match="not those of a batch"):
            model.lists(ids, bounds)


def test_parts_of_a_long_text(model: _native.Model) -> None:
    """A part is joined once, and belongs to its kind of object."""
    text = b"hello world " * 1000
    long_text = model.long_text(text)
    with pytest.raises(RuntimeError, match="no part has been joined"):
        long_text.ids()
    ends = long_text.cuts(2000)
    assert len(ends) > 3 and ends[-1] == len(text)
    part = long_text.encode(0, ends[0])
    long_text.join(part)
    long_text.join(part)  # it is empty now
    expected = model.encode(text[: ends[0]], 0, 0)
    assert np.frombuffer(long_text.ids(), np.uint32).tolist() == expected
    assert model.long_text(b"").cuts(5) == []
    for wrong in (object(), None, model):
        with pytest.raises((TypeError, ValueError)):
            long_text.join(wrong)
    for begin, end in ((5, 4), (0, len(text) + 1), (0, len(text) - 1)):
        with pytest.raises(TokenizerError):
            long_text.encode(begin, end)
    with pytest.raises(TypeError):
        model.long_text("hello")  # type: ignore[arg-type]


def test_streams_refuse_wrong_use(model: _native.Model) -> None:
    for stream in (model.encoder(0), model.decoder(0)):
        stream.close()
        with pytest.raises(RuntimeError, match="is closed"):
            stream.push(b"" if isinstance(stream, _native.EncoderStream) else [], True)
        with pytest.raises(TypeError):
            type(stream)()  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            stream.push()  # type: ignore[call-arg]
