"""`train_bpe`: one call from texts to a model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from isotok.errors import TokenizerError
from isotok.train._checkpoint import Checkpoint
from isotok.train._counts import WordCounter
from isotok.train._data import Shape
from isotok.train._model import BpeModel
from isotok.train._options import (
    InitialAlphabet,
    Place,
    TieBreak,
    UnicodeBigramMixedBoundary,
    Unit,
)
from isotok.train._pretokenizer import PreTokenizer
from isotok.train._progress import ProgressKind, progress_of
from isotok.train._run import Batches, Lossless, count_words, select_bigrams, train_in_rounds
from isotok.train._sources import Source, replayable
from isotok.train._trainer import BpeTrainer

_BATCH: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Bigrams:
    """Which pairs of characters words are not cut at (see `PreTokenizer`).

    Parameters
    ----------
    top_k, min_freq : int
        The `top_k` most frequent of at least `min_freq`, with all ties of the last.
    mixed_boundary : {"keep", "split"}
        Whether to cut where only one character is of a script without spaces.
    """

    top_k: int = 100_000
    min_freq: int = 16
    mixed_boundary: UnicodeBigramMixedBoundary = "keep"


def train_bpe(
    texts: str | Iterable[str] | Source | WordCounter,
    *,
    vocab_size: int,
    special_tokens: Sequence[str] = (),
    unit: Unit = "byte",
    hot_pair_window_size: int | None = None,
    max_records: int = 4096,
    max_bytes: int = 64 * 1024 * 1024,
    prefetch: int = 1,
    pat_str: str | None = None,
    initial_alphabet: InitialAlphabet | Sequence[str] | None = None,
    tie_break: TieBreak | None = None,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    limit_alphabet: int | None = None,
    forbidden_merges: Iterable[tuple[str | bytes, str | bytes]] | None = None,
    special_tokens_position: Place = "first",
    primary_vocab_ratio: float | None = None,
    bigrams: Bigrams | None = None,
    lossless: bool = False,
    start: BpeModel | None = None,
    memory_budget: int | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 60.0,
    progress: ProgressKind = None,
) -> BpeModel:
    """Train a BPE model.

    Parameters
    ----------
    texts : str, iterable of str, Source or WordCounter
        One text, or records, each a document (see `files` for files); or counts, whose
        pre-tokenizer is then used.
    vocab_size : int
        Tokens of the model: 256 bytes, special tokens, and what is learned.
    special_tokens : sequence of str
        Cut out of texts before words are counted.
    unit : {"byte", "unicode"}
        What words are made of at first; see `BpeTrainer`, also for the options not named here.
    hot_pair_window_size : int, optional
        Bounds memory; changes no result.
    max_records, max_bytes, prefetch : int
        How records are read; see `WordCounter.add_source`. Batches are not above 1 MiB here:
        nothing depends on them but memory.
    pat_str : str, optional
        Pattern of words; None: GPT-2's.
    initial_alphabet, tie_break, min_frequency, max_token_length, limit_alphabet, \
forbidden_merges, special_tokens_position
        See `BpeTrainer`.
    primary_vocab_ratio : float, optional
        Unicode units: train with byte fallback; see `BpeTrainer.train_with_bbpe_fallback`.
    bigrams : Bigrams, optional
        Count pairs of characters first, and cut words where pairs are rare. Changes the model.
    lossless : bool
        Unicode units: do so in a way that does not change the model, in less memory.
    start : BpeModel, optional
        Go on from this model: its tokens keep their ids.
    memory_budget : int, optional
        Bytes of counts above which they go to files in `spill_dir`.
    checkpoint : path, optional
        Folder in which the run is kept, so that the same call goes on after it was stopped. The
        source must give the same records.
    checkpoint_seconds : float
        How often to write there.
    progress : callable, "bar" or "json", optional
        Called with (stage, done, total or None); or a line on standard error.

    Returns
    -------
    BpeModel
        With fewer tokens than asked for if no pair is left.

    Raises
    ------
    TokenizerError
        An option is wrong, there are no words, or a file is broken.
    TypeError
        A record is no text.

    Examples
    --------
    >>> model = train_bpe(["low lower lowest", "new newer"], vocab_size=260)
    >>> model.vocab_size, model.decode(model.encode("lower"))
    (260, 'lower')
    """
    if isinstance(texts, WordCounter):
        pat_str = texts.pre_tokenizer.pat_str
    shape = _shape_of(unit, bigrams, lossless, primary_vocab_ratio, texts)
    reports = progress_of(progress)
    options: dict[str, Any] = {
        "min_frequency": min_frequency,
        "tie_break": tie_break,
        "max_token_length": max_token_length,
        "limit_alphabet": limit_alphabet,
        "forbidden_merges": None if forbidden_merges is None else list(forbidden_merges),
        "hot_pair_window_size": hot_pair_window_size,
        "special_tokens_position": special_tokens_position,
    }
    if start is not None:
        unit, special_tokens = start.unit, start.special_tokens
        pat_str = start.data.pat_str if pat_str is None else pat_str
        del options["special_tokens_position"]
        trainer = BpeTrainer.from_model(start, progress=reports, **options)
    else:
        alphabet = initial_alphabet
        trainer = BpeTrainer(
            special_tokens,
            unit=unit,
            initial_alphabet=alphabet,
            pat_str=pat_str,
            progress=reports,
            **options,
        )
    trainer.keep_no_words()
    # What cannot be is said before hours of counting.
    if vocab_size < trainer.vocab_size:
        trainer.train(vocab_size)
    if isinstance(texts, WordCounter):
        pre_tokenizer = texts.pre_tokenizer
    else:
        pre_tokenizer = PreTokenizer(special_tokens, None, pat_str, None, shape.mixed_boundary)
    keep: Checkpoint | None = None
    if checkpoint is not None:
        key = {
            **{name: repr(value) for name, value in options.items()},
            "vocab_size": vocab_size,
            "unit": unit,
            "initial_alphabet": repr(initial_alphabet),
            "words": pre_tokenizer.fingerprint,
            "primary_vocab_ratio": primary_vocab_ratio,
            "bigrams": repr(bigrams),
            "lossless": lossless,
            "start": None if start is None else start.digest,
        }
        keep = Checkpoint(checkpoint, key, checkpoint_seconds)
    how = Batches(max_records, min(max_bytes, _BATCH), prefetch, reports, keep)
    run = _Run(trainer, pre_tokenizer, how, vocab_size, memory_budget, spill_dir)
    if isinstance(texts, WordCounter):
        words = pre_tokenizer.word_counter()
        words.merge(texts)  # a copy: those of the caller stay, also where files hold them
        trainer.replace_words(words)
        return run.finish(primary_vocab_ratio, {})
    source: object = [texts] if isinstance(texts, str) else texts
    if lossless:
        return run.lossless(replayable(source), min_frequency)
    if bigrams is not None:
        source = replayable(source)
        chosen = select_bigrams(pre_tokenizer, source, bigrams.top_k, bigrams.min_freq, how)
        run.pre_tokenizer = pre_tokenizer.with_unicode_bigrams(chosen.bigrams)
        trainer.with_cutoff(max(chosen.cutoff_freq or 0, min_frequency))
    trainer.replace_words(count_words(run.pre_tokenizer, source, how, memory_budget, spill_dir))
    return run.finish(primary_vocab_ratio, {})


def _shape_of(
    unit: Unit, bigrams: Bigrams | None, lossless: bool, ratio: float | None, texts: object
) -> Bigrams:
    if not lossless and bigrams is None:
        return Bigrams()
    if isinstance(texts, WordCounter):
        raise TokenizerError("bigrams and lossless need texts, not counts")
    if not lossless:
        assert bigrams is not None
        return bigrams
    if bigrams is not None:
        raise TokenizerError("lossless chooses the bigrams itself: leave bigrams out")
    if unit != "unicode":
        raise TokenizerError(
            'lossless needs unit="unicode": a pair of bytes is of many pairs of characters, whose '
            "counts bound nothing"
        )
    if ratio not in (None, 1.0):
        raise TokenizerError("lossless and primary_vocab_ratio exclude each other")
    return Bigrams()


@dataclass(slots=True)
class _Run:
    trainer: BpeTrainer
    pre_tokenizer: PreTokenizer
    how: Batches
    target: int
    budget: int | None
    folder: str | os.PathLike[str] | None

    def finish(self, ratio: float | None, stats: dict[str, Any]) -> BpeModel:
        """Train on the words of the trainer."""
        if ratio is None:
            train_in_rounds(self.trainer, self.target, self.how.checkpoint)
        else:
            self.trainer.train_with_bbpe_fallback(self.target, primary_vocab_ratio=ratio)
        return self._model(stats)

    def lossless(self, source: Source, least: int) -> BpeModel:
        """Train in as many passes as it takes."""
        plan = Lossless(self.pre_tokenizer, source, self.how, self.budget, self.folder, least)
        return self._model(plan.train(self.trainer, self.target), shaped=False)

    def _model(self, stats: dict[str, Any], *, shaped: bool = True) -> BpeModel:
        model = self.trainer.validate_model()
        pre_tokenizer = self.pre_tokenizer
        mixed = pre_tokenizer.unicode_bigram_mixed_boundary
        shape = Shape(pre_tokenizer.unicode_bigrams if shaped else None, mixed)
        return BpeModel(model.data, shape, {**stats, **self.trainer.memory_usage})
