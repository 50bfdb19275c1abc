"""The differential matrix: every model x corpus x mode x back end against sentencepiece.

One job is a model and a corpus. The oracle runs once per mode and its answers, flat arrays,
are compared with each back end's: ids, byte offsets, decoded text, and code-point offsets
where the corpus is valid UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

BACKENDS = ("native", "wasm")
MODES = ("whole", "lines", "2 KB")
DOCUMENT = 2_000  # bytes, up to the next line end


@dataclass
class Row:
    """Counts of one model, corpus, mode and back end; a differing count is of documents."""

    model: str
    corpus: str
    mode: str
    backend: str
    documents: int = 0
    tokens: int = 0
    ids: int = 0
    byte_offsets: int = 0
    texts: int = 0
    normalized: int = 0
    codepoint_documents: int = 0
    codepoint_offsets: int = 0
    first: str = ""

    @property
    def differing(self) -> int:
        wrong = self.ids + self.byte_offsets + self.texts + self.codepoint_offsets
        return wrong + self.normalized


Offsets = list[tuple[int, int]]


@dataclass
class Answer:
    """What is known of one document."""

    ids: list[int]
    bytes_: Offsets
    text: bytes
    codepoints: Offsets | None


def documents(data: bytes, mode: str) -> list[bytes]:
    """`data` cut as the mode says; nothing is dropped but the line ends of "lines"."""
    if mode == "whole":
        return [data]
    if mode == "lines":
        return data.split(b"\n")
    result: list[bytes] = []
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + DOCUMENT)
        end = len(data) if end < 0 else end + 1
        result.append(data[begin : min(end, begin + 2 * DOCUMENT)])
        begin += len(result[-1])
    return result


def _as_text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _in_codepoints(data: bytes, offsets: Offsets) -> Offsets:
    """Byte offsets as code points: how many lead bytes are in front."""
    leads = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    before = np.concatenate(([0], np.cumsum(leads))).tolist()
    return [(before[begin], before[end]) for begin, end in offsets]


def oracle(processor: Any, data: bytes, mode: str) -> Answer:
    """sentencepiece's answer.

    Its code-point offsets are asked for where the document is the whole corpus; in the other
    modes they are counted from its byte offsets, which takes a third of the time.
    """
    found = processor.encode(data, out_type="offset_mapping")
    text = _as_text(data)
    codepoints: Offsets | None = None
    if text is not None and mode == "whole":
        codepoints = processor.encode(text, out_type="offset_mapping")["offsets"]
    elif text is not None:
        codepoints = _in_codepoints(data, found["offsets"])
    decoded = processor.decode(found["ids"], out_type=bytes) if found["ids"] else b""
    return Answer(found["ids"], found["offsets"], decoded, codepoints)


def compare(row: Row, tokenizer: Any, data: bytes, expected: Answer) -> None:
    """Count what differs for one document."""
    spans = tokenizer.encode_with_offsets(data, unit="byte")
    wrong_ids = tokenizer.encode(data) != expected.ids or spans.ids != expected.ids
    wrong_bytes = spans.offsets != expected.bytes_
    wrong_text = tokenizer.decode(expected.ids).encode() != expected.text
    normalized = tokenizer.encode_normalized(tokenizer.normalize(data))
    wrong_normalized = normalized != expected.ids
    wrong_codepoints = False
    if expected.codepoints is not None:
        offsets = tokenizer.encode_with_offsets(data.decode(), unit="codepoint").offsets
        wrong_codepoints = offsets != expected.codepoints
        row.codepoint_documents += 1
    row.documents += 1
    row.tokens += len(expected.ids)
    row.ids += wrong_ids
    row.byte_offsets += wrong_bytes
    row.texts += wrong_text
    row.normalized += wrong_normalized
    row.codepoint_offsets += wrong_codepoints
    wrong = wrong_ids or wrong_bytes or wrong_text or wrong_normalized or wrong_codepoints
    if not row.first and wrong:
        row.first = repr(data[:80])


def run_job(model: Path, corpus: Path, size: int | None) -> list[Row]:
    """All rows of one model and one corpus; `size` limits the bytes read."""
    import isotok
    import sentencepiece

    processor: Any = sentencepiece.SentencePieceProcessor(model_file=str(model))
    tokenizers = [isotok.load(model, backend=name) for name in BACKENDS]
    data = corpus.read_bytes()[:size]
    rows: list[Row] = []
    for mode in MODES:
        here = [Row(model.stem, corpus.name, mode, name) for name in BACKENDS]
        for document in documents(data, mode):
            expected = oracle(processor, document, mode)
            for row, tokenizer in zip(here, tokenizers, strict=True):
                compare(row, tokenizer, document, expected)
        rows += here
    return rows


def corpora(folder: Path) -> list[Path]:
    """All corpora but the trainers', largest first."""
    found = [*folder.glob("*.txt"), *folder.glob("stress/*")]
    return sorted(found, key=lambda path: (-path.stat().st_size, path.name))


def run(models: list[Path], texts: list[Path], processes: int, size: int | None) -> Iterator[Row]:
    """Rows as their jobs end."""
    with ProcessPoolExecutor(processes, max_tasks_per_child=1) as pool:
        jobs = [pool.submit(run_job, model, text, size) for text in texts for model in models]
        for job in as_completed(jobs):
            yield from job.result()


HEADER = (
    f"{'model':<28} {'corpus':<22} {'mode':<6} {'back end':<8} {'docs':>7} {'tokens':>9}"
    f" {'ids':>5} {'bytes':>5} {'text':>5} {'norm':>5} {'cp docs':>7} {'cp':>5}"
)


def line(row: Row) -> str:
    """One line of the table: compared and differing counts."""
    assert len(fields(row)) == 13
    return (
        f"{row.model[:28]:<28} {row.corpus[:22]:<22} {row.mode:<6} {row.backend:<8}"
        f" {row.documents:>7} {row.tokens:>9} {row.ids:>5} {row.byte_offsets:>5} {row.texts:>5}"
        f" {row.normalized:>5} {row.codepoint_documents:>7} {row.codepoint_offsets:>5} {row.first}"
    )
