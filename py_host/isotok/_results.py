"""What the methods of Tokenizer return, and the conversions behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    # To Python 3.11's type checkers a numpy array is no Buffer.
    Ids: TypeAlias = Sequence[int] | Buffer | NDArray[np.integer[Any]]
    Memory: TypeAlias = Buffer | NDArray[np.uint32]

_ESCAPED = "[\udc80-\udcff]"


def need_numpy() -> None:
    """Say what to install, or to do instead, where numpy is missing."""
    try:
        import numpy  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise ImportError(
            f"arrays need numpy ({error}); pip install 'isotok[numpy]', or use encode(), "
            'or encode_batch(output="list")'
        ) from error


class Encoding(NamedTuple):
    """Tokens of a text with the places they came from."""

    ids: list[int]
    """Token ids in text order."""
    pieces: list[str]
    """Text of each piece; of an unknown token, the normalized text that it stands for."""
    offsets: list[tuple[int, int]]
    """Half-open ranges in the text, in the unit that was asked for."""


class Batch(NamedTuple):
    """Token ids of many texts end to end: text i has ``ids[offsets[i] : offsets[i + 1]]``."""

    ids: NDArray[np.uint32]
    """Shape (n_tokens,)."""
    offsets: NDArray[np.int64]
    """Shape (n_texts + 1,), beginning with 0."""


class NormalizedText(NamedTuple):
    """Normalized text with the place in the raw text of each code point and of the end."""

    text: str
    offsets: list[int]
    """``len(text) + 1`` offsets."""


class NormalizedBytes(NamedTuple):
    """Normalized text as bytes, with the place in the raw text of each byte and of the end."""

    text: bytes
    offsets: list[int]
    """``len(text) + 1`` offsets."""


def byte_offsets(data: bytes, offsets: Buffer) -> list[int]:
    """Offsets of each byte and of the end; an empty text has only an end."""
    return memoryview(offsets).cast("B").cast("I").tolist() if data else [0]


def normalized_text(data: bytes, offsets: Buffer) -> NormalizedText:
    """Make code points of bytes: each has the offset of its last byte."""
    every = byte_offsets(data, offsets)
    # Ill-formed bytes (of a user-defined piece) become one code point each.
    text = data.decode(errors="surrogateescape")
    if len(text) == len(data):
        return NormalizedText(replace_escaped(text), every)
    at = -1
    chosen: list[int] = []
    for character in text:
        at += _utf8_size(character)
        chosen.append(every[at])
    chosen.append(every[-1])
    return NormalizedText(replace_escaped(text), chosen)


def _utf8_size(character: str) -> int:
    code = ord(character)
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:
        return 1
    return 2 if code < 0x800 else 3 if code < 0x10000 else 4


def replace_escaped(text: str) -> str:
    """Put U+FFFD where ``surrogateescape`` has left ill-formed bytes."""
    return text if text.isascii() else re.sub(_ESCAPED, "\ufffd", text)


def numbers_of(ids: Ids) -> list[int] | memoryview:
    """Bring ids into a form that every back end takes: a list, or uint32 memory.

    Parameters
    ----------
    ids : sequence of int, or array
        numpy arrays and `array.array` of any integer type, lists, tuples, ranges.
    """
    if isinstance(ids, list):
        return ids
    if isinstance(ids, (str, bytes, bytearray)):
        raise TypeError(f"ids must be a sequence of int, not {type(ids)!r}")
    try:
        view = memoryview(ids)  # type: ignore[arg-type]  # a sequence raises TypeError
    except TypeError:
        return list(ids)  # type: ignore[arg-type]
    if view.ndim != 1:
        raise TypeError(f"ids must have one dimension, not {view.ndim}")
    if view.format in ("I", "L") and view.itemsize == 4 and view.c_contiguous:
        return view
    if view.format not in tuple("bBhHiIlLqQ"):
        raise TypeError(f"ids must be integers, not of format {view.format!r}")
    return view.tolist()
