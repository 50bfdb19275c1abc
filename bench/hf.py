"""isotok beside tiktoken and tokenizers: rank files and tokenizer.json, through Python.

Documents of 2 KB: the fastest official call of the peer for many of them in one thread, and ours;
then single calls by the number of tokens. The ids are compared first. The exit code is 1 if they
differ or a line marked with a bound falls short.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import os
import statistics
from collections.abc import Callable, Mapping
from typing import NamedTuple

import isotok
import measure
import peers
from isotok.compile import compile_model
from isotok.compile._tiktoken import SPECIAL_TOKENS, read_ranks
from isotok.compile.pretok.tiktoken import PATTERNS
from support import data

RANKS = ("o200k_base", "cl100k_base")
JSON = ("llama3", "qwen3", "gpt2", "deepseek_v3", "bert_base_cased", "xlmr", "llama2", "gemma3")
CORPORA = ("en", "code", "zh", "multi")
WANTED = {"bert_base_cased": 30.0} | dict.fromkeys(("llama3", "qwen3", "gpt2", "deepseek_v3"), 60.0)
SINGLE = (130, 514, 4098)
TURN = 0.2  # seconds at least, of the warm rounds

Many = Callable[[list[str]], object]


class Engine(NamedTuple):
    """A tokenizer: the calls for many texts, any of which it may use, and for one."""

    many: Mapping[str, Many]
    one: Callable[[str], list[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", nargs="*", choices=(*RANKS, *JSON), default=[*RANKS, *JSON])
    parser.add_argument("--corpora", nargs="*", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=float, default=3.0, help="MB of text per corpus")


def bounds(model: str, corpus: str) -> dict[str, float]:
    """What is wanted: times as fast as the peer."""
    if model in RANKS:
        return {"warm": 15.0, "cold": 6.0} if corpus in ("en", "code") else {"warm": 8.0}
    return {"warm": WANTED[model]} if model in WANTED else {}


# -- engines ------------------------------------------------------------------------------


@functools.cache
def json_of(model: str) -> bytes:
    path = data.models_dir() / f"{model}.tokenizer.json"
    if path.exists():
        return path.read_bytes()
    return gzip.decompress(path.with_name(path.name + ".gz").read_bytes())


@functools.cache
def blob_of(model: str) -> bytes:
    if model in RANKS:
        path = data.models_dir() / f"{model}.tiktoken"
        return compile_model(path.read_bytes(), name=path.name)
    return compile_model(json_of(model))


def open_ours(model: str, backend: str) -> Engine:
    """Open a new one, which has seen no text."""
    tokenizer = isotok.load(blob_of(model), backend=backend)  # type: ignore[arg-type]
    return Engine(
        {
            "encode_batch": lambda texts: tokenizer.encode_batch(texts).ids,
            "encode": lambda texts: [tokenizer.encode(text) for text in texts],
        },
        tokenizer.encode,
    )


def open_peer(model: str) -> Engine:
    if model in RANKS:
        return open_tiktoken(model)
    import tokenizers

    peer = tokenizers.Tokenizer.from_buffer(json_of(model))
    return Engine(
        {
            "encode_batch_fast": peer.encode_batch_fast,
            "encode": lambda texts: [peer.encode(text) for text in texts],
        },
        lambda text: peer.encode(text).ids,
    )


def open_tiktoken(model: str) -> Engine:
    import tiktoken

    ranks = (data.models_dir() / f"{model}.tiktoken").read_bytes()
    peer = tiktoken.Encoding(
        model,
        pat_str=PATTERNS[model],
        mergeable_ranks=read_ranks(ranks),
        special_tokens=dict(SPECIAL_TOKENS[model]),
    )
    return Engine(
        {
            "encode_ordinary": lambda texts: [peer.encode_ordinary(text) for text in texts],
            "encode_to_numpy": lambda texts: [peer.encode_to_numpy(text) for text in texts],
        },
        peer.encode_ordinary,
    )


# -- rows ---------------------------------------------------------------------------------


def differing(model: str, texts: list[str]) -> bool:
    ours, peer = open_ours(model, "native"), open_peer(model)
    return any(ours.one(text) != peer.one(text) for text in texts)


def fastest(engine: Engine, texts: list[str]) -> Many:
    """The fastest call of an engine; what it keeps of texts is full before one is chosen."""
    works = {name: functools.partial(many, texts) for name, many in engine.many.items()}
    times = measure.in_turns(works, 3)
    return engine.many[min(times, key=lambda name: times[name][-1])]


def measure_row(model: str, corpus: str, options: argparse.Namespace) -> dict[str, float]:
    """Times as fast as the peer: native and wasm, warm and cold; MB/s of the native one."""
    path = data.corpora_dir() / f"{corpus}.txt"
    texts = measure.documents(path, int(options.size * 1e6))
    engines = {
        "native": open_ours(model, "native"),
        "wasm": open_ours(model, "wasm"),
        "peer": open_peer(model),
    }
    new = {name: measure.fresh(texts) for name in engines}
    first = {name: next(iter(engine.many.values())) for name, engine in engines.items()}
    cold = {name: measure.elapsed(lambda n=name: first[n](new[n])) for name in engines}
    best = {name: fastest(engine, texts) for name, engine in engines.items()}
    warm = measure.in_turns(
        {name: functools.partial(many, texts) for name, many in best.items()}, options.rounds, TURN
    )
    size = sum(len(text.encode()) for text in texts)
    beside = measure_beside(model, texts, engines["native"], best["native"], options.rounds)
    return {
        **beside,
        "MB/s": size / statistics.median(warm["native"]) / 1e6,
        "warm": measure.ratio(warm["peer"], warm["native"]),
        "cold": cold["peer"] / cold["native"],
        "wasm": measure.ratio(warm["peer"], warm["wasm"]),
    }


def measure_beside(
    model: str, texts: list[str], ours: Engine, many: Many, rounds: int
) -> dict[str, float]:
    """Times as fast as other peers that are installed and give our ids, warm."""
    is_ranks = model in RANKS
    source = (data.models_dir() / f"{model}.tiktoken").read_bytes() if is_ranks else json_of(model)
    wanted = [ours.one(text) for text in texts]
    found: dict[str, float] = {}
    for name, other in peers.opened(model, source, is_ranks, texts, wanted):
        works = {"ours": lambda: many(texts), "peer": lambda o=other: o(texts)}
        times = measure.in_turns(works, rounds, TURN)
        found[name] = measure.ratio(times["peer"], times["ours"])
    return found


def measure_single(model: str) -> dict[int, float]:
    """Times as fast as the peer: one text, warm, lists out."""
    ours, peer = open_ours(model, "native"), open_peer(model)
    text = (data.corpora_dir() / "en.txt").read_text("utf-8", errors="replace")
    found: dict[int, float] = {}
    for tokens in SINGLE:
        part = text[: tokens * 4]
        calls = max(3, 20_000 // tokens)
        times = measure.in_turns(
            {
                "ours": lambda p=part, n=calls: [ours.one(p) for _ in range(n)],
                "peer": lambda p=part, n=calls: [peer.one(p) for _ in range(n)],
            },
            5,
        )
        found[tokens] = measure.ratio(times["peer"], times["ours"])
    return found


def show(model: str, corpus: str, row: dict[str, float]) -> list[str]:
    """Print a row; returns the bounds that it misses."""
    wanted = bounds(model, corpus)
    short = [
        f"{model}/{corpus} {name}: {row[name]:.2f} < {least:g}"
        for name, least in wanted.items()
        if row[name] < least
    ]
    figures = "".join(f"{row[name]:8.1f}" for name in ("MB/s", "warm", "cold", "wasm"))
    others = "".join(
        f"{row[name]:10.2f}" if name in row else f"{'-':>10}" for name in peers.OPENERS
    )
    notes = ", ".join(f"{name} >= {least:g}" for name, least in wanted.items())
    print(f"{model:16}{corpus:7}{figures}{others}  {notes}{' MISSED' if short else ''}", flush=True)
    return short


def run(options: argparse.Namespace) -> int:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"
    core = measure.pin()
    where = measure.machine()
    print(f"{where['machine']}, core {core}, Python {where['python']}, commit {where['commit']}")
    print(
        f"{'model':16}{'corpus':7}{'MB/s':>8}{'warm':>8}{'cold':>8}{'wasm':>8}"
        + "".join(f"{name:>10}" for name in peers.OPENERS)
        + "  (times the peer)"
    )
    results: dict[str, object] = {"rounds": options.rounds}
    short: list[str] = []
    for model in options.models:
        for corpus in options.corpora:
            texts = measure.documents(data.corpora_dir() / f"{corpus}.txt", 300_000)
            if differing(model, texts):
                short.append(f"{model}/{corpus}: ids differ")
                continue
            row = measure_row(model, corpus, options)
            results[f"{model}/{corpus}"] = row
            short += show(model, corpus, row)
        single = measure_single(model)
        results[f"{model}/single"] = {str(tokens): times for tokens, times in single.items()}
        print(
            f"{model:16}single "
            + ", ".join(f"{times:.1f} at {tokens} tokens" for tokens, times in single.items())
        )
    print("\nbounds: " + ("all hold" if not short else ""))
    for line in short:
        print(f"  {line}")
    if getattr(options, "save", False):
        measure.save("hf", results)
    return int(bool(short))
