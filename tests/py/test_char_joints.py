"""Characters that start whole in byte-level BPE (core/build/characters.c): random rank tables with
torn pieces, and pieces in any order of ranks, against tiktoken."""

from __future__ import annotations

import random

import isotok
import pytest
import tiktoken
from isotok import _blob_gen
from isotok.compile import compile_model
from isotok.compile._tiktoken import tiktoken_fields

LETTERS = ["a", "é", "è", "ü", "ﬁ", "中", "丁", "三", "😀", "😁"]
PATTERN = r"[^|]+|\|"
ROUNDS = 120


def random_ranks(rng: random.Random) -> dict[bytes, int]:
    """All bytes, and concatenations of what is there; at times in an order of their own."""
    tokens = [bytes([byte]) for byte in range(256)]
    text = "".join(rng.choices(LETTERS, k=30)).encode()
    wanted = rng.randrange(5, 60)
    for _ in range(20 * wanted):
        if len(tokens) == 256 + wanted:
            break
        at = rng.randrange(len(text) - 1)
        piece = text[at : at + rng.randrange(2, 9)]
        if piece not in tokens:
            tokens.append(piece)
    made = tokens[256:]
    if rng.random() < 0.7:
        made.sort(key=len)
    return {token: rank for rank, token in enumerate([*tokens[:256], *made])}


def texts(rng: random.Random) -> list[str]:
    return ["".join(rng.choices(LETTERS, k=rng.randrange(1, 40))) for _ in range(30)]


@pytest.mark.parametrize("backend", ["native", "wasm"])
def test_random_tables(backend: str) -> None:
    rng = random.Random(20_250_101)
    used = 0
    for _ in range(ROUNDS if backend == "native" else ROUNDS // 6):
        ranks = random_ranks(rng)
        peer = tiktoken.Encoding("toy", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
        blob = compile_model(tiktoken_fields(ranks, PATTERN, {}))
        joints = _blob_gen.BlobView(blob).char_joints
        used += len(joints) != 0
        tok = isotok.load(blob, backend=backend, cache_bytes=0)  # type: ignore[arg-type]
        for text in texts(rng):
            assert tok.encode(text) == peer.encode_ordinary(text), (ranks, text)
    assert used > 0  # else this tests nothing


def test_without_joints_ids_differ() -> None:
    """The test above would notice: the same tables with all characters whole."""
    rng = random.Random(7)
    different = 0
    for _ in range(ROUNDS):
        ranks = random_ranks(rng)
        peer = tiktoken.Encoding("toy", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
        blob = bytearray(compile_model(tiktoken_fields(ranks, PATTERN, {})))
        view = _blob_gen.BlobView(blob)
        joints = view.char_joints
        if len(joints) == 0:
            continue
        at = bytes(blob).index(joints.tobytes(), 64)
        blob[at : at + 8 * len(joints)] = bytes(8 * len(joints))
        tok = isotok.load(bytes(blob), verify="safe", cache_bytes=0)
        different += any(tok.encode(text) != peer.encode_ordinary(text) for text in texts(rng))
    assert different > 0
