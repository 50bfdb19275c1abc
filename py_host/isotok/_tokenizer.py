"""The class `Tokenizer`: the same face on every back end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, NoReturn, Self, cast, overload

from isotok import _layout_gen as abi
from isotok._backend import Backend, Limits
from isotok._info import Info, PieceType, info_of
from isotok._results import (
    Batch,
    Encoding,
    NormalizedBytes,
    NormalizedText,
    normalized_text,
    numbers_of,
)
from isotok._text import PairPositions, has_pairs
from isotok.errors import ClosedError, NotOpenError, TokenizerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

Unit = Literal["codepoint", "byte", "utf16"]

_UNITS: Final = {
    "byte": abi.UNIT_BYTE,
    "codepoint": abi.UNIT_CODEPOINT,
    "utf16": abi.UNIT_UTF16,
}


class _Gone:
    """Stands where a back end was or never came; every use is an error."""

    def __init__(self, error: type[TokenizerError], message: str) -> None:
        self._error = error
        self._message = message

    def __getattr__(self, name: str) -> NoReturn:
        raise self._error(self._message)


_CLOSED: Final = cast(
    Backend, _Gone(ClosedError, "the tokenizer is closed; load the model again")
)
_NEVER_OPENED: Final = cast(
    Backend, _Gone(NotOpenError, "the tokenizer was never opened; use isotok.load()")
)
