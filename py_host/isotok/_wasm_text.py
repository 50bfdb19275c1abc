"""Texts and ids of Python as the bytes that an instance of `isotok.wasm` takes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from isotok import _layout_gen as abi
from isotok._text import to_utf8
from isotok.errors import make_error

if TYPE_CHECKING:
    from typing_extensions import Buffer


def utf8(text: object) -> bytes:
    """UTF-8 of a str or bytes argument."""
    if isinstance(text, str):
        return to_utf8(text)
    if isinstance(text, bytes):
        return text
    raise TypeError(f"text must be str or bytes, not {type(text)!r}")


def numbers(ids: Sequence[int] | Buffer) -> Buffer:
    """Ids as uint32; a number that is no uint32 is an id out of range."""
    if not isinstance(ids, list):
        return ids  # type: ignore[return-value]  # the Tokenizer passes uint32 memory
    try:
        return array("I", ids)
    except OverflowError:
        for index, number in enumerate(ids):
            if not 0 <= number < abi.NO_TOKEN:
                status = abi.E_ID_RANGE
                raise make_error(status, "", abi.WHAT_TOKEN_ID, "", index, 0, 0, "ids") from None
        raise
