"""`BpeModel`: what training gives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotok.errors import TokenizerError
from isotok.train import _exports
from isotok.train._atomic import write_atomic
from isotok.train._data import ModelData, Shape
from isotok.train._encoder import BpeEncoder
from isotok.train._model_files import (
    merges_txt,
    read_folder,
    vocabulary_json,
    write_files,
    write_folder,
)
from isotok.train._options import FileFormat, UnicodeBigramMixedBoundary, Unit
from isotok.train._spelling import resolve_format

if TYPE_CHECKING:
    from isotok import Tokenizer

_Path = str | os.PathLike[str]


class BpeModel:
    """A BPE model that does not change; `train_bpe`, `BpeTrainer` and `from_pretrained` make it.

    Parameters
    ----------
    data : ModelData
        Tokens and merges.
    shape : Shape, optional
        How words are cut further.
    stats : dict, optional
        What training says about itself.
    """

    def __init__(
        self, data: ModelData, shape: Shape | None = None, stats: dict[str, Any] | None = None
    ) -> None:
        self.data = data
        self.shape = shape or Shape()
        self.stats = stats or {}
        self._encoder: BpeEncoder | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BpeModel, (self.data, self.shape, self.stats)

    def __repr__(self) -> str:
        """Name unit and size."""
        return f"<BpeModel of {len(self.data.tokens)} tokens, unit {self.unit!r}>"

    @classmethod
    def from_pretrained(cls, directory: _Path) -> BpeModel:
        """Read a folder that `save_pretrained`, FFBPE or unitoken wrote."""
        folder = read_folder(directory)
        return cls(folder.data, folder.shape)

    @classmethod
    def from_files(
        cls,
        vocab_path: _Path,
        merges_path: _Path,
        *,
        unit: Unit = "byte",
        format: FileFormat | None = None,
        special_tokens: Sequence[str] = (),
        pat_str: str | None = None,
    ) -> BpeModel:
        """Read the two files of FFBPE, or vocab.json and merges.txt of a byte-level model."""
        from isotok.train._model_files import read_files

        special = tuple(special_tokens)
        return cls(
            read_files(
                vocab_path, merges_path, unit=unit, form=format, special=special, pat_str=pat_str
            )
        )

    # -- what it is -------------------------------------------------------------------

    @property
    def unit(self) -> Unit:
        """What words are made of at first."""
        return self.data.unit

    @property
    def vocab(self) -> dict[bytes, int]:
        """A copy of the vocabulary."""
        return dict(self.data.ids)

    @property
    def vocab_size(self) -> int:
        """How many tokens there are."""
        return len(self.data.tokens)

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """Pairs of tokens by rank."""
        tokens = self.data.tokens
        return [(tokens[left], tokens[right]) for left, right, _, _ in self.data.merges]

    @property
    def last_merge_freq(self) -> int | None:
        """Count of the pair that was merged last; None without merges."""
        return self.data.merges[-1][3] if self.data.merges else None

    @property
    def digest(self) -> str:
        """Equal for equal models."""
        import hashlib

        parts = repr((self.unit, self.data.tokens, self.data.special, self.data.merges))
        return hashlib.sha256(parts.encode()).hexdigest()[:32]

    @property
    def special_tokens(self) -> list[str]:
        """Special tokens by id."""
        return [text for text, _ in sorted(self.data.special, key=lambda item: item[1])]

    # -- use --------------------------------------------------------------------------

    def encoder(
        self,
        *,
        pat_str: str | None = None,
        unicode_bigrams: Sequence[str] | None = None,
        unicode_bigram_mixed_boundary: UnicodeBigramMixedBoundary = "keep",
        split_on_vocab_bigrams: bool = True,
    ) -> BpeEncoder:
        """Return an encoder; without a pattern and bigrams it has those of the training."""
        given = (pat_str, unicode_bigrams, unicode_bigram_mixed_boundary, split_on_vocab_bigrams)
        if given == (None, None, "keep", True):
            if self._encoder is None:
                self._encoder = BpeEncoder.of(self.data, self.shape)
            return self._encoder
        return BpeEncoder.of(*self._configured(*given))

    def _configured(
        self,
        pat_str: str | None,
        unicode_bigrams: Sequence[str] | None,
        mixed: UnicodeBigramMixedBoundary,
        split: bool,
    ) -> tuple[ModelData, Shape]:
        d = self.data
        pattern = d.pat_str if pat_str is None else pat_str
        shape = Shape(self.shape.bigrams, self.shape.mixed, split)
        if unicode_bigrams is not None:
            shape = Shape(tuple(unicode_bigrams), mixed, split)
        return ModelData(d.unit, d.tokens, d.special, d.merges, pattern), shape

    @property
    def tokenizer(self) -> Tokenizer:
        """The model as an `isotok.Tokenizer`."""
        return self.encoder().tokenizer

    def encode(self, text: str) -> list[int]:
        """Encode a text."""
        return self.encoder().encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        """Decode ids."""
        return self.encoder().decode(ids)

    # -- files of FFBPE ---------------------------------------------------------------

    def save_vocab_json(self, path: _Path, *, format: FileFormat | None = None) -> None:
        """Write the vocabulary."""
        write_atomic(path, vocabulary_json(self.data, resolve_format(self.unit, format)))

    def save_merges_txt(self, path: _Path, *, format: FileFormat | None = None) -> None:
        """Write the merges with their counts, as FFBPE does; `save_gpt2` writes none."""
        write_atomic(path, merges_txt(self.data, resolve_format(self.unit, format)))

    def save(self, name: str, *, outdir: _Path = ".", format: FileFormat | None = None) -> None:
        """Write `vocab.NAME[UNIT].json` and `merges.NAME[UNIT].txt`."""
        folder = Path(outdir)
        self.save_files(
            folder / f"vocab.{name}[{self.unit}].json",
            folder / f"merges.{name}[{self.unit}].txt",
            format=format,
        )

    def save_files(
        self, vocab_path: _Path, merges_path: _Path, *, format: FileFormat | None = None
    ) -> None:
        """Write vocabulary and merges."""
        write_files(self.data, vocab_path, merges_path, format)

    def save_pretrained(
        self,
        directory: _Path,
        *,
        format: FileFormat | None = None,
        pat_str: str | None = None,
        unicode_bigrams: Sequence[str] | None = None,
        unicode_bigram_mixed_boundary: UnicodeBigramMixedBoundary = "keep",
        split_on_vocab_bigrams: bool = True,
    ) -> None:
        """Write a folder that says all about itself; `from_pretrained` and FFBPE read it."""
        data, shape = self._configured(
            pat_str, unicode_bigrams, unicode_bigram_mixed_boundary, split_on_vocab_bigrams
        )
        BpeEncoder.of(data, shape)  # refuses what cannot be used, before anything is written
        write_folder(directory, data, shape, format)

    # -- files of others --------------------------------------------------------------

    def to_blob(self) -> bytes:
        """Return the `.isotok` file."""
        self._need_core()
        return _exports.blob(self.data)

    def _need_core(self) -> None:
        encoder = self.encoder()
        if not encoder.in_core:
            _ = self.data.bytes_built and encoder.tokenizer  # says why
            raise TokenizerError(
                "the model's unicode_bigrams change ids, for which a blob has no form; use encode "
                "of this class"
            )

    def save_isotok(self, path: _Path) -> None:
        """Write the `.isotok` file, which `isotok.load` opens on every host."""
        write_atomic(path, self.to_blob())

    def save_tokenizer_json(self, path: _Path) -> None:
        """Write a tokenizer.json, which gives the same ids in tokenizers."""
        write_atomic(path, _exports.tokenizer_json_bytes(self.data))

    def save_tiktoken(self, path: _Path) -> None:
        """Write tiktoken's rank file; pattern and special tokens have to be given beside it."""
        write_atomic(path, _exports.rank_file(self.data))

    def save_gpt2(self, directory: _Path) -> None:
        """Write vocab.json and merges.txt as Hugging Face reads them."""
        if self.unit != "byte":
            raise TokenizerError("vocab.json and merges.txt of GPT-2 are of byte models")
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / "vocab.json", vocabulary_json(self.data, "gpt2"))
        write_atomic(folder / "merges.txt", merges_txt(self.data, "gpt2", counts=False))
