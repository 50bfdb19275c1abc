"""isotok in Node and Chromium beside its peers on npm: speed, load, memory, growth.

Speed: sessions of all engines in turns, one process each, on one core. The first 200 KB of a
corpus are timed (cold) and then repeated for a second, which warms the compilers up. Then
come texts of 1 MB that the process has not seen (first): fresh text, but of the same corpus, so
that words come again, and whoever remembers words may. Then some of them again (repeat: the
least time of 0.4 s), and after the same warm-up with it, fresh text in a call for each sentence
(short). Ids are compared with those of the library that a model comes from.

Load: from bytes in memory through import and opening to the ids of a word; scripts with a
vocabulary of their own are in memory too. Memory: Node's
resident size, one process for a figure, above that of a process whose compiler has seen one
hot function (which takes 4 MB of anyone's, and is told apart); on pages
performance.measureUserAgentSpecificMemory and the linear memories, which it leaves out.
The exit code is 1 if a line marked with a bound falls short.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import measure
import web_bounds
import web_data
import web_models
import web_parts
from web_bounds import Line
from web_hosts import Host, Node, chromium
from web_parts import Growth, Load, Memory, Speed

PARTS = ("speed", "load", "memory", "growth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--models", nargs="*", choices=web_models.MODELS, default=web_models.MODELS)
    parser.add_argument(
        "--corpora", nargs="*", choices=web_data.CORPORA, default=("en", "code", "ja")
    )
    parser.add_argument("--hosts", nargs="*", choices=("node", "chromium"), default=None)
    parser.add_argument("--rounds", type=int, default=5, help="loads of each engine")


# -- tables, and what is wanted of them ---------------------------------------------


def show_speed(rows: Sequence[Speed]) -> None:
    for row in rows:
        exact = "" if row.short_exact else "  other ids (short)" if row.exact else "  other ids"
        print(
            f"{row.host:9}{row.model:16}{row.corpus:6}{row.engine:15}{row.first:8.2f}"
            f"{row.times:8.2f}{row.repeat:8.2f}{row.repeat_times:8.2f}{row.cold:8.2f}"
            f"{row.short:8.2f}{row.short_times:8.2f}{exact}",
            flush=True,
        )


def show_load(rows: Sequence[Load]) -> None:
    for row in rows:
        exact = "" if row.exact else "  other ids"
        print(f"{row.host:9}{row.model:16}{row.engine:15}{row.ms:9.1f} ms{exact}", flush=True)


def show_memory(rows: Sequence[Memory]) -> None:
    for row in rows:
        mb = f"{row.open / 1e6:9.1f}{row.used / 1e6:9.1f}{row.before / 1e6:9.1f} MB"
        print(f"{row.host:9}{row.model:16}{row.engine:15}{mb}", flush=True)


def show_growth(rows: Sequence[Growth]) -> None:
    for row in rows:
        print(
            f"{'node':9}{row.model:16}{row.engine:15}{row.size:8} {row.ms:9.2f} ms"
            f"{row.ms4:10.2f} ms {row.ms4 / row.ms:7.2f}",
            flush=True,
        )


HEADINGS = {
    "speed": f"{'':46}{'first':>8}{'x ours':>8}{'repeat':>8}{'x ours':>8}{'cold':>8}{'short':>8}"
    f"{'x ours':>8}  (MB/s; x: how many times as long it takes)",
    "load": f"{'':40}{'load':>9}     (median)",
    "memory": f"{'':40}{'open':>9}{'used':>9}{'before':>9}     (open, and after 1 MB: above the "
    "start; the start above a bare one)",
    "growth": f"{'':40}{'letters':>8} {'':9}   {'four times':>10}     {'grows':>7}",
}


# -- the run ------------------------------------------------------------------------


def run_part(
    part: str, hosts: Sequence[Host], options: argparse.Namespace
) -> Iterator[tuple[Sequence[Any], Iterator[Line]]]:
    for model in options.models:
        if part == "speed":
            for corpus in options.corpora:
                speeds = list(web_parts.speed(hosts, model, corpus))
                show_speed(speeds)
                yield speeds, web_bounds.judge_speed(speeds)
        elif part == "load":
            loads = list(web_parts.load(hosts, model, options.rounds))
            show_load(loads)
            yield loads, web_bounds.judge_load(loads)
        elif part == "memory":
            memories = list(web_parts.memory(hosts, model))
            show_memory(memories)
            yield memories, web_bounds.judge_memory(memories)
        elif hosts[0].name == "node":
            growths = list(web_parts.growth(hosts[0], model))
            show_growth(growths)
            yield growths, web_bounds.judge_growth(growths)


def run(options: argparse.Namespace) -> int:
    absent = web_data.missing(options.models, options.corpora)
    if absent is not None:
        print(f"web: {absent}")
        return 2
    web_data.prepare(options.models)
    core = measure.pin()
    lines: list[Line] = []
    results: dict[str, Any] = {}
    with ExitStack() as stack:
        hosts: list[Host] = []
        wanted = options.hosts or ["node", "chromium"]
        if "node" in wanted:
            hosts.append(Node(web_data.FOLDER))
        if "chromium" in wanted:
            hosts.append(stack.enter_context(chromium(web_data.FOLDER, web_data.PAGES)))
        where = measure.machine()
        versions = ", ".join(host.version for host in hosts)
        print(f"{where['machine']}, core {core}, {versions}, commit {where['commit']}")
        for part in options.parts:
            print(f"\n{part}\n{HEADINGS[part]}")
            for rows, judged in run_part(part, hosts, options):
                results.setdefault(part, []).extend(row._asdict() for row in rows)
                lines += judged
    print("\nwanted")
    for line in lines:
        print(line)
    short = sum(not line.holds for line in lines)
    print(f"{len(lines)} lines, {short} fall short")
    if getattr(options, "save", False):
        measure.save("web", results)
    return int(short > 0)
