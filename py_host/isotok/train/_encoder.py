"""`BpeEncoder`: text to ids and back, with FFBPE's names, in the core."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from isotok.errors import TokenizerError
from isotok.train._bigrams import Shaper, code_points
from isotok.train._data import ModelData, Shape, data_of
from isotok.train._exports import blob, byte_level_step, tokenizer_json
from isotok.train._model_files import read_files, read_folder
from isotok.train._options import FileFormat, UnicodeBigramMixedBoundary, Unit, one_of
from isotok.train._pretokenizer import PreTokenizer
from isotok.train._sources import check_record
from isotok.train._spelling import resolve_format
from isotok.train._word_encoder import WordEncoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotok import Tokenizer

_Path = str | os.PathLike[str]


class BpeEncoder:
    """Encodes and decodes with a BPE model.

    Parameters
    ----------
    unit : {"byte", "unicode"}
    special_tokens : sequence of str, optional
        Texts that are always the token.
    merges : list of (bytes, bytes), optional
    vocab : dict of bytes to int, optional
    pat_str : str, optional
        Pattern of words; None: GPT-2's.
    unicode_bigrams : sequence of str, optional
        How words were cut further in training; see `PreTokenizer`.
    unicode_bigram_mixed_boundary : {"keep", "split"}
    split_on_vocab_bigrams : bool
        For programs written for FFBPE. It changes no id, there and here; the core cuts where it
        helps.

    Notes
    -----
    Ids come from the core, except where it has no form for the model: merges of single bytes
    beyond ASCII in a Unicode model (training with byte fallback), and `unicode_bigrams` that
    change ids. Those are encoded word by word in Python. An encoder can be pickled.
    """

    def __init__(
        self,
        unit: Unit = "byte",
        *,
        special_tokens: Sequence[str] | None = None,
        merges: list[tuple[bytes, bytes]] | None = None,
        vocab: dict[bytes, int] | None = None,
        pat_str: str | None = None,
        unicode_bigrams: Sequence[str] | None = None,
        unicode_bigram_mixed_boundary: UnicodeBigramMixedBoundary = "keep",
        split_on_vocab_bigrams: bool = True,
    ) -> None:
        resolve_format(unit, None)
        pairs = [(left, right, 0) for left, right in merges or ()]
        if vocab is None:
            raise TokenizerError("vocab: give the vocabulary, or use BpeEncoder.load")
        data = data_of(
            cast("Mapping[bytes, int]", vocab), pairs, special_tokens or (), unit, pat_str, "vocab"
        )
        bigrams = None if unicode_bigrams is None else tuple(unicode_bigrams)
        shape = Shape(bigrams, unicode_bigram_mixed_boundary, split_on_vocab_bigrams)
        self._begin(data, shape)

    @classmethod
    def of(cls, data: ModelData, shape: Shape) -> BpeEncoder:
        """Return the encoder of a model."""
        encoder = cls.__new__(cls)
        encoder._begin(data, shape)
        return encoder

    def _begin(self, data: ModelData, shape: Shape) -> None:
        mixed = cast("UnicodeBigramMixedBoundary", shape.mixed)
        one_of(mixed, UnicodeBigramMixedBoundary, "unicode_bigram_mixed_boundary")
        self.unit: Unit = data.unit
        self.data = data
        self.shape = shape
        special = [text for text, _ in data.special]
        self._pre_tokenizer = PreTokenizer(special, None, data.pat_str, shape.bigrams, mixed)
        self._special = dict(data.special)

    def __reduce__(self) -> tuple[Any, ...]:
        return BpeEncoder.of, (self.data, self.shape)

    @classmethod
    def load(
        cls,
        name: str | None = None,
        *,
        unit: Unit = "byte",
        format: FileFormat | None = None,
        special_tokens: Sequence[str] | None = None,
        input_dir: _Path | None = None,
        merges_file: _Path | None = None,
        vocab_file: _Path | None = None,
        pat_str: str | None = None,
        unicode_bigrams: Sequence[str] | None = None,
        unicode_bigram_mixed_boundary: UnicodeBigramMixedBoundary = "keep",
        split_on_vocab_bigrams: bool = True,
    ) -> BpeEncoder:
        """Read an encoder from its two files: by name and folder, or by their paths."""
        if name is not None:
            merges_file = merges_file or f"merges.{name}[{unit}].txt"
            vocab_file = vocab_file or f"vocab.{name}[{unit}].json"
        if merges_file is None or vocab_file is None:
            raise TokenizerError("load: give a name, or vocab_file and merges_file")
        folder = Path(input_dir or ".")
        data = read_files(
            folder / vocab_file,
            folder / merges_file,
            unit=unit,
            form=format,
            special=tuple(special_tokens or ()),
            pat_str=pat_str,
        )
        bigrams = None if unicode_bigrams is None else tuple(unicode_bigrams)
        return cls.of(data, Shape(bigrams, unicode_bigram_mixed_boundary, split_on_vocab_bigrams))

    @classmethod
    def from_pretrained(cls, directory: _Path) -> BpeEncoder:
        """Read a folder that `BpeModel.save_pretrained`, FFBPE or unitoken wrote."""
        folder = read_folder(directory)
        return cls.of(folder.data, folder.shape)

    # -- ways -------------------------------------------------------------------------

    @cached_property
    def in_core(self) -> bool:
        """Whether the core encodes texts; False: Python does, word by word."""
        return not self.data.bytes_built and not self._shape_matters()

    def _shape_matters(self) -> bool:
        """Whether cuts change ids: without a token across a cut, no merge is."""
        if self.shape.bigrams is None:
            return False
        if self.unit == "byte":
            return True
        shaper = Shaper(self.shape.bigrams, self.shape.mixed)
        special = self.data.special_ids
        texts = (
            token.decode(errors="ignore")
            for number, token in enumerate(self.data.tokens)
            if number not in special and len(token) > 2
        )
        return any(shaper.cuts(code_points(text)).any() for text in texts if len(text) > 1)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model in the core."""
        import isotok

        if self.data.bytes_built:
            raise TokenizerError(
                "the model has merges of single bytes beyond ASCII (trained with byte fallback), "
                "for which a blob has no form; use encode of this class"
            )
        return isotok.load(blob(self.data))

    @cached_property
    def _word_tokenizer(self) -> Tokenizer:
        import json

        import isotok
        from isotok.compile import compile_model

        document = tokenizer_json(self.data)
        letters = self.unit == "byte"
        document["pre_tokenizer"] = byte_level_step(use_regex=False) if letters else None
        document["added_tokens"] = []
        return isotok.load(compile_model(json.dumps(document).encode()))

    @cached_property
    def _word_encoder(self) -> WordEncoder:
        return WordEncoder(self.data)

    # -- encode -----------------------------------------------------------------------

    def encode_word(self, /, word: str) -> list[int]:
        """Encode one word, in which nothing is a special token and nothing is cut."""
        check_record(word, 0)
        if self.data.bytes_built:
            return list(self._word_encoder.encode(word.encode()))
        return self._word_tokenizer.encode(word)

    def encode_words(self, /, words: Sequence[str]) -> list[list[int]]:
        """Encode words, each as `encode_word` does."""
        return [self.encode_word(word) for word in words]

    def encode(self, /, text: str) -> list[int]:
        """Encode a text."""
        check_record(text, 0)
        if self.in_core:
            return self.tokenizer.encode(text)
        ids: list[int] = []
        for part in self._parts(text):
            number = self._special.get(part)
            if number is not None:
                ids.append(number)
                continue
            for word in self._pre_tokenizer.words_of(part):
                ids += self._word_encoder.encode(word)
        return ids

    def _parts(self, text: str) -> list[str]:
        import re

        pattern = self._pre_tokenizer.special_pattern
        return [part for part in re.split(f"({pattern})", text) if part] if pattern else [text]

    def encode_to_numpy(self, /, text: str) -> NDArray[np.uint32]:
        """Encode a text to an array."""
        return np.array(self.encode(text), np.uint32)

    def encode_file(self, /, path: _Path, num_chunks: int = 1024) -> NDArray[np.uint32]:
        """Encode a text file as one text; `num_chunks` is for programs written for FFBPE."""
        from isotok.train._files import files

        del num_chunks
        return self.encode_to_numpy(next(files(path, documents="file").scan()))

    def decode(self, /, idxs: Sequence[int] | NDArray[np.uint32]) -> str:
        """Decode ids; what is not UTF-8 becomes U+FFFD."""
        return self.decode_bytes(idxs).decode(errors="replace")

    def decode_bytes(self, /, idxs: Sequence[int] | NDArray[np.uint32]) -> bytes:
        """Decode ids to bytes."""
        tokens = self.data.tokens
        ids: list[int] = np.asarray(idxs, np.int64).tolist()
        wrong = next((i for i, number in enumerate(ids) if not 0 <= number < len(tokens)), None)
        if wrong is not None:
            from isotok.errors import TokenIdError

            raise TokenIdError(f"token id out of range (ids[{wrong}] is {ids[wrong]})")
        return b"".join([tokens[number] for number in ids])
