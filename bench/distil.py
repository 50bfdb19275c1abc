"""Distilled models beside their teachers, sentencepiece and Tenya's layout.

Memos and exceptions come from corpora that the measured texts are not in. All on one core, in
turns, medians; ids are compared first or with the run. Parts:

exact       the memo of exact mode: the first pass of a new process, without the run-time cache;
            processor time
compact     longest match with exceptions: agreement with the teacher, speed beside longest match
latency     calls for documents through Python, numpy out: the columns of Tenya's table
tenya       segmenting normalized text in C, see tenya.c
distilling  all modes from 50 MB, beside sentencepiece's time to encode them once

The exit code is 1 if a line falls short of its bound.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import distil_models
import distil_parts
import measure
from distil_parts import Latency, Line

PARTS = ("exact", "compact", "latency", "tenya", "distilling")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=float, default=5.0, help="MB of each text")
    parser.add_argument("--corpus", type=float, default=50.0, help="MB to distil from")


def show(lines: Iterable[Line]) -> list[Line]:
    """Print and collect."""
    found: list[Line] = []
    for line in lines:
        least = f"  >= {line.least:g}" if line.least is not None else ""
        most = f"  <= {line.most:g}" if line.most is not None else ""
        missed = "" if line.holds else "  MISSED"
        print(f"{line.part:11}{line.what:56}{line.value:10.3f}{least}{most}{missed}", flush=True)
        found.append(line)
    return found


def show_latencies(rows: Iterable[Latency]) -> list[Latency]:
    found: list[Latency] = []
    print(
        f"{'latency':11}{'documents':11}{'engine':21}{'p50 us':>9}{'times':>7}{'p95 us':>9}"
        f"{'first us':>9}{'MB/s':>8}{'Mtok/s':>8}{'F1':>8}{'reversible':>12}"
    )
    for row in rows:
        print(
            f"{'latency':11}{row.kind:11}{row.engine:21}{row.p50 * 1e6:9.2f}{row.times:7.2f}"
            f"{row.p95 * 1e6:9.2f}{row.first * 1e6:9.2f}{row.megabytes:8.1f}"
            f"{row.megatokens:8.2f}{row.f1:8.4f}{row.reversible:12.4f}",
            flush=True,
        )
        found.append(row)
    return found


def measured(options: argparse.Namespace) -> tuple[list[Line], list[Latency]]:
    lines: list[Line] = []
    rows: list[Latency] = []
    size = int(options.size * 1e6)
    if "exact" in options.parts:
        lines += show(distil_parts.exact(options.rounds))
    if "compact" in options.parts:
        lines += show(distil_parts.compact(options.rounds, size))
    if "latency" in options.parts:
        rows = show_latencies(distil_parts.latency(3 * options.rounds))
        lines += show(distil_parts.latency_bounds(rows))
    if "tenya" in options.parts:
        lines += show(distil_parts.tenya(options.rounds, size))
    if "distilling" in options.parts:
        lines += show(
            distil_parts.distilling(max(1, options.rounds // 2), int(options.corpus * 1e6))
        )
    return lines, rows


def run(options: argparse.Namespace) -> int:
    if (why := distil_models.missing()) is not None:
        print(f"distil: {why}")
        return 2
    for name in distil_models.TEACHERS:
        distil_models.model_of(name)
    core = measure.pin()
    where = measure.machine()
    print(f"{where['machine']}, core {core}, Python {where['python']}, commit {where['commit']}")
    memo, most = distil_models.MEMO_BYTES >> 20, distil_models.EXCEPTIONS
    print(f"{options.rounds} rounds; a memo of {memo} MiB, at most {most} exceptions")
    distil_models.distil_all(list(distil_models.TEACHERS))
    lines, rows = measured(options)
    failures = [f"{line.part}, {line.what}: {line.value:.3f}" for line in lines if not line.holds]
    print("bounds: " + ("; ".join(failures) if failures else "all hold"))
    if getattr(options, "save", False):
        result = {
            "lines": [line._asdict() for line in lines],
            "rows": [row._asdict() for row in rows],
        }
        measure.save("distil", {"rounds": options.rounds, **result})
    return int(bool(failures))
