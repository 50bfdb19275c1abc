"""Encoding and decoding beside sentencepiece, through Python, lists out: how a row is measured.

Documents of 2 KB and the whole text; the ids are compared first, then every engine does all
documents in turns. "cold" is the first pass of a new tokenizer over new str objects, "warm"
the median of the rounds after it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import isotok
import measure
from support import data

MODELS = {
    "xlmr": "xlmr.model",
    "gemma3": "gemma3.model",
    "llmjp4": "llmjp_llm-jp-tokenizer_ver4.0_alpha1.0.model",
    "llama2": "llama2.model",
    "t5": "nai-t5.model",
}
CORPORA = ("en", "ja", "code", "multi")
PEER = "sentencepiece"
ENGINES = ("native", "wasm", PEER)

Encode = Callable[[str], list[int]]
Decode = Callable[[list[int]], str]


class Row(NamedTuple):
    """Result of one engine on one model and corpus; all but the first times as fast as the peer."""

    model: str
    corpus: str
    engine: str
    warm: float
    """MB of UTF-8 per second."""
    times: float
    """Warm."""
    cold: float
    whole: float
    """One call on all of the text, warm."""
    decode: float


class Engine(NamedTuple):
    """One tokenizer, as functions."""

    encode: Encode
    decode: Decode


def open_engine(engine: str, path: Path, cache_bytes: int | None) -> Engine:
    """Open a new one, which has seen no text."""
    if engine == PEER:
        import sentencepiece

        peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
        return Engine(peer.encode, peer.decode)
    ours = isotok.load(path, backend=engine, cache_bytes=cache_bytes)  # type: ignore[arg-type]
    return Engine(ours.encode, ours.decode)


def for_each(function: Callable[..., object], arguments: list[object]) -> Callable[[], None]:
    def work() -> None:
        for argument in arguments:
            function(argument)

    return work


def differing(engines: dict[str, Engine], texts: list[str], whole: str) -> str | None:
    """What differs between the engines, if anything does."""
    ids = [engines[PEER].encode(text) for text in texts]
    ids_of_whole = engines[PEER].encode(whole)
    texts_again = [engines[PEER].decode(each) for each in ids]
    for name, engine in engines.items():
        if [engine.encode(text) for text in texts] != ids:
            return f"ids of {name}"
        if engine.encode(whole) != ids_of_whole:
            return f"ids of {name} on the whole text"
        if [engine.decode(each) for each in ids] != texts_again:
            return f"decoded text of {name}"
    return None


def measure_pair(
    model: str, corpus: str, *, rounds: int, size: float, cache_bytes: int | None = None
) -> list[Row] | str:
    """Rows of one model and corpus; what differs, if the engines do not agree."""
    path = data.models_dir() / MODELS[model]
    texts = measure.documents(data.corpora_dir() / f"{corpus}.txt", int(size * 1e6))
    count = sum(len(text.encode()) for text in texts)
    whole = "".join(texts)
    engines = {name: open_engine(name, path, cache_bytes) for name in ENGINES}
    new = {name: measure.fresh(texts) for name in ENGINES}
    cold = {
        name: measure.elapsed(for_each(engine.encode, new[name]))
        for name, engine in engines.items()
    }
    different = differing(engines, texts, whole)
    if different is not None:
        return different
    ids = [engines[PEER].encode(text) for text in texts]

    def turns(name: str, arguments: list[object], some_rounds: int) -> dict[str, list[float]]:
        works = {
            each: for_each(getattr(engine, name), arguments) for each, engine in engines.items()
        }
        return measure.in_turns(works, some_rounds)

    warm = turns("encode", texts, rounds)
    long = turns("encode", [whole], 3)
    back = turns("decode", ids, 3)
    return [
        Row(
            *(model, corpus, name),
            warm=count / statistics.median(warm[name]) / 1e6,
            times=measure.ratio(warm[PEER], warm[name]),
            cold=cold[PEER] / cold[name],
            whole=measure.ratio(long[PEER], long[name]),
            decode=measure.ratio(back[PEER], back[name]),
        )
        for name in ENGINES
    ]


def missing(models: list[str]) -> str | None:
    """Why nothing can be measured, if that is so."""
    from support import oracle

    if not oracle.available():
        return f"needs sentencepiece {oracle.VERSION}; run ./build.sh setup"
    for name in models:
        path = data.models_dir() / MODELS[name]
        if not path.exists():
            return data.absence(path)
    return None
