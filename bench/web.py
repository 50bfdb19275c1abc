"""isotok in Node and Chromium beside its peers on npm: speed, load, memory, growth.

Speed: sessions of all engines in turns, one process each, on one core. The first 200 KB of a
corpus are timed (cold) and then repeated for a second, which warms the compilers up. Then
come texts of 1 MB that the process has not seen (first), one of them again (repeat), and,
after the same warm-up with it, fresh text in a call for each sentence (short). Ids are
compared with sentencepiece's.

Load: from bytes in memory through import and opening to the ids of a word. Memory: Node's
resident size, one process for a figure, above that of a process whose compiler has seen one
hot function (which takes 4 MB of anyone's, and is told apart); on pages
performance.measureUserAgentSpecificMemory and the linear memories, which it leaves out.
The exit code is 1 if a line marked with a bound falls short.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import measure
import web_data
import web_parts
from support import oracle
from web_hosts import Host, Node, chromium
from web_parts import OURS, Growth, Load, Memory, Speed

PARTS = ("speed", "load", "memory", "growth")

# (model, corpus, peer, host): so many times as fast, on fresh text of 1 MB.
BOUNDS = {
    ("llama2", "en", "kitoken", "node"): 2.5,
    ("llama2", "code", "kitoken", "node"): 2.5,
    ("llama2", "ja", "kitoken", "node"): 2.0,
    ("llama2", "en", "kitoken", "chromium"): 2.5,
    ("llama2", "code", "kitoken", "chromium"): 2.5,
    ("llama2", "ja", "kitoken", "chromium"): 2.0,
    ("gemma3", "en", "huggingface", "node"): 40.0,
    ("gemma3", "en", "huggingface", "chromium"): 30.0,
}
# (model, corpus): the same beside whichever peer is the fastest.
ANY_PEER = {("xlmr", "en"): 6.0}
LOAD = 1 / 4
"""Of the time that the fastest exact peer takes to load the same vocabulary."""
MEMORY = 5e6
"""Bytes above the start and the blob."""
GROWTH = 4.8
"""Time for four times as many letters."""


class Line(NamedTuple):
    """What is wanted: a figure, and whether it is there."""

    what: str
    found: float
    sign: str
    wanted: float

    @property
    def holds(self) -> bool:
        return self.found >= self.wanted if self.sign == ">=" else self.found <= self.wanted

    def __str__(self) -> str:
        note = "ok" if self.holds else "FALLS SHORT"
        return f"{self.what:62}{self.found:8.2f} {self.sign} {self.wanted:.2f}  {note}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--models", nargs="*", choices=web_data.MODELS, default=web_data.MODELS)
    parser.add_argument("--corpora", nargs="*", choices=web_data.CORPORA, default=web_data.CORPORA)
    parser.add_argument("--hosts", nargs="*", choices=("node", "chromium"), default=None)
    parser.add_argument("--rounds", type=int, default=5, help="loads of each engine")


# -- tables, and what is wanted of them ---------------------------------------------


def show_speed(rows: Sequence[Speed]) -> None:
    for row in rows:
        exact = "" if row.exact else "  other ids"
        print(
            f"{row.host:9}{row.model:8}{row.corpus:6}{row.engine:13}{row.first:8.2f}"
            f"{row.times:8.2f}{row.repeat:8.2f}{row.cold:8.2f}{row.short:8.2f}"
            f"{row.short_times:8.2f}{exact}",
            flush=True,
        )


def judge_speed(rows: Sequence[Speed]) -> Iterator[Line]:
    for row in rows:
        bound = BOUNDS.get((row.model, row.corpus, row.engine, row.host))
        if bound is not None:
            what = f"{row.host} {row.model}/{row.corpus}: times as fast as {row.engine}"
            yield Line(what, row.times, ">=", bound)
    peers = [row for row in rows if row.engine != OURS]
    bound = ANY_PEER.get((rows[0].model, rows[0].corpus))
    if bound is not None:
        for host in dict.fromkeys(row.host for row in peers):
            least = min((row for row in peers if row.host == host), key=lambda row: row.times)
            what = f"{host} {least.model}/{least.corpus}: as the fastest peer, {least.engine}"
            yield Line(what, least.times, ">=", bound)
    wrong = [row.host for row in rows if row.engine == OURS and not row.exact]
    yield Line(f"{rows[0].model}/{rows[0].corpus}: hosts with other ids", len(wrong), "<=", 0)


def show_load(rows: Sequence[Load]) -> None:
    for row in rows:
        exact = "" if row.exact else "  other ids"
        print(f"{row.host:9}{row.model:8}{row.engine:13}{row.ms:9.1f} ms{exact}", flush=True)


def judge_load(rows: Sequence[Load]) -> Iterator[Line]:
    for host in dict.fromkeys(row.host for row in rows):
        ms = {row.engine: row.ms for row in rows if row.host == host}
        own = (OURS, "packed")
        peers = [row for row in rows if row.host == host and row.engine not in own]
        # Where no peer is exact, the fastest of all: that is more than was asked for.
        peer = min([row for row in peers if row.exact] or peers, key=lambda row: row.ms)
        what = f"{host} {peer.model}: load of a blob / {peer.engine}'s"
        yield Line(what, ms[OURS] / peer.ms, "<=", LOAD)
        if peer.model == "xlmr":
            what = f"{host} {peer.model}: load of the packed form / {peer.engine}'s"
            yield Line(what, ms["packed"] / peer.ms, "<=", 1.0)


def show_memory(rows: Sequence[Memory]) -> None:
    for row in rows:
        mb = f"{row.open / 1e6:9.1f}{row.used / 1e6:9.1f}{row.before / 1e6:9.1f} MB"
        print(f"{row.host:9}{row.model:8}{row.engine:13}{mb}", flush=True)


def judge_memory(rows: Sequence[Memory]) -> Iterator[Line]:
    for row in rows:
        if row.engine == OURS:
            over = row.open - web_data.blob_size(row.model)
            what = f"{row.host} {row.model}: MB above start and blob"
            yield Line(what, over / 1e6, "<=", MEMORY / 1e6)


def show_growth(rows: Sequence[Growth]) -> None:
    for row in rows:
        print(
            f"{'node':9}{row.model:8}{row.engine:13}{row.size:8} {row.ms:9.2f} ms"
            f"{row.ms4:10.2f} ms {row.ms4 / row.ms:7.2f}",
            flush=True,
        )


def judge_growth(rows: Sequence[Growth]) -> Iterator[Line]:
    for row in rows:
        if row.engine == OURS:
            what = f"node {row.model}: one letter, 1 MB / 250 KB"
            yield Line(what, row.ms4 / row.ms, "<=", GROWTH)


HEADINGS = {
    "speed": f"{'':36}{'first':>8}{'x ours':>8}{'repeat':>8}{'cold':>8}{'short':>8}{'x ours':>8}"
    "  (MB/s; x: how many times as long it takes)",
    "load": f"{'':30}{'load':>9}     (median)",
    "memory": f"{'':30}{'open':>9}{'used':>9}{'before':>9}     (open, and after 1 MB: above the "
    "start; the start above a bare one)",
    "growth": f"{'':30}{'letters':>8} {'':9}   {'four times':>10}     {'grows':>7}",
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
                yield speeds, judge_speed(speeds)
        elif part == "load":
            loads = list(web_parts.load(hosts, model, options.rounds))
            show_load(loads)
            yield loads, judge_load(loads)
        elif part == "memory":
            memories = list(web_parts.memory(hosts, model))
            show_memory(memories)
            yield memories, judge_memory(memories)
        elif hosts[0].name == "node":
            growths = list(web_parts.growth(hosts[0], model))
            show_growth(growths)
            yield growths, judge_growth(growths)


def run(options: argparse.Namespace) -> int:
    absent = web_data.missing()
    if absent is None and not oracle.available():
        absent = f"sentencepiece {oracle.VERSION} is not here; run ./build.sh setup"
    if absent is not None:
        print(f"web: {absent}")
        return 2
    web_data.prepare()
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
