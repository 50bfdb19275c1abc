"""A sample of `./build.sh test full`'s hostile files: mutated models, tries with loops."""

from __future__ import annotations

import sys
from pathlib import Path

import isotok
import pytest
from isotok._blob_gen import BlobView
from isotok.compile import compile_model
from support import data, mutants
from support.models import BPE, CHAR, UNIGRAM

sys.path.insert(0, str(data.ROOT / "tests/fuzz"))
sys.path.insert(0, str(data.ROOT))

import mutate
import run as fuzz_run

from tests.full import hostile


@pytest.fixture(scope="module")
def sample() -> list[mutate.Mutant]:
    return mutants.sample(mutate.own_models())


def test_mutants_native(sample: list[mutate.Mutant]) -> None:
    mutants.check_native(sample)


def test_mutants_wasm(sample: list[mutate.Mutant]) -> None:
    mutants.check_wasm(sample)


def test_mutants_are_repeatable(sample: list[mutate.Mutant]) -> None:
    assert list(mutate.mutants(20, mutants.SEED, mutate.own_models())) == sample[:20]


@pytest.mark.parametrize("algorithm", [UNIGRAM, BPE, CHAR])
def test_loop_ends(algorithm: int, backend: str) -> None:
    """A trie whose node is its own child: every walk ends at max_piece_bytes."""
    honest = compile_model(hostile.runs(algorithm))
    looping = isotok.load(hostile.with_loop(honest, "trie"), backend=backend)
    text = b"a" * 20_000
    ids = looping.encode(text)
    assert ids
    assert looping.encode_with_offsets(text, unit="byte").offsets[-1][1] == len(text)
    with pytest.raises(isotok.TokenizerError):
        isotok.load(hostile.with_loop(honest, "trie"), verify="full", backend=backend)


def test_kept_inputs() -> None:
    """Inputs of failures that were found once (tests/fuzz/crashes) are whole files."""
    folder = data.ROOT / "tests/fuzz/crashes"
    kept: list[Path] = sorted(folder.glob("*")) if folder.exists() else []
    assert all(path.name.split("-")[0] in fuzz_run.TARGETS for path in kept)


def test_replacements_are_bounded(backend: str) -> None:
    """A pool without NULs between its texts would make every session as large as the pool."""
    blob = bytearray(compile_model((data.VECTOR_MODELS / "uni_denormalizer.model").read_bytes()))
    pools = [s for s in BlobView(blob).sections() if s.name.endswith("_text") and "map" in s.name]
    pools += [s for s in BlobView(blob).sections() if s.name == "denormalizer_text"]
    assert pools
    for pool in pools:
        for at in range(pool.offset, pool.offset + pool.size - 1):
            blob[at] = blob[at] or ord("x")
        with pytest.raises(isotok.TokenizerError, match="out of range") as caught:
            isotok.load(bytes(blob), backend=backend)
        assert caught.value.offset == 0
