"""Texts in chunks, batches and long texts in threads: on all models and corpora.

Speeds are ratios of the least times of runs in turns. A busy machine hides what a second thread
gains: the same work in two processes, measured beside, says what the machine gives.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.full.limits import Check, Checks
from tests.full.matrix import corpora, documents
from tests.support import data

sys.path.insert(0, str(data.ROOT / "tests"))

from support import chunks, parts, sharing

BACKENDS = ("native", "wasm")
MIB = 1 << 20
GAIN = 1.7
RUNS, MOST_RUNS = 7, 60
SPEED_MODELS = ("xlmr", "gemma3", "llama2", "llmjp_llm-jp-tokenizer_ver4.0_alpha1.0")


def _equal(what: str, value: str, equal: bool) -> Check:
    return what, value, "equal", equal


def _load(model: Path, backend: str) -> Any:
    import isotok

    return isotok.load(model, backend=backend)  # type: ignore[arg-type]


# ---- Streams ----------------------------------------------------------------------------


def streams() -> Iterator[Check]:
    """The first MB of every corpus in random chunks: the ids and the text of one call."""
    for model in data.real_models():
        for backend in BACKENDS:
            tok = _load(model, backend)
            pushes = tokens = 0
            wrong: list[str] = []
            for corpus in corpora(data.corpora_dir()):
                text = corpus.read_bytes()[:MIB]
                ids = tok.encode(text)
                tokens += len(ids)
                for longest in (300, 5000, 400_000):
                    seed = f"{model.stem} {corpus.name} {longest}"
                    generator = random.Random(seed)
                    cut = chunks.cut(text, generator, longest)
                    pushes += len(cut)
                    if chunks.encode(tok, cut, False, False) != ids:
                        wrong.append(seed)
                found = "".join(tok.decode_stream(chunks.cut(ids, random.Random(model.stem), 300)))
                if found != tok.decode(ids):
                    wrong.append(f"{model.stem} {corpus.name} ids")
            value = f"{pushes:,} chunks, {tokens:,} tokens, differing seeds: {wrong or 'none'}"
            yield _equal(f"{model.stem} {backend}: streams", value, not wrong)


MEMORY = """
import re, sys
import isotok
tok = isotok.load(sys.argv[1], backend=sys.argv[2])
with open(sys.argv[3], "rb") as file:
    text = file.read(1 << 20)
def chunks(size):
    for at in range(0, size, 4096):
        yield text[at % len(text) : at % len(text) + 4096]
count = 0
for ids in tok.encode_stream(chunks(int(sys.argv[4]))):
    for part in tok.decode_stream([ids]):
        count += len(part)
# Not ru_maxrss: that begins with what the parent process had.
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], count)
"""


def stream_memory() -> Iterator[Check]:
    """Peak memory of a process that encodes and decodes 64 MB as it comes, against 1 MB."""
    environment = {**os.environ, "PYTHONPATH": str(data.ROOT / "py_host")}
    for name in ("xlmr", "gemma3"):
        for backend in BACKENDS:
            peaks: list[int] = []
            for size in (MIB, 64 * MIB):
                arguments = [
                    data.models_dir() / f"{name}.model", backend,
                    data.corpora_dir() / "multi.txt", str(size),
                ]  # fmt: skip
                command = [sys.executable, "-c", MEMORY, *map(str, arguments)]
                out = subprocess.run(
                    command, env=environment, check=True, capture_output=True, text=True
                )
                peaks.append(int(out.stdout.split()[0]))
            grown = (peaks[1] - peaks[0]) / 1024
            yield (
                f"{name} {backend}: peak memory, 64 MB beside 1 MB",
                f"{peaks[1] / 1024:.1f} MiB beside {peaks[0] / 1024:.1f} MiB",
                "<= 2 MiB more",
                grown <= 2,
            )


def sharing_for_a_minute() -> Iterator[Check]:
    """Eight threads with one tokenizer for 60 s on each back end."""
    text = (data.corpora_dir() / "multi.txt").read_text("utf-8", errors="replace")
    texts = [text[at : at + size] for at, size in ((0, 300), (9000, 20_000), (90_000, 150_000))]
    for backend in BACKENDS:
        tok = _load(data.models_dir() / "xlmr.model", backend)
        calls = sharing.share(tok, [*texts, "", "hello world"], 60.0)
        yield _equal(f"xlmr {backend}: 8 threads, 60 s", f"{calls:,} calls", calls > 0)


# ---- Batches ----------------------------------------------------------------------------


def batches() -> Iterator[Check]:
    """threads=2 gives what threads=1 gives: all corpora as lines and as 2 KB documents."""
    import numpy as np

    for model in data.real_models():
        for backend in BACKENDS:
            tok = _load(model, backend)
            texts = tokens = 0
            wrong: list[str] = []
            for corpus in corpora(data.corpora_dir()):
                text = corpus.read_bytes()
                if backend == "wasm":
                    text = text[: 2 * MIB]
                for mode in ("lines", "2 KB"):
                    cut = documents(text, mode)
                    one, two = tok.encode_batch(cut), tok.encode_batch(cut, threads=2)
                    texts += len(cut)
                    tokens += len(one.ids)
                    same = np.array_equal(one.ids, two.ids)
                    same &= np.array_equal(one.offsets, two.offsets)
                    same &= tok.count_batch(cut, threads=2) == np.diff(one.offsets).tolist()
                    if not same:
                        wrong.append(f"{corpus.name} {mode}")
            value = f"{texts:,} texts, {tokens:,} tokens, differing: {wrong or 'none'}"
            yield _equal(f"{model.stem} {backend}: threads=2 beside threads=1", value, not wrong)


def _least(
    works: Sequence[Callable[[], object]], good: Callable[[list[float]], bool]
) -> list[float]:
    """Least times of works in turns; more turns while `good` does not hold."""
    least = [float("inf")] * len(works)
    for run in range(MOST_RUNS):
        for i, work in enumerate(works):
            begin = time.perf_counter()
            work()
            least[i] = min(least[i], time.perf_counter() - begin)
        if run + 1 >= RUNS and good(least):
            break
    return least


TWICE = """
import os, sys, time
import isotok
from tests.full.matrix import documents
tok = isotok.load(sys.argv[1])
texts = documents(open(sys.argv[2], "rb").read(), "2 KB")
def work():
    begin = time.perf_counter()
    tok.encode_batch(texts)
    return time.perf_counter() - begin
work()
for line in sys.stdin:
    print(work(), flush=True)
"""


def _machine(model: Path, corpus: Path) -> float:
    """What two processes do in the time of one: what the machine gives a second core."""
    environment = {**os.environ, "PYTHONPATH": f"{data.ROOT / 'py_host'}:{data.ROOT}"}
    command = [sys.executable, "-c", TWICE, str(model), str(corpus)]
    both = [
        subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]

    def run(processes: list[subprocess.Popen[str]]) -> float:
        for each in processes:
            assert each.stdin
            each.stdin.write("\n")
            each.stdin.flush()
        return max(float(each.stdout.readline()) for each in processes if each.stdout)

    alone = together = float("inf")
    for _ in range(12):
        alone, together = min(alone, run(both[:1])), min(together, run(both))
    for each in both:
        each.communicate()
    return 2 * alone / together


def batch_speed() -> Iterator[Check]:
    """threads=2 on batches of 2 KB documents: how many times as fast as threads=1."""
    for name in SPEED_MODELS:
        model, corpus = data.models_dir() / f"{name}.model", data.corpora_dir() / "en.txt"
        texts = documents(corpus.read_bytes(), "2 KB")
        for backend in BACKENDS:
            encode = partial(_load(model, backend).encode_batch, texts)
            encode(threads=2)
            works = [partial(encode, threads=threads) for threads in (1, 2)]
            one, two = _least(works, lambda least: least[0] / least[1] >= GAIN)
            gain, what = one / two, f"{name} {backend}: threads=2 / threads=1"
            if backend == "wasm":
                yield what, f"{gain:.2f}", "measured", True
            else:
                value = f"{gain:.2f} (two processes: {_machine(model, corpus):.2f})"
                yield what, value, f">= {GAIN}", gain >= GAIN


# ---- Long texts -------------------------------------------------------------------------


def long_texts() -> Iterator[Check]:
    """Whole corpora in two threads: the ids of one call; how much was segmented again."""
    import numpy as np

    for model in data.real_models():
        tok = _load(model, "native")
        wrong: list[str] = []
        size = again = cuts = 0
        for corpus in corpora(data.corpora_dir()):
            text = corpus.read_bytes()
            expected = tok.encode_to_numpy(text)
            if not np.array_equal(tok.encode_long(text, threads=2), expected):
                wrong.append(corpus.name)
            for target in (2000, 100_000):
                joined = parts.encode(tok, text, target, random.Random(model.stem))
                if joined.ids != expected.tolist():
                    wrong.append(f"{corpus.name} in parts of {target}")
            if corpus.parent == data.corpora_dir():
                size, again, cuts = size + joined.size, again + joined.again, cuts + joined.parts
        share = f", {100 * again / size:.3f} % segmented again" if size else ""
        value = f"{cuts:,} parts of 100 KB{share}, differing: {wrong or 'none'}"
        yield _equal(f"{model.stem}: long texts", value, not wrong)


def long_speed() -> Iterator[Check]:
    """encode_long with two threads, beside encode_to_numpy: how many times as fast."""
    for name in SPEED_MODELS:
        tok = _load(data.models_dir() / f"{name}.model", "native")
        for corpus in ("en.txt", "ja.txt", "multi.txt"):
            text = (data.corpora_dir() / corpus).read_bytes()
            works = [partial(tok.encode_to_numpy, text), partial(tok.encode_long, text, threads=2)]
            one, two = _least(works, lambda least: least[0] / least[1] >= 1.2)
            yield f"{name} {corpus}: encode_long, 2 threads", f"{one / two:.2f}", "measured", True


ALL: dict[str, Checks] = {
    "streams": streams,
    "stream_memory": stream_memory,
    "sharing": sharing_for_a_minute,
    "batches": batches,
    "batch_speed": batch_speed,
    "long_texts": long_texts,
    "long_speed": long_speed,
}
