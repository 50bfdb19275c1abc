"""Types that users see; mypy and pyright check this file, nothing runs it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, assert_type

import isotok
import numpy as np
from isotok import (
    Batch,
    CacheInfo,
    Decoder,
    Encoder,
    Encoding,
    Info,
    Limits,
    NormalizedBytes,
    NormalizedText,
    Scored,
    Tokenizer,
)
from isotok.compat import sentencepiece as spm
from isotok.compile import compile_model
from numpy.typing import NDArray


def loading(path: Path, data: bytes) -> None:
    assert_type(isotok.load(), Tokenizer)
    assert_type(isotok.load(path, backend="native", verify="full", map=True), Tokenizer)
    assert_type(isotok.load("x", limits=Limits(memory=1 << 20)), Tokenizer)
    assert_type(isotok.load(data, backend="wasm", limits={"fuel": 5}, trusted=False), Tokenizer)
    assert_type(isotok.load(cache_bytes=0).cache_info(), CacheInfo)
    assert_type(isotok.load(cache_bytes=None).cache_info().hits, int)
    assert_type(compile_model(data), bytes)
    assert_type(compile_model(memoryview(data), "packed", backend="wasm"), bytes)
    assert_type(compile_model(data, "spm.fb"), bytes)
    assert_type(compile_model(data, compat="0.2.1"), bytes)
    assert_type(isotok.load(path, compat="0.2.1").info.compat, Literal["0.2.1"] | None)
    assert_type(isotok.load(path, compat=None), Tokenizer)
    isotok.load(path, compat="0.2.0")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    isotok.load(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    isotok.load(path, backend="gpu")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def encoding(tok: Tokenizer) -> None:
    assert_type(tok.encode("x"), list[int])
    assert_type(tok.encode(b"x", bos=True, eos=True), list[int])
    assert_type(tok.encode_normalized("x", eos=True), list[int])
    assert_type(tok.safe_boundaries(b"x"), list[int])
    assert_type(tok.encode_to_numpy("x"), NDArray[np.uint32])
    assert_type(tok.encode_into(array("I", [0]), "x"), int)
    assert_type(tok.encode_into(np.zeros(3, np.uint32), "x"), int)
    assert_type(tok.encode_batch(["x", b"y"]), Batch)
    assert_type(tok.encode_batch(iter(["x"]), threads=2, output="numpy"), Batch)
    assert_type(tok.encode_batch(("x",), output="list"), list[list[int]])
    assert_type(tok.encode_batch(["x"]).ids, NDArray[np.uint32])
    assert_type(tok.encode_batch(["x"]).offsets, NDArray[np.int64])
    assert_type(tok.encode_batch(["x"], threads=None), Batch)
    assert_type(tok.count_batch(["x", b"y"], threads=0, eos=True), list[int])
    assert_type(tok.encode_long("x", threads=2), NDArray[np.uint32])
    assert_type(tok.encode_long(b"x", threads=None, output="list"), list[int])
    assert_type(tok.encode_stream(["x", b"y"], eos=True), Iterator[list[int]])
    with tok.encoder(bos=True) as encoder:
        assert_type(encoder, Encoder)
        assert_type(encoder.push("x") + encoder.flush(), list[int])
    tok.encode_stream([5])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    found = tok.encode_with_offsets("x", unit="utf16")
    assert_type(found, Encoding)
    assert_type(found.ids, list[int])
    assert_type(found.pieces, list[str])
    assert_type(found.offsets, list[tuple[int, int]])
    assert_type(tok.count("x"), int)
    assert_type(tok.fits("x", 3), bool)
    assert_type(tok.truncate("x", 3), list[int])
    tok.encode(["x"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    tok.encode("x", True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def sampling(tok: Tokenizer) -> None:
    assert_type(tok.sample("x"), list[int])
    assert_type(tok.sample(b"x", alpha=0.5, method="gumbel", seed=np.int64(3)), list[int])
    assert_type(tok.sample("x", dropout=0.1, seed=1, bos=True), list[int])
    assert_type(tok.nbest("x", 5), list[Scored])
    assert_type(tok.nbest("x", 5)[0].score, float)
    assert_type(tok.sample_nbest("x", 5, alpha=0.2, seed=None), list[int])
    tok.sample("x", method="magic")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def normalizing(tok: Tokenizer) -> None:
    assert_type(tok.normalize("x"), str)
    assert_type(tok.normalize(b"x"), bytes)
    assert_type(tok.normalize("x", with_offsets=True), NormalizedText)
    assert_type(tok.normalize(b"x", with_offsets=True, unit="byte"), NormalizedBytes)


def decoding(tok: Tokenizer) -> None:
    assert_type(tok.decode([1, 2]), str)
    assert_type(tok.decode(range(3)), str)
    assert_type(tok.decode(tok.encode_to_numpy("x")), str)
    assert_type(tok.decode(array("I", [1])), str)
    assert_type(tok.decode_bytes((1, 2)), bytes)
    assert_type(tok.decode_pieces(["x", b"y"]), str)
    assert_type(tok.decode_batch([[1, 2], range(3)], threads=2), list[str])
    assert_type(tok.decode_batch(tok.encode_batch(["x"])), list[str])
    assert_type(tok.decode_stream([1, 2]), Iterator[str])
    assert_type(tok.decode_stream(iter([[1], [2, 3]])), Iterator[str])
    assert_type(tok.decode_stream(tok.encode_to_numpy("x")), Iterator[str])
    with tok.decoder() as decoder:
        assert_type(decoder, Decoder)
        assert_type(decoder.push(1) + decoder.push([1, 2]) + decoder.flush(), str)


def vocabulary(tok: Tokenizer) -> None:
    assert_type(tok.id_to_piece(1), str)
    assert_type(tok.id_to_bytes(1), bytes)
    assert_type(tok.piece_to_id("x"), int | None)
    assert_type("x" in tok, bool)
    assert_type(tok.score(1), float)
    assert_type(tok.piece_type(1), isotok.PieceType)
    assert_type(tok.is_control(1), bool)
    assert_type(tok.vocab_size, int)
    assert_type(tok.unk_id, int | None)
    assert_type(tok.info, Info)
    assert_type(tok.backend, str)


def life(path: Path) -> None:
    with isotok.load(path) as tok:
        assert_type(tok, Tokenizer)
    try:
        tok.encode("x")
    except isotok.TokenizerError as error:
        assert_type(error.status, isotok.Status | None)
        assert_type(error.offset, int)


def compatible(path: Path) -> None:
    """The drop-in: results depend on arguments, so most are Any, as in sentencepiece."""
    sp = spm.SentencePieceProcessor(model_file=path, out_type=str, add_bos=True)
    assert_type(sp.load(model_proto=b""), bool)
    assert_type(sp.vocab_size(), int)
    assert_type(sp.serialized_model_proto(), bytes)
    assert_type(spm.SentencePieceProcessor.from_file(path), spm.SentencePieceProcessor)
    assert_type(spm.SentencePieceNormalizer(rule_name="nfkc").decompile(), list[tuple[str, str]])
    assert_type(spm.convert_to_flatbuffer(model_file=path), bytes | None)
    spm.SentencePieceTrainer.train("x")
