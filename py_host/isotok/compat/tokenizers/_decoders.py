"""Decoders as components."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence as Elements
from typing import ClassVar, NoReturn

from isotok.compat.tokenizers._arguments import need_sequence, need_str
from isotok.compat.tokenizers._component import (
    BOOL,
    SIZE,
    TEXT,
    Component,
    Json,
    Steps,
    copied,
    member,
    need_char,
    need_component,
    need_scheme,
)
from isotok.compat.tokenizers._decode import decoded
from isotok.compat.tokenizers._regex import Regex, pattern_of
from isotok.compat.tokenizers._run import BYTE_DECODER


class Decoder(Component, role="decoder"):
    """What all decoders can do. It is made as one of its subclasses."""

    @staticmethod
    def custom(decoder: object) -> NoReturn:
        """Refuse: isotok runs no components that are written in Python."""
        raise NotImplementedError(
            "isotok does not run decoders that are written in Python; make the text of "
            "Tokenizer.id_to_token, or use tokenizers"
        )

    def decode(self, tokens: Elements[str]) -> str:
        """Return the text of tokens."""
        every = need_sequence(tokens, "tokens")
        return decoded(self._to_json(), [need_str(one, "tokens") for one in every])


class ByteLevel(Decoder):
    """Letters that stand for bytes."""

    _defaults: ClassVar = {name: value for name, value in BYTE_DECODER.items() if name != "type"}

    def __init__(self, **_kwargs: object) -> None: ...


class Replace(Decoder):
    """One text for another.

    Parameters
    ----------
    pattern : str or Regex
    content : str
    """

    _defaults: ClassVar = {"pattern": None, "content": ""}

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self._set(pattern=pattern_of(pattern), content=need_str(content, "content"))


class WordPiece(Decoder):
    """Words of pieces.

    Parameters
    ----------
    prefix : str
        What pieces that go on begin with.
    cleanup : bool
        Take away spaces in front of punctuation and such.
    """

    _defaults: ClassVar = {"prefix": "##", "cleanup": True}
    prefix = member("prefix", TEXT, "What pieces that go on begin with.")
    cleanup = member("cleanup", BOOL, "Whether spaces in front of punctuation are taken away.")

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self.prefix = prefix
        self.cleanup = cleanup


class ByteFallback(Decoder):
    """Tokens as ``<0x61>`` that stand for bytes."""

    def __init__(self) -> None: ...


class Fuse(Decoder):
    """All tokens as one, for what follows."""

    def __init__(self) -> None: ...


class Strip(Decoder):
    """Tokens without a character at their ends.

    Parameters
    ----------
    content : str
        The character.
    left, right : int
        At most so many.
    """

    _defaults: ClassVar = {"content": " ", "start": 0, "stop": 0}
    content = member("content", need_char, "The character.")
    start = member("start", SIZE, "At most so many are taken in front.")
    stop = member("stop", SIZE, "At most so many are taken behind.")

    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        self.content = content
        self.start = left
        self.stop = right


class Metaspace(Decoder):
    """A symbol that stands for a space.

    Parameters
    ----------
    replacement : str
        The symbol.
    prepend_scheme : {"always", "first", "never"}
        Unless "never", it was put in front of the text, and is taken away there.
    split : bool
        Of no account here.
    """

    _defaults: ClassVar = {"replacement": "▁", "prepend_scheme": "always", "split": True}
    replacement = member("replacement", need_char, "The symbol.")
    prepend_scheme = member("prepend_scheme", need_scheme, "Whether it was put in front.")
    split = member("split", BOOL, "Of no account here.")

    def __init__(
        self, replacement: str = "▁", prepend_scheme: str = "always", split: bool = True
    ) -> None:
        self.replacement = replacement
        self.prepend_scheme = prepend_scheme
        self.split = split

    def _read(self, part: Json) -> None:
        never = {"prepend_scheme": "never"} if part.get("add_prefix_space") is False else {}
        super()._read({**part, **never})


class BPEDecoder(Decoder):
    """Words whose last pieces have a suffix.

    Parameters
    ----------
    suffix : str
    """

    _defaults: ClassVar = {"suffix": "</w>"}
    suffix = member("suffix", TEXT, "What the last pieces of words end with.")

    def __init__(self, suffix: str = "</w>") -> None:
        self.suffix = suffix


class CTC(Decoder):
    """Letters as a model of speech gives them.

    Parameters
    ----------
    pad_token : str
        What keeps equal letters apart.
    word_delimiter_token : str
        What stands for a space.
    cleanup : bool
        As of `WordPiece`; and whether spaces are put in place of their token.
    """

    _defaults: ClassVar = {"pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
    pad_token = member("pad_token", TEXT, "What keeps equal letters apart.")
    word_delimiter_token = member("word_delimiter_token", TEXT, "What stands for a space.")
    cleanup = member("cleanup", BOOL, "Whether spaces are put in place of their token.")

    def __init__(
        self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True
    ) -> None:
        self.pad_token = pad_token
        self.word_delimiter_token = word_delimiter_token
        self.cleanup = cleanup


class Sequence(Steps, Decoder):
    """One after the other. It holds copies, and cannot be indexed, as there.

    Parameters
    ----------
    decoders : list of Decoder
    """

    _steps_name = "decoders"

    def __init__(self, decoders: list[Decoder]) -> None:
        if not isinstance(decoders, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(decoders).__name__
            raise TypeError(f"'{kind}' object is not an instance of 'list'")
        self._list = [copied(need_component(Decoder, step)) for step in decoders]

    def _read(self, part: Json) -> None:
        self._read_steps(Decoder, part)
