"""Pre-tokenizers: what cuts a text into pieces for the model, as parts of a tokenizer."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import ClassVar, NoReturn

from isotok.compat.tokenizers._arguments import need_str
from isotok.compat.tokenizers._component import (
    BOOL,
    SIZE,
    Component,
    Indexed,
    Json,
    behavior_member,
    member,
    need_char,
    need_scheme,
)
from isotok.compat.tokenizers._regex import Regex, pattern_of
from isotok.compat.tokenizers._run import LETTERS, pre_tokens

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
]

Offsets = tuple[int, int]


class PreTokenizer(Component, role="pre_tokenizer"):
    """What all pre-tokenizers can do. It is made as one of its subclasses."""

    @staticmethod
    def custom(pretok: object) -> NoReturn:
        """Refuse: isotok runs no components that are written in Python."""
        raise NotImplementedError(
            "isotok does not run pre-tokenizers that are written in Python; cut the text before it "
            "is encoded and pass is_pretokenized=True, or use tokenizers"
        )

    def pre_tokenize(self, pretok: object) -> NoReturn:
        """Refuse: there are no texts here that are cut in place."""
        raise NotImplementedError(
            "isotok does not cut a PreTokenizedString in place; use pre_tokenize_str"
        )

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, Offsets]]:
        """Cut a text.

        Returns
        -------
        list of (str, (int, int))
            What the model would get, and the characters that it comes from.

        Raises
        ------
        PatternError
            isotok cannot reproduce this pre-tokenizer; the message says what of it.
        """
        return pre_tokens(self._to_json(), need_str(sequence, "sequence"))


class ByteLevel(PreTokenizer):
    """Words with the space in front of them, in bytes that are spelled as letters.

    Parameters
    ----------
    add_prefix_space : bool
        A space is put in front of the text.
    trim_offsets : bool
        Of no account here: of the post-processor.
    use_regex : bool
        Cut into words. Otherwise bytes are spelled and nothing is cut.
    """

    _defaults: ClassVar = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    add_prefix_space = member("add_prefix_space", BOOL, "Whether a space is put in front.")
    trim_offsets = member("trim_offsets", BOOL, "Of no account here.")
    use_regex = member("use_regex", BOOL, "Whether words are cut.")

    def __init__(
        self,
        add_prefix_space: bool = True,
        trim_offsets: bool = True,
        use_regex: bool = True,
        **_kwargs: object,
    ) -> None:
        self.add_prefix_space = add_prefix_space
        self.trim_offsets = trim_offsets
        self.use_regex = use_regex

    @staticmethod
    def alphabet() -> list[str]:
        """Return the letters that bytes are spelled with."""
        return list(LETTERS)


class Whitespace(PreTokenizer):
    r"""Runs of ``\w`` and of what is neither that nor white space."""

    def __init__(self) -> None: ...


class WhitespaceSplit(PreTokenizer):
    """What is between white space."""

    def __init__(self) -> None: ...


class BertPreTokenizer(PreTokenizer):
    """What is between white space, punctuation apart."""

    def __init__(self) -> None: ...


class UnicodeScripts(PreTokenizer):
    """Runs of one script."""

    def __init__(self) -> None: ...


class Split(PreTokenizer):
    """What a pattern separates.

    Parameters
    ----------
    pattern : str or Regex
    behavior : {"removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"}
        What becomes of the separators.
    invert : bool
        The pattern is of what is to be kept.
    """

    _defaults: ClassVar = {"pattern": None, "behavior": "Removed", "invert": False}
    behavior = behavior_member("What becomes of the separators.")
    invert = member("invert", BOOL, "Whether the pattern is of what is to be kept.")

    def __init__(self, pattern: str | Regex, behavior: str, invert: bool = False) -> None:
        self._set(pattern=pattern_of(pattern))
        self.behavior = behavior
        self.invert = invert

    @property
    def pattern(self) -> NoReturn:
        """Cannot be read, as there."""
        raise ValueError("Cannot get pattern")

    @pattern.setter
    def pattern(self, pattern: object) -> NoReturn:
        pattern_of(pattern)
        raise ValueError("Cannot set pattern, please instantiate a new split pattern instead")


class CharDelimiterSplit(PreTokenizer):
    """What is between characters of one kind.

    Parameters
    ----------
    delimiter : str
        One character.
    """

    _defaults: ClassVar = {"delimiter": " "}
    delimiter = member("delimiter", need_char, "The character.")

    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter


class Punctuation(PreTokenizer):
    """What punctuation separates.

    Parameters
    ----------
    behavior : str
        As of `Split`.
    """

    _defaults: ClassVar = {"behavior": "Isolated"}
    behavior = behavior_member("What becomes of the punctuation.")

    def __init__(self, behavior: str = "isolated") -> None:
        self.behavior = behavior


class Digits(PreTokenizer):
    """Numbers apart.

    Parameters
    ----------
    individual_digits : bool
        Digits one by one.
    """

    _defaults: ClassVar = {"individual_digits": False}
    individual_digits = member("individual_digits", BOOL, "Whether digits come one by one.")

    def __init__(self, individual_digits: bool = False) -> None:
        self.individual_digits = individual_digits


class FixedLength(PreTokenizer):
    """Pieces of one length.

    Parameters
    ----------
    length : int
        Characters.
    """

    _defaults: ClassVar = {"length": 5}
    length = member("length", SIZE, "Characters of a piece.")

    def __init__(self, length: int = 5) -> None:
        self.length = length


class Metaspace(PreTokenizer):
    """Words with a symbol in place of the space in front of them.

    Parameters
    ----------
    replacement : str
        The symbol.
    prepend_scheme : {"always", "first", "never"}
        Whether it is put in front of the text, or only of its first part.
    split : bool
        Cut in front of each symbol.
    """

    _defaults: ClassVar = {"replacement": "▁", "prepend_scheme": "always", "split": True}
    replacement = member("replacement", need_char, "The symbol.")
    prepend_scheme = member("prepend_scheme", need_scheme, "Whether it is put in front.")
    split = member("split", BOOL, "Whether the text is cut in front of it.")

    def __init__(
        self, replacement: str = "▁", prepend_scheme: str = "always", split: bool = True
    ) -> None:
        self.replacement = replacement
        self.prepend_scheme = prepend_scheme
        self.split = split

    def _read(self, part: Json) -> None:
        never = {"prepend_scheme": "never"} if part.get("add_prefix_space") is False else {}
        super()._read({**part, **never})


class Sequence(Indexed, PreTokenizer):
    """One after the other.

    Parameters
    ----------
    pretokenizers : list of PreTokenizer
    """

    _steps_name = "pretokenizers"

    def __init__(self, pretokenizers: list[PreTokenizer]) -> None:
        self._take(PreTokenizer, pretokenizers)

    def __setitem__(self, index: int, value: PreTokenizer) -> None:
        """Put a copy of a pre-tokenizer in the place of another."""
        self._put(PreTokenizer, index, value)

    def _read(self, part: Json) -> None:
        self._read_steps(PreTokenizer, part)
