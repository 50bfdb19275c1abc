"""Records from memory: checked, and in batches of a bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol, cast, runtime_checkable

from isotok.errors import TokenizerError
from isotok.train._options import Progress, whole

MAX_RECORDS: Final = 4096
MAX_BYTES: Final = 64 << 20


@runtime_checkable
class Source(Protocol):
    """Records that can be gone through more than once."""

    def scan(self) -> Iterator[str]:
        """Return a new complete scan of independent text records."""
        ...


def records_of(source: object) -> Iterator[str]:
    """Return the records of a `Source` or an iterable.

    Raises
    ------
    TypeError
        It is a text, whose characters would be the records, or nothing to iterate over.
    """
    if isinstance(source, (str, bytes, bytearray)):
        raise TypeError(
            "source: a text alone would be taken character by character; give a list of texts: "
            "[text]"
        )
    if isinstance(source, Source):
        return source.scan()
    if isinstance(source, Iterable):
        return cast("Iterator[str]", iter(cast("Iterable[object]", source)))
    raise TypeError(f"source: {type(source).__name__} is neither iterable nor has scan()")


def replayable(source: object) -> Source:
    """Return a source that can be gone through twice; else an error that says what to do."""
    if isinstance(source, str):
        return Texts([source])
    if isinstance(source, Source):
        return source
    if isinstance(source, Iterator) or not isinstance(source, Iterable):
        raise TypeError(
            "this needs two passes, and the source can be gone through once only; give a list, "
            "isotok.train.files(...), or an object with scan()"
        )
    return Texts(cast("Iterable[str]", source))


class Texts:
    """An iterable that begins anew each time, such as a list or a data set, as a `Source`."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = texts

    def scan(self) -> Iterator[str]:
        """Go through the texts."""
        return iter(self.texts)


def check_record(record: object, number: int) -> int:
    """Return the UTF-8 size of a record; else an error that names it."""
    if not isinstance(record, str):
        advice = "; decode it first" if isinstance(record, (bytes, bytearray)) else ""
        raise TypeError(f"record {number}: {type(record).__name__}, not str{advice}")
    if record.isascii():
        return len(record)
    try:
        return len(record.encode())
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"record {number}: character {error.start} is a lone surrogate, which is no text; "
            'replace it: text.encode("utf-8", "replace").decode()'
        ) from None


def check_texts(texts: Sequence[object]) -> None:
    """Refuse what is not a list of records, and name the one that is none."""
    if isinstance(texts, str):
        raise TypeError("texts: give a list of texts, not one text")
    for number, text in enumerate(texts):
        check_record(text, number)


def batches(records: Iterable[str], max_records: int, max_bytes: int) -> Iterator[list[str]]:
    """Group records: a batch ends before the record that would exceed a limit.

    An error of the source, or a record that is none, comes behind what was before it.
    """
    batch: list[str] = []
    size = 0
    failure: Exception | None = None
    try:
        for number, record in enumerate(records):
            extent = check_record(record, number)
            if batch and (len(batch) >= max_records or size + extent > max_bytes):
                yield batch
                batch, size = [], 0
            batch.append(record)
            size += extent
    except Exception as error:
        failure = error
    if batch:
        yield batch
    if failure is not None:
        raise failure


def feed(
    source: object,
    count: Callable[[list[str]], object],
    *,
    max_records: int,
    max_bytes: int,
    prefetch: int,
    progress: Progress | None = None,
    stage: str = "count",
) -> int:
    """Give all records to `count` in batches; return how many there were.

    With prefetch 1 one thread, which ends with this call, counts a batch while the next is read.
    If the source fails, what was read before is counted, and the error has a note that says how
    many records those are.
    """
    whole(max_records, "max_records", 1)
    whole(max_bytes, "max_bytes", 1)
    if prefetch not in (0, 1):
        raise TokenizerError(f"prefetch: {prefetch!r} is neither 0 nor 1")
    records = records_of(source)
    done = _Done(records, progress, stage)
    try:
        if prefetch:
            _feed_ahead(done, count, max_records, max_bytes)
        else:
            for batch in batches(done, max_records, max_bytes):
                count(batch)
                done.counted(len(batch))
    except Exception as error:
        error.add_note(f"{done.number} records before this are counted and kept")
        raise
    return done.number


class _Done:
    """Counts records as they are counted."""

    def __init__(self, records: Iterator[str], progress: Progress | None, stage: str) -> None:
        self.records, self.progress, self.stage, self.number = records, progress, stage, 0

    def __iter__(self) -> Iterator[str]:
        return self.records

    def counted(self, records: int) -> None:
        self.number += records
        if self.progress:
            self.progress(self.stage, self.number, None)


def _feed_ahead(
    done: _Done, count: Callable[[list[str]], object], max_records: int, max_bytes: int
) -> None:
    with ThreadPoolExecutor(1, "isotok-count") as worker:
        waiting: tuple[Future[object], int] | None = None
        try:
            for batch in batches(done, max_records, max_bytes):
                if waiting:
                    waiting[0].result()
                    done.counted(waiting[1])
                waiting = worker.submit(count, batch), len(batch)
        finally:
            if waiting:
                waiting[0].result()
                done.counted(waiting[1])
