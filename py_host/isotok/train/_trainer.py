"""`BpeTrainer`: merges from counts, with FFBPE's names."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from isotok.errors import TokenizerError
from isotok.train._counts import WordCounter, Words, checked_words
from isotok.train._data import (
    ModelData,
    SpecialTokens,
    assemble,
    learned_of,
    special_tokens,
)
from isotok.train._engine import Engine, new_engine
from isotok.train._fallback import run_with_fallback
from isotok.train._options import (
    FileFormat,
    InitialAlphabet,
    Learned,
    Options,
    Place,
    Progress,
    Tick,
    TieBreak,
    Unit,
    forbidden_pairs,
    whole,
)
from isotok.train._python import first_tokens
from isotok.train._table import Table, new_words

if TYPE_CHECKING:
    from isotok.train._model import BpeModel


class BpeTrainer:
    """Learns merges from words with counts.

    Parameters
    ----------
    special_tokens : sequence of str
        Tokens that no merge makes; they have the first ids (or the last).
    unit : {"byte", "unicode"}
        What words are made of at first: bytes, or characters, of which those beyond ASCII get a
        token when they are frequent enough and are bytes otherwise.
    initial_alphabet : {"raw", "byte_level"} or sequence of str, optional
        Order of the 256 bytes ("raw": by value; "byte_level": Hugging Face's); or characters that
        get a token first (Unicode units).
    tie_break : {"smallest_pair_id", "largest_content"}, optional
        Which of pairs of equal counts is merged first; the default is Hugging Face's.
    parallel_merge_min_occurs_in : int, optional
        For programs written for FFBPE; it changes nothing.
    hot_pair_window_size : int, optional
        How many pairs keep the list of words they are in: less memory, the same merges.
    bigram_cutoff_freq : int, optional
        Least count of a pair that `train` merges; `validate_model` checks it too.
    min_frequency : int
        The same without the check.
    max_token_length : int, optional
        Most bytes of a token that a merge makes.
    limit_alphabet : int, optional
        Most characters beyond ASCII that get a token (Unicode units).
    forbidden_merges : iterable of (str or bytes, str or bytes), optional
        Pairs of tokens that are never merged.
    special_tokens_position : {"first", "last"}
        Whether special tokens have the first or the last ids.
    pat_str : str, optional
        The pattern that the words were found with, for the model; `add_word_counter` sets it.
    progress : callable, optional
        Called with ("merge", tokens, target) from time to time.
    """

    def __init__(
        self,
        special_tokens: Sequence[str],
        *,
        unit: Unit = "byte",
        initial_alphabet: InitialAlphabet | Sequence[str] | None = None,
        tie_break: TieBreak | None = None,
        parallel_merge_min_occurs_in: int | None = None,
        hot_pair_window_size: int | None = None,
        bigram_cutoff_freq: int | None = None,
        min_frequency: int = 0,
        max_token_length: int | None = None,
        limit_alphabet: int | None = None,
        forbidden_merges: Iterable[tuple[str | bytes, str | bytes]] | None = None,
        special_tokens_position: Place = "first",
        pat_str: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        for value, name in (
            (parallel_merge_min_occurs_in, "parallel_merge_min_occurs_in"),
            (bigram_cutoff_freq, "bigram_cutoff_freq"),
        ):
            if value is not None:
                whole(value, name)
        order, required = _alphabet(initial_alphabet)
        self._special = _special(special_tokens, special_tokens_position)
        self._cutoff = bigram_cutoff_freq or 0
        self._options = Options(
            unit=unit,
            initial_alphabet=order,
            tie_break=tie_break or "smallest_pair_id",
            cutoff=max(self._cutoff, whole(min_frequency, "min_frequency")),
            max_token_length=max_token_length,
            limit_alphabet=limit_alphabet,
            required=required,
            forbidden=forbidden_pairs(forbidden_merges),
            hot_pair_window_size=hot_pair_window_size,
        )
        self._pat_str = pat_str
        self._progress = progress
        self._table: Table = new_words()
        self._start = Learned(first_tokens(self._options))
        self._engine: Engine | None = None
        self._keeps_words = True
        self._poisoned = False
        self._stop: Callable[[], bool] | None = None

    @classmethod
    def from_model(
        cls, model: BpeModel, *, progress: Progress | None = None, **options: object
    ) -> BpeTrainer:
        """Return a trainer that goes on from a model: its tokens keep their ids.

        Parameters
        ----------
        model : BpeModel
        progress : callable, optional
        **options
            Other options of the class; those that the model says (unit, special tokens, order of
            bytes, pattern) are taken from it.
        """
        learned, special = learned_of(model.data)
        if learned.finished:
            raise TokenizerError(
                "the model was trained with byte fallback, which cannot be gone on from"
            )
        kept = [options.pop(name, None) for name in ("unit", "initial_alphabet", "pat_str")]
        if any(value is not None for value in kept):
            raise TokenizerError("unit, initial_alphabet and pat_str are the model's")
        trainer = cls(
            special.texts,
            unit=model.unit,
            initial_alphabet=_order_of(learned),
            special_tokens_position=special.place,
            pat_str=model.data.pat_str,
            progress=progress,
            **options,  # type: ignore[arg-type]
        )
        trainer._start = learned
        return trainer

    # -- state ------------------------------------------------------------------------

    @property
    def learned(self) -> Learned:
        """Tokens without special ones, and merges, so far."""
        return self._engine.learned if self._engine else self._start

    @property
    def unit(self) -> Unit:
        """What words are made of at first."""
        return self._options.unit

    @property
    def vocab_size(self) -> int:
        """How many tokens there are."""
        return len(self.learned.tokens) + len(self._special.texts)

    @property
    def last_merge_freq(self) -> int | None:
        """Count of the pair that was merged last."""
        merges = self.learned.merges
        return merges[-1][3] if merges else None

    @property
    def vocab(self) -> dict[bytes, int]:
        """A copy of the vocabulary."""
        return dict(self._data().ids)

    @property
    def hot_pair_window_stats(self) -> dict[str, int] | None:
        """What the window has cost; None without one."""
        if self._options.hot_pair_window_size is None:
            return None
        return dict(self._engine.window_stats) if self._engine else {}

    @property
    def memory_usage(self) -> dict[str, int]:
        """Bytes and entries of what the training holds, about."""
        stats = self._engine.window_stats if self._engine else {}
        words = self._table.size or stats.get("words", 0)
        held = {"word_entries": words, "vocab_entries": self.vocab_size}
        return {**held, **stats}

    # -- words ------------------------------------------------------------------------

    def add_words(self, words: Words) -> None:
        """Add words with counts: a mapping, or pairs. Counts of equal words are added up."""
        self._need_open()
        self._table.add_items(list(checked_words(words)))
        self._restart()

    def add_word_counter(self, counter: WordCounter) -> None:
        """Add what a counter has counted, and empty it."""
        if not isinstance(counter, WordCounter):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"counter: {type(counter).__name__} is no WordCounter")
        self._need_open()
        if self._table.size:
            self._table.add_items(counter.items())
            counter.clear()
        else:
            self._table = counter.take()
        self._pat_str = counter.pre_tokenizer.pat_str
        self._restart()

    def replace_words(self, counter: WordCounter) -> None:
        """Take the words of a counter, which is empty then, instead of those there are."""
        self._table = new_words()
        self.add_word_counter(counter)

    def keep_no_words(self) -> None:
        """Let go of the words when a run has taken them: none are added any more."""
        self._keeps_words = False

    def _restart(self) -> None:
        self._start, self._engine = self.learned, None

    def _need_open(self) -> None:
        if self._poisoned:
            raise TokenizerError("training was interrupted by an error; make a new BpeTrainer")
        if self.learned.finished:
            raise TokenizerError("training with byte fallback ends a run; make a new BpeTrainer")

    # -- training ---------------------------------------------------------------------

    def init_training(self) -> None:
        """Count pairs; `train` and `step` do it themselves."""
        self._running()

    def _running(self) -> Engine:
        self._need_open()
        if self._engine is None:
            start = self._start if len(self._start.tokens) > 256 else None
            self._engine = new_engine(self._options, self._table, start)
            if not self._keeps_words:
                self._table = new_words()
        return self._engine

    def step(self) -> int:
        """Add one token, whatever the cutoff is; return how many there are."""
        if not self._running().step():
            raise TokenizerError("no pair is left to merge; add more words")
        return self.vocab_size

    def train(self, vocab_size: int) -> None:
        """Add tokens until there are `vocab_size`, special ones included, or no pair is left.

        Raises
        ------
        TokenizerError
            There are more already, or there are no words.
        """
        target = self._target(vocab_size)
        if target == len(self.learned.tokens):
            return
        self._need_words()
        engine = self._running()
        with _Poison(self):
            engine.run(target, self._tick())

    def train_with_bbpe_fallback(
        self, vocab_size: int, *, primary_vocab_ratio: float = 0.9
    ) -> None:
        """Train a Unicode model with tokens for bytes of rare characters; it ends the run.

        Parameters
        ----------
        vocab_size : int
        primary_vocab_ratio : float
            Part of the tokens to learn that is for characters and their merges; what the bytes do
            not use comes back. 1: `train`.
        """
        if self.unit != "unicode":
            raise TokenizerError('train_with_bbpe_fallback requires unit="unicode"')
        ratio = primary_vocab_ratio
        if not math.isfinite(ratio) or not 0.0 <= ratio <= 1.0:
            raise TokenizerError("primary_vocab_ratio must be finite and between 0 and 1")
        if ratio == 1.0:
            self.train(vocab_size)
            return
        self._need_open()
        if vocab_size <= 256 + len(self._special.texts):
            return
        if len(self.learned.tokens) > 256 + len(self._options.required):
            raise TokenizerError("training with byte fallback must be the first of a BpeTrainer")
        self._need_words()
        target = self._target(vocab_size)
        engine = self._running()
        with _Poison(self):
            run_with_fallback(engine, self._options, target, ratio, self._tick(stops=False))

    def _target(self, vocab_size: int) -> int:
        whole(vocab_size, "vocab_size")
        self._need_open()
        if vocab_size < self.vocab_size:
            raise TokenizerError(
                f"vocab_size: {vocab_size} is smaller than the vocabulary, which has "
                f"{self.vocab_size} tokens already (256 bytes and {len(self._special.texts)} "
                "special tokens are the least)"
            )
        return vocab_size - len(self._special.texts)

    def _need_words(self) -> None:
        if not self._table.size and self._engine is None:
            raise TokenizerError(
                "there are no words to train on: the corpus is empty, or the pattern matches "
                "nothing in it; add texts first"
            )

    def _tick(self, *, stops: bool = True) -> Tick | None:
        progress, by, stop = self._progress, len(self._special.texts), self._stop
        if progress is None and stop is None:
            return None

        begin = len(self.learned.tokens)  # a run that stops has added something

        def tick(done: int, total: int) -> bool:
            if progress:
                progress("merge", done + by, total + by)
            return stops and stop is not None and done > begin and stop()

        return tick

    # -- results ----------------------------------------------------------------------

    def _data(self) -> ModelData:
        return assemble(self.learned, self._special, self.unit, self._pat_str)

    def validate_model(self) -> BpeModel:
        """Check what was learned, and return it as a model."""
        from isotok.train._model import BpeModel

        last = self.last_merge_freq
        if last is not None and last < self._cutoff:
            raise TokenizerError(
                f"the last merge has the count {last}, below bigram_cutoff_freq={self._cutoff}"
            )
        return BpeModel(self._data())

    def save(
        self, name: str, *, outdir: str | os.PathLike[str] = ".", format: FileFormat | None = None
    ) -> None:
        """Write `vocab.NAME[UNIT].json` and `merges.NAME[UNIT].txt`."""
        self.validate_model().save(name, outdir=outdir, format=format)

    def save_files(
        self,
        vocab_path: str | os.PathLike[str],
        merges_path: str | os.PathLike[str],
        *,
        format: FileFormat | None = None,
    ) -> None:
        """Check what was learned, and write its two files."""
        self.validate_model().save_files(vocab_path, merges_path, format=format)

    # -- for whoever runs it in parts -------------------------------------------------

    def with_cutoff(self, cutoff: int) -> None:
        """Set the least count of pairs that `train` merges from here on."""
        self._restart()
        self._options = replace(self._options, cutoff=cutoff)

    def resume(self, learned: Learned) -> None:
        """Begin from what an earlier run of the same options had learned."""
        self._start, self._engine = learned, None

    def stop_when(self, stop: Callable[[], bool]) -> None:
        """Let `train` return early when `stop` returns true; `train` again goes on."""
        self._stop = stop


class _Poison:
    """Marks a trainer whose run an error has interrupted."""

    def __init__(self, trainer: BpeTrainer) -> None:
        self._trainer = trainer

    def __enter__(self) -> None:
        self._trainer._poisoned = True  # pyright: ignore[reportPrivateUsage]

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._trainer._poisoned = False  # pyright: ignore[reportPrivateUsage]


def _special(texts: Sequence[str], place: Place) -> SpecialTokens:
    special = special_tokens(texts, place)
    alone = next((text for text in special.texts if len(text.encode()) == 1), None)
    if alone is not None:
        raise TokenizerError(f"special_tokens: {alone!r} is one byte, which has a token already")
    return special


def _alphabet(
    given: InitialAlphabet | Sequence[str] | None,
) -> tuple[InitialAlphabet, tuple[str, ...]]:
    if given is None:
        return "raw", ()
    if isinstance(given, str):
        return given, ()  # type: ignore[return-value]
    return "raw", tuple(dict.fromkeys(text for text in given if not text.isascii()))


def _order_of(learned: Learned) -> InitialAlphabet:
    for order in ("raw", "byte_level"):
        if learned.tokens[:256] == first_tokens(Options(initial_alphabet=order)):
            return order
    raise TokenizerError(
        "the model's bytes are in an order that training does not know; it cannot be gone on from"
    )
