"""What is wanted of the figures of bench web."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import web_data
from web_models import BY_FILE, OURS, RANKS, SPM
from web_parts import Growth, Load, Memory, Speed

# (model, corpus, peer, host): so many times as fast, on fresh text of 1 MB.
_KITOKEN = {"en": 2.5, "code": 2.5, "ja": 2.0}
BESIDE = {
    **{
        ("llama2", corpus, "kitoken", host): times
        for host in ("node", "chromium")
        for corpus, times in _KITOKEN.items()
    },
    ("gemma3", "en", "huggingface", "node"): 40.0,
    ("gemma3", "en", "huggingface", "chromium"): 30.0,
    **{
        (model, corpus, "huggingface", host): 20.0
        for model in ("llama3", "qwen3", "bert_base_cased")
        for corpus in ("en", "code", "ja")
        for host in ("node", "chromium")
    },
}


class Times(NamedTuple):
    """As the fastest exact peer, or where none is exact the fastest."""

    first: float
    repeat: float | None = None


FASTEST = {
    ("xlmr", "en"): Times(6.0),
    **{(model, corpus): Times(5.0, 12.0) for model in RANKS for corpus in ("en", "code")},
    **{(model, "ja"): Times(4.0, 3.0) for model in RANKS},
}
LOAD = 1 / 4
"""Of the time that the fastest exact peer takes to load the same SentencePiece model."""
PACKED = {"xlmr": 1.0}
"""The same of the packed form."""
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
        return f"{self.what:70}{self.found:8.2f} {self.sign} {self.wanted:.2f}  {note}"


def judge_speed(rows: Sequence[Speed]) -> Iterator[Line]:
    for row in rows:
        bound = BESIDE.get((row.model, row.corpus, row.engine, row.host))
        if bound is not None:
            what = f"{row.host} {row.model}/{row.corpus}: times as fast as {row.engine}"
            yield Line(what, row.times, ">=", bound)
    for host in dict.fromkeys(row.host for row in rows):
        yield from _beside_fastest([row for row in rows if row.host == host])
    wrong = [row.host for row in rows if row.engine == OURS and not row.short_exact]
    yield Line(f"{rows[0].model}/{rows[0].corpus}: hosts with other ids", len(wrong), "<=", 0)


def _beside_fastest(rows: Sequence[Speed]) -> Iterator[Line]:
    where = f"{rows[0].host} {rows[0].model}/{rows[0].corpus}"
    bounds = FASTEST.get((rows[0].model, rows[0].corpus))
    if bounds is None:
        return
    peers = [row for row in rows if row.engine != OURS]
    peers = [row for row in peers if row.exact] or peers
    peer = min(peers, key=lambda row: row.times)
    yield Line(f"{where}: as the fastest peer, {peer.engine}", peer.times, ">=", bounds.first)
    if bounds.repeat is not None:
        peer = min(peers, key=lambda row: row.repeat_times)
        what = f"{where}: repeated, as the fastest peer, {peer.engine}"
        yield Line(what, peer.repeat_times, ">=", bounds.repeat)


def judge_load(rows: Sequence[Load]) -> Iterator[Line]:
    if rows[0].model not in SPM:
        return
    for host in dict.fromkeys(row.host for row in rows):
        ms = {row.engine: row.ms for row in rows if row.host == host}
        peers = [row for row in rows if row.host == host and row.engine not in (OURS, *BY_FILE)]
        # Where no peer is exact, the fastest of all: that is more than was asked for.
        peer = min([row for row in peers if row.exact] or peers, key=lambda row: row.ms)
        what = f"{host} {peer.model}: load of a blob / {peer.engine}'s"
        yield Line(what, ms[OURS] / peer.ms, "<=", LOAD)
        if peer.model in PACKED:
            what = f"{host} {peer.model}: load of the packed form / {peer.engine}'s"
            yield Line(what, ms["packed"] / peer.ms, "<=", PACKED[peer.model])


def judge_memory(rows: Sequence[Memory]) -> Iterator[Line]:
    for row in rows:
        if row.engine == OURS:
            over = row.open - web_data.blob_size(row.model)
            what = f"{row.host} {row.model}: MB above start and blob"
            yield Line(what, over / 1e6, "<=", MEMORY / 1e6)


def judge_growth(rows: Sequence[Growth]) -> Iterator[Line]:
    for row in rows:
        if row.engine == OURS:
            what = f"node {row.model}: one letter, 1 MB / 250 KB"
            yield Line(what, row.ms4 / row.ms, "<=", GROWTH)
