"""What the benchmarks share: documents, rounds, and where numbers come from."""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench/results"


def pin() -> int | None:
    """Stay on one core, the last we may use; its number."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def documents(path: Path, total: int, size: int = 2048) -> list[str]:
    """Documents of about `size` bytes, cut at line ends, `total` bytes in all."""
    found: list[str] = []
    lines: list[str] = []
    length = used = 0
    for line in text_lines(path):
        count = len(line.encode())
        if lines and length + count > size:
            found.append("".join(lines))
            used += length
            lines, length = [], 0
            if used >= total:
                return found
        lines.append(line)
        length += count
    return [*found, "".join(lines)]


def text_lines(path: Path) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        yield from file


def fresh(texts: list[str]) -> list[str]:
    """The same texts as new objects, without what Python has cached in the old ones."""
    return [text.encode().decode() for text in texts]


def elapsed(work: Callable[[], object]) -> float:
    """Seconds for one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(
    works: Mapping[str, Callable[[], object]], rounds: int, least: float = 0.0
) -> dict[str, list[float]]:
    """Seconds of each work in each round; the order turns, so that nobody is always first.

    A turn lasts at least `least` seconds, its calls' mean counts: the others have had the
    processor's caches, and who is done in some milliseconds would be measured refilling them.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    names = list(works)
    gc.disable()
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            times[name].append(_mean(works[name], least))
        gc.collect()
    gc.enable()
    return times


def _mean(work: Callable[[], object], least: float) -> float:
    calls, total = 1, elapsed(work)
    while total < least:
        calls += 1
        total += elapsed(work)
    return total / calls


def ratio(peer: list[float], ours: list[float]) -> float:
    """How many times faster we are: the median over the rounds."""
    return statistics.median(p / o for p, o in zip(peer, ours, strict=True))


def machine() -> dict[str, str]:
    """Where and with what a run was made."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return {
        "machine": processor(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "commit": commit or "none",
    }


def processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def save(name: str, result: dict[str, object]) -> None:
    """Write a result; the caller has been asked to."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({**machine(), **result}, indent=1) + "\n")
    print(f"written: {path.relative_to(ROOT)}")
