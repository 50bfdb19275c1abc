"""`Encoding`: FFBPE's class of tiktoken's shape, over the one in `isotok.compat.tiktoken`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from isotok._load import load
from isotok.compat.tiktoken import Encoding as TiktokenEncoding
from isotok.train._exports import blob
from isotok.train._model_files import read_files
from isotok.train._options import GPT2_PATTERN, FileFormat, Unit


class Encoding(TiktokenEncoding):
    """tiktoken's class, with FFBPE's `from_files`; ids of ranks are tiktoken's."""

    _table: tuple[bytes, ...] | None = None

    @classmethod
    def from_files(  # type: ignore[override]
        cls,
        name: str,
        *,
        vocab_file: str | os.PathLike[str],
        merges_file: str | os.PathLike[str],
        special_tokens: Mapping[str, int] | None = None,
        unit: Unit = "byte",
        format: FileFormat | None = None,
        pat_str: str | None = None,
    ) -> Encoding:
        """Make an encoding from FFBPE's two files; ids are those of the merges."""
        special = dict(special_tokens or {})
        data = read_files(
            vocab_file,
            merges_file,
            unit=unit,
            form=format,
            special=tuple(special),
            pat_str=pat_str,
        )
        encoding = cls.__new__(cls)
        encoding.name = name
        encoding._table = data.tokens
        encoding._pat_str = pat_str or GPT2_PATTERN
        encoding._special_tokens = dict(data.special)
        encoding._mergeable_ranks = {
            token: number
            for number, token in enumerate(data.tokens)
            if number not in data.special_ids
        }
        encoding.max_token_value = len(data.tokens) - 1
        encoding._tokenizer = load(blob(data))
        encoding._has_holes = False
        return encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode text in which nothing is a special token."""
        return self._tokenizer.encode(text, special="none")

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encode texts as `encode_ordinary` does."""
        return self._tokenizer.encode_batch(
            text, special="none", threads=num_threads, output="list"
        )

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Bytes of tokens, special ones too; KeyError for one that does not exist."""
        return b"".join([self._need(token) for token in tokens])

    def _need(self, token: int) -> bytes:
        if self._table is None:
            return super()._need(token)
        if not 0 <= token < len(self._table):
            raise KeyError(f"no token has the id {token}")
        return self._table[token]
