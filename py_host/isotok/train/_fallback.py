"""Byte fallback: some tokens for characters, some for the bytes of those without one."""

from __future__ import annotations

from isotok.train._engine import Engine, new_engine
from isotok.train._options import Learned, Merge, Options, Tick
from isotok.train._table import new_words


def run_with_fallback(
    engine: Engine, options: Options, target: int, ratio: float, tick: Tick | None = None
) -> None:
    """Train characters, then bytes of those without a token, then go on with the rest."""
    base = len(engine.learned.tokens)
    slots = target - base
    if slots <= 0:
        return
    primary = int(slots * ratio)
    engine.run(base + primary, tick)
    rare = engine.freeze()
    fallback = _fallback(options, rare, slots - primary, max(engine.last_count, options.cutoff, 1))
    engine.run(target - len(fallback.merges), tick)
    engine.end(_composed(engine.learned, fallback))


def _fallback(options: Options, rare: list[tuple[bytes, int]], most: int, cutoff: int) -> Learned:
    words = new_words()
    words.add_items(rare)
    bytes_only = Options(
        initial_alphabet=options.initial_alphabet, tie_break=options.tie_break, cutoff=cutoff
    )
    if not rare or not most:
        return Learned()
    engine = new_engine(bytes_only, words)
    engine.run(256 + most)
    return engine.learned


def _composed(primary: Learned, fallback: Learned) -> Learned:
    """Fallback tokens get the last ids; merges are in the order of their counts."""
    size = len(primary.tokens)

    def moved(number: int) -> int:
        return number if number < 256 else number - 256 + size

    shifted: list[Merge] = [
        (moved(left), moved(right), moved(made), count)
        for left, right, made, count in fallback.merges
    ]
    merges = _interleave(primary.merges, shifted)
    return Learned(primary.tokens + fallback.tokens[256:], merges, True, primary.exhausted)


def _interleave(first: list[Merge], second: list[Merge]) -> list[Merge]:
    out: list[Merge] = []
    at = 0
    for merge in second:
        while at < len(first) and first[at][3] >= merge[3]:
            out.append(first[at])
            at += 1
        out.append(merge)
    return out + first[at:]
