"""Exceptions with the types and, where that makes sense, the words of sentencepiece 0.2.3."""

from __future__ import annotations

from typing import Final

OUT_OF_RANGE: Final = "OUT_OF_RANGE: piece id is out of range."
NOT_LOADED: Final = "Model is not initialized."


class FileError(RuntimeError, OSError):
    """A file cannot be read.

    sentencepiece raises OSError up to 0.2.1 and RuntimeError since: this is both.
    """


def internal(reason: str) -> RuntimeError:
    """Make the error for what sentencepiece calls INTERNAL: a model or value it refuses."""
    return RuntimeError(f"INTERNAL: {reason}")


def invalid(reason: str) -> ValueError:
    """Make the error for what sentencepiece calls INVALID_ARGUMENT."""
    return ValueError(f"INVALID_ARGUMENT: {reason}")


def file_error(path: str, error: OSError) -> FileError:
    """Make the error for a file that the system does not let us use."""
    code = "NOT_FOUND" if isinstance(error, FileNotFoundError) else "FAILED_PRECONDITION"
    return FileError(f'{code}: "{path}": {error.strerror or error}')


def missing_package(package: str, purpose: str) -> ImportError:
    """Say what to install."""
    return ImportError(f"{package} is required for {purpose}; pip install {package}")
