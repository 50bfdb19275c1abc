"""`Token`: what a model makes of a text."""

from __future__ import annotations

from isotok.compat.tokenizers._arguments import need_str, u32, usize


class Token:
    """A token with its place.

    Parameters
    ----------
    id : int
    value : str
        Its text.
    offsets : (int, int)
        Half-open range of bytes in what the model was given.
    """

    __slots__ = ("_id", "_offsets", "_value")

    def __init__(self, id: int, value: str, offsets: tuple[int, int]) -> None:
        begin, end = offsets
        self._id = u32(id, "id")
        self._value = need_str(value, "value")
        self._offsets = usize(begin, "offsets"), usize(end, "offsets")

    @property
    def id(self) -> int:
        """Its id."""
        return self._id

    @property
    def value(self) -> str:
        """Its text."""
        return self._value

    @property
    def offsets(self) -> tuple[int, int]:
        """Its place, in bytes."""
        return self._offsets

    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        """Return all three."""
        return self._id, self._value, self._offsets
