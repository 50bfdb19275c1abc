"""Arguments of the methods of Tokenizer, as the back ends take them."""

from __future__ import annotations

from operator import index
from typing import Final, Literal, SupportsIndex

from isotok import _layout_gen as abi
from isotok.errors import TokenizerError

Unit = Literal["codepoint", "byte", "utf16"]

_UNITS: Final = {
    "byte": abi.UNIT_BYTE,
    "codepoint": abi.UNIT_CODEPOINT,
    "utf16": abi.UNIT_UTF16,
}


def unit_of(unit: str) -> int:
    """Look up the number of an offset unit."""
    try:
        return _UNITS[unit]
    except KeyError:
        raise TokenizerError(
            f'unit: {unit!r} is unknown; use "codepoint", "byte" or "utf16"'
        ) from None


def limit_of(limit: SupportsIndex) -> int:
    """`limit` as a number that the core can count to; every back end takes the same."""
    return min(index(limit), 2**63 - 1)


def id_of(token_id: SupportsIndex) -> int:
    """`token_id` as 32 bits; what does not fit is out of every vocabulary's range."""
    number = index(token_id)
    return number if 0 <= number < 0xFFFFFFFF else 0xFFFFFFFF


def flags_of(bos: bool, eos: bool) -> int:
    """Flags of `isotok_encode_options` for the ends of a text."""
    return (abi.BOS if bos else 0) | (abi.EOS if eos else 0)


def decode_flags_of(skip_special_tokens: bool | None) -> int:
    """Flags of `isotok_decode_begin`."""
    if skip_special_tokens is None:
        return 0
    return abi.SKIP_SPECIAL if skip_special_tokens else abi.KEEP_SPECIAL


def threads_of(threads: SupportsIndex | None) -> int:
    """Check the argument `threads`; None and 0 are one."""
    count = 1 if threads is None else index(threads) or 1
    if count < 0:
        raise TokenizerError(f"threads: {count} is negative; use 0 or more")
    return count
