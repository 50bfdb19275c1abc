"""The segmenters alone, without token cache, native and wasm, beside sentencepiece.

2 KB documents through Python, lists out; see encode_rows.py. The exit code is 1 if a bound
of BOUNDS does not hold or ids differ.
"""

from __future__ import annotations

import argparse

import measure
from encode_rows import CORPORA, MODELS, Row, measure_pair, missing

# (model, corpus, engine): at least so many times as fast as sentencepiece, warm.
BOUNDS = {
    ("xlmr", "en", "native"): 2.2,
    ("xlmr", "en", "wasm"): 1.6,
    ("gemma3", "en", "native"): 8.0,
    ("gemma3", "en", "wasm"): 5.0,
}
SPINE_MODELS = ("xlmr", "gemma3", "llmjp4", "llama2")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=float, default=1.0, help="MB of text per corpus")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(SPINE_MODELS))
    parser.add_argument("--corpora", nargs="*", choices=CORPORA, default=list(CORPORA))


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
    if (why := missing(options.models)) is not None:
        print(f"spine: {why}")
        return 2
    core = measure.pin()
    where = measure.machine()
    print(f"{where['machine']}, core {core}, Python {where['python']}, commit {where['commit']}")
    print(f"{options.rounds} rounds, documents of 2 KB, {options.size:g} MB per corpus, no cache")
    print(
        "model   corpus engine             MB/s   times    cold   whole  (times as sentencepiece)"
    )
    rows: list[Row] = []
    for model in options.models:
        for corpus in options.corpora:
            found = measure_pair(
                model, corpus, rounds=options.rounds, size=options.size, cache_bytes=0
            )
            if isinstance(found, str):
                print(f"{model}/{corpus}: {found} differ")
                return 1
            show(found)
            rows += found
    failures = missed(rows)
    print("bounds: " + ("; ".join(failures) if failures else "all hold"))
    if getattr(options, "save", False):
        measure.save("spine", {"rounds": options.rounds, "rows": [row._asdict() for row in rows]})
    return int(bool(failures))
