"""Distil a Unigram model: Viterbi's work is done once for a corpus, and the answers kept."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from isotok import _layout_gen as abi
from isotok.errors import TokenizerError
from isotok.train._agreement import Agreement, agreement
from isotok.train._atomic import write_atomic
from isotok.train._options import Progress, one_of, whole
from isotok.train._progress import ProgressKind, progress_of
from isotok.train._sources import Source, feed, records_of
from isotok.train._table import native

if TYPE_CHECKING:
    from isotok import Tokenizer

Mode = Literal["exact", "compact", "longest", "priority"]
_BATCH: Final = 1 << 20
_HELD_OUT: Final = 64  # each so manieth record, up to …
_HELD_BYTES: Final = 1 << 20
_SMALLEST: Final = 1 << 16  # of a memo that is tried
_LEAST_GAIN: Final = 1.03  # of a memo twice as large
_ALPHAS: Final = (0.0, 0.25, 0.5, 1.0, 2.0)
_ROUNDS: Final = 5


@dataclass(frozen=True)
class Distilled:
    """What `distil` gives.

    Parameters
    ----------
    blob : bytes
        The `.isotok` file.
    mode : {"exact", "compact", "longest", "priority"}
    agreement : Agreement
        With the teacher, on records that were held out.
    stats : dict
        Chunks and tokens of the corpus, and what the memo or the exceptions hold.
    tried : list of dict
        What each size of the memo, or each alpha, was measured to give.
    """

    blob: bytes
    mode: Mode
    agreement: Agreement
    stats: dict[str, int]
    tried: list[dict[str, float]] = field(default_factory=list[dict[str, float]])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the blob, whole or not at all."""
        write_atomic(path, self.blob)


def distil(
    teacher: Tokenizer,
    texts: Iterable[str] | Source,
    *,
    mode: Mode = "exact",
    memo_bytes: int = 16 << 20,
    exceptions: int = 1 << 16,
    min_frequency: int = 2,
    alpha: float | None = None,
    progress: ProgressKind = None,
) -> Distilled:
    """Distil a Unigram model of SentencePiece's kind.

    Parameters
    ----------
    teacher : isotok.Tokenizer
        Opened natively.
    texts : iterable of str or Source
        The corpus. One record in 64, up to 1 MiB, is held out and measured on.
    mode : {"exact", "compact", "longest", "priority"}
        "exact": the teacher, with a memo of frequent chunks; its ids always. "compact": longest
        match, with texts for which that is wrong. "longest": longest match alone. "priority": at
        each place the piece with the highest priority, log-probability + alpha ln(frequency + 1).
    memo_bytes : int
        Most bytes of the memo. It is doubled from 64 KiB as long as the held-out text gets 3 %
        faster, and left out if it never does.
    exceptions : int
        Most of them, in the mode "compact".
    min_frequency : int
        An exception repairs at least so many places of the corpus more than it breaks.
    alpha : float, optional
        None: the one of 0, 0.25, 0.5, 1 and 2 with the highest token F1 on the held-out text.
    progress : callable, "bar" or "json", optional
        Called with ("count", records, None).

    Returns
    -------
    Distilled

    Raises
    ------
    TokenizerError
        The model is no Unigram model, or one that is never cut; or there is no text.
    """
    one_of(mode, Mode, "mode")
    for value, name in ((memo_bytes, "memo_bytes"), (exceptions, "exceptions")):
        whole(value, name)
    whole(min_frequency, "min_frequency", 1)
    counts = _chunk_counts(teacher)
    held = _HeldOut()
    report: Progress | None = progress_of(progress)
    feed(
        held.taken_from(records_of(texts)),
        counts.add_texts,
        max_records=4096,
        max_bytes=_BATCH,
        prefetch=1,
        progress=report,
    )
    if not counts.size():
        raise TokenizerError("there is no text to distil from")
    work: Any = native().distil(_backend(teacher), counts)
    made = _Maker(teacher, work, held.texts)
    if mode == "exact":
        blob = made.exact(memo_bytes)
    elif mode == "priority":
        blob = made.priority(alpha)
    else:
        work.learn(exceptions if mode == "compact" else 0, min_frequency)
        blob = work.blob(abi.LONGEST, None)
    return Distilled(blob, mode, made.agreement(blob), dict(work.stats()), made.tried)


def _backend(teacher: Tokenizer) -> Any:
    return teacher._backend  # pyright: ignore[reportPrivateUsage]


def _chunk_counts(teacher: Tokenizer) -> Any:
    if native() is None or teacher.backend != "native":
        raise TokenizerError("distilling needs the native back end: load(..., backend='native')")
    info = teacher.info
    if info.algorithm != "unigram":
        raise TokenizerError(f"the teacher is a model of the kind {info.algorithm}, not unigram")
    try:
        return native().word_counts(_backend(teacher))
    except TokenizerError:
        raise TokenizerError(
            "this Unigram model cannot be distilled: its texts are cut by a pre-tokenizer, or not "
            "at all (pieces of more than 254 bytes, or that are no UTF-8)"
        ) from None


class _HeldOut:
    """Takes records out of a source."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._bytes = 0

    def taken_from(self, records: Iterator[str]) -> Iterator[str]:
        for number, record in enumerate(records):
            held = number % _HELD_OUT == _HELD_OUT - 1 and self._bytes < _HELD_BYTES
            if held and isinstance(record, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                self.texts.append(record)
                self._bytes += len(record)
            else:
                yield record


class _Maker:
    """Blobs of a distilled model, measured on held-out texts."""

    def __init__(self, teacher: Tokenizer, work: Any, texts: Sequence[str]) -> None:
        self.teacher, self.work, self.texts = teacher, work, texts
        self.tried: list[dict[str, float]] = []

    def agreement(self, blob: bytes) -> Agreement:
        return agreement(self.teacher, _opened(blob), self.texts)

    def exact(self, memo_bytes: int) -> bytes:
        """The teacher with the largest memo that pays."""
        self.work.memo(0)
        best: bytes = self.work.blob(abi.UNIGRAM, None)
        size = _SMALLEST
        while size <= memo_bytes and self.texts:
            self.work.memo(size)
            larger = self.work.blob(abi.UNIGRAM, None)
            gain = _times_as_fast(_opened(best), _opened(larger), self.texts)
            self.tried.append({"memo_bytes": size, "times_as_fast": round(gain, 3)})
            if gain < _LEAST_GAIN and size > _SMALLEST:
                break
            if gain >= _LEAST_GAIN:
                best = larger
            size *= 2
        return best

    def priority(self, alpha: float | None) -> bytes:
        frequencies = np.frombuffer(self.work.frequencies(), "<i8")
        vocabulary = self.teacher
        scores = np.array([vocabulary.score(i) for i in range(vocabulary.vocab_size)])
        best: tuple[float, bytes] | None = None
        for each in _ALPHAS if alpha is None else (alpha,):
            priorities = (scores + each * np.log(frequencies + 1.0)).astype("<f4")
            blob = self.work.blob(abi.PRIORITY, priorities)
            found = self.agreement(blob).token_f1
            self.tried.append({"alpha": each, "token_f1": round(found, 5)})
            if best is None or found > best[0]:
                best = found, blob
        assert best is not None
        return best[1]


def _opened(blob: bytes) -> Tokenizer:
    import isotok

    return isotok.load(blob, backend="native", cache_bytes=0)


def _times_as_fast(old: Tokenizer, new: Tokenizer, texts: Sequence[str]) -> float:
    """Median over interleaved rounds, in processor time."""
    ratios: list[float] = []
    for _ in range(_ROUNDS):
        seconds: list[float] = []
        for tokenizer in (old, new):
            begin = time.process_time()
            for text in texts:
                tokenizer.count(text)
            seconds.append(time.process_time() - begin)
        ratios.append(seconds[0] / max(seconds[1], 1e-9))
    return statistics.median(ratios)
