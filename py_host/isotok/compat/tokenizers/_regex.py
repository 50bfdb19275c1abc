"""`Regex`: a pattern that is told apart from a text."""

from __future__ import annotations

from isotok.compat.tokenizers._arguments import need_str


class Regex:
    """A regular expression, in the dialect of tokenizers.

    It is compiled with what it becomes a part of; what the pattern compiler does not support is
    refused then, by name.

    Parameters
    ----------
    pattern : str
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = need_str(pattern, "pattern")


def pattern_of(argument: object) -> dict[str, str]:
    """Return a text or a `Regex` as a file has it; else TypeError."""
    if isinstance(argument, Regex):
        return {"Regex": argument._pattern}  # pyright: ignore[reportPrivateUsage]
    if isinstance(argument, str):
        return {"String": need_str(argument, "pattern")}
    kind = type(argument).__name__
    raise TypeError(f"argument 'pattern': '{kind}' object is neither a 'str' nor a 'Regex'")
