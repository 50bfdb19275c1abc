"""`Encoding`: tokens of a text or a pair, and where they come from."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from isotok.compat.tokenizers import _content
from isotok.compat.tokenizers._arguments import (
    ignored,
    need_bool,
    need_sequence,
    need_str,
    shown_as,
    u32,
    usize,
)
from isotok.compat.tokenizers._columns import value
from isotok.compat.tokenizers._content import Content, Offsets, Pad


class Encoding:
    """Tokens with all that is known of them; columns are made when they are asked for."""

    def __new__(cls) -> Encoding:
        self = super().__new__(cls)
        self._content = Content()
        return self

    _content: Content

    @staticmethod
    def _of(content: Content) -> Encoding:
        self = Encoding.__new__(Encoding)
        self._content = content
        return self

    def __getstate__(self) -> bytes:
        """Return all members, as tokenizers does."""
        made = _content.to_json(self._content)
        return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()

    def __setstate__(self, state: bytes) -> None:
        """Take members over."""
        self._content = _content.from_json(json.loads(state))

    def __repr__(self) -> str:
        """Return the number of tokens, and what there is to ask for."""
        return (
            f"Encoding(num_tokens={len(self)}, attributes=[ids, type_ids, tokens, offsets, "
            "attention_mask, special_tokens_mask, overflowing])"
        )

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self._content)

    # -- columns ------------------------------------------------------------------

    @property
    def ids(self) -> list[int]:
        """Ids of the tokens."""
        return list(self._content.ids)

    @property
    def type_ids(self) -> list[int]:
        """Numbers that tell the texts of a pair apart."""
        return list(value(self._content.type_ids))

    @property
    def tokens(self) -> list[str]:
        """Texts of the tokens, as the vocabulary spells them."""
        return list(value(self._content.tokens))

    @property
    def offsets(self) -> list[Offsets]:
        """Half-open ranges of characters in the texts."""
        return list(value(self._content.offsets))

    @property
    def word_ids(self) -> list[int | None]:
        """Number of the word that a token is of; None: it comes from no text."""
        return list(value(self._content.words))

    @property
    def words(self) -> list[int | None]:
        """Old name of `word_ids`."""
        warnings.warn(
            "Deprecated in 0.9.4: Encoding.words is deprecated, please use Encoding.word_ids "
            "instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.word_ids

    @property
    def special_tokens_mask(self) -> list[int]:
        """1: a token of the template, or of padding."""
        return list(value(self._content.special))

    @property
    def attention_mask(self) -> list[int]:
        """0: padding."""
        return list(value(self._content.attention))

    @property
    def sequence_ids(self) -> list[int | None]:
        """Number of the text that a token is of; None: it is of none."""
        found: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            begin, end = self._range(sequence)
            found[begin:end] = [sequence] * (end - begin)
        return found

    @property
    def n_sequences(self) -> int:
        """Number of texts."""
        return len(self._content.ranges) or 1

    @property
    def overflowing(self) -> list[Encoding]:
        """What truncation has cut off, each part as an encoding of its own."""
        return [Encoding._of(one) for one in value(self._content.overflowing)]

    # -- from one to another ----------------------------------------------------------

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Offsets | None:
        """Range of the tokens of a word."""
        word = u32(word_index, "word_index")
        begin, end = self._range(usize(sequence_index, "sequence_index"))
        words = value(self._content.words)[begin:end]
        # the words of a text ascend
        before = takewhile(lambda other: other is None or other <= word, words)
        places = [i for i, other in enumerate(before) if other == word]
        return (begin + places[0], begin + places[-1] + 1) if places else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Offsets | None:
        """Range of the characters of a word."""
        found = self.word_to_tokens(word_index, sequence_index)
        if found is None:
            return None
        offsets = value(self._content.offsets)
        return offsets[found[0]][0], offsets[found[1] - 1][1]

    def token_to_sequence(self, token_index: int) -> int | None:
        """Number of the text of a token."""
        token = usize(token_index, "token_index")
        if token > len(self):
            return None
        if not self._content.ranges:
            return 0
        every = self._content.ranges.items()
        return next((k for k, (begin, end) in every if begin <= token < end), None)

    def token_to_chars(self, token_index: int) -> Offsets | None:
        """Range of the characters of a token, in its text."""
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        return value(self._content.offsets)[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """Number of the word of a token, in its text."""
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        return value(self._content.words)[token_index]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Number of the first token that holds a character of a text."""
        position = usize(char_pos, "char_pos")
        begin, end = self._range(usize(sequence_index, "sequence_index"))
        offsets = value(self._content.offsets)[begin:end]
        places = (i for i, (first, last) in enumerate(offsets, begin) if first <= position < last)
        return next(places, None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Number of the word that holds a character of a text."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def _range(self, sequence: int) -> Offsets:
        return self._content.ranges.get(sequence, (0, len(self)))

    # -- changes ------------------------------------------------------------------

    def set_sequence_id(self, sequence_id: int) -> None:
        """Make all tokens those of the text with this number."""
        self._content = self._content.all_of(usize(sequence_id, "sequence_id"))

    @shown_as("length", direction="right", pad_id=0, pad_type_id=0, pad_token="[PAD]")
    def pad(self, length: int, **kwargs: Any) -> None:
        """Make it at least so long.

        Parameters
        ----------
        length : int
        direction : {"right", "left"}
            Where the padding goes.
        pad_id, pad_type_id : int
        pad_token : str
        """
        options: dict[str, Any] = {"id": 0, "type_id": 0, "token": "[PAD]", "left": False}
        for name, argument in kwargs.items():
            if name == "direction":
                options["left"] = _is_left(argument)
            elif name in ("pad_id", "pad_type_id"):
                options[name[4:]] = u32(argument, name)
            elif name == "pad_token":
                options["token"] = need_str(argument, name)
            else:
                ignored(name)
        self._content = _content.padded(self._content, usize(length, "length"), Pad(**options))

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Keep at most `max_length` tokens; the others become `overflowing`.

        Parameters
        ----------
        max_length : int
        stride : int
            Tokens that each overflowing part has in common with the one before it.
        direction : {"right", "left"}
            Where tokens are cut off.
        """
        most, overlap = usize(max_length, "max_length"), usize(stride, "stride")
        if need_str(direction, "direction") not in ("left", "right"):
            raise ValueError(f"Invalid truncation direction value : {direction}")
        self._content = _content.truncated(self._content, most, overlap, direction)

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Join encodings.

        Parameters
        ----------
        encodings : list of Encoding
        growing_offsets : bool
            The offsets of each begin where those before it end.
        """
        growing = need_bool(growing_offsets, "growing_offsets")
        contents: list[Content] = []
        for one in need_sequence(encodings, "encodings"):
            if not isinstance(one, Encoding):
                kind = type(one).__name__
                raise TypeError(f"argument 'encodings': '{kind}' object is not an 'Encoding'")
            contents.append(_content.forced(one._content))
        return Encoding._of(_content.merged(contents, growing=growing))


def _is_left(direction: object) -> bool:
    if need_str(direction, "direction") not in ("left", "right"):
        raise ValueError(f"Unknown `direction`: `{direction}`. Use one of `left` or `right`")
    return direction == "left"


def content_of(argument: object, name: str) -> Content | None:
    """Return what an encoding holds; None for None, else TypeError."""
    if argument is None:
        return None
    if not isinstance(argument, Encoding):
        kind = type(argument).__name__
        raise TypeError(f"argument '{name}': '{kind}' object is not an 'Encoding'")
    return argument._content  # pyright: ignore[reportPrivateUsage]
