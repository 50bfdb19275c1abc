"""JSON as tokenizers writes it: its spelling of numbers, and the order of members as it is."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

_string: Final = json.encoder.encode_basestring


class F32(float):
    """A number that is a float32 there: it is written with as many digits as that needs."""

    def __new__(cls, number: float) -> F32:
        """Round a number."""
        return super().__new__(cls, struct.unpack("<f", struct.pack("<f", number))[0])

    def shortest(self) -> float:
        """Return the number whose digits are enough to tell it from other float32."""
        return next(
            found for digits in range(1, 10) if F32(found := float(f"{self:.{digits}g}")) == self
        )


def number(value: float) -> str:
    """Return the shortest decimal number, with an exponent below 1e-5 and from 1e16 on."""
    text = repr(value.shortest() if isinstance(value, F32) else float(value))
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text
    power = int(exponent)
    if power == -5:
        sign = "-" if mantissa[0] == "-" else ""
        return f"{sign}0.0000{mantissa.lstrip('-').replace('.', '')}"
    return f"{mantissa}e{power:+d}" if power > 0 else f"{mantissa}e{power}"


def dump(value: object, *, pretty: bool = False) -> str:
    """Return a value as JSON."""
    return _dump(value, "\n" if pretty else "")


def _dump(value: Any, line: str) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return number(value)
    inner = line and line + "  "
    if isinstance(value, Mapping):
        colon = ": " if line else ":"
        items = cast("Mapping[str, Any]", value).items()
        every = [f"{_string(k)}{colon}{_dump(one, inner)}" for k, one in items]
        return _joined(every, "{}", line, inner)
    return _joined([_dump(one, inner) for one in cast("Iterable[Any]", value)], "[]", line, inner)


def _joined(parts: list[str], ends: str, line: str, inner: str) -> str:
    if not parts:
        return ends
    return f"{ends[0]}{inner}{f',{inner}'.join(parts)}{line}{ends[1]}"
