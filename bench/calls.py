"""What a call costs without a text, and what lists cost: ns per call on each engine."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import isotok
import measure
from support.toy import toy_model

# Bounds of a whole call on the shortest texts, in ns.
BOUNDS = {"native": 300.0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=15)


def repeat(work: Callable[[], object], count: int) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(count):
            work()

    return repeated


def works(tok: isotok.Tokenizer) -> dict[str, Callable[[], object]]:
    """Things to do, by name; each on the same tokenizer."""
    long = "hello world " * 250
    return {
        "encode ''": lambda: tok.encode(""),
        "encode 'hello'": lambda: tok.encode("hello"),
        "count 'hello'": lambda: tok.count("hello"),
        "500 ids, counted": lambda: tok.count(long),
        "500 ids, numpy": lambda: tok.encode_to_numpy(long),
        "500 ids, list": lambda: tok.encode(long),
    }


def run(options: argparse.Namespace) -> int:
    measure.pin()
    failed = False
    for engine in ("native", "wasm"):
        tok = isotok.load(toy_model(), backend=engine)  # type: ignore[arg-type]
        count = 500
        each = {name: repeat(work, count) for name, work in works(tok).items()}
        times = measure.in_turns(each, options.rounds)
        for name, seconds in times.items():
            ns = min(seconds) / count * 1e9
            print(f"{engine:8}{name:20}{ns:10.0f} ns")
            failed |= name == "encode 'hello'" and ns > BOUNDS.get(engine, ns)
    if failed:
        print(f"bounds: native encode 'hello' > {BOUNDS['native']:.0f} ns")
    return int(failed)
