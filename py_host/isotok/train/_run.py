"""A whole training run: pairs of characters, words, merges; each part can be gone on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from isotok.errors import TokenizerError
from isotok.train._bigrams import BigramCounter, UnicodeBigramSelection
from isotok.train._checkpoint import Checkpoint, pack_learned, unpack_learned
from isotok.train._counts import WordCounter
from isotok.train._options import Progress
from isotok.train._pretokenizer import PreTokenizer
from isotok.train._sources import Source, feed, records_of
from isotok.train._trainer import BpeTrainer

C = TypeVar("C", WordCounter, BigramCounter)


@dataclass(slots=True)
class Batches:
    """How records are read."""

    max_records: int
    max_bytes: int
    prefetch: int
    progress: Progress | None
    checkpoint: Checkpoint | None


def counted(
    name: str, stage: str, counter: C, read: Callable[[Any], C], source: object, how: Batches
) -> C:
    """Count a source; with a checkpoint, from where an earlier run was."""
    checkpoint = how.checkpoint
    skip = 0
    if checkpoint and (found := checkpoint.get(name)):
        path, skip, whole = found
        counter = read(path)
        if whole:
            return counter
    done = skip

    def count(batch: list[str]) -> None:
        nonlocal done
        counter.add_checked(batch)
        done += len(batch)
        if checkpoint and checkpoint.due():
            checkpoint.put(name, counter, done, False)

    try:
        feed(
            _behind(source, skip) if skip else source,
            count,
            max_records=how.max_records,
            max_bytes=how.max_bytes,
            prefetch=how.prefetch,
            progress=how.progress,
            stage=stage,
        )
    except Exception:
        if checkpoint and done > skip:
            checkpoint.put(name, counter, done, False)
        raise
    if checkpoint:
        checkpoint.put(name, counter, done, True)
    return counter


def _behind(source: object, skip: int) -> Iterator[str]:
    records = records_of(source)
    found = sum(1 for _ in islice(records, skip))
    if found < skip:
        raise TokenizerError(
            f"the source has {found} records, and {skip} were counted before: it is not the same"
        )
    return records


def select_bigrams(
    pre_tokenizer: PreTokenizer, source: object, top_k: int, min_freq: int, how: Batches
) -> UnicodeBigramSelection:
    """Count pairs of characters, and select."""
    return count_bigrams(pre_tokenizer, source, how).select(top_k, min_freq)


def count_bigrams(pre_tokenizer: PreTokenizer, source: object, how: Batches) -> BigramCounter:
    """Count pairs of characters."""

    def read(path: Any) -> BigramCounter:
        return BigramCounter.from_bytes(path.read_bytes(), pre_tokenizer)

    return counted("bigrams", "count bigrams", BigramCounter(pre_tokenizer), read, source, how)


def count_words(
    pre_tokenizer: PreTokenizer, source: object, how: Batches, budget: int | None, folder: Any
) -> WordCounter:
    """Count words."""

    def fresh() -> WordCounter:
        return WordCounter(pre_tokenizer, memory_budget=budget, spill_dir=folder)

    def read(path: Any) -> WordCounter:
        counter = fresh()
        counter.merge(WordCounter.load(path, pre_tokenizer))
        return counter

    # Counts of other cuts are other counts: the name tells them apart.
    name = f"words-{pre_tokenizer.fingerprint[:12]}"
    return counted(name, "count", fresh(), read, source, how)


def train_in_rounds(trainer: BpeTrainer, target: int, checkpoint: Checkpoint | None) -> None:
    """Train to a size; with a checkpoint, from where an earlier run was."""
    if checkpoint is None:
        trainer.train(target)
        return
    if found := checkpoint.get("merges"):
        learned = unpack_learned(found[0].read_bytes())
        if len(learned.tokens) >= len(trainer.learned.tokens):
            trainer.resume(learned)
        if found[2]:
            return
    trainer.stop_when(checkpoint.due)
    while trainer.vocab_size < target and not trainer.learned.exhausted:
        trainer.train(target)
        checkpoint.put("merges", pack_learned(trainer.learned), trainer.vocab_size, False)
    checkpoint.put("merges", pack_learned(trainer.learned), trainer.vocab_size, True)


@dataclass(slots=True)
class Lossless:
    """Words cut by bigrams so that the merges are those of uncut words.

    A merge over the edge of characters a and b is not more frequent than the pair ab. While every
    merge has at least the count of the least frequent pair that is kept, cuts at the others are
    not felt. If the size is not reached above that count, words are counted again with more pairs.
    """

    pre_tokenizer: PreTokenizer
    source: Source
    how: Batches
    budget: int | None
    folder: Any
    least: int
    """Least count of a merge anyway."""

    def train(self, trainer: BpeTrainer, target: int) -> dict[str, Any]:
        """Train; return what was chosen."""
        bigrams = count_bigrams(self.pre_tokenizer, self.source, self.how)
        # The least count is that of a pair, mostly of tokens: some more pairs of characters.
        top = max((target - trainer.vocab_size) * 3 // 2, 1)
        passes = 0
        while True:
            passes += 1
            chosen = bigrams.select(top, 1)
            everything = chosen.max_excluded_freq is None
            cutoff = 1 if everything else chosen.cutoff_freq or 1
            shaped = self.pre_tokenizer
            if not everything:
                shaped = shaped.with_unicode_bigrams(chosen.bigrams)
            counter = count_words(shaped, self.source, self.how, self.budget, self.folder)
            trainer.replace_words(counter)
            trainer.with_cutoff(max(cutoff, self.least))
            trainer.train(target)
            if trainer.vocab_size >= target or cutoff <= max(self.least, 1):
                break
            top *= 4
        kept = len(bigrams) if everything else len(chosen.bigrams)
        return {"bigrams": len(bigrams), "bigrams_kept": kept, "cutoff": cutoff, "passes": passes}
