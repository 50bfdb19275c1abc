"""What only the wasm back end has: two ways to call, limits, traps, a cache of modules."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
from pathlib import Path

import isotok
import pytest
from isotok import LimitError, Status, TokenizerError, _cwasm, _wasm, _wasmtime_call
from isotok._backend import Limits
from isotok._wasm_backend import KEPT
from isotok._wasmtime import WasmtimeMachine
from isotok.compile import compile_model
from support.toy import HELLO, WORLD, byte_model, toy_model

IDS = [HELLO, WORLD]


@pytest.fixture(params=["fast", "public", ""])
def call(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ISOTOK_WASM_CALL", request.param)
    return str(request.param)


def wasm(**options: object) -> isotok.Tokenizer:
    return isotok.load(byte_model(), backend="wasm", **options)  # type: ignore[arg-type]


def test_both_ways_to_call(call: str) -> None:
    tok = wasm()
    fast = tok._backend._free[0].machine._fast is not None  # type: ignore[attr-defined]
    assert fast == (call != "public")
    text = "hello wörld ﬁ \u0007" * 500
    native = isotok.load(byte_model(), backend="native")
    assert tok.encode_with_offsets(text) == native.encode_with_offsets(text)
    assert tok.decode(tok.encode(text)) == native.decode(native.encode(text))
    assert tok.encode_batch([text, "", text], output="list") == [
        native.encode(text),
        [],
        native.encode(text),
    ]
    with pytest.raises(TokenizerError, match="token id out of range"):
        tok.id_to_piece(10**6)
    with pytest.raises(TokenizerError, match="source: "):
        compile_model(b"nonsense", backend="wasm")


def test_a_changed_private_interface_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOTOK_WASM_CALL", raising=False)
    for broken in (lambda *_: 0, lambda *_: 1 / 0):
        monkeypatch.setattr(_wasmtime_call._Choice, "decided", False)
        monkeypatch.setattr(_wasmtime_call._Choice, "unchecked", None)
        monkeypatch.setattr(_wasmtime_call, "load_unchecked", lambda broken=broken: broken)
        tok = wasm()
        assert tok._backend._free[0].machine._fast is None  # type: ignore[attr-defined]
        assert tok.encode("hello world") == IDS


def test_limits_on_memory(call: str) -> None:
    with pytest.raises(LimitError, match=r"limits\.memory is 65536") as caught:
        wasm(limits={"memory": 65536})
    assert caught.value.status is Status.E_TOO_LARGE
    blob = compile_model(byte_model())
    tok = isotok.load(blob, limits=Limits(memory=1 << 22))
    text = "x" * 200_000
    assert tok.encode(text) == isotok.load(blob, backend="native").encode(text)


def test_limits_on_time(call: str) -> None:
    blob = compile_model(byte_model())
    tok = isotok.load(blob, limits=Limits(fuel=2_000_000))
    with pytest.raises(LimitError, match=r"limits\.fuel \(2000000\)") as caught:
        tok.encode("hello wörld " * 20_000)
    assert caught.value.status is Status.E_TOO_LARGE
    assert tok.encode("hello world") == IDS, "the next call has a new instance and new fuel"
    for _ in range(50):
        assert tok.encode("hello world") == IDS
    with pytest.raises(LimitError, match="fuel"):
        isotok.load(blob, limits=Limits(fuel=1000))


def test_limits_on_memory_alone(call: str) -> None:
    tok = wasm(limits=Limits(memory=1 << 22, fuel=None))
    assert tok.encode("hello world") == IDS
    with pytest.raises(LimitError, match=r"limits\.memory is 65536"):
        wasm(limits={"memory": 65536, "fuel": None})


def test_fuel_is_given_for_each_window() -> None:
    tok = wasm(limits=Limits(fuel=400_000_000))
    assert len(tok.encode("hello " * 400_000)) == 400_000


def test_limits_hold_for_the_compiler() -> None:
    with pytest.raises(LimitError):
        compile_model(byte_model(), limits={"memory": 1 << 17})
    with pytest.raises(LimitError):
        compile_model(byte_model(), limits={"fuel": 10_000})
    assert compile_model(byte_model(), limits=Limits()) == compile_model(byte_model())


def test_a_trap_poisons_the_instance(call: str) -> None:
    tok = wasm()
    backend = tok._backend
    instance = backend._free[0]  # type: ignore[attr-defined]
    free = instance._text
    instance._text = 0xFFFF0000  # where there is no memory
    instance._start_session()
    instance._text = free
    with pytest.raises(TokenizerError, match="trap") as caught:
        tok.encode("hello world")
    assert caught.value.status is Status.E_STATE
    assert not instance.machine.alive
    assert not backend._free  # type: ignore[attr-defined]
    assert tok.encode("hello world") == IDS
    assert backend._free[0] is not instance  # type: ignore[attr-defined]


def test_instances_are_not_hoarded() -> None:
    tok = wasm()
    backend = tok._backend
    taken = [backend._take(0) for _ in range(KEPT + 3)]  # type: ignore[attr-defined]
    for instance in taken:
        backend._give(instance)  # type: ignore[attr-defined]
    assert len(backend._free) == KEPT  # type: ignore[attr-defined]


def test_memory_does_not_grow_with_the_text() -> None:
    tok = wasm()
    tok.encode("hello " * 10)
    size = len(tok._backend._free[0].machine.view)  # type: ignore[attr-defined]
    tok.encode("hello wörld " * 400_000)
    tok.encode_with_offsets("hello wörld " * 50_000)
    tok.normalize("hello wörld " * 400_000)
    assert len(tok._backend._free[0].machine.view) == size  # type: ignore[attr-defined]


def test_a_grown_session_goes_back() -> None:
    tok = wasm()
    tok.encode("hello")
    (instance,) = tok._backend._free  # type: ignore[attr-defined]
    tok.encode("x" * 250_000)
    assert instance._held == instance._session_size
    assert instance._top == instance._end
    tok.encode("x" * 8_000_000)
    for kept in tok._backend._free:  # type: ignore[attr-defined]
        assert len(kept.machine.view) <= kept._end + _wasm.SPARE


def test_output_beyond_one_window(call: str) -> None:
    """One crossing has room for some ids; a text that expands needs more."""
    from support.models import BYTES, SPECIALS, charsmap, model

    rules = {"precompiled_charsmap": charsmap({"\ufdfa": "abcdefgh" * 5})}
    source = model([*SPECIALS, *BYTES, ("a", -1, 1)], {"byte_fallback": True}, rules)
    text = "\ufdfa" * 30_000
    tok, native = (isotok.load(source, backend=name) for name in ("wasm", "native"))  # type: ignore[arg-type]
    ids = native.encode(text)
    assert len(ids) > 3 * _wasm.IDS_CAPACITY
    assert tok.encode(text) == ids
    assert tok.count(text) == len(ids)
    assert tok.encode_batch([text, text], output="list") == [ids, ids]
    assert tok.encode_with_offsets(text) == native.encode_with_offsets(text)
    assert tok.normalize(text, with_offsets=True) == native.normalize(text, with_offsets=True)
    assert tok.decode(ids) == native.decode(ids)


def test_module_has_no_imports() -> None:
    machine = WasmtimeMachine("isotok.wasm", None)
    assert machine.function("isotok_abi")() >> 16 == 1


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ISOTOK_CACHE", str(folder))
    return folder


def test_cache_is_ours_alone(cache: Path) -> None:
    _cwasm.write("key", b"code")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE((cache / "key").stat().st_mode) == 0o600
    assert _cwasm.read("key") == b"code"
    assert list(cache.iterdir()) == [cache / "key"]


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o400])
def test_cache_file_of_another_mode(cache: Path, mode: int) -> None:
    _cwasm.write("key", b"code")
    (cache / "key").chmod(mode)
    assert _cwasm.read("key") is None


def test_cache_folder_that_others_write(cache: Path) -> None:
    _cwasm.write("key", b"code")
    cache.chmod(0o777)
    assert _cwasm.read("key") is None
    _cwasm.write("other", b"code")
    assert not (cache / "other").exists()


def test_cache_does_not_follow_links(cache: Path, tmp_path: Path) -> None:
    _cwasm.write("key", b"code")
    (cache / "key").rename(tmp_path / "elsewhere")
    (cache / "key").symlink_to(tmp_path / "elsewhere")
    assert _cwasm.read("key") is None


def test_no_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTOK_CACHE", "")
    assert _cwasm.cache_folder() is None
    _cwasm.write("key", b"code")
    assert _cwasm.read("key") is None
    assert not cache.exists()


CACHED = """
import isotok
from support.toy import toy_model
assert isotok.load(toy_model(), backend="wasm").encode("hello world") == [3, 4]
"""


def test_cache_is_used_and_a_broken_one_is_replaced(cache: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def run() -> dict[str, bytes]:
        subprocess.check_call([sys.executable, "-c", CACHED], env=environment)
        return {path.name: path.read_bytes() for path in cache.iterdir()}

    stored = run()
    assert len(stored) == 2
    assert run() == stored
    for name in stored:
        (cache / name).write_bytes(b"\x7fELF nonsense")
    assert run() == stored


def test_toy_models_agree() -> None:
    for source in (toy_model(), byte_model()):
        both = [isotok.load(source, backend=name) for name in ("native", "wasm")]  # type: ignore[arg-type]
        # Pointers differ in size, and with them the session.
        assert len({tok.info._replace(session_size=0) for tok in both}) == 1


def test_one_crossing_gives_what_many_steps_give() -> None:
    """encode (one call of isotok_encode_batch), batches and steps, in turns on one session."""
    choose = random.Random(7)
    units = ["hello", "world", " ", "  ", "w", "ö", "日", "😀", "▁", "\n", "Ａ", "<tag>", "\u0007"]
    for source in (toy_model(), byte_model()):
        tok = isotok.load(source, backend="wasm")
        for _ in range(400):
            text = "".join(choose.choices(units, k=choose.randrange(9)))
            limit = choose.randrange(1, 6)
            ids = tok.encode_with_offsets(text).ids
            assert tok.truncate(text, limit) == ids[:limit]
            assert tok.encode(text) == ids
            assert tok.encode_batch([text] * 3, output="list") == [ids] * 3
            assert tok.count(text) == len(ids)
            assert tok.fits(text, limit) == (len(ids) <= limit)
