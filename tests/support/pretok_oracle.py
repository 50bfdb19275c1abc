"""The pre-tokenization of tokenizers and tiktoken themselves, as spans of bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate, pairwise

VERSIONS = {"tokenizers": "0.23.3", "tiktoken": "0.14.0"}

Spans = list[tuple[int, int]]


def missing() -> str:
    """Why there is no oracle; empty if there is one."""
    from importlib.metadata import PackageNotFoundError, version

    for name, wanted in VERSIONS.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            return f"{name} {wanted} is not installed"
        if found != wanted:
            return f"{name} is {found}, not {wanted}"
    return ""


class HuggingFace:
    """A `pre_tokenizer` of a tokenizer.json."""

    def __init__(self, pre_tokenizer: object) -> None:
        from tokenizers import Tokenizer

        model = {"type": "BPE", "vocab": {}, "merges": []}
        whole = {"version": "1.0", "pre_tokenizer": pre_tokenizer, "model": model}
        found = Tokenizer.from_str(json.dumps(whole)).pre_tokenizer
        assert found is not None
        self._cut = found.pre_tokenize_str

    def spans(self, text: str) -> Spans:
        """Return the spans of one text."""
        found = [span for _, span in self._cut(text)]
        if text.isascii():
            return found
        at = [0, *accumulate(len(character.encode()) for character in text)]
        return [(at[begin], at[end]) for begin, end in found]

    def pieces_of_many(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text as the model gets them."""
        return [[piece for piece, _ in self._cut(text)] for text in texts]

    def spans_of_many(self, texts: Sequence[str]) -> list[Spans]:
        """Return the spans of each text."""
        return list(map(self.spans, texts))


class Tiktoken:
    """A pattern of tiktoken, which does not tell what it cut.

    It looks a piece up before it merges anything. So a vocabulary of all substrings of the
    texts gives one id for each piece.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def _encoding(self, pieces: set[bytes]) -> object:
        import tiktoken

        ranks = {bytes([i]): i for i in range(256)}
        for piece in pieces:
            ranks.setdefault(piece, len(ranks))
        return tiktoken.Encoding(
            "oracle", pat_str=self.pattern, mergeable_ranks=ranks, special_tokens={}
        )

    def spans_of_many(self, texts: Sequence[str]) -> list[Spans]:
        """Return the spans of each of some short texts; dropped text must be elsewhere unique."""
        substrings: set[bytes] = set()
        for text in texts:
            characters = [character.encode() for character in text]
            for begin in range(len(characters)):
                for end in range(begin + 1, len(characters) + 1):
                    substrings.add(b"".join(characters[begin:end]))
        encoding = self._encoding(substrings)
        found = []
        for text in texts:
            ids = encoding.encode_ordinary(text)  # type: ignore[attr-defined]
            pieces = [encoding.decode_single_token_bytes(i) for i in ids]  # type: ignore[attr-defined]
            found.append(_place(text.encode(), pieces))
        return found

    def agrees(self, text: str, spans: Spans) -> bool:
        """Whether these are the pieces of a long text.

        With the pieces and all pairs of neighbours as the vocabulary, any other cut gives
        other ids.
        """
        raw = text.encode()
        pieces = [raw[begin:end] for begin, end in spans]
        encoding = self._encoding({*pieces, *(a + b for a, b in pairwise(pieces))})
        wanted = [encoding.encode_single_token(piece) for piece in pieces]  # type: ignore[attr-defined]
        return encoding.encode_ordinary(text) == wanted  # type: ignore[attr-defined]


def _place(raw: bytes, pieces: list[bytes]) -> Spans:
    """Find where pieces in this order are; text between them was dropped."""
    spans, at = [], 0
    for piece in pieces:
        at = raw.index(piece, at)
        spans.append((at, at + len(piece)))
        at += len(piece)
    return spans
