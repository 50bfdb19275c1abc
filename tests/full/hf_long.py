"""One thing over and over through every model of tokenizer.json and every rank file.

Right, and 1 MB takes at most 4.8 times as long as 250 KB: natively and in wasm, with cache and
without. Where the other library gives up on 1,200,000 spaces, its answer is put together from those
for the pre-tokens.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.full import hf_tasks
from tests.full.hf import NAMES, kind_of
from tests.full.limits import Check, Checks, Growth
from tests.support import data

sys.path.insert(0, str(data.ROOT / "tests"))

from isotok.errors import TokenizerError
from support import ranks

UNITS = ("a", "7", "\n", " ", "\u00e9", "\u4e2d", " a", "\r\n", "\u0301", "\t ")
LARGE = 1_000_000
SPACES = 1_200_000
NO_MEMORY = {
    ("xlmr", "wasm", "\u0301"),
    ("xlnet_base_cased", "wasm", "\u0301"),
    ("xlnet_base_cased", "wasm", "\u00e9"),
}
"""500,000 characters that a charsmap may join are one unit: room for 19 times as many is wanted at
once, which is 3.4 GB. An error that says so; natively they are right."""


class _Growth(Growth):
    """In time of this thread: the machine may do other things as well."""

    def measure(self) -> None:
        """Time both texts in turns."""
        for _ in range(self.RUNS):
            for i, work in enumerate(self.works):
                begin = time.thread_time()
                work()
                self.least[i] = min(self.least[i], time.thread_time() - begin)


def _text(unit: str, size: int) -> str:
    return unit * (size // len(unit.encode()))


def _wanted(name: str, text: str) -> list[int]:
    ids: list[int] = kind_of(name).ids_of(kind_of(name).reference(name), text, add=False)
    return ids


def _wanted_spaces(name: str) -> list[int]:
    if name not in ranks.NAMES:
        return _wanted(name, f"a{' ' * SPACES}x")
    ref: Any = ranks.reference(name)
    inner: list[int] = ref._encode_single_piece(" " * (SPACES - 1))
    return [*_wanted(name, "a"), *inner, *_wanted(name, " x")]


def _encode(tok: Any, name: str, text: str) -> list[int]:
    if name in ranks.NAMES:
        return list(tok.encode(text, special="none"))
    return list(tok.encode(text, add_special_tokens=False))


def _right(name: str, backend: str) -> list[Check]:
    tok = kind_of(name).opened(name, backend)
    checks: list[Check] = []
    for unit in UNITS:
        text = _text(unit, LARGE)
        what = f"{name} {backend}: 1 MB of {unit!a}"
        try:
            found = _encode(tok, name, text)
        except TokenizerError as error:
            known = (name, backend, unit) in NO_MEMORY and "no memory for" in str(error)
            checks.append((what, str(error)[:90], "equal, or known to need too much", known))
            continue
        wanted = _wanted(name, text)
        checks.append((what, f"{len(wanted):,}", "equal", found == wanted))
    wanted = _wanted_spaces(name)
    same = _encode(tok, name, f"a{' ' * SPACES}x") == wanted
    what = f"{name} {backend}: a, {SPACES:,} spaces, x"
    return [*checks, (what, f"{len(wanted):,}", "equal", same)]


def _growth(name: str, backend: str) -> list[Check]:
    kind = kind_of(name)
    lines: list[_Growth] = []
    for cache_bytes in (None, 0):
        tok = kind.opened(name, backend, cache_bytes)
        for unit in UNITS:
            if (name, backend, unit) in NO_MEMORY:
                continue
            short, long = (_text(unit, size) for size in (LARGE // 4, LARGE))
            tok.count(long)
            what = f"{name} {backend} {'cached' if cache_bytes is None else 'uncached'} {unit!a}"
            lines.append(_Growth(what, partial(tok.count, short), partial(tok.count, long)))
    for _ in range(3):
        for line in lines:
            if not line.check()[3]:
                line.measure()
    return [line.check() for line in lines]


def right(backend: str) -> Iterator[Check]:
    """The ids of the other library."""
    names = hf_tasks.chosen(NAMES)
    tasks = {name: partial(_right, name, backend) for name in names}
    return hf_tasks.run(f"hf_long_{backend}", tasks, backend)


def growth(backend: str) -> Iterator[Check]:
    """1 MB costs at most 4.8 times 250 KB."""
    names = hf_tasks.chosen(NAMES)
    tasks = {name: partial(_growth, name, backend) for name in names}
    return hf_tasks.run(f"hf_growth_{backend}", tasks, backend)


ALL: dict[str, Checks] = {}
for _backend in hf_tasks.BACKENDS:
    ALL |= {
        f"hf_long_{_backend}": partial(right, _backend),
        f"hf_growth_{_backend}": partial(growth, _backend),
    }
