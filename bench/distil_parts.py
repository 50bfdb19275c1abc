"""The parts of the distillation benchmark, and what each line of them is measured as."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import distil_models
import isotok
import measure

SHORT_LINES = 2000
ALL = "2 KB, all"
PEER = "sentencepiece"
Encode = Callable[[str], Any]


class Line(NamedTuple):
    """One figure, and the bound that it has to keep: at least, or at most."""

    part: str
    what: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        return (self.least is None or self.value >= self.least) and (
            self.most is None or self.value <= self.most
        )


def once(*arguments: str) -> dict[str, Any]:
    """distil_once.py in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("distil_once.py")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: failed\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def ratios(found: dict[str, list[dict[str, Any]]], peer: str, ours: str, what: str) -> float:
    """How many times as much of `what` a peer takes: the median over the rounds."""
    return measure.ratio([run[what] for run in found[peer]], [run[what] for run in found[ours]])


# -- exact: the memo ------------------------------------------------------------------


def cold_runs(name: str, unit: str, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """First passes of the teacher with and without its memo, and of sentencepiece, in turns."""
    model, memo = (str(distil_models.model_of(name)), str(distil_models.blob_of(name, "exact")))
    ways = {
        "memo": ("isotok", memo),
        "plain": ("isotok", model),
        PEER: (PEER, model),
    }
    text = str(distil_models.test_text(distil_models.TEACHERS[name].language))
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    order = list(ways)
    for turn in range(rounds):
        for way in order[turn % 3 :] + order[: turn % 3]:
            found[way].append(once("encode", *ways[way], unit, text))
    return found


LINES = {"lines": "a call each", "at once": "lines in one call", "documents": "2 KB documents"}


def exact_lines(what: str, found: dict[str, list[dict[str, Any]]], bounded: bool) -> Iterable[Line]:
    digests = {run["digest"] for runs in found.values() for run in runs}
    yield Line("exact", f"{what}: ids that differ", len(digests) - 1, most=0)
    for way, runs in found.items():
        speed = statistics.median(run["bytes"] / run["seconds"] for run in runs) / 1e6
        yield Line("exact", f"{what}: {way}, MB/s", speed)
    times = ratios(found, "plain", "memo", "seconds")
    yield Line("exact", f"{what}: times without memo", times, least=1.8 if bounded else None)
    yield Line("exact", f"{what}: times sentencepiece", ratios(found, PEER, "memo", "seconds"))


def exact(rounds: int) -> Iterable[Line]:
    for name in ("t5", "en16k"):
        runs = {unit: cold_runs(name, unit, rounds) for unit in LINES}
        for unit, what in LINES.items():
            yield from exact_lines(f"{name} {what}", runs[unit], unit != "lines")
        times = measure.ratio(*([run["seconds"] for run in each] for each in (
            runs["lines"][PEER], runs["at once"]["memo"])))  # fmt: skip
        what = f"{name} lines in one call: times sentencepiece, a call each"
        yield Line("exact", what, times, least=5.0)
        for way in ("memo", PEER):
            load = statistics.median(run["load"] for run in runs["documents"][way]) * 1e3
            yield Line("exact", f"{name}: loading {way}, ms", load)
        size = distil_models.blob_of(name, "exact").stat().st_size / 1e6
        yield Line("exact", f"{name}: blob, MB", size)


# -- quality, and compact beside longest ----------------------------------------------


class Score(NamedTuple):
    """Tokens in common with the teacher: equal id and place."""

    common: int
    ours: int
    teachers: int

    @property
    def f1(self) -> float:
        return 2 * self.common / (self.ours + self.teachers)

    @property
    def fertility(self) -> float:
        return self.ours / self.teachers


def spans_of(tok: isotok.Tokenizer, text: str) -> set[tuple[int, int, int]]:
    ids, _, offsets = tok.encode_with_offsets(text, unit="byte")
    return {(begin, end, token) for token, (begin, end) in zip(ids, offsets, strict=True)}


def score(tok: isotok.Tokenizer, teacher: isotok.Tokenizer, texts: Iterable[str]) -> Score:
    common = ours = teachers = 0
    for text in texts:
        mine, theirs = spans_of(tok, text), spans_of(teacher, text)
        common += len(mine & theirs)
        ours += len(mine)
        teachers += len(theirs)
    return Score(common, ours, teachers)


class Quality(NamedTuple):
    """Bounds of compact with a teacher, and of both modes."""

    teacher: str
    f1: float
    fertility: float | None
    speed: float
    """To longest."""
    longest_f1: float | None
    reversible: float | None


QUALITIES = (
    Quality("t5", 0.97, 1.005, 0.9, None, None),
    Quality("en16k", 0.97, 1.005, 0.9, 0.94, None),
    Quality("ja", 0.96, None, 0.4, None, 1.0),  # has byte pieces
    Quality("zh16k", 0.96, None, 0.4, None, None),
)


def encode_all(tok: isotok.Tokenizer, texts: list[str]) -> Callable[[], None]:
    encode = tok.encode_to_numpy

    def work() -> None:
        for text in texts:
            encode(text)

    return work


def compact(rounds: int, size: int) -> Iterable[Line]:
    for quality in QUALITIES:
        name, language = quality.teacher, distil_models.TEACHERS[quality.teacher].language
        documents = measure.documents(distil_models.test_text(language), size)
        blobs = {mode: distil_models.blob_of(name, mode) for mode in ("longest", "compact")}
        teacher = isotok.load(distil_models.model_of(name))
        for mode, blob in blobs.items():
            found = score(isotok.load(blob), teacher, documents)
            strict = mode == "compact"
            least = quality.f1 if strict else quality.longest_f1
            most = quality.fertility if strict else None
            yield Line("compact", f"{name}: {mode}, token F1", found.f1, least=least)
            yield Line(
                "compact", f"{name}: {mode}, tokens to the teacher's", found.fertility, most=most
            )
            share = reversible(isotok.load(blob), documents)
            yield Line("compact", f"{name}: {mode}, reversible", share, least=quality.reversible)
            yield Line("compact", f"{name}: {mode}, blob in MB", blob.stat().st_size / 1e6)
        total = sum(len(text.encode()) for text in documents)
        for cache, what in ((0, "no cache"), (None, "cache")):
            works = {
                m: encode_all(isotok.load(b, cache_bytes=cache), documents)
                for m, b in blobs.items()
            }
            times = measure.in_turns(works, rounds)
            for mode, seconds in times.items():
                yield Line(
                    "compact",
                    f"{name}: {mode}, {what}, MB/s",
                    total / statistics.median(seconds) / 1e6,
                )
            speed = measure.ratio(times["longest"], times["compact"])
            yield Line("compact", f"{name}: compact to longest, {what}", speed, least=quality.speed)


# -- latency: the columns of Tenya's table --------------------------------------------


def is_numeric(line: str) -> bool:
    return len(line) > 20 and sum(map(str.isdigit, line)) >= 0.2 * len(line.replace(" ", ""))


def joined(lines: Iterable[str], size: int = 2048) -> list[str]:
    """Whole documents of about `size` characters."""
    found, text = [], ""
    for line in lines:
        if text and len(text) + len(line) > size:
            found.append(text)
            text = ""
        text += line
    return found


def kinds() -> dict[str, list[str]]:
    """As many documents of 2 KB of prose, of lines with many digits, and of code; short lines."""
    prose, code = (distil_models.test_text(name) for name in ("en", "code"))
    lines = [line for path in (prose, code) for line in measure.text_lines(path)]
    numbers = joined(filter(is_numeric, lines))
    found = {"numbers": numbers}
    for kind, path in (("prose", prose), ("code", code)):
        documents = measure.documents(path, 1 << 40)[:-1]
        found[kind] = documents[:: len(documents) // len(numbers)][: len(numbers)]
    short = [re.sub(r"\s+", " ", line).strip() for line in measure.text_lines(prose)]
    found["short"] = list(filter(None, short))[:SHORT_LINES]
    return found


def latencies(encode: Encode, texts: list[str]) -> list[float]:
    clock = time.perf_counter
    found: list[float] = []
    for text in texts:
        start = clock()
        encode(text)
        found.append(clock() - start)
    return found


def all_latencies(
    engines: dict[str, Encode], texts: list[str], rounds: int
) -> dict[str, list[list[float]]]:
    """Seconds of each text in each round; the engines take turns."""
    found: dict[str, list[list[float]]] = {name: [] for name in engines}
    order = list(engines)
    for turn in range(rounds):
        shift = turn % len(order)
        for name in order[shift:] + order[:shift]:
            found[name].append(latencies(engines[name], texts))
    return found


class Latency(NamedTuple):
    """One engine on one kind of documents; of a document counts the median over the rounds."""

    kind: str
    engine: str
    p50: float
    times: float
    """As fast as sentencepiece, by p50."""
    p95: float
    first: float
    """p50 of the first round, of a new tokenizer."""
    megabytes: float
    megatokens: float
    f1: float
    reversible: float


def text_of(normalized: str) -> str:
    return normalized.replace("\u2581", " ").removeprefix(" ")


def reversible(tok: isotok.Tokenizer, texts: list[str]) -> float:
    """The share of documents whose normalized text the ids decode to."""
    return statistics.fmean(
        tok.decode(tok.encode(text)) == text_of(tok.normalize(text)) for text in texts
    )


BOUNDS = {"longest": 9.0, "priority": 3.5}


def open_all() -> dict[str, tuple[isotok.Tokenizer, Encode]]:
    """New engines, and what decodes and aligns their ids: sentencepiece's are the teacher's."""
    import sentencepiece

    model = distil_models.model_of("t5")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(model))
    blobs = {mode: distil_models.blob_of("t5", mode) for mode in distil_models.ALGORITHM}
    students = {mode: isotok.load(blob) for mode, blob in blobs.items()}
    students["longest, no cache"] = isotok.load(blobs["longest"], cache_bytes=0)
    teacher = isotok.load(model)
    return {
        PEER: (teacher, lambda text: peer.encode(text, out_type="numpy")),
        f"{PEER}, list": (teacher, peer.encode),
        **{name: (tok, tok.encode_to_numpy) for name, tok in students.items()},
    }


def latency_rows(kind: str, texts: list[str], rounds: int) -> Iterable[Latency]:
    engines = open_all()
    found = all_latencies({name: way for name, (_, way) in engines.items()}, texts, rounds)
    seconds = {
        name: [statistics.median(text) for text in zip(*runs, strict=True)]
        for name, runs in found.items()
    }
    size = sum(len(text.encode()) for text in texts)
    for name, each in seconds.items():
        tok, p50, total = engines[name][0], statistics.median(each), sum(each)
        agreed = score(tok, engines[PEER][0], texts)
        yield Latency(
            kind,
            name,
            p50,
            statistics.median(seconds[PEER]) / p50,
            sorted(each)[int(0.95 * len(each))],
            statistics.median(found[name][0]),
            size / total / 1e6,
            agreed.ours / total / 1e6,
            agreed.f1,
            reversible(tok, texts),
        )


def latency(rounds: int) -> Iterable[Latency]:
    groups = kinds()
    groups[ALL] = [text for kind in ("prose", "numbers", "code") for text in groups[kind]]
    for kind, texts in groups.items():
        yield from latency_rows(kind, texts, rounds)


def latency_bounds(rows: Iterable[Latency]) -> Iterable[Line]:
    for row in rows:
        if row.kind == ALL and row.engine in BOUNDS:
            what = f"{row.engine}: p50 of 2 KB, times sentencepiece"
            yield Line("latency", what, row.times, least=BOUNDS[row.engine])


# -- tenya: its layout in C -----------------------------------------------------------


def build_tenya() -> Path:
    """tenya.c with the flags of the core."""
    program = distil_models.FOLDER / "tenya"
    flags = ["@core/cflags.txt", "@core/warnings.txt", "-Icore/include"]
    if measure.platform.machine() == "x86_64":
        flags.append("-mssse3")
    sources = ["bench/tenya.c", "build/native/libisotok.a"]
    command = ["gcc", *flags, *sources, "-lpthread", "-lm", "-o", str(program)]
    subprocess.run(command, cwd=measure.ROOT, check=True)
    return program


def tenya(rounds: int, size: int) -> Iterable[Line]:
    program, texts = build_tenya(), distil_models.FOLDER / "normalized"
    tok = isotok.load(distil_models.model_of("t5"))
    documents = measure.documents(distil_models.test_text("en"), size)
    texts.write_bytes(b"".join(tok.normalize(text).encode() + b"\0" for text in documents))
    for mode, cache in (
        ("longest", 0),
        ("longest", 8 << 20),
        ("priority", 0),
        ("priority", 8 << 20),
    ):
        command = [
            str(program),
            str(distil_models.blob_of("t5", mode)),
            str(texts),
            str(rounds),
            str(cache),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        *turns, last = done.stdout.splitlines()
        tokens, total, same = last.split()
        what = f"{mode}, {'cache' if cache else 'no cache'}"
        yield Line("tenya", f"{what}: ids that differ", float(same != "same"), most=0)
        ours, theirs, short = (
            list(each) for each in zip(*(map(float, turn.split()) for turn in turns), strict=True)
        )
        yield Line("tenya", f"{what}: MB/s", int(total) / statistics.median(ours) / 1e6)
        yield Line(
            "tenya", f"{what}: million tokens/s", int(tokens) / statistics.median(ours) / 1e6
        )
        least = 2.0 if what == "longest, no cache" else None
        yield Line(
            "tenya", f"{what}: times Tenya's layout", measure.ratio(theirs, ours), least=least
        )
        yield Line(
            "tenya", f"{what}: times the same with spaces of one byte", measure.ratio(short, ours)
        )


# -- distilling -----------------------------------------------------------------------


def corpus_of(size: int) -> Path:
    """`size` bytes of English, then Chinese, then Japanese: no text twice."""
    path = distil_models.FOLDER / "mixed.txt"
    text = b"".join(distil_models.training_text(name).read_bytes() for name in ("en", "zh", "ja"))
    path.write_bytes(text[: text.rindex(b"\n", 0, size) + 1])
    return path


def distilling(rounds: int, size: int) -> Iterable[Line]:
    text, model = str(corpus_of(size)), str(distil_models.model_of("t5"))
    found: dict[str, list[dict[str, Any]]] = {"distil": [], "peer": []}
    for _ in range(rounds):
        for way, runs in found.items():
            runs.append(once(way, model, text))
    seconds = {
        way: statistics.median(run["seconds"] for run in runs) for way, runs in found.items()
    }
    peak = max(run["peak"] for run in found["distil"]) / 1e6
    yield Line("distilling", "seconds", seconds["distil"])
    yield Line("distilling", "sentencepiece encodes it once, seconds", seconds["peer"])
    yield Line("distilling", "ratio", 1 / ratios(found, "peer", "distil", "seconds"), most=2.0)
    yield Line("distilling", "peak above the start, MB", peak, most=1000.0)
