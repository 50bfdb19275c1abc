"""Paths and fixtures for all tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE / "reference"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import isotok  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from support import data, oracle  # noqa: E402

BACKENDS = ("native", "wasm")

# Another build of the wasm modules: the folder that holds them.
if os.environ.get("ISOTOK_WASM"):
    import isotok._machine

    isotok._machine.DATA = Path(os.environ["ISOTOK_WASM"]).resolve()

# Both are repeatable; `ISOTOK_HYPOTHESIS=thorough` is for a machine with time.
COMMON = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}
settings.register_profile("quick", max_examples=150, database=None, **COMMON)
settings.register_profile("thorough", max_examples=5000, database=None, **COMMON)
settings.load_profile(os.environ.get("ISOTOK_HYPOTHESIS", "quick"))


def pytest_report_header() -> list[str]:
    real = data.real_models()
    models = f"{len(real)} real models in {data.data_dir()}" if real else "own models only"
    found = f"sentencepiece {oracle.VERSION}" if oracle.available() else "no sentencepiece"
    wasm = os.environ.get("ISOTOK_WASM")
    return [f"isotok: {models}; {found}", *([f"wasm from {wasm}"] if wasm else [])]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Opener(Protocol):
    """What the fixture `opened` is."""

    def __call__(self, path: Path, backend: str, compat: str | None = None) -> isotok.Tokenizer: ...


@pytest.fixture(scope="session")
def opened() -> Iterator[Opener]:
    """Return a function that opens a model once per back end and keeps it open."""
    tokenizers: dict[tuple[Path, str, str | None], isotok.Tokenizer] = {}

    def open_model(path: Path, backend: str, compat: str | None = None) -> isotok.Tokenizer:
        key = path, backend, compat
        if key not in tokenizers:
            found = isotok.load(path, backend=backend, compat=compat)  # type: ignore[arg-type]
            tokenizers[key] = found
        return tokenizers[key]

    yield open_model
    for tokenizer in tokenizers.values():
        tokenizer.close()


@pytest.fixture
def sentencepiece() -> None:
    """Skip without the oracle; in CI it must be there."""
    if oracle.available():
        return
    message = f"sentencepiece {oracle.VERSION} is not installed"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def need(path: Path) -> Path:
    """Return `path`, or skip the test that needs it."""
    if not path.exists():
        pytest.skip(data.absence(path))
    return path
