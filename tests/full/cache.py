"""The token cache at length: cached == uncached == sentencepiece, on every model and corpus.

`cache_ids` encodes every corpus in three ways without a cache, with that of default size and
with a tiny one (and says how much faster than without), `cache_chunks` tests the certificate
on its chunks, `cache_turns` interleaves two models, and `cache_shuffled` streams a text of
shuffled lines: a gigabyte, some ten minutes (``--size``: how many bytes).
"""

from __future__ import annotations

import math
import random
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from tests.full import matrix
from tests.full.limits import Check, Checks
from tests.support import data

SIZES = {"default": None, "4 KiB": 4096}
WASM = ("nai-t5", "llama2", "sp_test_ja_model")  # the others would take an hour
SHUFFLED = ("xlmr", "nai-t5", "llmjp_llm-jp-tokenizer_ver4.0_alpha1.0", "gemma3")
SEED = 20240229
LINES = ("en.txt", "code.txt", "multi.txt", "ja.txt", "zh.txt")
LONG = 2_000_000  # bytes of a text that is worth a comparison of times
WITH_ORACLE = 20  # one of so many documents of the shuffled text goes to sentencepiece
DOCUMENT = 1 << 20
TURNS = 100
ASKED = {"size": 1_000_000_000, "processes": 2}


def configure(size: int | None, processes: int) -> None:
    """Take the options of run.py; `size` is that of the shuffled text."""
    ASKED["processes"] = processes
    if size is not None:
        ASKED["size"] = size


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"


def answered(info: Any) -> str:
    """What a cache has done, in words."""
    found = info.hits + info.uncertified
    return (
        f"answered {percent(info.hits, info.probes)} of look-ups,"
        f" certified {percent(info.hits, found)} of found"
    )


# ---- Ids ------------------------------------------------------------------------------


Ids = tuple[np.ndarray, np.ndarray]  # flat, and where each document's begin and end


def wrong_and_seconds(
    tokenizer: Any, documents: Sequence[bytes], expected: Ids, runs: int
) -> tuple[int, float]:
    """Documents with other ids, in all runs; least processor time of a run."""
    wrong, seconds = 0, math.inf
    for _ in range(runs):
        begin = time.process_time()
        batch = tokenizer.encode_batch(documents)
        seconds = min(seconds, time.process_time() - begin)
        wrong += differing(expected, (batch.ids, batch.offsets))
    return wrong, seconds


def oracle_ids(processor: Any, documents: Sequence[bytes]) -> Ids:
    ids = [np.array(processor.encode(document), np.uint32) for document in documents]
    offsets = np.concatenate(([0], np.cumsum([len(each) for each in ids]))).astype(np.uint64)
    return np.concatenate([*ids, np.empty(0, np.uint32)]), offsets


def differing(a: Ids, b: Ids) -> int:
    """Documents of which the ids are not the same."""
    (a_ids, a_ends), (b_ids, b_ends) = a, b
    if np.array_equal(a_ends, b_ends) and np.array_equal(a_ids, b_ids):
        return 0
    pairs = zip(np.split(a_ids, a_ends[1:]), np.split(b_ids, b_ends[1:]), strict=True)
    return sum(not np.array_equal(one, other) for one, other in pairs)


def ids_job(model: Path, corpus: Path, backends: Sequence[str]) -> list[Check]:
    """One model and corpus: whole, lines, 2 KB; each cache is cold, then warm."""
    import isotok
    import sentencepiece

    processor: Any = sentencepiece.SentencePieceProcessor(model_file=str(model))
    text = corpus.read_bytes()
    checks: list[Check] = []
    for mode in matrix.MODES:
        documents = matrix.documents(text, mode)
        expected = oracle_ids(processor, documents)
        wrong = compared = 0
        said: list[str] = []
        for backend in backends:
            bare = isotok.load(model, backend=backend, cache_bytes=0)  # type: ignore[arg-type]
            bad, without = wrong_and_seconds(bare, documents, expected, 3)
            wrong += bad
            for size in SIZES.values():
                tok = isotok.load(model, backend=backend, cache_bytes=size)  # type: ignore[arg-type]
                bad, cold = wrong_and_seconds(tok, documents, expected, 1)
                worse, warm = wrong_and_seconds(tok, documents, expected, 3)
                wrong += bad + worse
                if size is None:
                    said.append(f"{backend} {answered(tok.cache_info())}")
                    if len(text) >= LONG:
                        said.append(f"{without / cold:.2f} x cold, {without / warm:.2f} x warm")
            compared += 3 + 4 * len(SIZES)
        what = f"{model.stem} {corpus.name} {mode}: {len(documents):,} x {compared}"
        checks.append((f"{what}; {'; '.join(said)}", f"{wrong} differ", "0 differ", wrong == 0))
    return checks


def cache_ids() -> Iterator[Check]:
    """Cold, warm and constantly driven out: as sentencepiece, and as without a cache."""
    with ProcessPoolExecutor(ASKED["processes"], max_tasks_per_child=1) as pool:
        jobs = [
            pool.submit(ids_job, model, text, ("native", "wasm")[: 1 + (model.stem in WASM)])
            for text in matrix.corpora(data.corpora_dir())
            for model in data.real_models()
        ]
        for job in as_completed(jobs):
            yield from job.result()


# ---- Chunks -----------------------------------------------------------------------------


def build(name: str, folder: Path) -> Path:
    """Compile a program of this folder with the static libraries of the native build."""
    program = folder / name
    includes = [f"-I{data.ROOT / each}" for each in ("core/include", "core/src", "core/build")]
    shared = [data.ROOT / f"tests/c/{each}.c" for each in ("drive", "make_model")]
    libraries = [data.BUILD / f"native/libisotok{each}.a" for each in ("_build", "")]
    flags = [f"@{data.ROOT / 'core/cflags.txt'}", *includes, f"-I{data.ROOT / 'tests/c'}"]
    source = data.ROOT / f"tests/full/{name}.c"
    command = ["gcc", *flags, source, *shared, *libraries, "-lm", "-o", program]
    subprocess.run([str(each) for each in command], check=True)
    return program


def numbers(output: bytes) -> dict[str, float]:
    """Read lines of a name and a number."""
    return {name: float(value) for name, value in map(str.split, output.decode().splitlines())}


def cache_chunks() -> Iterator[Check]:
    """Brute force: every different chunk of a corpus from many carried scores."""
    with tempfile.TemporaryDirectory() as name:
        program = build("cache_chunks", Path(name))
        for model in data.real_models():
            if not is_unigram(model):
                continue
            for corpus in matrix.corpora(data.corpora_dir()):
                if corpus.parent.name == "stress":
                    continue
                with open(corpus, "rb") as text:
                    done = subprocess.run([program, model], stdin=text, capture_output=True)
                found = numbers(done.stdout)
                yield (
                    f"{model.stem} {corpus.name}: {found['different']:,.0f} chunks certified at"
                    f" {found['certify_ns']:.0f} ns (segmented: {found['segment_ns']:.0f} ns)."
                    f" Of {found['chunks']:,.0f} hold at score 0 {found['certified_0']} %,"
                    f" -50,000 {found['certified_50000']} %, -90,000 {found['certified_90000']} %."
                    f" {found['tests']:,.0f} tests",
                    f"{found['wrong']:.0f} wrong",
                    "0 wrong",
                    done.returncode == 0 and found["wrong"] == 0 and found["tests"] > 1000,
                )


def is_unigram(model: Path) -> bool:
    import isotok

    return isotok.load(model).info.algorithm == "unigram"


# ---- Two models in turn ------------------------------------------------------------------


def turns(seed: int, models: Sequence[Path], lines: Sequence[bytes]) -> tuple[int, int]:
    """Use two models in turn, and open others where closed ones were; calls and wrong answers."""
    import isotok

    generator = random.Random(seed)
    chosen = generator.sample(models, 2)
    backend = generator.choice(("native", "native", "wasm"))
    size = generator.choice((None, 4096, 1 << 16))

    def opened(path: Path, cache_bytes: int | None) -> Any:
        return isotok.load(path, backend=backend, cache_bytes=cache_bytes)  # type: ignore[arg-type]

    bare = [opened(path, 0) for path in chosen]
    cached = [opened(path, size) for path in chosen]
    calls = wrong = 0
    for _ in range(60):
        which = generator.randrange(2)
        texts = generator.choices(lines, k=generator.randrange(1, 40))
        one, other = bare[which], cached[which]
        kind = generator.randrange(10)
        if kind == 0:  # let go, and have the other model's memory
            cached[which].close()
            cached[which] = other = opened(chosen[which], size)
        if kind == 1:
            one.normalize(texts[0]), other.normalize(texts[0])
            found, expected = (tok.decode(tok.encode(texts[-1])) for tok in (other, one))
        elif kind == 2 and one.info.algorithm == "unigram":
            seed_here = generator.randrange(1 << 30)
            found, expected = (tok.sample(texts[0], seed=seed_here) for tok in (other, one))
        elif kind < 6:
            found, expected = (tok.encode(b" ".join(texts)) for tok in (other, one))
        else:
            found, expected = (tok.encode_batch(texts, output="list") for tok in (other, one))
        calls += 1
        wrong += found != expected
    return calls, wrong


def cache_turns() -> Iterator[Check]:
    """100 seeded interleavings of two models."""
    models = data.real_models()
    lines = [
        line
        for name in LINES
        for line in random.Random(name).sample(
            (data.corpora_dir() / name).read_bytes().split(b"\n"), 2000
        )
    ]
    calls = wrong = 0
    for seed in range(TURNS):
        made, bad = turns(seed, models, lines)
        calls, wrong = calls + made, wrong + bad
    what = f"two models in turn, seeds 0 to {TURNS - 1}: {calls:,} calls"
    yield what, f"{wrong} differ", "0 differ", wrong == 0


# ---- Shuffled lines ------------------------------------------------------------------------


def shuffled(size: int) -> Iterator[bytes]:
    """Lines of all corpora, shuffled again for every pass through them; a megabyte at a time."""
    lines: list[bytes] = []
    for name in LINES:
        lines += (data.corpora_dir() / name).read_bytes().splitlines(keepends=True)
    generator = random.Random(SEED)
    made = 0
    while made < size:
        generator.shuffle(lines)
        text = b"".join(lines)
        for begin in range(0, len(text), DOCUMENT):
            document = text[begin : begin + DOCUMENT][: size - made]
            made += len(document)
            if document:
                yield document


def some_kept(documents: Iterable[bytes], kept: list[bytes]) -> Iterator[bytes]:
    """Pass documents on, and keep a few."""
    for number, document in enumerate(documents):
        if number % WITH_ORACLE == 0:
            kept.append(document)
        yield document


def stream(program: Path, model: Path, documents: Iterable[bytes]) -> dict[str, float]:
    """Give the text to the program; what it says."""
    command = [program, model, str(1 << 22)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        for document in documents:
            child.stdin.write(document)
        child.stdin.close()
        return numbers(child.stdout.read())


def cache_shuffled() -> Iterator[Check]:
    """One text of shuffled lines: the score is carried through all of it."""
    import isotok
    import sentencepiece

    size = ASKED["size"]
    with tempfile.TemporaryDirectory() as name:
        program = build("cache_stream", Path(name))
        for stem in SHUFFLED:
            model = data.models_dir() / f"{stem}.model"
            begin = time.monotonic()
            chosen: list[bytes] = []
            found = stream(program, model, some_kept(shuffled(size), chosen))
            hits, sure = found["hits"], found["hits"] + found["uncertified"]
            yield (
                f"{stem}: one text of {found['bytes']:,.0f} bytes, seed {SEED},"
                f" {found['tokens']:,.0f} tokens; answered {100 * hits / found['probes']:.2f} % of"
                f" look-ups, certified {100 * hits / sure:.3f} % of found; cached"
                f" {found['seconds'] / found['cached_seconds']:.2f} x as fast;"
                f" {time.monotonic() - begin:.0f} s",
                f"{found['differing']:.0f} parts differ",
                "0 parts differ",
                found["differing"] == 0 and found["bytes"] == size,
            )
            processor: Any = sentencepiece.SentencePieceProcessor(model_file=str(model))
            tokenizer = isotok.load(model, backend="native")
            wrong = sum(tokenizer.encode(each) != processor.encode(each) for each in chosen)
            yield (
                f"{stem}: {len(chosen)} documents of that, {sum(map(len, chosen)):,} bytes,"
                " with sentencepiece",
                f"{wrong} differ",
                "0 differ",
                wrong == 0,
            )


ALL: dict[str, Checks] = {
    "cache_ids": cache_ids,
    "cache_chunks": cache_chunks,
    "cache_turns": cache_turns,
    "cache_shuffled": cache_shuffled,
}
