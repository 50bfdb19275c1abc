"""Hostile blobs of WordPiece, WordLevel and Unigram by pre-tokens: mutated ones, loops, slots."""

from __future__ import annotations

import struct
import sys
from array import array
from pathlib import Path

import isotok
import pytest
from isotok._blob_gen import BlobView
from isotok.compile import compile_model
from isotok.compile._models import unigram_fields, wordlevel_fields, wordpiece_fields
from isotok.compile.pretok.arrays import make_arrays
from isotok.compile.pretok.chain import make_chain
from isotok.compile.pretok.huggingface import read_pre_tokenizer
from isotok.errors import TokenizerError
from support import data, mutants

sys.path.insert(0, str(data.ROOT / "tests/fuzz"))
sys.path.insert(0, str(data.ROOT))

import mutate

from tests.full import hostile

STAGES = read_pre_tokenizer({"type": "WhitespaceSplit"}).stages
WORDS = ["[UNK]", "a", "##a", "ab", "##é", "##中x", "é", "##bbb", "the", "##s"]
VOCAB = {word: number for number, word in enumerate(WORDS)}
BYTES = [(f"<0x{byte:02X}>", -3.5) for byte in range(256)]
PIECES = [(word, -0.5 * number) for number, word in enumerate(WORDS)]
ROUGH = [(word, score - 0.1) for word, score in PIECES]
ADDED = {"[UNK]": 0, "the": 8, "[NEW]": 300}


def _sources() -> dict[str, bytes]:
    cuts = make_arrays(make_chain(list(STAGES))).to_bytes()
    return {
        "wordpiece": wordpiece_fields(VOCAB, "[UNK]", added=ADDED, pretokenizer=cuts),
        "wordlevel": wordlevel_fields(VOCAB, "[UNK]", added=ADDED, pretokenizer=cuts),
        "unigram": unigram_fields([*PIECES, *BYTES], 0, byte_fallback=True, pretokenizer=cuts),
        "exact": unigram_fields(ROUGH, 0, added=ADDED, pretokenizer=cuts),
        "whole": unigram_fields([*ROUGH, *BYTES[:200]], None, byte_fallback=True),
    }


SOURCES = _sources()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[mutate.Mutant]:
    folder = tmp_path_factory.mktemp("models")
    paths: list[Path] = []
    for name, source in SOURCES.items():
        paths.append(folder / f"{name}.model")
        paths[-1].write_bytes(source)
    return mutants.sample(paths)


def test_mutants_native(sample: list[mutate.Mutant]) -> None:
    mutants.check_native(sample)


def test_mutants_wasm(sample: list[mutate.Mutant]) -> None:
    mutants.check_wasm(sample)


@pytest.mark.parametrize("kind", ["wordpiece", "wordlevel", "unigram"])
def test_loop_ends(kind: str, backend: str) -> None:
    """A trie whose node is its own child: every walk ends at max_piece_bytes."""
    runs = {"u": 0} | {"a" * size: size for size in range(1, 200)}
    source = {
        "wordpiece": wordpiece_fields(runs, "u", prefix="", max_chars=1 << 30),
        "wordlevel": wordlevel_fields(runs, "u"),
        "unigram": unigram_fields([(word, -1.0) for word in runs], 0),
    }[kind]
    honest = compile_model(source)
    looping = isotok.load(hostile.with_loop(honest, "trie"), backend=backend)
    text = "a" * 20_000
    assert looping.encode(text)
    assert looping.encode_with_offsets(text).offsets[-1][1] == len(text)
    with pytest.raises(TokenizerError):
        isotok.load(hostile.with_loop(honest, "trie"), verify="full", backend=backend)


@pytest.mark.parametrize("word", [0, 1])
def test_slots_are_checked(word: int, backend: str) -> None:
    """Slots outside the trie, and one where no piece ends as what is unknown, are refused."""
    blob = bytearray(compile_model(SOURCES["wordpiece"]))
    rules = next(s for s in BlobView(bytes(blob)).sections() if s.name == "word_rules")
    trie = next(s for s in BlobView(bytes(blob)).sections() if s.name == "trie")
    wrong = [trie.count, 0xFFFFFE, 0xFFFFFFFF, 1 << 30] + ([0] if word == 0 else [])
    for value in wrong:
        struct.pack_into("<I", blob, rules.offset + 4 * word, value)
        with pytest.raises(TokenizerError, match="trie_ids"):
            isotok.load(bytes(blob), backend=backend)
    struct.pack_into("<I", blob, rules.offset + 4 * word, 0xFFFFFF)
    isotok.load(bytes(blob), backend=backend).encode("a the")


def test_numbers_that_are_none(backend: str) -> None:
    """NaN and infinite scores in a blob give some ids, and an end."""
    blob = bytearray(compile_model(SOURCES["exact"]))
    table = next(s for s in BlobView(bytes(blob)).sections() if s.name == "exact_scores")
    for value in (float("nan"), float("inf"), -float("inf")):
        scores = array("d", [value]) * table.count
        blob[table.offset : table.offset + table.size] = scores.tobytes()
        tokenizer = isotok.load(bytes(blob), backend=backend)
        offsets = tokenizer.encode_with_offsets("abbb é中x" * 50).offsets
        assert offsets[-1][1] == len("abbb é中x" * 50)
