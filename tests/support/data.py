"""Where the tests find models, corpora, vectors and cases that are not in the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VECTOR_MODELS = ROOT / "tests/vectors/models"
SPINE = ROOT / "tests/vectors/spine.json"
BUILD = ROOT / "build"


@cache
def data_dir() -> Path:
    """Real models and corpora: ISOTOK_DATA, else ../shared/data beside the project."""
    return Path(os.environ.get("ISOTOK_DATA") or ROOT.parent / "shared/data")


def vectors_dir() -> Path:
    """SentencePiece's vectors, beside the data."""
    return data_dir().parent / "vectors"


def cases_dir() -> Path:
    return data_dir().parent / "cases"


def models_dir() -> Path:
    return data_dir() / "models"


def corpora_dir() -> Path:
    return data_dir() / "corpora"


def real_models() -> list[Path]:
    """The `.model` files of the data, none where there is no data."""
    return sorted(models_dir().glob("*.model"))


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables of the environment for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def absence(path: Path) -> str:
    """Why a test that needs `path` is skipped."""
    return f"{path.parent.name}/{path.name} is not here; set ISOTOK_DATA to the data folder"
