"""The error of a pattern or a pre-tokenizer that isotok cannot reproduce exactly."""

from __future__ import annotations

from isotok.errors import Status, TokenizerError


class PatternError(TokenizerError):
    """A construct that is refused: it would have to be approximated.

    Parameters
    ----------
    construct : str
        Its name.
    pattern : str, optional
        The pattern that holds it.
    offset : int, optional
        Position of the construct in the pattern, in characters.
    """

    def __init__(self, construct: str, pattern: str = "", offset: int = 0) -> None:
        where = f" at character {offset} of the pattern {_shorten(pattern)}" if pattern else ""
        super().__init__(
            f"pre-tokenizer: {construct}{where}; isotok does not support this",
            status=Status.E_UNSUPPORTED,
            offset=offset,
        )
        self.construct = construct
        self.pattern = pattern


def _shorten(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 200 else f"{pattern[:200]}…")
