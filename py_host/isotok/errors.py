"""Exceptions of isotok: each says what is wrong, where, and what to do."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Status(IntEnum):
    """Outcome of a call into the core; the names of `isotok.h` without ``ISOTOK_``."""

    OK = 0
    NEED_OUTPUT = 1
    NEED_SCRATCH = 2
    AT_LIMIT = 3
    E_ARGUMENT = -1
    E_ABI = -2
    E_UNSUPPORTED = -3
    E_CORRUPT = -4
    E_ALIGNMENT = -5
    E_ID_RANGE = -6
    E_TEXT = -7
    E_STATE = -9
    E_TOO_LARGE = -10


class TokenizerError(ValueError):
    """A model, a text or ids that cannot be used.

    Parameters
    ----------
    message : str
        What, where, and what to do.
    status : Status, optional
        The core's status; None for errors that the Python side found.
    what : int
        Number of the cause (``ISOTOK_WHAT_…`` in `isotok.h`), 0 if there is none.
    index, offset, need : int
        The element (piece, slot, position in the ids), the byte of the model or text, and
        the size that would have been enough; 0 where they do not apply.
    """

    def __init__(
        self,
        message: str,
        *,
        status: Status | None = None,
        what: int = 0,
        index: int = 0,
        offset: int = 0,
        need: int = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.what = what
        self.index = index
        self.offset = offset
        self.need = need

    def name_source(self, name: str) -> None:
        """Put the name of the file in front of the message, if it is not there yet."""
        if not str(self).startswith(f"{name}: "):
            self.args = (f"{name}: {self}",)


class TokenIdError(TokenizerError, IndexError):
    """A token id that is not in the vocabulary."""


class LimitError(TokenizerError):
    """A call needed more memory or time than ``limits=`` allows."""


class ClosedError(TokenizerError):
    """The tokenizer was closed."""


class NotOpenError(TokenizerError):
    """The tokenizer was never opened; only `isotok.load` opens one."""


_STATUSES: Final = {int(status): status for status in Status}
_NO_INDEX: Final = 0xFFFFFFFF  # the compiler's, for errors that are about no piece
_CORRUPT: Final = "get the file again, or compile it again from its source"
_TODO: Final[dict[Status, str]] = {
    Status.E_ABI: "install one version of isotok only",
    Status.E_UNSUPPORTED: "update isotok",
    Status.E_CORRUPT: _CORRUPT,
    Status.E_TEXT: "encode it in parts",
    Status.E_TOO_LARGE: "use less at a time, or raise the limit",
}


def make_error(
    status: int,
    status_text: str,
    what: int,
    what_text: str,
    index: int,
    offset: int,
    need: int,
    subject: str,
) -> TokenizerError:
    """Make the exception for an `isotok_error`.

    Parameters
    ----------
    status, what, index, offset, need : int
        Members of the struct.
    status_text, what_text : str
        The core's texts for `status` and `what`.
    subject : str
        What `offset` and `index` count in: "model", "source", "text", "ids" …

    Returns
    -------
    TokenizerError
        Of the class that fits the status; it is not raised.
    """
    known = _STATUSES.get(status)
    kind = TokenIdError if known is Status.E_ID_RANGE else TokenizerError
    return kind(
        _message(known, status_text, what_text, index, offset, need, subject),
        status=known,
        what=what,
        index=index,
        offset=offset,
        need=need,
    )


def _message(
    status: Status | None,
    status_text: str,
    what_text: str,
    index: int,
    offset: int,
    need: int,
    subject: str,
) -> str:
    if status is Status.NEED_OUTPUT and subject == "buffer":
        return f"the buffer is too small: the text has {need} tokens; give at least {need} elements"
    if status is Status.E_ID_RANGE:
        where = f" (ids[{index}])" if subject == "ids" else ""
        return f"token id out of range{where}; ids are 0 <= id < vocab_size"
    what, _, todo = what_text.partition("; ")
    if status is Status.E_ARGUMENT and subject in ("text", "texts"):  # it is about the options
        subject, index = "options", 0
    parts = [f"{subject}: {status_text}"]
    if what:
        parts.append(f": {what}")
    if place := _place(status, index, offset):
        parts.append(f" ({place})")
    todo = todo or (_TODO.get(status, "") if status is not None else "")
    if todo:
        parts.append(f"; {todo}")
    return "".join(parts)


def _place(status: Status | None, index: int, offset: int) -> str:
    """Where in the model: only statuses about bytes of a file have a place."""
    if status not in (Status.E_CORRUPT, Status.E_UNSUPPORTED, Status.E_ARGUMENT, Status.E_TEXT):
        return ""
    places = [f"index {index}"] if index not in (0, _NO_INDEX) else []
    if offset or status is Status.E_TEXT:
        places.append(f"byte {offset}")
    return ", ".join(places)
