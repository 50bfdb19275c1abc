"""`WordCounter`: how often each word is there, in bounded memory, mergeable in any order."""

from __future__ import annotations

import heapq
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal, cast

from isotok.errors import TokenizerError
from isotok.train._atomic import write_atomic
from isotok.train._bigrams import need_same
from isotok.train._counts_file import MAGIC, Item, blocks, header, read_blocks, read_header
from isotok.train._files import read_table
from isotok.train._options import MOST_COUNT, Progress, whole
from isotok.train._pretokenizer import PreTokenizer
from isotok.train._sources import MAX_BYTES, MAX_RECORDS, check_record, check_texts, feed
from isotok.train._table import Table, new_table

Words = Mapping[str, int] | Iterable[tuple[str | bytes, int]]
_KIND: Final = "words"


class WordCounter:
    """Counts the words of texts.

    Parameters
    ----------
    pre_tokenizer : PreTokenizer
    memory_budget : int, optional
        Bytes of counts above which they are written to a file and begun anew (None: never). What
        is counted does not depend on it.
    spill_dir : path, optional
        Where those files are; they go when the counter does.

    Notes
    -----
    It can be pickled, saved, merged in any order and exchanged as an Arrow table; the bytes are
    the same however the texts were divided. Counts are exact up to 2^63 - 1; more is an error.
    """

    def __init__(
        self,
        pre_tokenizer: PreTokenizer,
        *,
        memory_budget: int | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        if memory_budget is not None:
            whole(memory_budget, "memory_budget", 1)
        self._pre_tokenizer = pre_tokenizer
        self._budget = memory_budget
        self._spill_dir = spill_dir
        self._runs: tempfile.TemporaryDirectory[str] | None = None
        self._run_count = 0
        self._table: Table = new_table(pre_tokenizer)

    @property
    def pre_tokenizer(self) -> PreTokenizer:
        """The pre-tokenizer."""
        return self._pre_tokenizer

    @property
    def fingerprint(self) -> str:
        """What counters that can be merged have in common."""
        return self._pre_tokenizer.fingerprint

    @property
    def memory(self) -> int:
        """Bytes of counts in memory, about."""
        return self._table.memory

    # -- adding -------------------------------------------------------------------------

    def add_text(self, text: str) -> None:
        """Count the words of one text."""
        self.add_batch([text])

    def add_batch(self, texts: Sequence[str]) -> None:
        """Count the words of texts, each for itself; all of them, or none if one is no text."""
        check_texts(texts)
        self.add_checked(texts)

    def add_checked(self, texts: Sequence[str]) -> None:
        """Count the words of texts that are known to be texts (`feed` looks at each)."""
        self._table.add_texts(texts)
        self._spill_if_full()

    def add_source(
        self,
        source: object,
        *,
        max_records: int = MAX_RECORDS,
        max_bytes: int = MAX_BYTES,
        prefetch: Literal[0, 1] = 1,
        progress: Progress | None = None,
    ) -> None:
        """Count the words of all records of a source.

        Parameters
        ----------
        source : Source or iterable of str
            Each record is a document: no word goes over its end.
        max_records, max_bytes : int
            Of a batch, which ends before the record that would exceed one. A longer record is a
            batch of its own.
        prefetch : {0, 1}
            1: a batch is counted by a thread while the next is read.
        progress : callable, optional
            Called with ("count", records, None) after each batch.

        Raises
        ------
        TypeError
            The source is a text, or a record is none. What was before it is counted; a note of
            the error says how much.
        """
        feed(
            source,
            self.add_checked,
            max_records=max_records,
            max_bytes=max_bytes,
            prefetch=prefetch,
            progress=progress,
        )

    def add_words(self, words: Words) -> None:
        """Add words with their counts; the pre-tokenizer does not see them, bigrams do not cut."""
        self._table.add_items(checked_words(words))
        self._spill_if_full()

    def merge(self, other: WordCounter) -> None:
        """Add the counts of another counter; its pre-tokenizer must find the same words."""
        if not isinstance(other, WordCounter):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"merge: {type(other).__name__} is no WordCounter")
        need_same(self.fingerprint, other.fingerprint, "pattern, special tokens or bigrams")
        self._table.add_items(list(other.items()) if other is self else other.items())
        self._spill_if_full()

    # -- reading ------------------------------------------------------------------------

    def items(self) -> Iterator[Item]:
        """Return words (UTF-8) with their counts, ascending."""
        if not self._runs:
            return iter(self._table.items())
        runs = [_read_run(self._run_path(number)) for number in range(self._run_count)]
        return _summed([*runs, self._table.items()])

    def words(self) -> dict[str, int]:
        """Return a copy of all counts."""
        return {word.decode(): count for word, count in self.items()}

    @property
    def len(self) -> int:
        """How many words there are."""
        return len(self)

    def __len__(self) -> int:
        """Return how many words there are."""
        return sum(1 for _ in self.items()) if self._runs else self._table.size

    def clear(self) -> None:
        """Forget all counts."""
        self._table.clear()
        if self._runs:
            self._runs.cleanup()
            self._runs, self._run_count = None, 0

    def take(self) -> Table:
        """Return all counts as one table, and forget them."""
        if self._runs:
            table = new_table(self._pre_tokenizer)
            table.add_items(self.items())
        else:
            table = self._table
        self._table = new_table(self._pre_tokenizer)
        self.clear()
        return table

    # -- spilling -----------------------------------------------------------------------

    def _spill_if_full(self) -> None:
        if self._budget is None or self._table.memory <= self._budget or not self._table.size:
            return
        if self._runs is None:
            self._runs = tempfile.TemporaryDirectory(prefix="isotok-counts-", dir=self._spill_dir)
        write_atomic(self._run_path(self._run_count), self._parts(self._table.items()))
        self._run_count += 1
        self._table.clear()

    def _run_path(self, number: int) -> str:
        assert self._runs is not None
        return os.path.join(self._runs.name, f"{number}.counts")

    def _parts(self, items: Iterable[Item]) -> Iterator[bytes]:
        yield header(_KIND, self.fingerprint)
        yield from blocks(items)

    # -- keeping ------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return all as bytes: the same for the same counts."""
        return b"".join(self._parts(self.items()))

    @classmethod
    def from_bytes(cls, data: bytes, pre_tokenizer: PreTokenizer) -> WordCounter:
        """Return the counter of `to_bytes`; the pre-tokenizer must be as it was."""
        import io

        counter = cls(pre_tokenizer)
        counter._read(io.BytesIO(data), "word counts")
        return counter

    def _read(self, file: Any, where: str) -> None:
        found = read_header(file, _KIND, where)
        try:
            need_same(self.fingerprint, found, "pattern, special tokens or bigrams")
        except TokenizerError as error:
            error.name_source(where)
            raise
        self._table.add_items(read_blocks(file, where))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts, whole or not at all; a name in ``.json`` gives FFBPE's form."""
        if os.fspath(path).endswith(".json"):
            write_atomic(path, json.dumps(self.words(), ensure_ascii=False).encode())
        else:
            write_atomic(path, self._parts(self.items()))

    @classmethod
    def load(cls, path: str | os.PathLike[str], pre_tokenizer: PreTokenizer) -> WordCounter:
        """Read what `save` wrote, FFBPE's JSON, or a table of words and counts.

        A table is a ``.tsv`` with a word, a tab and its count in each line, or Parquet or Arrow
        with the columns `word` and `count`. Neither says what its pre-tokenizer was.
        """
        where = os.fspath(path)
        counter = cls(pre_tokenizer)
        try:
            with open(path, "rb") as file:
                if file.read(len(MAGIC)) == MAGIC:
                    file.seek(0)
                    counter._read(file, where)
                    return counter
        except OSError as error:
            raise TokenizerError(f"{where}: cannot be read ({error.strerror})") from error
        counter.add_words(read_word_table(where))
        return counter

    def to_arrow(self) -> Any:
        """Return a table with the columns `word` (large_binary) and `count` (int64)."""
        from isotok.train._arrow import counts_table

        items = list(self.items())
        words, counts = [word for word, _ in items], [count for _, count in items]
        return counts_table("word", words, counts, self.fingerprint, binary=True)

    @classmethod
    def from_arrow(cls, table: Any, pre_tokenizer: PreTokenizer) -> WordCounter:
        """Return the counter of a table such as `to_arrow` makes; equal words are added up."""
        from isotok.train._arrow import read_counts

        counter = cls(pre_tokenizer)
        words, counts = read_counts(table, "word", counter.fingerprint)
        pairs = zip(cast("list[str]", words), counts, strict=True)
        counter._table.add_items(checked_words(pairs))
        return counter

    def __reduce__(self) -> tuple[Any, ...]:
        return WordCounter.from_bytes, (self.to_bytes(), self._pre_tokenizer)

    def __del__(self) -> None:
        with suppress(Exception):
            if self._runs:
                self._runs.cleanup()


def _read_run(path: str) -> Iterator[Item]:
    with open(path, "rb") as file:
        read_header(file, _KIND, path)
        yield from read_blocks(file, path)


def _summed(runs: Sequence[Iterable[Item]]) -> Iterator[Item]:
    for word, same in groupby(heapq.merge(*runs, key=itemgetter(0)), key=itemgetter(0)):
        total = sum(count for _, count in same)
        if total > MOST_COUNT:
            raise TokenizerError(f"word {word[:60]!r}: its count is above {MOST_COUNT}")
        yield word, total


def checked_words(words: Words) -> Iterator[Item]:
    """Return words as bytes with their counts; else an error that names the one."""
    mapping = isinstance(words, Mapping)
    pairs = cast("Mapping[str, int]", words).items() if mapping else words
    pairs = cast("Iterable[tuple[str | bytes, int]]", pairs)
    for row, pair in enumerate(pairs):
        try:
            word, count = pair
        except (TypeError, ValueError):
            raise TypeError(f"words: entry {row} is {pair!r}, not a word and a count") from None
        if type(count) is not int or not 0 <= count <= MOST_COUNT:
            raise TokenizerError(
                f"words: the count of {word!r} is {count!r}; it must be a whole number from 0 to "
                f"{MOST_COUNT}"
            )
        yield _word_bytes(word, row), count


def _word_bytes(word: object, row: int) -> bytes:
    if isinstance(word, str):
        check_record(word, row)
        return word.encode()
    if isinstance(word, bytes):
        try:
            word.decode()
        except UnicodeDecodeError as error:
            raise TokenizerError(f"words: entry {row}, {word[:60]!r}, is not UTF-8") from error
        return word
    raise TypeError(f"words: entry {row} is {type(word).__name__}, not str")


def read_word_table(path: str) -> Iterator[tuple[Any, int]]:
    """Read words with counts: JSON, TSV, Parquet or Arrow, by the file's name."""
    if path.endswith((".parquet", ".arrow", ".feather", ".ipc")):
        yield from read_table(path, ("word", "count"))
        return
    data = Path(path).read_bytes()
    if path.endswith(".json"):
        try:
            entries: Any = json.loads(data)
        except ValueError as error:
            raise TokenizerError(f"{path}: it is not JSON ({error})") from error
        if not isinstance(entries, dict):
            raise TokenizerError(f"{path}: it is not an object of words and counts")
        yield from cast("dict[str, int]", entries).items()
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line:
            word, tab, count = line.rpartition(b"\t")
            if not tab or not count.strip().isdigit():
                raise TokenizerError(
                    f"{path}, line {number}: {line[:60]!r} is not a word, a tab and a count"
                )
            yield word, int(count)
