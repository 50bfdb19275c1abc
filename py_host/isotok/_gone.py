"""What stands in a Tokenizer where a back end was, or never came."""

from __future__ import annotations

from typing import Final, NoReturn

from isotok.errors import ClosedError, NotOpenError, TokenizerError


class Gone:
    """Stands where a back end was, or never came: every use is an error."""

    def __init__(self, error: type[TokenizerError], message: str) -> None:
        self._error = error
        self._message = message

    def __getattr__(self, name: str) -> NoReturn:
        raise self._error(self._message)


CLOSED: Final = Gone(ClosedError, "the tokenizer is closed; load the model again")
NEVER_OPENED: Final = Gone(NotOpenError, "the tokenizer was never opened; isotok.load() opens one")
