"""Tokens as text in files: letters of GPT-2, and the readable form of FFBPE ("unitoken")."""

from __future__ import annotations

import re
from typing import Final

from isotok.compile.tokenizer_json.bytes_of_letters import BYTE_OF
from isotok.errors import TokenizerError
from isotok.train._options import FileFormat, Unit, one_of

_LETTERS: Final = {byte: chr(letter) for letter, byte in BYTE_OF.items()}
_ESCAPE: Final = re.compile(r"\{u([0-9a-fA-F]{1,6})\}|\{x([0-9a-fA-F]{2})\}|␣|(.)", re.DOTALL)
_SPELLED: Final = {
    **{code: f"{{u{code:04x}}}" for code in (*range(32), 127, *map(ord, "␣{}"))},
    ord(" "): "␣",
}


def resolve_format(unit: Unit, form: FileFormat | None) -> FileFormat:
    """Return the format of a model's files; the default is by the unit."""
    one_of(unit, Unit, "unit")
    if form is None:
        return "unitoken" if unit == "unicode" else "gpt2"
    one_of(form, FileFormat, "format")
    if unit == "unicode" and form == "gpt2":
        raise TokenizerError('format="gpt2" is not compatible with unit="unicode"')
    return form


def spell(token: bytes, form: FileFormat) -> str:
    """Return the text that stands for a token."""
    if form == "gpt2":
        return "".join([_LETTERS[byte] for byte in token])
    text = token.decode("utf-8", "surrogateescape").translate(_SPELLED)
    return re.sub(r"[\udc80-\udcff]", lambda m: f"{{x{ord(m[0]) - 0xDC00:02x}}}", text)


def unspell(text: str, form: FileFormat, where: str) -> bytes:
    """Return the token that a text stands for; `where` is for the error."""
    if form == "gpt2":
        try:
            return bytes([BYTE_OF[ord(letter)] for letter in text])
        except KeyError as error:
            raise TokenizerError(
                f"{where}: {text[:60]!r} holds {chr(error.args[0])!r}, which stands for no byte; "
                'the file may have format="unitoken"'
            ) from None
    return b"".join([_unspelled(match) for match in _ESCAPE.finditer(text)])


def _unspelled(match: re.Match[str]) -> bytes:
    code, byte, other = match.groups()
    if code:
        return chr(int(code, 16)).encode()
    if byte:
        return bytes([int(byte, 16)])
    return other.encode() if other else b" "
