"""isotok native and wasm beside sentencepiece: 2 KB documents through Python, lists out.

Per model and corpus: the ids are compared first, then every engine encodes all documents
in turns. "warm" is the median of the rounds, "cold" the first pass of a new tokenizer over
new str objects, "whole" one call on all of the text. The exit code is 1 if a bound of
BOUNDS does not hold or ids differ.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import isotok
import measure
from support import data, oracle

MODELS = {
    "xlmr": "xlmr.model",
    "gemma3": "gemma3.model",
    "llmjp4": "llmjp_llm-jp-tokenizer_ver4.0_alpha1.0.model",
    "llama2": "llama2.model",
}
CORPORA = ("en", "ja", "code", "multi")
PEER = "sentencepiece"
ENGINES = ("native", "wasm", PEER)

# (model, corpus, engine): at least so many times as fast as sentencepiece, warm.
BOUNDS = {
    ("xlmr", "en", "native"): 2.2,
    ("xlmr", "en", "wasm"): 1.6,
    ("gemma3", "en", "native"): 8.0,
    ("gemma3", "en", "wasm"): 5.0,
}

Encode = Callable[[str], list[int]]


class Row(NamedTuple):
    """Result of one engine on one model and corpus."""

    model: str
    corpus: str
    engine: str
    warm: float
    """MB of UTF-8 per second."""
    times: float
    """Times as fast as sentencepiece, warm; likewise the next two."""
    cold: float
    whole: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=float, default=1.0, help="MB of text per corpus")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--corpora", nargs="*", choices=CORPORA, default=list(CORPORA))


def open_engine(engine: str, path: Path) -> Encode:
    if engine == PEER:
        import sentencepiece

        return sentencepiece.SentencePieceProcessor(model_file=str(path)).encode
    return isotok.load(path, backend=engine).encode  # type: ignore[arg-type]


def encode_all(encode: Encode, texts: list[str]) -> Callable[[], None]:
    def work() -> None:
        for text in texts:
            encode(text)

    return work


def measure_pair(model: str, corpus: str, options: argparse.Namespace) -> list[Row] | None:
    """Rows of one model and corpus; None if ids differ."""
    path = data.models_dir() / MODELS[model]
    texts = measure.documents(data.corpora_dir() / f"{corpus}.txt", int(options.size * 1e6))
    size = sum(len(text.encode()) for text in texts)
    whole = "".join(texts)
    encoders = {engine: open_engine(engine, path) for engine in ENGINES}
    new = {engine: measure.fresh(texts) for engine in ENGINES}
    cold = {
        engine: measure.elapsed(encode_all(encode, new[engine]))
        for engine, encode in encoders.items()
    }
    expected = [encoders[PEER](text) for text in texts]
    expected_whole = encoders[PEER](whole)
    for engine in ENGINES:
        if [encoders[engine](text) for text in texts] != expected:
            print(f"{model}/{corpus}: ids of {engine} differ")
            return None
        if encoders[engine](whole) != expected_whole:
            print(f"{model}/{corpus}: ids of {engine} differ on the whole text")
            return None
    warm = measure.in_turns(
        {engine: encode_all(encode, texts) for engine, encode in encoders.items()}, options.rounds
    )
    long = measure.in_turns(
        {engine: encode_all(encode, [whole]) for engine, encode in encoders.items()}, 3
    )
    return [
        Row(
            *(model, corpus, engine),
            warm=size / statistics.median(warm[engine]) / 1e6,
            times=measure.ratio(warm[PEER], warm[engine]),
            cold=cold[PEER] / cold[engine],
            whole=measure.ratio(long[PEER], long[engine]),
        )
        for engine in ENGINES
    ]


def show(rows: list[Row]) -> None:
    for row in rows:
        bound = BOUNDS.get((row.model, row.corpus, row.engine))
        note = ""
        if bound is not None:
            note = f"  >= {bound:.1f} {'ok' if row.times >= bound else 'MISSED'}"
        print(
            f"{row.model:8}{row.corpus:7}{row.engine:15}{row.warm:8.1f}"
            f"{row.times:8.2f}{row.cold:8.2f}{row.whole:8.2f}{note}",
            flush=True,
        )


def missed(rows: list[Row]) -> list[str]:
    """Bounds that do not hold."""
    return [
        f"{row.model}/{row.corpus} {row.engine}: {row.times:.2f} < {bound}"
        for row in rows
        if (bound := BOUNDS.get((row.model, row.corpus, row.engine))) and row.times < bound
    ]


def run(options: argparse.Namespace) -> int:
    if not oracle.available():
        print(f"spine: needs sentencepiece {oracle.VERSION}; run ./build.sh setup")
        return 2
    absent = [name for name in MODELS.values() if not (data.models_dir() / name).exists()]
    if absent:
        print(f"spine: {data.absence(data.models_dir() / absent[0])}")
        return 2
    core = measure.pin()
    where = measure.machine()
    print(f"{where['machine']}, core {core}, Python {where['python']}, commit {where['commit']}")
    print(f"{options.rounds} rounds, documents of 2 KB, {options.size:g} MB per corpus")
    print(
        "model   corpus engine             MB/s   times    cold   whole  (times as sentencepiece)"
    )
    rows: list[Row] = []
    for model in options.models:
        for corpus in options.corpora:
            found = measure_pair(model, corpus, options)
            if found is None:
                return 1
            show(found)
            rows += found
    failures = missed(rows)
    print("bounds: " + ("; ".join(failures) if failures else "all hold"))
    if getattr(options, "save", False):
        measure.save("spine", {"rounds": options.rounds, "rows": [row._asdict() for row in rows]})
    return int(bool(failures))
