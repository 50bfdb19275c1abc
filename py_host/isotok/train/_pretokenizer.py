"""`PreTokenizer`: from text to the words that merges are counted in."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

from isotok import _layout_gen as abi
from isotok.errors import TokenizerError
from isotok.train._bigrams import BigramCounter, Shaper, UnicodeBigramSelection
from isotok.train._data import special_tokens as checked_special
from isotok.train._exports import pre_tokenizer
from isotok.train._options import BoundaryMode, UnicodeBigramMixedBoundary, one_of, whole
from isotok.train._sources import check_record

if TYPE_CHECKING:
    from isotok._backend import Backend
    from isotok.train._counts import WordCounter

Path = str | os.PathLike[str]
_FLAGS: Final = abi.PRETOKENS | abi.NO_SPECIAL | abi.NO_TEMPLATE
_WORD: Final[dict[str, Any]] = {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}


class PreTokenizer:
    """Cuts text into words; counts are of words, and no merge goes over their ends.

    Special tokens are cut out first and never counted (of two that begin at one place the longer
    wins), then the pattern finds words; what it does not match is lost. With `unicode_bigrams`
    words are cut further: between two characters of scripts without spaces, unless the pair is in
    the list.

    Parameters
    ----------
    special_tokens : sequence of str
    eot_token : str, optional
        What stands between documents of one file, for the methods that read files.
    pat_str : str, optional
        Pattern of a word, compiled to an automaton; None: GPT-2's.
    unicode_bigrams : sequence of str, optional
        Pairs of characters that stay together; None: no such cuts.
    unicode_bigram_mixed_boundary : {"keep", "split"}
        Whether there are also cuts where only one of the two is of such a script.

    Raises
    ------
    TokenizerError
        The pattern cannot be compiled; the error names what.
    """

    def __init__(
        self,
        special_tokens: Sequence[str],
        eot_token: str | None = None,
        pat_str: str | None = None,
        unicode_bigrams: Sequence[str] | None = None,
        unicode_bigram_mixed_boundary: UnicodeBigramMixedBoundary = "keep",
    ) -> None:
        mixed = unicode_bigram_mixed_boundary
        one_of(mixed, UnicodeBigramMixedBoundary, "unicode_bigram_mixed_boundary")
        self.special_tokens = checked_special(special_tokens).texts
        self.eot_token = eot_token
        self.pat_str = pat_str
        self.unicode_bigrams = None if unicode_bigrams is None else tuple(unicode_bigrams)
        self.unicode_bigram_mixed_boundary: UnicodeBigramMixedBoundary = mixed
        self.shaper = None if unicode_bigrams is None else Shaper(unicode_bigrams, mixed)
        longest_first = sorted(self.special_tokens, key=lambda text: (-len(text), text))
        self.special_pattern = "|".join(map(re.escape, longest_first))
        self._special = re.compile(self.special_pattern) if self.special_pattern else None
        self.backend: Backend = _opened(self.pat_str)

    def __reduce__(self) -> tuple[Any, ...]:
        return PreTokenizer, (
            self.special_tokens,
            self.eot_token,
            self.pat_str,
            self.unicode_bigrams,
            self.unicode_bigram_mixed_boundary,
        )

    @property
    def is_native(self) -> bool:
        """Whether the extension cuts."""
        return type(self.backend).__module__ != "isotok._wasm_backend"

    @cached_property
    def fingerprint(self) -> str:
        """Equal for pre-tokenizers that find the same words."""
        shape = self.shaper and [self.shaper.keys.tolist(), self.shaper.mixed]
        return _digest(["words 1", sorted(self.special_tokens), self.pat_str, shape])

    @cached_property
    def bigram_fingerprint(self) -> str:
        """Equal for pre-tokenizers with the same special tokens."""
        return _digest(["bigrams 1", sorted(self.special_tokens)])

    def with_unicode_bigrams(self, bigrams: Sequence[str]) -> PreTokenizer:
        """Return one that cuts words at all pairs but these."""
        return PreTokenizer(
            self.special_tokens,
            self.eot_token,
            self.pat_str,
            bigrams,
            self.unicode_bigram_mixed_boundary,
        )

    # -- words ------------------------------------------------------------------------

    def segments(self, text: str) -> list[str]:
        """Return what is between special tokens."""
        return [text] if self._special is None else [p for p in self._special.split(text) if p]

    def all_segments(self, texts: Sequence[str]) -> list[str]:
        """Return what is between special tokens, of all texts."""
        if self._special is None:
            return list(texts)
        return [part for text in texts for part in self.segments(text)]

    def unshaped(self, segment: str) -> Iterator[bytes]:
        """Return the words of a text without special tokens, not cut by bigrams yet."""
        data = segment.encode()
        _, places, _ = self.backend.encode_spans(data, _FLAGS, abi.UNIT_BYTE)
        for begin, end in places:
            yield data[begin:end]

    def shaped(self, word: bytes) -> list[bytes]:
        """Return the parts that the bigrams cut a word into."""
        if self.shaper is None or word.isascii():
            return [word]
        return [part.encode() for part in self.shaper.split(word.decode())]

    def words_of(self, text: str) -> list[bytes]:
        """Return the words of a text, in order."""
        return [
            part
            for segment in self.segments(text)
            for word in self.unshaped(segment)
            for part in self.shaped(word)
        ]

    def get_words(self, text: str) -> dict[str, int]:
        """Count the words of a text."""
        check_record(text, 0)
        counter = self.word_counter()
        counter.add_text(text)
        return counter.words()

    def word_counter(self) -> WordCounter:
        """Return an empty counter of words."""
        from isotok.train._counts import WordCounter

        return WordCounter(self)

    def bigram_counter(self) -> BigramCounter:
        """Return an empty counter of pairs of characters."""
        return BigramCounter(self)

    def load_word_counter(self, path: Path) -> WordCounter:
        """Read a counter that `WordCounter.save` wrote (or FFBPE, as JSON)."""
        from isotok.train._counts import WordCounter

        return WordCounter.load(path, self)

    # -- files ------------------------------------------------------------------------

    def find_chunk_boundaries(
        self, path: Path, *, chunk_size: int = 1 << 20, boundary: BoundaryMode = "auto"
    ) -> list[tuple[int, int]]:
        """Return where to cut a file, as (offset, length): behind the first mark after each size.

        Marks: "eot" the `eot_token`, "line" line ends, "utf8" characters; "auto" is "eot" where the
        token occurs in the file, else "line".
        """
        from isotok.train._chunks import find_chunks

        whole(chunk_size, "chunk_size", 1)
        return find_chunks(path, chunk_size, self._mark(boundary, path))

    def _mark(self, boundary: BoundaryMode, path: Path) -> bytes | None:
        from isotok.train._chunks import occurs

        one_of(boundary, BoundaryMode, "boundary")
        eot = self.eot_token.encode() if self.eot_token else None
        if boundary == "eot" and eot is None:
            raise TokenizerError('boundary="eot" needs the eot_token of the pre-tokenizer')
        if boundary == "utf8":
            return None
        if eot is not None and (boundary == "eot" or (boundary == "auto" and occurs(path, eot))):
            return eot
        return b"\n"

    def get_words_from_file(
        self, path: Path, *, chunk_size: int = 1 << 20, boundary: BoundaryMode = "auto"
    ) -> dict[str, int]:
        """Count the words of a text file.

        Documents are what is between end-of-text tokens, or lines, as `boundary` says ("utf8": the
        whole file). `chunk_size` bounds memory only: unlike in FFBPE no count depends on it.
        """
        counter = self.word_counter()
        whole(chunk_size, "chunk_size", 1)
        counter.add_source(self._documents(path, boundary), max_bytes=chunk_size)
        return counter.words()

    def _documents(self, path: Path, boundary: BoundaryMode) -> Iterator[str]:
        from isotok.train._files import files

        mark = self._mark(boundary, path)
        if mark is None:
            return files(path, documents="file").scan()
        if mark == b"\n":
            return files(path).scan()
        return files(path, separator=mark.decode()).scan()

    def get_words_from_segment(self, path: Path, offset: int, length: int) -> dict[str, int]:
        """Count the words of a part of a file, as one document."""
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read(length)
        try:
            return self.get_words(data.decode())
        except UnicodeDecodeError as error:
            raise TokenizerError(
                f"{os.fspath(path)}: byte {offset + error.start} is not UTF-8, or the segment cuts "
                "a character"
            ) from None

    def select_unicode_bigrams_from_file(
        self,
        path: Path,
        *,
        chunk_size: int = 1 << 20,
        boundary: BoundaryMode = "auto",
        top_k: int = 100_000,
        min_freq: int = 16,
    ) -> UnicodeBigramSelection:
        """Count the pairs of characters of a file, and select; see `BigramCounter.select`."""
        counter = self.bigram_counter()
        counter.add_source(self._documents(path, boundary), max_bytes=chunk_size)
        return counter.select(top_k, min_freq)

    def build_unicode_bigrams_from_file(
        self,
        path: Path,
        *,
        chunk_size: int = 1 << 20,
        boundary: BoundaryMode = "auto",
        top_k: int = 100_000,
        min_freq: int = 16,
    ) -> list[str]:
        """Return the pairs of `select_unicode_bigrams_from_file`."""
        return self.select_unicode_bigrams_from_file(
            path, chunk_size=chunk_size, boundary=boundary, top_k=top_k, min_freq=min_freq
        ).bigrams


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@lru_cache(maxsize=16)
def _opened(pat_str: str | None) -> Backend:
    """Open a model that does nothing but cut by a pattern."""
    from isotok._load import load
    from isotok.compile.tokenizer_json import read_document
    from isotok.compile.tokenizer_json.models import model_fields

    step = pre_tokenizer(pat_str, byte_level=False)
    document = json.dumps({"version": "1.0", "model": _WORD, "pre_tokenizer": step})
    fields = model_fields(read_document(document.encode()))
    return load(fields, cache_bytes=0)._backend  # pyright: ignore[reportPrivateUsage]
