"""Python text as UTF-8, and positions in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

_PAIR: Final = "[\ud800-\udbff][\udc00-\udfff]"


def to_utf8(text: str) -> bytes:
    r"""Encode any str: pairs of surrogates are joined, lone ones become U+FFFD.

    Parameters
    ----------
    text : str
        May hold surrogates, as JSON escapes or ``surrogateescape`` leave them.

    Returns
    -------
    bytes
        Well-formed UTF-8.

    Examples
    --------
    >>> to_utf8("é")
    b'\xc3\xa9'
    >>> to_utf8("\ud83d\ude00") == "😀".encode()
    True
    >>> to_utf8("a\udc80").decode()
    'a�'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return join_surrogates(text).encode()


def join_surrogates(text: str) -> str:
    """Join pairs of surrogates and replace lone ones by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def has_pairs(text: str) -> bool:
    """Whether `join_surrogates` makes `text` shorter."""
    return re.search(_PAIR, text) is not None


class PairPositions:
    """Maps positions in `join_surrogates(text)` back to positions in `text`.

    Parameters
    ----------
    text : str
        The text as it was given, counted in code points.
    """

    __slots__ = ("_joined",)

    def __init__(self, text: str) -> None:
        # Positions of the joined pairs; each one before a position adds one code point.
        self._joined = [match.start() - k for k, match in enumerate(re.finditer(_PAIR, text))]

    def original(self, position: int) -> int:
        """Position in `text` of `position` in the joined text."""
        return position + bisect_left(self._joined, position)


def length_in(text: str | bytes, unit: str) -> int:
    """Length of a text in a unit of offsets; ill-formed bytes count as U+FFFD, one each.

    Examples
    --------
    >>> [length_in("a😀".encode(), unit) for unit in ("codepoint", "byte", "utf16")]
    [2, 5, 3]
    """
    if unit == "codepoint" and isinstance(text, str):
        return len(text)
    data = to_utf8(text) if isinstance(text, str) else text
    if unit == "byte":
        return len(data)
    points = data.decode(errors="surrogateescape")
    return len(points) + (sum(point > "\uffff" for point in points) if unit == "utf16" else 0)
