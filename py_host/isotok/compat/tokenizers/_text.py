"""A text as an encoding: ids and offsets at once, tokens and words when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from isotok import _layout_gen as abi
from isotok._backend import UNIT_NORMALIZED
from isotok.compat.tokenizers._arguments import Input
from isotok.compat.tokenizers._columns import Column, Lazy
from isotok.compat.tokenizers._content import Content, Offsets, of_text
from isotok.compat.tokenizers._file import File

if TYPE_CHECKING:
    from isotok._backend import Backend

_PRETOKENIZER: Final = 1 << 14
"""The feature of a model that cuts text into pre-tokens."""
WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_SYMBOL: Final = "▁".encode()


@dataclass(frozen=True)
class Engine:
    """An opened model with its file."""

    backend: Backend
    file: File
    flags: int
    """Whether special tokens are looked for; without the template."""

    @cached_property
    def cuts(self) -> bool:
        """Whether there is a pre-tokenizer; without one, what is between added tokens is a word."""
        return bool(self.backend.info()[3] & _PRETOKENIZER)

    def encode(self, text: str, type_id: int, word: int | None = None) -> Content:
        """Encode a text; `word`: it is a word with this number."""
        found = self.backend.encode_spans(text, self.flags, abi.UNIT_CODEPOINT)
        ids, offsets, unknown = found
        source = Source(self, text, ids, offsets, unknown)
        words: Column[int | None] = Lazy(source.words)
        if word is not None:
            words = [word for _ in ids]
        return of_text(ids, Lazy(source.tokens), offsets, words, type_id)

    def encode_fast(self, texts: Sequence[Input]) -> list[Content]:
        """Encode texts, or lists of words; the encodings have ids and nothing else."""
        words = [word for text in texts for word in ([text] if isinstance(text, str) else text)]
        found = iter(self.backend.encode_batch(tuple(words), self.flags, 0, True))
        return [
            _bare(next(found) if isinstance(text, str) else list(chain(*islice(found, len(text)))))
            for text in texts
        ]


def _bare(ids: list[int]) -> Content:
    """Return an encoding that has ids alone."""
    size = len(ids)
    words: list[int | None] = [None] * size
    return of_text(ids, [""] * size, [(0, 0)] * size, words, 0)


class Source:
    """A text that was encoded, and what else can be known of its tokens."""

    def __init__(
        self,
        engine: Engine,
        text: str,
        ids: list[int],
        offsets: list[Offsets],
        unknown: list[tuple[int, int, int]],
    ) -> None:
        self.engine = engine
        self.text = text
        self.ids = ids
        self.offsets = offsets
        self.unknown = unknown

    # -- words ----------------------------------------------------------------------

    def words(self) -> list[int | None]:
        """Number of the split that each token is of: a pre-token, or an added token."""
        _, spans, _ = self._spans(0)
        places = self._split_places()
        words: list[int | None] = []
        at = 0
        for begin, end in spans:
            if begin == end:
                while places[at][0] != places[at][1]:
                    at += 1
                words.append(at)
                at += 1
                continue
            while places[at][1] <= begin or places[at][0] == places[at][1]:
                at += 1
            words.append(at)
        return words

    def _split_places(self) -> list[Offsets]:
        """Ranges of the splits in normalized text; those of added tokens are empty."""
        _, spans, _ = self._spans(abi.PRETOKENS)
        if self.engine.cuts:
            return spans
        places: list[Offsets] = []
        for begin, end in spans:  # parts of one split follow on one another
            if begin < end and places and places[-1][0] < places[-1][1]:
                places[-1] = places[-1][0], end
            else:
                places.append((begin, end))
        return places

    def _spans(self, flags: int) -> tuple[list[int], list[Offsets], list[tuple[int, int, int]]]:
        engine = self.engine
        return engine.backend.encode_spans(self.text, engine.flags | flags, UNIT_NORMALIZED)

    # -- tokens ---------------------------------------------------------------------

    def tokens(self) -> list[str]:
        """Texts of the tokens."""
        file = self.engine.file
        texts = file.everything
        found = [texts[number] for number in self.ids]
        if file.stripping:
            self._with_spaces(found)
        if file.is_unigram and self.unknown:
            self._as_written(found)
        return found

    def _with_spaces(self, found: list[str]) -> None:
        """Added tokens that take white space along have it in their text."""
        stripping = self.engine.file.stripping
        for i, number in enumerate(self.ids):
            token = stripping.get(number)
            if token is not None:
                begin, end = self.offsets[i]
                written = self.text[begin:end]
                images = self.engine.file.images if token.normalized else None
                written = written if images is None else images.of(written)
                content = self.engine.file.decoded(token)
                if written.strip(WHITE_SPACE) == content.strip(WHITE_SPACE):
                    found[i] = written

    def _as_written(self, found: list[str]) -> None:
        """Unknown text of unigram models is its own text, as it was normalized."""
        inside = [one for one in self.unknown if one[1] < one[2]]  # others are added tokens
        if inside:
            normalized = self._normalized()
            for i, begin, end in inside:
                found[i] = normalized[begin:end].decode(errors="replace")

    def _normalized(self) -> bytes:
        """What is between added tokens, normalized, end to end."""
        engine, parts = self.engine, list[bytes]()
        _, spans, _ = self._spans(abi.PRETOKENS)
        _, raw, _ = engine.backend.encode_spans(
            self.text, engine.flags | abi.PRETOKENS, abi.UNIT_CODEPOINT
        )
        at = done = 0
        for (begin, end), (raw_begin, raw_end) in zip(spans, raw, strict=True):
            if begin == end:
                parts.append(self._part(self.text[at:raw_begin], begin - done))
                at, done = raw_end, begin
        last = spans[-1][1] if spans else 0
        parts.append(self._part(self.text[at:], last - done))
        return b"".join(parts)

    def _part(self, text: str, size: int) -> bytes:
        """Normalize a text between added tokens, which may have a symbol in front or not."""
        data, _ = self.engine.backend.normalize(text, 0, abi.UNIT_BYTE, False)
        return data[len(_SYMBOL) :] if len(data) == size + len(_SYMBOL) else data
