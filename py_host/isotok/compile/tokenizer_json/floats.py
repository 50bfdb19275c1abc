"""Decimal numbers as tokenizers reads them: some are the neighbour of the nearest float.

Its JSON reader makes one float of all digits and divides or multiplies it by a power of ten, so
it rounds twice. Scores of Unigram are added up, and which of two equal paths is the larger one
depends on the last bit.
"""

from __future__ import annotations

import math
from typing import Final

_POWERS: Final = [float(f"1e{exponent}") for exponent in range(309)]
_MOST: Final = (1 << 64) - 1
"""Digits are taken as long as they stay below that."""


def read_float(text: str) -> float:
    """Return what serde_json makes of a number that is no whole one.

    Raises
    ------
    ValueError
        It is out of range.
    """
    whole, _, fraction = text.partition(".")
    digits = whole.lstrip("-") + fraction
    # 18 digits are below 2**64
    if len(digits) <= 18 and digits.isdecimal():
        value = int(digits) / _POWERS[len(fraction)]
        return -value if text[0] == "-" else value
    return _read_any(text)


def _read_any(text: str) -> float:
    mantissa, _, power = text.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    significand, used = _take(0, whole)
    exponent = len(whole) - used  # digits of a long whole number are only counted
    if used == len(whole):
        significand, used = _take(significand, fraction)
        exponent -= used
    if power:
        exponent += max(-(1 << 31), min(int(power[:12]), (1 << 31) - 1))
    value = _scale(significand, exponent)
    return -value if text[0] == "-" else value


def _take(significand: int, digits: str) -> tuple[int, int]:
    for used, digit in enumerate(digits):
        longer = 10 * significand + int(digit)
        if longer > _MOST:
            return significand, used
        significand = longer
    return significand, len(digits)


def _scale(significand: int, exponent: int) -> float:
    value = float(significand)
    while value and exponent < -308:
        value /= _POWERS[308]
        exponent += 308
    if value and exponent > 308:
        raise ValueError("a number out of range")
    if value:
        value = value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]
    if math.isinf(value):
        raise ValueError("a number out of range")
    return value
