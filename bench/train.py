"""Training beside gigabpe, ffbpe and Hugging Face: whole runs from a file, counting included.

    pip install gigabpe

Each run is a process of its own on one core, in turns; see train_once.py. Texts are those of
--data (en, zh, ja: NAME.20MB.txt.gz), or the file of --corpus. The exit code is 1 if a bound of
BOUNDS does not hold or two engines learn other tokens.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import measure

DATA = measure.ROOT.parent / "shared/data/corpora/train"
LANGUAGES = ("en", "zh", "ja")


class Way(NamedTuple):
    """An engine with its options."""

    engine: str
    unit: str
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " ".join([self.engine, self.unit, *self.options])


UNBOUNDED = "hot_pair_window_size=1000000000"
OURS = {unit: Way("isotok", unit) for unit in ("byte", "unicode")}
LOSSLESS = Way("isotok", "unicode", ("lossless=true",))
WAYS = (
    OURS["byte"],
    Way("isotok", "byte", (UNBOUNDED,)),
    Way("gigabpe", "byte"),
    Way("ffbpe", "byte"),
    Way("huggingface", "byte"),
    OURS["unicode"],
    LOSSLESS,
    Way("ffbpe", "unicode"),
)


class Bound(NamedTuple):
    """`ours` is at least `times` as fast as `peer`, in at most `peak` times its memory."""

    corpus: str
    ours: Way
    peer: Way
    times: float | None
    peak: float | None = None


BOUNDS = (
    Bound("en", OURS["byte"], Way("gigabpe", "byte"), 1.5, 1.0),
    Bound("zh", OURS["byte"], Way("gigabpe", "byte"), 1.2, 1.0),
    Bound("ja", OURS["byte"], Way("gigabpe", "byte"), 1.2, 1.0),
    *(Bound(at, OURS["byte"], Way("ffbpe", "byte"), 4.0) for at in LANGUAGES),
    *(Bound(at, OURS["byte"], Way("huggingface", "byte"), 5.0) for at in LANGUAGES),
    *(Bound(at, OURS["unicode"], Way("ffbpe", "unicode"), 3.0) for at in LANGUAGES),
    *(Bound(at, OURS["byte"], Way("isotok", "byte", (UNBOUNDED,)), 1 / 1.2, 0.75)
      for at in LANGUAGES),
    Bound("zh", LOSSLESS, OURS["unicode"], 2.0, 0.6),
)  # fmt: skip


@dataclass(slots=True)
class Runs:
    """What a way took, in each round."""

    seconds: list[float]
    peaks: list[float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=16_000, help="tokens")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--corpora", nargs="*", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--corpus", type=Path, help="a text file instead")
    parser.add_argument("--engines", nargs="*", help="only these")


def once(way: Way, path: Path, size: int, small: Path) -> dict[str, Any]:
    """Train in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("train_once.py"))]
    arguments = [way.engine, str(path), way.unit, str(size), str(small), *way.options]
    threads = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(
        [*command, *arguments], env={**os.environ, **threads}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{way.name}, {path.name}: failed\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def measured(
    path: Path, ways: list[Way], options: argparse.Namespace, small: Path
) -> dict[Way, Runs] | str:
    """All ways on a file, in turns; or which of them learns other tokens."""
    runs = {way: Runs([], []) for way in ways}
    tokens: dict[str, list[str]] = {}
    for turn in range(options.rounds):
        shift = turn % len(ways)
        for way in ways[shift:] + ways[:shift]:
            found = once(way, path, options.size, small)
            runs[way].seconds.append(found["seconds"])
            runs[way].peaks.append(found["peak"])
            known = tokens.setdefault(way.unit, found["tokens"])
            # gigabpe has only the bytes that occur, and more merges for it
            if known[: len(found["tokens"])] != found["tokens"][: len(known)]:
                return way.name
    return runs


def show(corpus: str, runs: dict[Way, Runs]) -> None:
    for way, run in runs.items():
        ours = runs.get(OURS[way.unit])
        times = measure.ratio(run.seconds, ours.seconds) if ours else 0
        print(
            f"{corpus:8}{way.name:46}{statistics.median(run.seconds):8.2f}"
            f"{statistics.median(run.peaks) / 1e6:9.0f}{times:8.2f}",
            flush=True,
        )


def missed(corpus: str, runs: dict[Way, Runs]) -> list[str]:
    """Bounds that do not hold."""
    failures: list[str] = []
    for bound in BOUNDS:
        if bound.corpus != corpus or not {bound.ours, bound.peer} <= runs.keys():
            continue
        ours, peer = runs[bound.ours], runs[bound.peer]
        where = f"{corpus}: {bound.ours.name} to {bound.peer.name}"
        times = measure.ratio(peer.seconds, ours.seconds)
        peak = statistics.median(ours.peaks) / statistics.median(peer.peaks)
        if bound.times is not None and times < bound.times:
            failures.append(f"{where}: {times:.2f} times as fast < {bound.times:.2f}")
        if bound.peak is not None and peak > bound.peak:
            failures.append(f"{where}: peak {peak:.2f} > {bound.peak:.2f}")
    return failures


def unpacked(options: argparse.Namespace, folder: Path) -> dict[str, Path]:
    """Files of the corpora, as text."""
    if options.corpus:
        return {options.corpus.stem: options.corpus}
    files = {name: folder / f"{name}.txt" for name in options.corpora}
    for name, path in files.items():
        path.write_bytes(gzip.decompress((options.data / f"{name}.20MB.txt.gz").read_bytes()))
    return files


def run(options: argparse.Namespace) -> int:
    core = measure.pin()
    where = measure.machine()
    print(f"{where['machine']}, core {core}, Python {where['python']}, commit {where['commit']}")
    print(f"{options.rounds} rounds, {options.size} tokens; peak: above the start, MB")
    print(f"{'corpus':8}{'engine':46}{'seconds':>8}{'peak':>9}{'times':>8}  (ours is 1)")
    ways = [way for way in WAYS if not options.engines or way.engine in options.engines]
    rows: list[dict[str, object]] = []
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.txt"
        small.write_text("low lower lowest, new newer newest\n")
        for corpus, path in unpacked(options, folder).items():
            runs = measured(path, ways, options, small)
            if isinstance(runs, str):
                print(f"{corpus}: {runs} learns other tokens")
                return 1
            show(corpus, runs)
            failures += missed(corpus, runs)
            rows += [
                {"corpus": corpus, "way": way.name, "seconds": run.seconds, "peaks": run.peaks}
                for way, run in runs.items()
            ]
    print("bounds: " + ("; ".join(failures) if failures else "all hold"))
    if getattr(options, "save", False):
        measure.save("train", {"rounds": options.rounds, "rows": rows})
    return int(bool(failures))
