"""What only the engine of Pyodide has; runs inside Pyodide, by pytest.

The file's name keeps it from other runs of pytest: elsewhere there is no module `js`.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
import weakref
from array import array
from pathlib import Path
from typing import Any

import isotok
import pytest
from isotok import LimitError, Limits, Status, TokenizerError, _pyodide, _wasm
from isotok._machine import DATA, new_machine
from isotok._wasm_backend import WasmBackend
from isotok.compile import compile_model
from support.toy import HELLO, WORLD, byte_model, toy_model

IDS = [HELLO, WORLD]


def engine(tok: isotok.Tokenizer) -> Any:
    """Return the one instance of a tokenizer that is in no call."""
    backend: Any = tok._backend
    assert isinstance(backend, WasmBackend)
    (instance,) = backend._free
    assert isinstance(instance.machine, _pyodide.PyodideMachine)
    return instance


@pytest.mark.parametrize("backend", ["auto", "wasm"])
def test_the_choice(backend: Any) -> None:
    tok = isotok.load(toy_model(), backend=backend)
    assert tok.backend == "wasm"
    assert engine(tok).machine.alive
    assert tok.encode("hello world") == IDS


def test_native_says_what_to_do() -> None:
    with pytest.raises(TokenizerError, match=r'native is not installed .*use backend="wasm"'):
        isotok.load(toy_model(), backend="native")


def test_nothing_of_other_platforms_is_loaded() -> None:
    isotok.load(toy_model()).encode("hello")
    assert not {"wasmtime", "numpy", "isotok._wasmtime", "isotok._native"} & set(sys.modules)


def test_the_same_binaries() -> None:
    """The tests' host has put the digests of what ./build.sh build wasm wrote here."""
    expected = json.loads(os.environ["ISOTOK_WASM_SHA256"])
    assert sorted(expected) == ["isotok-build.wasm", "isotok.wasm"]
    for name, digest in expected.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == digest, name


def test_modules_have_no_imports_and_are_compiled_once() -> None:
    isotok.load(toy_model())
    assert sorted(_pyodide._modules) == ["isotok-build.wasm", "isotok.wasm"]
    before = {name: module.js_id for name, module in _pyodide._modules.items()}
    for module in _pyodide._modules.values():
        assert _pyodide._js.WebAssembly.Module.imports(module).length == 0
    isotok.load(toy_model())
    assert {name: module.js_id for name, module in _pyodide._modules.items()} == before


@pytest.mark.parametrize("form", ["source", "blob", "packed"])
def test_forms_from_files(form: Any, tmp_path: Path) -> None:
    data = byte_model() if form == "source" else compile_model(byte_model(), form)
    path = tmp_path / "model"
    path.write_bytes(data)
    tok = isotok.load(path)
    assert tok.encode("hello world") == IDS
    path.unlink()
    assert tok.encode("hello world") == IDS


def test_a_large_blob_passes_in_chunks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blob = compile_model(byte_model())
    path = tmp_path / "model"
    path.write_bytes(blob)
    monkeypatch.setattr(_pyodide, "CHUNK", 1000)
    assert len(blob) > 3000
    for source in (blob, path):
        assert isotok.load(source, verify="full")._backend.blob() == blob


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(compile_model(byte_model()))
    tok = isotok.load(path)
    backend: Any = tok._backend
    backend._free.clear()
    path.write_bytes(compile_model(toy_model()))
    with pytest.raises(TokenizerError, match="the file"):
        tok.encode("hello world")


def test_memory_behaves_as_a_memoryview() -> None:
    """Reads and writes of every kind and size, compared with a bytearray."""
    machine = new_machine("isotok.wasm", None)
    machine.reserve(1 << 21)
    size = len(machine.view)
    assert size % 65536 == 0
    assert len(machine.words) == size // 4
    base = size - 70_000
    model = bytearray(machine.view[base:size])
    for at, length in [(0, 1), (3, 64), (64, 65), (129, 4096), (5000, 60_000), (69_990, 10)] * 2:
        data = bytes((at + i) % 251 for i in range(length))
        machine.view[base + at : base + at + length] = data
        model[at : at + length] = data
        assert machine.view[base + at : base + at + length] == data
    machine.words[base // 4 : base // 4 + 3] = array("I", [1, 2**32 - 1, 3])
    model[:12] = array("I", [1, 2**32 - 1, 3]).tobytes()
    machine.words[base // 4 + 4] = 0xDEADBEEF
    model[16:20] = (0xDEADBEEF).to_bytes(4, "little")
    machine.view[base + 20] = 200
    model[20] = 200
    assert machine.words[base // 4 + 1] == 2**32 - 1
    assert machine.words[base // 4 : base // 4 + 5].tolist()[-1] == 0xDEADBEEF
    assert machine.view[base + 20] == 200
    assert machine.view[base:base] == b""
    assert machine.view[base:size] == model
    machine.reserve(size + 1)
    assert machine.view[base:size] == model, "growing keeps what was there"


def test_arrays_are_kept_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pyodide, "KEPT", 8)
    tok = isotok.load(byte_model())
    expected = [tok.encode("x" * size) for size in range(100)]
    view = engine(tok).machine.view
    assert len(view._writers) <= 8
    assert len(view._readers) <= 8
    assert [tok.encode("x" * size) for size in range(100)] == expected
    assert [len(ids) for ids in expected] == [tok.count("x" * size) for size in range(100)]


def test_a_trap_poisons_the_instance() -> None:
    tok = isotok.load(byte_model())
    instance = engine(tok)
    free = instance._text
    instance._text = 0xFFFF0000  # where there is no memory
    instance._start_session()
    instance._text = free
    with pytest.raises(TokenizerError, match="trap") as caught:
        tok.encode("hello world")
    assert caught.value.status is Status.E_STATE
    assert not instance.machine.alive
    assert tok.encode("hello world") == IDS
    assert engine(tok) is not instance


def test_limits_on_memory() -> None:
    with pytest.raises(LimitError, match=r"limits\.memory is 65536") as caught:
        isotok.load(byte_model(), limits={"memory": 65536, "fuel": None})
    assert caught.value.status is Status.E_TOO_LARGE
    blob = compile_model(byte_model())
    tok = isotok.load(blob, limits=Limits(memory=1 << 22, fuel=None))
    text = "x" * 200_000
    assert tok.encode(text) == isotok.load(blob).encode(text)
    assert len(engine(tok).machine.view) <= 1 << 22
    with pytest.raises(LimitError):
        compile_model(byte_model(), limits={"memory": 1 << 17, "fuel": None})


def test_no_limit_on_time() -> None:
    for limits in (Limits(), {"memory": 1 << 26}):
        with pytest.raises(TokenizerError, match=r"pass fuel=None.*worker"):
            isotok.load(toy_model(), limits=limits)
        with pytest.raises(TokenizerError, match=r"pass fuel=None.*worker"):
            compile_model(toy_model(), limits=limits)


def test_memory_beyond_what_wasm_has() -> None:
    machine = new_machine("isotok.wasm", None)
    with pytest.raises(TokenizerError, match="no memory for") as caught:
        machine.reserve(1 << 32)
    assert caught.value.status is Status.E_TOO_LARGE
    assert machine.alive


def test_more_tokenizers_than_there_are_addresses() -> None:
    """Chromium has addresses for some 120 memories; those of closed tokenizers come back."""
    blob = compile_model(toy_model())
    for _ in range(2):
        opened: list[isotok.Tokenizer] = []
        try:
            while len(opened) < 400:
                opened.append(isotok.load(blob))
        except TokenizerError as error:
            assert "close tokenizers" in str(error)  # Node never comes here
        assert len(opened) >= 100
        assert all(tok.encode("hello world") == IDS for tok in opened)
        for tok in opened:
            tok.close()


def test_memory_does_not_grow_with_the_text() -> None:
    tok = isotok.load(byte_model())
    tok.encode("hello")
    size = len(engine(tok).machine.view)
    tok.encode("hello wörld " * 100_000)
    tok.encode_with_offsets("hello wörld " * 30_000)
    tok.normalize("hello wörld " * 100_000)
    assert len(engine(tok).machine.view) == size


def test_a_grown_session_goes_back() -> None:
    tok = isotok.load(byte_model())
    tok.encode("x" * 250_000)
    instance = engine(tok)
    assert instance._held == instance._session_size
    assert instance._top == instance._end
    tok.encode("x" * 3_000_000)
    for kept in tok._backend._free:  # type: ignore[attr-defined]
        assert len(kept.machine.view) <= kept._end + _wasm.SPARE


def test_a_dropped_machine_goes_at_once() -> None:
    """Without waiting for the garbage collector: its memory is large."""
    tok = isotok.load(toy_model())
    tok.encode("hello")
    gone = weakref.ref(engine(tok).machine)
    gc.collect()
    gc.disable()
    try:
        tok.close()
        assert gone() is None
    finally:
        gc.enable()


def test_one_crossing_gives_what_many_steps_give() -> None:
    tok = isotok.load(byte_model())
    texts = ["", " ", "hello", "hello wörld", "日本😀\0\7", "x" * 5000, "\ud800", "\ud83d\ude00"]
    expected = [tok.encode_with_offsets(text).ids for text in texts]
    for threads in (1, 4):
        assert tok.encode_batch(texts, threads=threads, output="list") == expected
    for text, ids in zip(texts, expected, strict=True):
        assert tok.encode(text) == ids
        assert tok.count(text) == len(ids)
        for limit in (1, 2, 7):
            assert tok.truncate(text, limit) == ids[:limit]
            assert tok.fits(text, limit) == (len(ids) <= limit)
        buffer = array("I", bytes(4 * len(ids)))
        assert tok.encode_into(buffer, text) == len(ids)
        assert buffer.tolist() == ids


def test_errors_have_the_cores_words() -> None:
    tok = isotok.load(byte_model())
    with pytest.raises(IndexError, match="token id out of range"):
        tok.id_to_piece(10**6)
    with pytest.raises(TokenizerError, match=r"token id out of range \(ids\[1\]\)"):
        tok.decode([HELLO, 10**6])
    with pytest.raises(TokenizerError, match="source: "):
        compile_model(b"nonsense")
    blob = bytearray(compile_model(byte_model()))
    blob[200] ^= 0xFF
    with pytest.raises(TokenizerError, match="model: "):
        isotok.load(bytes(blob), verify="full")
