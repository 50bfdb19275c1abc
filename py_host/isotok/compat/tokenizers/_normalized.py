"""`NormalizedString`: a text, and what normalizers made of it."""

from __future__ import annotations

from isotok.compat.tokenizers._arguments import need_str


class NormalizedString:
    """A text that can be normalized.

    Which characters of it become which is not known here, as it is there: its parts and
    places cannot be asked for. `Tokenizer.encode` gives offsets.

    Parameters
    ----------
    sequence : str
    """

    def __init__(self, sequence: str) -> None:
        self._original = self._text = need_str(sequence, "sequence")

    @property
    def original(self) -> str:
        """The text as it was."""
        return self._original

    @property
    def normalized(self) -> str:
        """The text as it is."""
        return self._text

    def _become(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Return both texts."""
        return f'NormalizedString(original="{self._original}", normalized="{self._text}")'

    def __str__(self) -> str:
        """Return the text as it is."""
        return self._text
