"""numpy where it is installed: the package does without it, and so do most tests."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn


class _Missing:
    """Every use is the error that importing numpy gave."""

    def __init__(self, error: ImportError) -> None:
        self._error = error

    def __getattr__(self, name: str) -> NoReturn:
        raise self._error


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError as error:
        return _Missing(error)


np = _numpy()
INSTALLED = not isinstance(np, _Missing)
