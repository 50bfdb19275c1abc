"""`DecodeStream`: text of ids that come one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from isotok.compat.tokenizers._arguments import need_bool, u32, u32_list
from isotok.compat.tokenizers._tokenizer import Tokenizer

__all__ = ["DecodeStream"]

_BROKEN: Final = "\ufffd"


class DecodeStream:
    """Decodes ids as they come; a text comes out when it is complete.

    Parameters
    ----------
    ids : list of int, optional
        Ids that were there before: they are decoded with the others, and give no text.
    skip_special_tokens : bool
        Leave special tokens out.

    Notes
    -----
    It decodes again what may belong together, as tokenizers does. `isotok.Tokenizer.stream` does
    not have to.
    """

    def __init__(
        self, ids: Sequence[int] | None = None, skip_special_tokens: bool | None = False
    ) -> None:
        self._ids = [] if ids is None else list(u32_list(ids, "ids"))
        self._skip = bool(skip_special_tokens) and need_bool(
            skip_special_tokens, "skip_special_tokens"
        )
        self._prefix = ""
        self._prefix_ids = 0

    def step(self, tokenizer: Tokenizer, id: int | Sequence[int]) -> str | None:
        """Add ids.

        Parameters
        ----------
        tokenizer : Tokenizer
        id : int, or list of int

        Returns
        -------
        str or None
            The text that is complete now; None if there is none.

        Raises
        ------
        ValueError
            The ids that came before have another text now.
        """
        if not isinstance(tokenizer, Tokenizer):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(tokenizer).__name__
            raise TypeError(f"argument 'tokenizer': '{kind}' object is not a 'Tokenizer'")
        new = _new_ids(id)
        if not self._prefix and self._ids:
            self._begin(tokenizer)
        self._ids = self._ids + new  # a copy has the same list
        text = self._decode(tokenizer)
        if len(text.encode()) <= len(self._prefix.encode()) or text.endswith(_BROKEN):
            return None
        if not text.startswith(self._prefix):
            raise ValueError(
                "Invalid prefix encountered while decoding stream. "
                f"Token ID: {self._ids[-1]}, Expected prefix: '{self._prefix}', "
                f"Actual string: '{text}'"
            )
        found = text[len(self._prefix) :]
        kept = len(self._ids) - self._prefix_ids
        self._ids = self._ids[self._prefix_ids :]
        self._prefix = self._decode(tokenizer)
        self._prefix_ids = kept
        return found

    def _begin(self, tokenizer: Tokenizer) -> None:
        prefix = self._decode(tokenizer)
        if not prefix.endswith(_BROKEN):
            self._prefix = prefix
            self._prefix_ids = len(self._ids)

    def _decode(self, tokenizer: Tokenizer) -> str:
        return tokenizer.decode(self._ids, self._skip)


def _new_ids(argument: object) -> list[int]:
    try:
        return [u32(argument, "id")]
    except (TypeError, OverflowError):
        pass
    try:
        return list(u32_list(argument, "id"))
    except (TypeError, OverflowError):
        raise TypeError("StreamInput must be either an integer or a list of integers") from None
