"""`Encoding`: tiktoken's class over an isotok tokenizer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypedDict, cast

from isotok import _layout_gen as abi
from isotok._load import load
from isotok.compat.tiktoken._ranks import merge
from isotok.compat.tiktoken._unstable import Encoded, Unstable
from isotok.compile import compile_model
from isotok.compile._tiktoken import read_ranks, tiktoken_fields
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class _Made(TypedDict):
    name: str
    pat_str: str
    mergeable_ranks: dict[bytes, int]
    special_tokens: dict[str, int]


class Encoding:
    """Text to tokens and back, with tiktoken's methods, arguments, results and exceptions.

    Parameters
    ----------
    name : str
        For `repr`, and for pickling encodings of `get_encoding`.
    pat_str : str
        The pattern that cuts text into pre-tokens; it is compiled, and refused by the name
        of what cannot be.
    mergeable_ranks : dict of bytes to int
    special_tokens : dict of str to int
    explicit_n_vocab : int, optional
        Checked against the two.
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ):  # tiktoken's signature
        self.name = name
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        self.max_token_value = max((*mergeable_ranks.values(), *special_tokens.values()))
        if explicit_n_vocab:
            assert len(mergeable_ranks) + len(special_tokens) == explicit_n_vocab
            assert self.max_token_value == explicit_n_vocab - 1
        source = tiktoken_fields(mergeable_ranks, pat_str, special_tokens)
        self._tokenizer = load(compile_model(source))
        used = len(mergeable_ranks) + len(special_tokens)
        self._has_holes = used != self.max_token_value + 1

    @classmethod
    def from_files(
        cls,
        name: str,
        ranks: str | PathLike[str],
        *,
        pat_str: str,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Encoding:
        """Make an encoding from a rank file, with the pattern and special tokens given."""
        table = read_ranks(Path(ranks).read_bytes())
        return cls(
            name,
            pat_str=pat_str,
            mergeable_ranks=table,
            special_tokens=dict(special_tokens or {}),
        )

    def __repr__(self) -> str:
        """Name of the encoding."""
        return f"<Encoding {self.name!r}>"

    # -- encode -------------------------------------------------------------------

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode text in which nothing is a special token."""
        return self._tokenizer.encode(_need_text(text))

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """Encode text with special tokens.

        Parameters
        ----------
        text : str
        allowed_special : "all" or set of str
            Special tokens whose text becomes the token.
        disallowed_special : "all" or collection of str
            Texts that raise ValueError; "all": every special token that is not allowed.
        """
        allowed = self._allowed(text, allowed_special, disallowed_special)
        return self._encode(_need_text(text), allowed)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> npt.NDArray[np.uint32]:
        """Encode to an array of uint32, as `encode` does; lone surrogates are an error."""
        allowed = self._allowed(text, allowed_special, disallowed_special)
        if not _need_text(text).isascii():
            text.encode()
        if allowed & self._aliases:
            import numpy

            return numpy.array(self._encode_split(text, allowed), dtype=numpy.uint32)
        return self._tokenizer.encode_to_numpy(text, special=allowed)

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encode texts as `encode_ordinary` does."""
        return self._tokenizer.encode_batch(text, threads=num_threads, output="list")

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[list[int]]:
        """Encode texts as `encode` does."""
        allowed: AbstractSet[str] = set()
        for each in text:
            allowed = self._allowed(each, allowed_special, disallowed_special)
        if allowed & self._aliases:
            return [self._encode_split(each, allowed) for each in text]
        return self._tokenizer.encode_batch(
            text, threads=num_threads, special=allowed, output="list"
        )

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Encode text that may go on.

        Returns
        -------
        list of int
            Tokens that stay, whatever follows.
        list of list of int
            What can come behind them, where the rest of the text begins; tiktoken gives it in no
            order, here it is sorted.
        """
        allowed = self._allowed(text, allowed_special, disallowed_special)
        text.encode()  # lone surrogates are an error here
        return self._unstable.completions(self._with_last(text, allowed))

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Token of a text or bytes, special or not; KeyError if there is none."""
        raw = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        found = self._mergeable_ranks.get(raw)
        if found is None:
            found = self._special_tokens.get(raw.decode(errors="replace"))
        if found is None:
            raise KeyError(raw)
        return found

    def _allowed(
        self,
        text: str,
        allowed_special: Literal["all"] | AbstractSet[str],
        disallowed_special: Literal["all"] | Collection[str],
    ) -> AbstractSet[str]:
        """Special tokens to look for; ValueError if the text holds one that must not be."""
        everything = self.special_tokens_set
        allowed = everything if allowed_special == "all" else allowed_special
        disallowed = everything - allowed if disallowed_special == "all" else disallowed_special
        if disallowed:
            found = _any_of(frozenset(disallowed)).search(text)
            if found is not None:
                _raise_disallowed(found.group())
        return allowed & everything

    def _encode(self, text: str, allowed: AbstractSet[str]) -> list[int]:
        if not allowed:
            return self._tokenizer.encode(text)
        if allowed & self._aliases:
            return self._encode_split(text, allowed)
        return self._tokenizer.encode(text, special=allowed)

    def _encode_split(self, text: str, allowed: AbstractSet[str]) -> list[int]:
        """Encode text with special tokens that the model does not know under this text."""
        ids: list[int] = []
        for i, part in enumerate(_any_of(frozenset(allowed)).split(text)):
            if i % 2:
                ids.append(self._special_tokens[part])
            else:
                ids += self._tokenizer.encode(part)
        return ids

    def _with_last(self, text: str, allowed: AbstractSet[str]) -> Encoded:
        """Encode text, and count the tokens of what the pattern found last."""
        *before, rest = _any_of(frozenset(allowed)).split(text) if allowed else [text]
        tokens = self._encode("".join(before), allowed)
        backend = self._tokenizer._backend  # pyright: ignore[reportPrivateUsage]
        _, pieces, _ = backend.encode_spans(rest, abi.PRETOKENS, abi.UNIT_BYTE)
        ids, spans, _ = backend.encode_spans(rest, 0, abi.UNIT_BYTE)
        begin = pieces[-1][0] if pieces else 0
        return Encoded(tokens + ids, sum(span[0] >= begin for span in spans))

    @cached_property
    def _unstable(self) -> Unstable:
        ranks = self._mergeable_ranks
        return Unstable(
            ranks,
            self.token_byte_values(),
            {rank: raw for raw, rank in ranks.items()},
            lambda texts: self._tokenizer.encode_batch(texts, output="list"),
        )

    # -- decode -------------------------------------------------------------------

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Bytes of tokens, end to end; KeyError for one that does not exist."""
        if self._has_holes:
            for token in tokens:
                self._need(token)
        try:
            return self._tokenizer.decode_bytes(tokens)
        except TokenizerError as error:
            wrong = next((t for t in tokens if not 0 <= t <= self.max_token_value), None)
            raise _no_token(wrong) from error

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Text of tokens; `errors` as in `bytes.decode`."""
        return self.decode_bytes(tokens).decode(errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Bytes of a token; KeyError if it does not exist."""
        return self._need(token)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Bytes of each token."""
        return [self._need(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Text of tokens, and for each the character that holds its first byte."""
        parts = self.decode_tokens_bytes(tokens)
        offsets: list[int] = []
        position = 0
        for part in parts:
            inside = 0x80 <= part[0] < 0xC0
            offsets.append(max(0, position - inside))
            position += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode(), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Texts of lists of tokens."""
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Bytes of lists of tokens."""
        return [self.decode_bytes(tokens) for tokens in batch]

    def _need(self, token: int) -> bytes:
        try:
            found = self._tokenizer.id_to_bytes(token)
        except TokenizerError:
            found = b""
        if not found:
            raise _no_token(token)
        return found

    # -- what else there is ---------------------------------------------------------

    def token_byte_values(self) -> list[bytes]:
        """Bytes of all tokens that are not special, sorted."""
        return sorted(self._mergeable_ranks)

    @property
    def eot_token(self) -> int:
        """Token of the end of a text; KeyError without one."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """Texts of the special tokens."""
        return set(self._special_tokens)

    @cached_property
    def _aliases(self) -> frozenset[str]:
        """Special tokens whose id is that of another one, which the model knows."""
        every = self._special_tokens.items()
        return frozenset(t for t, i in every if self._tokenizer.id_to_bytes(i) != t.encode())

    @cached_property
    def _special_values(self) -> frozenset[int]:
        return frozenset(self._special_tokens.values())

    def is_special_token(self, token: int) -> bool:
        """Whether a token is special."""
        assert isinstance(token, int)
        return token in self._special_values

    @property
    def n_vocab(self) -> int:
        """Largest token + 1."""
        return self.max_token_value + 1

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        raw = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return merge(self._mergeable_ranks, raw)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Encode text that the package regex cuts."""
        import regex

        pieces: list[str] = regex.findall(self._pat_str, text)
        return [token for piece in pieces for token in self._encode_single_piece(piece)]

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encode bytes; those from the first that are no UTF-8 on are one piece."""
        try:
            return self.encode_ordinary(text.decode())
        except UnicodeDecodeError as error:
            good, rest = text[: error.start].decode(), text[error.start :]
        return self._unstable.broken(self._with_last(good, frozenset()), rest)

    def __getstate__(self) -> object:
        """Name of a registered encoding, else what it was made from."""
        from isotok.compat.tiktoken import registry

        if self is registry.ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: object) -> None:
        """Make it again, or find the registered one."""
        if isinstance(value, str):
            from isotok.compat.tiktoken import registry

            self.__dict__ = registry.get_encoding(value).__dict__
        else:
            self.__init__(**cast("_Made", value))


def _need_text(text: str) -> str:
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"expected str, not {type(text).__name__}")
    return text


def _no_token(token: int | None) -> KeyError | OverflowError:
    if token is not None and not 0 <= token < 1 << 32:
        return OverflowError(f"token {token} is no unsigned number of 32 bits")
    return KeyError(f"Invalid token for decoding: {token}")


@lru_cache(maxsize=128)
def _any_of(tokens: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(tokens, key=len, reverse=True)
    return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")


def _raise_disallowed(token: str) -> NoReturn:
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        f"To encode it as that token, pass it in allowed_special: {{{token!r}}}.\n"
        "To encode it as ordinary text, leave it out of disallowed_special, for example "
        "with disallowed_special=()."
    )
