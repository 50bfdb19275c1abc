"""Sizes, times and growth that the project promises, measured in one run.

Each check yields (what, measured, limit, holds). Times are ratios of medians or minima,
measured alternately; they are no part of the ordinary tests.
"""

from __future__ import annotations

import gzip
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.support import data

Check = tuple[str, str, str, bool]
Checks = Callable[[], Iterator[Check]]

GOOGLE = {"gemma3": 10.5e6, "xlmr": 11.3e6, "llmjp_llm-jp-tokenizer_ver4.0_alpha1.0": 8.3e6}
MIB = 1 << 20


def _at_most(what: str, value: float, limit: float, unit: str = "") -> Check:
    return what, f"{value:,.2f}{unit}", f"<= {limit:,.2f}{unit}", value <= limit


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _alternate(runs: int, *works: Callable[[], object]) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        for work, kept in zip(works, times, strict=True):
            kept.append(_seconds(work))
    return times


class Growth:
    """The least times of a small and a four times as large text, over all measurements."""

    LIMIT = 4.8
    RUNS = 5

    def __init__(self, what: str, small: Callable[[], object], large: Callable[[], object]):
        self.what = what
        self.works = (small, large)
        self.least = [math.inf, math.inf]
        self.measure()

    def measure(self) -> None:
        """Time both texts in turns."""
        for i, times in enumerate(_alternate(self.RUNS, *self.works)):
            self.least[i] = min(self.least[i], *times)

    def check(self) -> Check:
        """The line to print."""
        return _at_most(self.what, self.least[1] / self.least[0], self.LIMIT)


def wasm() -> Iterator[Check]:
    """The runtime module's size."""
    module = (data.BUILD / "wasm/isotok.wasm").read_bytes()
    yield _at_most("isotok.wasm, raw bytes", len(module), 65536)
    yield _at_most("isotok.wasm, gzip bytes", len(gzip.compress(module, 9)), 28672)


def sizes() -> Iterator[Check]:
    """Blobs against Google's own files, packed forms against the source."""
    import sentencepiece
    from isotok.compile import compile_model

    for name, known in GOOGLE.items():
        source = (data.models_dir() / f"{name}.model").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "google.fb"
            sentencepiece.convert_to_flatbuffer(
                model_file=str(data.models_dir() / f"{name}.model"), output_file=str(out)
            )
            google = out.stat().st_size
        blob = len(compile_model(source))
        yield _at_most(f"{name}: blob / Google's {google:,}", blob / google, 1.4)
        yield _at_most(f"{name}: blob / {known:,.0f}", blob / known, 1.4)
    for path in data.real_models():
        packed = len(compile_model(path.read_bytes(), form="packed"))
        yield _at_most(f"{path.stem}: packed / .model", packed / path.stat().st_size, 1.0)


def opening() -> Iterator[Check]:
    """Opening (safe, mapped, warm) and compiling against sentencepiece."""
    import isotok
    import sentencepiece
    from isotok.compile import compile_model

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        for name in GOOGLE:
            model = data.models_dir() / f"{name}.model"
            source = model.read_bytes()
            blob = out / f"{name}.isotok"
            blob.write_bytes(compile_model(source))
            google = str(out / "google.fb")

            def open_ours(blob: Path = blob) -> None:
                isotok.load(blob, backend="native", map=True).close()

            def open_theirs(source: bytes = source) -> None:
                sentencepiece.SentencePieceProcessor(model_proto=source)

            def compile_ours(source: bytes = source) -> None:
                compile_model(source)

            def compile_theirs(model: Path = model, google: str = google) -> None:
                sentencepiece.convert_to_flatbuffer(model_file=str(model), output_file=google)

            ours, theirs = map(statistics.median, _alternate(9, open_ours, open_theirs))
            yield _at_most(f"{name}: open / sentencepiece's load", ours / theirs, 0.1)
            ours, theirs = map(statistics.median, _alternate(5, compile_ours, compile_theirs))
            yield _at_most(f"{name}: compile / convert_to_flatbuffer", ours / theirs, 1.5)
            yield _at_most(f"{name}: compile, seconds", ours, 1.0)


GROWTH: dict[str, bytes] = {
    "one letter": b"a",
    "spaces": b" ",
    "invalid UTF-8": bytes(range(0x80, 0x100)),
    "combining marks": "a\u0301\u0308\u0323".encode(),
}


def growth() -> Iterator[Check]:
    """1 MB costs at most 4.8 times 250 KB, whatever the text.

    A neighbour of this machine can slow all runs of a line: lines over the limit are measured
    again after all others, at most three times.
    """
    lines = list(_growth_lines())
    for _ in range(3):
        for line in lines:
            if not line.check()[3]:
                line.measure()
    yield from (line.check() for line in lines)


def _growth_lines() -> Iterator[Growth]:
    import isotok

    for model in data.real_models():
        for backend in ("native", "wasm"):
            tokenizer = isotok.load(model, backend=backend)
            for name, unit in GROWTH.items():
                large = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
                encode = tokenizer.encode_to_numpy
                yield Growth(
                    f"{model.stem} {backend}: growth, {name}",
                    partial(encode, large[:250_000]),
                    partial(encode, large),
                )


def stretches() -> Iterator[Check]:
    """Long texts without a cut, which reach a session in parts: linear, and right in 32 bits."""
    import isotok

    for name, size in (("xlmr", 30_000_000), ("gemma3", 8_000_000)):
        model = data.models_dir() / f"{name}.model"
        wasm = isotok.load(model, backend="wasm")
        counts: dict[int, int] = {}

        def count(size: int, wasm: Any = wasm, counts: dict[int, int] = counts) -> None:
            counts[size] = wasm.count("a" * size)

        few, many = map(min, _alternate(3, lambda: count(1_000_000), lambda: count(4_000_000)))
        yield _at_most(f"{name} wasm: growth of a stretch, 4 MB over 1 MB", many / few, 4.8)
        count(size)
        ours = isotok.load(model, backend="native").count("a" * size)
        equal = counts[size] == ours
        yield f"{name} wasm: tokens of {size:,} letters", f"{counts[size]:,}", f"{ours:,}", equal


PEAK = """
import re, sys
import numpy
import isotok
tokenizer = isotok.load(sys.argv[1], backend="native")
with open(sys.argv[2], "rb") as file:
    text = file.read()
ids = tokenizer.encode_to_numpy(text)
# not getrusage: its maximum includes the parent's from before exec
with open("/proc/self/status") as file:
    peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", file.read()).group(1))
print(ids.nbytes, peak * 1024)
"""


def _peak(model: Path, text: Path) -> tuple[int, int]:
    command = [sys.executable, "-c", PEAK, str(model), str(text)]
    out = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    ids, peak = map(int, out.stdout.split())
    return ids, peak


def memory() -> Iterator[Check]:
    """Peak memory on 64 MB of text is that on 1 MB plus input and output."""
    from isotok.compile import compile_model

    repeated = (data.corpora_dir() / "en.txt").read_bytes() * 13
    with tempfile.TemporaryDirectory() as folder:
        for name in ("xlmr", "gemma3"):
            peaks: list[tuple[int, int, int]] = []
            blob = Path(folder) / f"{name}.isotok"
            blob.write_bytes(compile_model((data.models_dir() / f"{name}.model").read_bytes()))
            for size in (1_000_000, 64_000_000):
                text = Path(folder) / "text"
                text.write_bytes(repeated[:size])
                peaks.append((size, *_peak(blob, text)))
            (few, few_ids, few_peak), (many, many_ids, many_peak) = peaks
            extra = many_peak - few_peak - (many - few) - (many_ids - few_ids)
            yield _at_most(f"{name}: 64 MB over 1 MB, beyond input and output, MiB", extra / MIB, 8)


ALL: dict[str, Checks] = {
    "wasm": wasm, "sizes": sizes, "opening": opening, "growth": growth, "stretches": stretches,
    "memory": memory,
}  # fmt: skip
