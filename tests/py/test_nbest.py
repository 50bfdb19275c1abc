"""The n best segmentations: those of sentencepiece, score for score.

sentencepiece's scores are compared bit by bit. Paths of equal score are compared as a set:
their order is that of a heap of its C++ library (ours is the same so far).
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import isotok
import pytest
from conftest import BACKENDS, Opener, need
from support import data, oracle
from support.prose import prose

OWN = sorted(data.VECTOR_MODELS.glob("*uni*.model"))
REAL = ("xlmr", "llmjp_llm-jp-tokenizer_ver4.0_alpha1.0", "nai-t5", "xlnet_base_cased")
Paths = list[tuple[list[int], float]]


def opened_own(path: Path, opened: Opener, backend: str) -> isotok.Tokenizer:
    try:
        return opened(path, backend)
    except isotok.TokenizerError as error:
        pytest.skip(str(error))


def texts_of(tok: isotok.Tokenizer, count: int) -> Iterator[bytes]:
    """Pieces end to end, with spaces, characters without a piece, and stray bytes."""
    generator = random.Random(len(tok))
    for _ in range(count):
        text = b""
        while len(text) < generator.choice([5, 20, 60, 200]):
            kind = generator.random()
            if kind < 0.1:
                text += b" "
            elif kind < 0.2:
                text += generator.choice(["é", "漢", "😀", "z"]).encode()
            elif kind < 0.23:
                text += bytes([generator.randrange(256)])
            else:
                text += tok.id_to_bytes(generator.randrange(len(tok)))[:60]
        yield text


def check(found: Paths, expected: Paths) -> None:
    """Equal scores, and the same paths for each score; of the last, some may be cut off."""
    scores = [score for _, score in expected]
    assert [score for _, score in found] == scores
    ours = [sorted(ids for ids, _ in group) for _, group in groupby(found, lambda each: each[1])]
    theirs = [sorted(ids for ids, _ in group) for _, group in groupby(expected, lambda e: e[1])]
    assert ours[:-1] == theirs[:-1]
    if len(theirs[-1]) == 1 or len(found) < 2:
        assert [len(group) for group in ours] == [len(group) for group in theirs]


def compare(tok: isotok.Tokenizer, sp: oracle.Oracle, text: bytes, n: int) -> int:
    found: Paths = [(ids, score) for ids, score in tok.nbest(text, n)]
    check(found, sp.nbest(text, n))
    return len(found)


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_own_models(path: Path, opened: Opener) -> None:
    tok = opened_own(path, opened, BACKENDS[0])
    sp = oracle.Oracle(path.read_bytes())
    for text in texts_of(tok, 25):
        for n in (2, 3, 10, 60):
            compare(tok, sp, text, n)


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", REAL)
def test_real_models(name: str, opened: Opener) -> None:
    """Lines of all corpora; and texts so long, or so alike, that the search hits its limits."""
    path = need(data.models_dir() / f"{name}.model")
    tok, sp = opened(path, BACKENDS[0]), oracle.Oracle(path.read_bytes())
    generator = random.Random(name)
    for corpus in sorted(data.corpora_dir().glob("*.txt")):
        lines = [line for line in corpus.read_bytes()[: 1 << 18].split(b"\n") if line.strip()]
        for line in generator.sample(lines, 12):
            for n in (2, 16, 100):
                compare(tok, sp, line[:600], n)
    compare(tok, sp, prose(300, seed=3).encode(), 512)
    given_up = [compare(tok, sp, text, n) == 1 for text, n in hard_texts()]
    assert any(given_up) and not all(given_up)


def hard_texts() -> Iterator[tuple[bytes, int]]:
    yield b"hello world " * 200, 10
    yield b"the cat sat on the mat " * 50, 100
    yield b"a" * 640, 40
    yield "ー".encode() * 300, 100
    yield prose(3000, seed=5).encode(), 512
    yield prose(6000, seed=6).encode(), 2


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_backends(path: Path, opened: Opener) -> None:
    first = opened_own(path, opened, BACKENDS[0])
    others = [opened(path, backend) for backend in BACKENDS[1:]]
    for text in [*texts_of(first, 4), b"", prose(5000, seed=8).encode()]:
        for n in (1, 20):
            found = first.nbest(text, n, bos=first.bos_id is not None)
            assert all(each.nbest(text, n, bos=each.bos_id is not None) == found for each in others)


def test_scores(backend: str, opened: Opener) -> None:
    """A score is the float32 sum of the pieces' scores, from the end; decoding gives the text."""
    tok = opened(data.VECTOR_MODELS / "trained_unigram.model", backend)
    text = prose(200, seed=1)
    unknown_free = [each for each in tok.nbest(text, 50) if tok.unk_id not in each.ids]
    types = {index: tok.piece_type(index) for each in unknown_free for index in each.ids}
    assert len(unknown_free) == 50
    for ids, score in unknown_free:
        assert tok.decode(ids) == tok.decode(tok.encode(text))
        if all(types[index] == isotok.PieceType.NORMAL for index in ids):
            total = 0.0
            for index in reversed(ids):
                total = struct.unpack("f", struct.pack("f", total + tok.score(index)))[0]
            assert total == score


def test_arguments(backend: str, opened: Opener) -> None:
    tok = opened(data.VECTOR_MODELS / "trained_unigram.model", backend)
    for n in (0, -1, 513):
        with pytest.raises(isotok.TokenizerError, match="use 1 to 512"):
            tok.nbest("text", n)
    with pytest.raises(isotok.TokenizerError, match="alpha"):
        tok.sample_nbest("text", 5, alpha=-1.0)
    for name in ("trained_bpe", "word_plain"):
        other = opened(data.VECTOR_MODELS / f"{name}.model", backend)
        with pytest.raises(isotok.TokenizerError, match="no such sampling"):
            other.nbest("text", 2)
    assert tok.nbest("", 3) == [([], 0.0)]
    assert tok.nbest("", 3, bos=True, eos=True) == [([tok.bos_id, tok.eos_id], 0.0)]
    best = tok.nbest("something", 5)
    alone = tok.nbest("something", 1)  # summed from the front, the others from the end
    assert alone[0].ids == best[0].ids and abs(alone[0].score - best[0].score) < 1e-4
    assert tok.sample_nbest("something", 5, alpha=1e9, seed=1) == best[0].ids
