"""The four parts of bench web: speed, load, memory, growth. Each gives rows, to be judged."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import web_data
import web_models
from web_hosts import Host, Session
from web_models import OURS

WARM_UP = 1000
"""Milliseconds of other text of the corpus, for the compilers of the engine's code."""
REPEAT = 400
"""Milliseconds, and at least once, for a text that was seen before."""
SLOW = 0.4
"""MB/s, cold: an engine below gets half of the texts."""


class Speed(NamedTuple):
    """Speed of one engine; `times`: how many times as long as we it takes, a median."""

    host: str
    model: str
    corpus: str
    engine: str
    exact: bool
    """In all but `short`."""
    short_exact: bool
    first: float
    """MB/s, texts of 1 MB never seen before; likewise the next three."""
    times: float
    repeat: float
    """The same texts again."""
    repeat_times: float
    cold: float
    """The first 200 KB of a new process."""
    short: float
    """Fresh text, a call for each sentence."""
    short_times: float


class Load(NamedTuple):
    """From bytes in memory to the first ids: import, open, encode a word."""

    host: str
    model: str
    engine: str
    exact: bool
    ms: float


class Memory(NamedTuple):
    """Bytes above the start: with the model open, and after a text of 1 MB."""

    host: str
    model: str
    engine: str
    open: float
    used: float
    before: float
    """What the start has above that of a host whose compilers have not worked yet."""


class Growth(NamedTuple):
    """Least times for one letter: of `size` and of four times as many."""

    model: str
    engine: str
    size: int
    ms: float
    ms4: float


# -- speed --------------------------------------------------------------------------


class _Run:
    """One engine on one host, as its texts go through."""

    def __init__(self, host: Host, engine: str, model: str) -> None:
        self.host = host
        self.engine = engine
        self.model = model
        self.session: Session = host.session(engine, model)
        self.session("load")
        self.exact = True

    def encode(self, text: web_data.Text) -> float:
        """MB/s."""
        found = self.session("encode", file=text.name)
        self.exact = self.exact and found["ids"] == text.ids(self.model)
        return text.size / found["ms"] / 1e3

    def repeat(self, text: web_data.Text) -> float:
        """MB/s, of the least time."""
        return text.size / self.session("repeat", file=text.name, ms=REPEAT)["ms"] / 1e3


def speed(hosts: Sequence[Host], model: str, name: str) -> Iterator[Speed]:
    corpus = web_data.corpus(name)
    runs = [_Run(host, engine, model) for host in hosts for engine in web_models.engines(model)]
    cold = [run.encode(corpus.cold) for run in runs]
    _warm_up(runs, corpus.cold)
    long = _in_turns(runs, cold, corpus.long)
    repeat = _in_turns(runs, cold, corpus.long[:3], _Run.repeat)
    _warm_up(runs, corpus.short[0])
    exact = [run.exact for run in runs]
    short = _in_turns(runs, cold, corpus.short[1:])
    for run in runs:
        run.session.close()
    ours = {run.host.name: i for i, run in enumerate(runs) if run.engine == OURS}
    for i, run in enumerate(runs):
        own = ours[run.host.name]
        yield Speed(
            *(run.host.name, model, name, run.engine, exact[i], run.exact),
            first=statistics.median(long[i]),
            times=_times(long[own], long[i]),
            repeat=statistics.median(repeat[i]),
            repeat_times=_times(repeat[own], repeat[i]),
            cold=cold[i],
            short=statistics.median(short[i]),
            short_times=_times(short[own], short[i]),
        )


def _warm_up(runs: list[_Run], text: web_data.Text) -> None:
    for run in runs:
        run.session("warmUp", file=text.name, ms=WARM_UP)


def _in_turns(
    runs: list[_Run],
    cold: list[float],
    texts: list[web_data.Text],
    measure: Callable[[_Run, web_data.Text], float] = _Run.encode,
) -> list[list[float]]:
    """MB/s of each run on each text; a slow one leaves out the second half of them."""
    found: list[list[float]] = [[] for _ in runs]
    for turn, text in enumerate(texts):
        text.ids(runs[0].model)  # not between two that are compared
        for i in sorted(range(len(runs)), key=lambda i: (i + turn) % len(runs)):
            if cold[i] >= SLOW or turn < len(texts) / 2:
                found[i].append(measure(runs[i], text))
    return found


def _times(ours: list[float], other: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, other, strict=False))


# -- load ---------------------------------------------------------------------------


def load(hosts: Sequence[Host], model: str, rounds: int) -> Iterator[Load]:
    keys = [(host, engine) for host in hosts for engine in web_models.loaders(model)]
    times: dict[tuple[str, str], list[float]] = {(h.name, e): [] for h, e in keys}
    exact: dict[tuple[str, str], bool] = {}
    for turn in range(rounds):
        for host, engine in keys[turn % len(keys) :] + keys[: turn % len(keys)]:
            session = host.session(engine, model)
            times[host.name, engine].append(session("load")["ms"])
            if turn == 0:
                exact[host.name, engine] = _is_exact(session, model)
            session.close()
    for host, engine in keys:
        key = (host.name, engine)
        yield Load(host.name, model, engine, exact[key], statistics.median(times[key]))


EXACT = ("en", "code", "ja")
"""Corpora of which all ids must be right for an engine to count as exact."""


def _is_exact(session: Session, model: str) -> bool:
    texts = [web_data.corpus(name).cold for name in EXACT]
    return all(session("encode", file=text.name)["ids"] == text.ids(model) for text in texts)


# -- memory -------------------------------------------------------------------------


def memory(hosts: Sequence[Host], model: str, rounds: int = 3) -> Iterator[Memory]:
    text = web_data.corpus("en").long[0]
    for host in hosts:
        for engine in web_models.engines(model):
            found = []
            for _ in range(rounds if engine == OURS else 1):
                session = host.session(engine, model)
                found.append(session("memory", file=text.name))
                session.close()
            keys = ("open", "used", "host")
            yield Memory(
                *(host.name, model, engine),
                *(statistics.median(each[key] for each in found) for key in keys),
            )


# -- growth -------------------------------------------------------------------------

GROWTH_SIZE = 250_000
PATIENCE = 2000.0
"""Milliseconds: a peer that takes longer gets no more letters."""


def growth(host: Host, model: str) -> Iterator[Growth]:
    for engine in web_models.engines(model):
        session = host.session(engine, model)
        session("load")
        if engine == OURS:
            yield _grow(session, model, engine, GROWTH_SIZE, 5)
        else:
            yield _largest(session, model, engine)
        session.close()


def _grow(session: Session, model: str, engine: str, size: int, rounds: int) -> Growth:
    ms, ms4 = session("growth", sizes=[size, 4 * size], rounds=rounds)["ms"]
    return Growth(model, engine, size, ms, ms4)


def _largest(session: Session, model: str, engine: str) -> Growth:
    """The growth at the largest size, up to ours, that the patience is enough for."""
    size = GROWTH_SIZE // 256
    while True:
        found = _grow(session, model, engine, size, 2)
        if 2 * size > GROWTH_SIZE or found.ms4 * found.ms4 / found.ms > PATIENCE:
            return _grow(session, model, engine, size, 3)
        size *= 4
