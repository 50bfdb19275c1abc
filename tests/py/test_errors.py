"""Errors say what, where, and what to do; the class tells them apart."""

from __future__ import annotations

import pickle
import sys
from array import array
from pathlib import Path

import isotok
import pytest
from isotok import ClosedError, NotOpenError, Status, TokenIdError, TokenizerError
from isotok import _layout_gen as abi
from isotok.compile import compile_model
from isotok.errors import make_error
from support.toy import HELLO, bare_model, toy_model


@pytest.fixture
def tok(backend: str) -> isotok.Tokenizer:
    return isotok.load(toy_model(), backend=backend)


def test_statuses_are_those_of_the_core() -> None:
    assert {status.value: status.name for status in Status} == abi.STATUS_NAMES


@pytest.mark.parametrize("wrong", [None, 5, ["hello"], bytearray(b"x"), memoryview(b"x")])
def test_texts_of_a_wrong_type(tok: isotok.Tokenizer, wrong: str) -> None:
    calls = [
        lambda: tok.encode(wrong),
        lambda: tok.encode_to_numpy(wrong),
        lambda: tok.encode_into(array("I", [0]), wrong),
        lambda: tok.encode_batch([wrong]),
        lambda: tok.encode_with_offsets(wrong),
        lambda: tok.count(wrong),
        lambda: tok.fits(wrong, 3),
        lambda: tok.truncate(wrong, 3),
        lambda: tok.normalize(wrong),
        lambda: tok.piece_to_id(wrong),
        lambda: tok.decode_pieces([wrong]),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="text must be str or bytes, not <class"):
            call()
    assert tok.encode("hello") == [HELLO]


def test_one_text_where_many_belong(tok: isotok.Tokenizer) -> None:
    with pytest.raises(TypeError, match=r"encode\(\)"):
        tok.encode_batch("hello")
    with pytest.raises(TypeError, match="sequence of pieces"):
        tok.decode_pieces("hello")


@pytest.mark.parametrize("wrong", [14, 2**31, 2**32 - 1, 2**32, 2**70, -1, -(2**70)])
def test_ids_out_of_range(tok: isotok.Tokenizer, wrong: int) -> None:
    for call in (tok.id_to_piece, tok.id_to_bytes, tok.score, tok.piece_type, tok.is_control):
        with pytest.raises(TokenIdError, match="token id out of range") as caught:
            call(wrong)
        assert caught.value.status is Status.E_ID_RANGE
    for decode in (tok.decode, tok.decode_bytes):
        with pytest.raises(IndexError, match=r"ids\[2\]") as caught_index:
            decode([HELLO, HELLO, wrong])
        assert isinstance(caught_index.value, ValueError)
        assert isinstance(caught_index.value, TokenIdError)
        assert caught_index.value.index == 2
    assert tok.decode([HELLO]) == "hello"


def test_position_of_a_wrong_id_far_in(tok: isotok.Tokenizer) -> None:
    ids = [HELLO] * 300_000
    ids[299_999] = 14
    with pytest.raises(TokenIdError, match=r"ids\[299999\]"):
        tok.decode(ids)


def test_ids_of_a_wrong_type(tok: isotok.Tokenizer) -> None:
    for wrong in (
        "34",
        b"34",
        ["3"],
        [3.0],
        array("d", [3.0]),
        memoryview(bytes(4)).cast("B", (2, 2)),
    ):
        with pytest.raises(TypeError):
            tok.decode(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tok.decode(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tok.id_to_piece("5")  # type: ignore[arg-type]


def test_no_bos(backend: str) -> None:
    bare = isotok.load(bare_model(), backend=backend)
    for call in (bare.encode, bare.count, bare.encode_to_numpy, bare.encode_with_offsets):
        with pytest.raises(TokenizerError) as caught:
            call("hello", bos=True)
        assert caught.value.status is Status.E_ARGUMENT
        with pytest.raises(TokenizerError):
            call("hello", eos=True)
    assert bare.decode(bare.encode("hello")) == "hello"


@pytest.mark.parametrize("size", [0, 1, 3])
def test_buffer_too_small(tok: isotok.Tokenizer, size: int) -> None:
    with pytest.raises(TokenizerError, match="at least 4 elements") as caught:
        tok.encode_into(array("I", [0]) * size, "hello " * 4)
    assert caught.value.status is Status.NEED_OUTPUT
    assert caught.value.need == 4


def test_buffers_of_a_wrong_kind(tok: isotok.Tokenizer) -> None:
    with pytest.raises(TypeError, match="uint32"):
        tok.encode_into(array("Q", [0]), "hello")
    with pytest.raises(BufferError):
        tok.encode_into(memoryview(bytes(4)).cast("I"), "hello")
    with pytest.raises((BufferError, NotImplementedError, TypeError)):
        tok.encode_into(memoryview(array("I", [0] * 8))[::2], "hello")


def test_unknown_choices(tok: isotok.Tokenizer) -> None:
    with pytest.raises(TokenizerError, match='use "codepoint", "byte" or "utf16"'):
        tok.encode_with_offsets("hello", unit="char")  # type: ignore[arg-type]
    with pytest.raises(TokenizerError, match='use "numpy" or "list"'):
        tok.encode_batch(["hello"], output="set")  # type: ignore[call-overload]
    with pytest.raises(TokenizerError, match="use 0 or more"):
        tok.encode_batch(["hello"], threads=-1)
    with pytest.raises(TokenizerError, match="negative"):
        tok.truncate("hello", -1)
    assert not tok.fits("", -1)


def test_closed(tok: isotok.Tokenizer) -> None:
    tok.close()
    tok.close()
    calls = [
        lambda: tok.encode("hello"),
        lambda: tok.encode_to_numpy("hello"),
        lambda: tok.encode_into(array("I", [0]), "hello"),
        lambda: tok.encode_batch(["hello"]),
        lambda: tok.encode_batch(["hello"], output="list", threads=2),
        lambda: tok.encode_with_offsets("hello"),
        lambda: tok.normalize("hello"),
        lambda: tok.decode([HELLO]),
        lambda: tok.decode_bytes([HELLO]),
        lambda: tok.decode_pieces(["hello"]),
        lambda: tok.count("hello"),
        lambda: tok.fits("hello", 1),
        lambda: tok.truncate("hello", 0),
        lambda: tok.id_to_piece(0),
        lambda: tok.piece_to_id("hello"),
        lambda: "hello" in tok,
        lambda: tok.vocab_size,
        lambda: tok.unk_id,
        lambda: tok.info,
        lambda: tok.backend,
        lambda: len(tok),
        lambda: tok.__enter__(),
        lambda: pickle.dumps(tok),
        lambda: tok.__copy__(),
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="closed; load the model again"):
            call()
    assert repr(tok) == "<isotok.Tokenizer, closed>"


def test_never_opened() -> None:
    tok = isotok.Tokenizer()
    for call in (lambda: tok.encode("hello"), tok.close, lambda: tok.vocab_size):
        with pytest.raises(NotOpenError, match=r"isotok\.load\(\)"):
            call()
    assert repr(tok) == "<isotok.Tokenizer, never opened>"


def test_with_closes(backend: str) -> None:
    with isotok.load(toy_model(), backend=backend) as tok:
        assert tok.encode("hello") == [HELLO]
    with pytest.raises(ClosedError):
        tok.encode("hello")


def test_damaged_models(backend: str) -> None:
    blob = compile_model(toy_model())
    for at in (4, 8, 24, 64, 70, 100):
        damaged = bytearray(blob)
        damaged[at] ^= 0x5A
        with pytest.raises(TokenizerError) as caught:
            isotok.load(bytes(damaged), backend=backend, verify="full")
        assert caught.value.status in (Status.E_CORRUPT, Status.E_UNSUPPORTED)
        assert caught.value.what > 0
        assert str(caught.value).startswith("model: ")
        assert "; " in str(caught.value), "it says what to do"
    for size in (0, 1, 63, 64, 100, len(blob) - 1):
        with pytest.raises(TokenizerError):
            isotok.load(blob[:size], backend=backend)


def test_unknown_feature_is_named(backend: str) -> None:
    blob = bytearray(compile_model(toy_model()))
    blob[24 + 5] |= 0x04  # bit 42
    with pytest.raises(TokenizerError, match="update isotok") as caught:
        isotok.load(bytes(blob), backend=backend)
    assert caught.value.status is Status.E_UNSUPPORTED
    assert caught.value.what == abi.WHAT_FEATURES
    assert caught.value.index == 42


def test_damaged_sources(backend: str) -> None:
    source = toy_model()
    for wrong in (b"", b"hello", source[:50], b"\xff" * 100):
        with pytest.raises(TokenizerError, match="source: ") as caught:
            compile_model(wrong, backend=backend)  # type: ignore[arg-type]
        assert caught.value.what >= 100


def test_duplicate_piece_says_which(backend: str) -> None:
    source = toy_model().replace("▁world".encode(), "▁hello".encode())
    with pytest.raises(TokenizerError, match="defined twice") as caught:
        isotok.load(source, backend=backend)
    assert caught.value.index in (3, 4)


def test_missing_file(backend: str, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"nothing\.model: cannot be opened"):
        isotok.load(tmp_path / "nothing.model", backend=backend)
    with pytest.raises(TokenizerError, match=r"cannot be opened|directory"):
        isotok.load(tmp_path, backend=backend)


def test_contradicting_arguments() -> None:
    model = toy_model()
    with pytest.raises(TokenizerError, match="native back end cannot limit"):
        isotok.load(model, backend="native", limits=isotok.Limits())
    with pytest.raises(TokenizerError, match="trusted=True contradicts"):
        isotok.load(model, trusted=True, verify="full")
    with pytest.raises(TokenizerError, match="trusted=True contradicts"):
        isotok.load(model, trusted=True, limits={"memory": 1 << 20})
    with pytest.raises(TokenizerError, match="unknown key 'time'"):
        isotok.load(model, limits={"time": 1})
    with pytest.raises(TokenizerError, match='use "safe" or "full"'):
        isotok.load(model, verify="none")  # type: ignore[arg-type]
    with pytest.raises(TokenizerError, match='"native" or "wasm"'):
        isotok.load(model, backend="gpu")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="path or bytes"):
        isotok.load(5)  # type: ignore[arg-type]
    with pytest.raises(TokenizerError, match='use one of "blob", "packed"'):
        compile_model(model, "zip")  # type: ignore[arg-type]


def test_backend_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("native", "wasm"):
        monkeypatch.setenv("ISOTOK_BACKEND", name)
        assert isotok.load(toy_model()).backend == name
        assert isotok.load(toy_model(), backend="native").backend == "native"
    monkeypatch.setenv("ISOTOK_BACKEND", "cuda")
    with pytest.raises(TokenizerError, match="ISOTOK_BACKEND=cuda"):
        isotok.load(toy_model())


def test_missing_packages(monkeypatch: pytest.MonkeyPatch, tok: isotok.Tokenizer) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    for call in (tok.encode_to_numpy, lambda text: tok.encode_batch([text])):
        with pytest.raises(ImportError, match=r"pip install 'isotok\[numpy\]'"):
            call("hello")
    assert tok.encode_batch(["hello"], output="list") == [[HELLO]]
    blob = compile_model(toy_model(), backend="native")
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    for source in (blob, toy_model()):
        with pytest.raises(TokenizerError, match="pip install 'wasmtime"):
            isotok.load(source, backend="wasm")
    monkeypatch.setitem(sys.modules, "isotok._native", None)
    with pytest.raises(TokenizerError, match="native is not installed"):
        isotok.load(blob, backend="native")
    with pytest.raises(TokenizerError, match="native is not installed either"):
        isotok.load(blob)


def test_errors_survive_pickling() -> None:
    error = make_error(-4, "the model is damaged", 15, "trie: a link leaves", 7, 99, 0, "model")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is TokenizerError
    assert str(again) == str(error)
    assert (again.status, again.what, again.index, again.offset) == (Status.E_CORRUPT, 15, 7, 99)


def test_message() -> None:
    error = make_error(-4, "the model is damaged", 15, "trie: a link leaves", 7, 99, 0, "model")
    assert str(error) == (
        "model: the model is damaged: trie: a link leaves (index 7, byte 99); "
        "get the file again, or compile it again from its source"
    )
    error = make_error(-4, "damaged", 4, "checksum differs; copy it again", 0, 16, 0, "model")
    assert str(error) == "model: damaged: checksum differs (byte 16); copy it again"
    assert make_error(-99, "", 0, "", 0, 0, 0, "model").status is None


class _Refuses:
    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")


def test_truth_that_raises(tok: isotok.Tokenizer) -> None:
    for options in ({"bos": _Refuses()}, {"eos": _Refuses()}):
        with pytest.raises(ValueError, match="neither true nor false"):
            tok.encode("a", **options)


@pytest.mark.parametrize("limit", [2**63, 2**64, 2**70])
def test_limits_beyond_every_text(tok: isotok.Tokenizer, limit: int) -> None:
    assert tok.fits("hello world", limit)
    assert tok.truncate("hello world", limit) == tok.encode("hello world")


def test_numbers_are_what_has_an_index(tok: isotok.Tokenizer) -> None:
    numpy = pytest.importorskip("numpy")
    two = numpy.int64(2)
    assert tok.fits("hello world", two) == tok.fits("hello world", 2)
    assert tok.id_to_piece(two) == tok.id_to_piece(2)
    for call in (tok.id_to_piece, tok.score, tok.piece_type):
        with pytest.raises(TypeError):
            call(1.0)
        for token_id in (-1, tok.vocab_size, 2**32 - 1, 2**32, 2**70):
            with pytest.raises(isotok.TokenIdError):
                call(token_id)
    with pytest.raises(TypeError):
        tok.fits("a", 1.5)


def test_errors_name_the_file(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "broken.model"
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(isotok.TokenizerError, match=r"broken\.model: ") as caught:
        isotok.load(path, backend=backend)
    assert "4294967295" not in str(caught.value)


@pytest.mark.parametrize(
    "limits",
    [
        {"memory": -5}, {"memory": 0}, {"memory": 1.5}, {"memory": None}, {"memory": "x"},
        {"memory": 1 << 70}, {"fuel": -1}, {"fuel": 0}, {"fuel": 1 << 70}, {"fuel": True},
    ],
)  # fmt: skip
def test_limits_are_numbers(limits: dict[str, int]) -> None:
    with pytest.raises(TokenizerError, match=r"limits: (memory|fuel) is .*; use a whole number"):
        isotok.load(toy_model(), limits=limits)


def test_limits_of_a_wrong_type() -> None:
    with pytest.raises(TypeError, match="limits must be"):
        isotok.load(toy_model(), limits=(1 << 28, 10**9))


@pytest.mark.parametrize("threads", [1, 4])
def test_batch_of_wrong_types(tok: isotok.Tokenizer, threads: int) -> None:
    with pytest.raises(TypeError, match="text must be str or bytes, not <class 'NoneType'>"):
        tok.encode_batch(["a", None], threads=threads)
    with pytest.raises(TypeError):
        tok.encode_batch(["a"], threads=1.5)


def test_closed_even_for_a_negative_limit(tok: isotok.Tokenizer) -> None:
    tok.close()
    with pytest.raises(ClosedError):
        tok.fits("a", -1)


def test_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "nothing.model"
    path.touch()
    with pytest.raises(TokenizerError, match=r"nothing\.model: the file is empty"):
        isotok.load(path)
