"""isotok beside sentencepiece 0.2.3: encoding, decoding, heap and file sizes; and beside what
SentencePiece Lite's announcement says of itself.

Encoding: 2 KB documents and whole texts through Python, lists out, see encode_rows.py. Heap:
what opening takes from malloc, in a process of its own. The published figures were measured
by their authors on their machine with their text; only their ratio to sentencepiece is set
beside ours. The exit code is 1 if ids differ or a line marked with a bound falls short.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import heap
import measure
from encode_rows import CORPORA, MODELS, Row, measure_pair, missing
from isotok.compile import compile_model
from support import data

UNIGRAM = ("xlmr", "llmjp4", "t5")
BPE = ("gemma3", "llama2")
PARTS = ("encode", "heap", "files")
# SentencePiece Lite with its cache, times as fast as sentencepiece (whole files).
PUBLISHED = {
    ("gemma3", "en"): 30.64 / 1.07,
    ("llmjp4", "en"): 17.93 / 8.22,
    ("gemma3", "ja"): 23.36 / 6.07,
    ("llmjp4", "ja"): 14.28 / 13.42,
    ("gemma3", "multi"): 20.59 / 2.01,
    ("llmjp4", "multi"): 19.25 / 12.84,
}
PUBLISHED_HEAP = {"gemma3": 43.4 / 10.3, "llmjp4": 27.7 / 7.5}
"""sentencepiece's heap / Lite's, converted in memory; mapped: 1.2 KB."""
PUBLISHED_FILES = {"gemma3": 10.3 / 4.6, "llmjp4": 7.5 / 3.2}
""".spm.fb / .model"""
DECODE = 3.0


def bounds(row: Row) -> Iterator[tuple[str, float, float]]:
    """What is wanted of a row: (figure, found, at least)."""
    if row.engine == "native":
        yield from native_bounds(row)
    if row.engine == "wasm" and row.corpus == "en":
        at_least = {"xlmr": 4.0, "gemma3": 14.0}.get(row.model)
        if at_least is not None:
            yield "warm", row.times, at_least


def native_bounds(row: Row) -> Iterator[tuple[str, float, float]]:
    warm = {"en": 6.0, "multi": 2.0, "ja": 1.8} if row.model in UNIGRAM else {"en": 25, "multi": 4}
    if row.corpus in warm:
        yield "warm", row.times, warm[row.corpus]
    if row.corpus == "en":
        yield "cold", row.cold, 3.0 if row.model in UNIGRAM else 12.0
        yield "decode", row.decode, DECODE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=float, default=5.0, help="MB of text per corpus")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=[*UNIGRAM, *BPE])
    parser.add_argument("--corpora", nargs="*", choices=CORPORA, default=list(CORPORA))


# -- encoding and decoding ------------------------------------------------------------


def show(row: Row) -> list[str]:
    """Print a row; returns the bounds that it misses."""
    notes, short = [], []
    for figure, found, at_least in bounds(row):
        holds = found >= at_least
        notes.append(f"{figure} >= {at_least:g}{'' if holds else ' MISSED'}")
        if not holds:
            short.append(
                f"{row.model}/{row.corpus} {row.engine} {figure}: {found:.2f} < {at_least:g}"
            )
    published = PUBLISHED.get((row.model, row.corpus)) if row.engine == "native" else None
    lite = f"{published:8.2f}" if published else " " * 8
    print(
        f"{row.model:8}{row.corpus:7}{row.engine:15}{row.warm:8.1f}{row.times:8.2f}{row.cold:8.2f}"
        f"{row.whole:8.2f}{row.decode:8.2f}{lite}  {', '.join(notes)}",
        flush=True,
    )
    return short


def run_encode(options: argparse.Namespace, results: dict[str, object]) -> list[str]:
    print(
        f"{'model':8}{'corpus':7}{'engine':15}{'MB/s':>8}{'warm':>8}{'cold':>8}{'whole':>8}"
        f"{'decode':>8}{'Lite':>8}  (times as fast as sentencepiece; Lite: published, whole)"
    )
    rows: list[Row] = []
    short: list[str] = []
    for model in options.models:
        for corpus in options.corpora:
            found = measure_pair(model, corpus, rounds=options.rounds, size=options.size)
            if isinstance(found, str):
                print(f"{model}/{corpus}: {found} differ")
                short.append(f"{model}/{corpus}: {found} differ")
                continue
            for row in found:
                short += show(row)
            rows += found
    results["encode"] = [row._asdict() for row in rows]
    return short


# -- heap and files ----------------------------------------------------------------------


def run_heap(options: argparse.Namespace, results: dict[str, object]) -> list[str]:
    """Heap after opening; ours must not be the larger one."""
    print(
        f"\n{'model':8}{'sentencepiece':>15}{'isotok, mapped':>16}{'from .model':>13}"
        f"{'less':>7}{'Lite':>7}  (KB of heap; less: sentencepiece / from .model)"
    )
    short = []
    rows = []
    for model in options.models:
        path = data.models_dir() / MODELS[model]
        peer, mapped, built = heap.of(path, "sentencepiece"), heap.of(path, "map"), heap.of(path)
        lite = PUBLISHED_HEAP.get(model)
        print(
            f"{model:8}{peer / 1e3:15.1f}{mapped / 1e3:16.2f}{built / 1e3:13.1f}{peer / built:7.2f}"
            f"{f'{lite:7.2f}' if lite else ''}",
            flush=True,
        )
        rows.append({"model": model, "sentencepiece": peer, "mapped": mapped, "built": built})
        if built >= peer:
            short.append(f"{model}: heap of {built} bytes, sentencepiece's {peer}")
    results["heap"] = rows
    return short


def run_files(options: argparse.Namespace, results: dict[str, object]) -> list[str]:
    print(
        f"\n{'model':8}{'.model':>10}{'.isotok':>10}{'packed':>10}{'.spm.fb':>10}{'blob':>7}"
        f"{'Lite':>7}  (KB; blob: .isotok / .model; Lite: .spm.fb / .model, published)"
    )
    rows = []
    for model in options.models:
        source = (data.models_dir() / MODELS[model]).read_bytes()
        sizes = [len(source), *(len(compile_model(source, form)) for form in ("blob", "packed"))]
        sizes.append(len(compile_model(source, "spm.fb")))
        lite = PUBLISHED_FILES.get(model)
        print(
            f"{model:8}{''.join(f'{size / 1e3:10.1f}' for size in sizes)}{sizes[1] / sizes[0]:7.2f}"
            f"{f'{lite:7.2f}' if lite else ''}",
            flush=True,
        )
        rows.append({"model": model, "sizes": sizes})
    results["files"] = rows
    return []


RUN = {"encode": run_encode, "heap": run_heap, "files": run_files}


def run(options: argparse.Namespace) -> int:
    if (why := missing(options.models)) is not None:
        print(f"sentencepiece: {why}")
        return 2
    core = measure.pin()
    where = measure.machine()
    print(f"{where['machine']}, core {core}, Python {where['python']}, commit {where['commit']}")
    print(f"{options.rounds} rounds, documents of 2 KB, {options.size:g} MB per corpus")
    results: dict[str, object] = {"rounds": options.rounds}
    short: list[str] = []
    for part in options.parts:
        short += RUN[part](options, results)
    print("\nbounds: " + ("all hold" if not short else ""))
    for line in short:
        print(f"  {line}")
    if getattr(options, "save", False):
        measure.save("sentencepiece", results)
    return int(bool(short))
