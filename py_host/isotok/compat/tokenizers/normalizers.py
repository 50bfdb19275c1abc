"""Normalizers: what is done to a text before anything else, as parts of a tokenizer."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import base64
import binascii
from typing import ClassVar, Final, NoReturn

from isotok.compat.tokenizers._arguments import need_str
from isotok.compat.tokenizers._component import (
    BOOL,
    TEXT,
    Component,
    Indexed,
    Json,
    maybe,
    member,
)
from isotok.compat.tokenizers._normalized import NormalizedString
from isotok.compat.tokenizers._regex import Regex, pattern_of
from isotok.compat.tokenizers._run import normalized
from isotok.compile.normalizers.charsmap import Charsmap

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "NORMALIZERS",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "Sequence",
    "Strip",
    "StripAccents",
    "unicode_normalizer_from_str",
]


class Normalizer(Component, role="normalizer"):
    """What all normalizers can do. It is made as one of its subclasses."""

    @staticmethod
    def custom(normalizer: object) -> NoReturn:
        """Refuse: isotok runs no components that are written in Python."""
        raise NotImplementedError(
            "isotok does not run normalizers that are written in Python; normalize the text before "
            "it is encoded, or use tokenizers"
        )

    def normalize(self, normalized: NormalizedString) -> None:
        """Normalize a text in place.

        Parameters
        ----------
        normalized : NormalizedString
        """
        normalized._become(self.normalize_str(str(normalized)))

    def normalize_str(self, sequence: str) -> str:
        """Return a text normalized.

        Raises
        ------
        TokenizerError
            isotok cannot reproduce this normalizer; the message says what of it.
        """
        return normalized(self._to_json(), need_str(sequence, "sequence"))


class BertNormalizer(Normalizer):
    """The normalizer of BERT.

    Parameters
    ----------
    clean_text : bool
        Remove control characters, and make white space spaces.
    handle_chinese_chars : bool
        Put spaces around ideographs.
    strip_accents : bool, optional
        By default as `lowercase`.
    lowercase : bool
    """

    _defaults: ClassVar = {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    clean_text = member("clean_text", BOOL, "Whether control characters are removed.")
    handle_chinese_chars = member(
        "handle_chinese_chars", BOOL, "Whether there are spaces put around ideographs."
    )
    strip_accents = member("strip_accents", maybe(BOOL), "Whether accents are removed.")
    lowercase = member("lowercase", BOOL, "Whether letters are made small.")

    def __init__(
        self,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
    ) -> None:
        self.clean_text = clean_text
        self.handle_chinese_chars = handle_chinese_chars
        self.strip_accents = strip_accents
        self.lowercase = lowercase


class NFD(Normalizer):
    """Canonical decomposition."""

    def __init__(self) -> None: ...


class NFKD(Normalizer):
    """Compatibility decomposition."""

    def __init__(self) -> None: ...


class NFC(Normalizer):
    """Canonical composition."""

    def __init__(self) -> None: ...


class NFKC(Normalizer):
    """Compatibility composition."""

    def __init__(self) -> None: ...


class Lowercase(Normalizer):
    """Small letters."""

    def __init__(self) -> None: ...


class StripAccents(Normalizer):
    """No combining marks."""

    def __init__(self) -> None: ...


class Nmt(Normalizer):
    """No control characters, and white space as spaces."""

    def __init__(self) -> None: ...


class ByteLevel(Normalizer):
    """Bytes, spelled as letters."""

    def __init__(self) -> None: ...


class Strip(Normalizer):
    """No white space at the ends.

    Parameters
    ----------
    left, right : bool
    """

    _defaults: ClassVar = {"strip_left": True, "strip_right": True}
    left = member("strip_left", BOOL, "Whether there is none in front.")
    right = member("strip_right", BOOL, "Whether there is none behind.")

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self.left = left
        self.right = right


class Prepend(Normalizer):
    """A text in front, unless there is nothing.

    Parameters
    ----------
    prepend : str
    """

    _defaults: ClassVar = {"prepend": "▁"}
    prepend = member("prepend", TEXT, "The text.")

    def __init__(self, prepend: str = "▁") -> None:
        self.prepend = prepend


class Replace(Normalizer):
    """One text for another.

    Parameters
    ----------
    pattern : str or Regex
    content : str
    """

    _defaults: ClassVar = {"pattern": None, "content": ""}
    content = member("content", TEXT, "What is put in place of the pattern.")

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self._set(pattern=pattern_of(pattern))
        self.content = content

    @property
    def pattern(self) -> NoReturn:
        """Cannot be read, as there."""
        raise ValueError("Cannot get pattern")

    @pattern.setter
    def pattern(self, pattern: object) -> NoReturn:
        pattern_of(pattern)
        raise ValueError("Cannot set pattern, please instantiate a new replace pattern instead")


class Precompiled(Normalizer):
    """The rules of a SentencePiece model.

    Parameters
    ----------
    precompiled_charsmap : bytes
    """

    _defaults: ClassVar = {"precompiled_charsmap": ""}

    def __init__(self, precompiled_charsmap: bytes) -> None:
        rules = bytes(precompiled_charsmap)
        try:
            Charsmap(rules)
        except Exception as error:
            raise ValueError(
                f"Error while attempting to build Precompiled normalizer: {error}"
            ) from error
        self._set(precompiled_charsmap=base64.b64encode(rules).decode())

    def _read(self, part: Json) -> None:
        super()._read(part)
        try:
            base64.b64decode(self._members["precompiled_charsmap"] or "", validate=True)
        except (binascii.Error, TypeError) as error:
            raise ValueError(f"precompiled_charsmap is not base64: {error}") from error


class Sequence(Indexed, Normalizer):
    """One after the other.

    Parameters
    ----------
    normalizers : list of Normalizer
    """

    _steps_name = "normalizers"

    def __init__(self, normalizers: list[Normalizer]) -> None:
        self._take(Normalizer, normalizers)

    def __len__(self) -> int:
        """Return the number of normalizers."""
        return len(self._list)

    def __setitem__(self, index: int, value: Normalizer) -> None:
        """Put a copy of a normalizer in the place of another."""
        self._put(Normalizer, index, value)

    def _read(self, part: Json) -> None:
        self._read_steps(Normalizer, part)


NORMALIZERS: Final[dict[str, type[Normalizer]]] = {
    "nfc": NFC,
    "nfd": NFD,
    "nfkc": NFKC,
    "nfkd": NFKD,
}


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """Return a normalizer of Unicode by its name."""
    if normalizer not in NORMALIZERS:
        raise ValueError(
            f"{normalizer} is not a known unicode normalizer. Available are {NORMALIZERS.keys()}"
        )
    return NORMALIZERS[normalizer]()
