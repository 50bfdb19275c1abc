"""Errors of a tokenizer.json: what, where in the JSON, and what to do."""

from __future__ import annotations

from isotok import _layout_gen as abi
from isotok.errors import Status, TokenizerError

NAME = "tokenizer.json"


def broken(path: str, what: str, *, offset: int = 0) -> TokenizerError:
    """Return the error of a file that tokenizers refuses too.

    Parameters
    ----------
    path : str
        Where in the JSON: names and indices; empty for the file.
    what : str
        What is there, and what should be.
    offset : int
        Byte of the file, if it is known.
    """
    place = f" (byte {offset})" if offset else ""
    return TokenizerError(
        f"{NAME}: {_prefix(path)}{what}{place}; get the file again, or correct it",
        status=Status.E_CORRUPT,
        what=abi.WHAT_PROTOBUF,
        offset=offset,
    )


def unsupported(path: str, what: str) -> TokenizerError:
    """Return the error of a file that is well-formed, but would have to be approximated."""
    return TokenizerError(
        f"{NAME}: {_prefix(path)}{what}; isotok does not support this",
        status=Status.E_UNSUPPORTED,
        what=abi.WHAT_SOURCE_KIND,
    )


def shorten(text: object) -> str:
    """Return the representation of a value, cut to what fits a message."""
    shown = repr(text)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"


def _prefix(path: str) -> str:
    return f"{path}: " if path else ""
