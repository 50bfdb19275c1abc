"""A sample of mutated models, and what a sound core makes of them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from . import data

sys.path.insert(0, str(data.ROOT / "tests/fuzz"))

import mutate
import run as fuzz_run

COUNT = 600
SEED = 7


def sample(paths: Sequence[Path]) -> list[mutate.Mutant]:
    """The same mutants for the same models."""
    return list(mutate.mutants(COUNT, SEED, list(paths)))


def check_native(mutants: list[mutate.Mutant]) -> None:
    """Open them under ASan and UBSan, between guard pages."""
    if shutil.which(fuzz_run.CLANG) is None:
        pytest.skip(f"{fuzz_run.CLANG} is not installed; run ./build.sh setup")
    _check(mutate.run_native(mutants))


def check_wasm(mutants: list[mutate.Mutant]) -> None:
    """Open them in the WebAssembly module."""
    _check(mutate.run_wasm(mutants))


def _check(result: mutate.Result) -> None:
    """Nothing broke, and the sample is one that could have broken it."""
    assert not result.problems
    assert result.past_header > COUNT // 4
    assert result.accepted > COUNT // 10
    assert len(result.refused) > 10
