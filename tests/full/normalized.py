"""Text that is normalized already: encoding and cutting it takes linear time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.full.limits import GROWTH, Check
from tests.support import data

LIMIT = 4.8
SMALL, LARGE = 1_000_000, 4_000_000  # both larger than the caches
RUNS = 5
MOST_RUNS = 15


def _seconds(work: Callable[[bytes], object], text: bytes) -> float:
    begin = time.process_time()
    work(text)
    return time.process_time() - begin


def _growth(work: Callable[[bytes], object], small: bytes, large: bytes) -> float:
    """Least time for `large` over that for `small`; more runs while the machine is busy."""
    few = many = float("inf")
    for run in range(MOST_RUNS):
        few, many = min(few, _seconds(work, small)), min(many, _seconds(work, large))
        if run >= RUNS and many <= LIMIT * few:
            break
    return many / few


def normalized() -> Iterator[Check]:
    """4 MB cost at most 4.8 times 1 MB."""
    import isotok

    units = {**GROWTH, "text": "the▁year▁".encode()}
    for model in data.real_models():
        tokenizer = isotok.load(model, backend="native")
        for name, unit in units.items():
            small, large = (
                tokenizer.normalize((unit * (size // len(unit) + 1))[:size])
                for size in (SMALL, LARGE)
            )
            if not large:
                continue  # spaces that the normalizer drops
            for what, work in (
                ("encode", tokenizer.encode_normalized),
                ("boundaries", tokenizer.safe_boundaries),
            ):
                growth = _growth(work, small, large)
                yield (
                    f"{model.stem}: {what} of normalized {name}",
                    f"{growth:.2f}",
                    f"<= {LIMIT}",
                    growth <= LIMIT,
                )


ALL = {"normalized": normalized}
