"""Unigram models through sentencepiece's trainer, from the same sources, straight to a blob."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from isotok.errors import TokenizerError
from isotok.train._atomic import write_atomic
from isotok.train._progress import ProgressKind, progress_of
from isotok.train._sources import Source, check_record, records_of

if TYPE_CHECKING:
    from isotok import Tokenizer
    from isotok.train._options import Progress

THREADS: Final = 1
"""Threads of the trainer. Its result depends on how many there are, so the number is fixed."""
_OURS: Final = {
    "input", "sentence_iterator", "model_prefix", "model_writer", "model_type", "vocab_size",
    "num_threads", "max_sentence_length",
}  # fmt: skip


@dataclass(frozen=True)
class UnigramModel:
    """What `train_unigram` gives.

    Parameters
    ----------
    model : bytes
        SentencePiece's `.model` file.
    lines, lines_left_out : int
        Lines that were read, and those of them that were longer than `max_line_bytes`.
    """

    model: bytes
    lines: int
    lines_left_out: int

    def to_blob(self) -> bytes:
        """Return the `.isotok` file."""
        from isotok.compile import compile_model

        return compile_model(self.model)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model as an `isotok.Tokenizer`."""
        import isotok

        return isotok.load(self.to_blob())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model: as `.model` or `.isotok`, by the ending of the name."""
        ending = Path(path).suffix
        if ending not in (".model", ".isotok"):
            raise TokenizerError(f"{os.fspath(path)}: the name must end in .model or .isotok")
        write_atomic(path, self.model if ending == ".model" else self.to_blob())


def train_unigram(
    texts: str | Iterable[str] | Source,
    *,
    vocab_size: int,
    max_line_bytes: int = 1 << 16,
    progress: ProgressKind = None,
    **options: Any,
) -> UnigramModel:
    """Train a Unigram model with sentencepiece.

    Parameters
    ----------
    texts : str, iterable of str or Source
        One text, or records; each is read line by line.
    vocab_size : int
    max_line_bytes : int
        Longer lines are left out, and counted in the result.
    progress : callable, "bar" or "json", optional
        Called with ("read", lines, None), then ("train", 0 and 1, 1).
    **options
        Options of sentencepiece's trainer, such as ``character_coverage=0.9995``,
        ``byte_fallback=True``, ``user_defined_symbols=[...]``, ``seed_sentencepiece_size``. The
        number of threads is none of them: the result depends on it, so it is always `THREADS`.

    Returns
    -------
    UnigramModel

    Raises
    ------
    TokenizerError
        An option is one that this function sets, or the trainer fails; its reason is in the error.
    """
    taken = sorted(_OURS & options.keys())
    if taken:
        raise TokenizerError(f"options: {', '.join(taken)} cannot be given here")
    try:
        import sentencepiece  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise ImportError(
            "train_unigram needs sentencepiece: pip install 'isotok[train]'"
        ) from error
    report = progress_of(progress)
    lines = _Lines([texts] if isinstance(texts, str) else texts, max_line_bytes, report)
    writer = io.BytesIO()
    trainer: Any = sentencepiece.SentencePieceTrainer
    try:
        trainer.train(
            sentence_iterator=iter(lines),
            model_writer=writer,
            model_type="unigram",
            vocab_size=vocab_size,
            num_threads=THREADS,
            max_sentence_length=max_line_bytes,
            **{"minloglevel": 2, **options},
        )
    except (RuntimeError, OSError, ValueError) as error:
        if lines.error is not None:
            raise lines.error from None
        if not lines.number:
            raise TokenizerError("there is nothing to train on: the corpus is empty") from error
        raise TokenizerError(f"sentencepiece's trainer: {error}") from error
    if lines.error is not None:
        raise lines.error
    if report:
        report("train", 1, 1)
    return UnigramModel(writer.getvalue(), lines.number, lines.left_out)


class _Lines:
    """Lines of records; an error of the source is kept, as the trainer hides it."""

    def __init__(self, source: object, longest: int, report: Progress | None) -> None:
        self._source, self._longest, self._report = source, longest, report
        self.number = self.left_out = 0
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            yield from self._lines()
        except Exception as error:
            self.error = error

    def _lines(self) -> Iterator[str]:
        for number, record in enumerate(records_of(self._source)):
            check_record(record, number)
            for line in record.split("\n"):
                if not line:
                    continue
                self.number += 1
                if len(line.encode()) > self._longest:
                    self.left_out += 1
                else:
                    yield line
            if self._report and number % 1000 == 0:
                self._report("read", self.number, None)
        if self._report:
            self._report("read", self.number, self.number)
            self._report("train", 0, 1)
