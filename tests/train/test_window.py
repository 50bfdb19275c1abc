"""`hot_pair_window_size` bounds what is in memory, and changes nothing else."""

from __future__ import annotations

from typing import Literal

import pytest
from isotok.train import BpeTrainer, PreTokenizer
from texts import ALPHABETS, SPECIAL, corpus

WINDOWS = (16, 256, 4096, None)


def trained(name: str, unit: Literal["byte", "unicode"], window: int | None) -> BpeTrainer:
    counter = PreTokenizer(SPECIAL).word_counter()
    counter.add_source(corpus(name, texts=300))
    trainer = BpeTrainer(SPECIAL, unit=unit, hot_pair_window_size=window)
    trainer.add_word_counter(counter)
    trainer.train(400)
    return trainer


def has_ties(merges: tuple[tuple[int, int, int, int], ...]) -> bool:
    counts = [count for *_, count in merges]
    return len(set(counts)) < len(counts)


@pytest.mark.parametrize("unit", ["byte", "unicode"])
@pytest.mark.parametrize("name", ALPHABETS)
def test_merges_are_the_same(name: str, unit: Literal["byte", "unicode"]) -> None:
    trainers = [trained(name, unit, window) for window in WINDOWS]
    models = [trainer.validate_model().data for trainer in trainers]
    assert has_ties(models[0].merges)
    assert all(model == models[-1] for model in models[:-1])
    small, _, large, _ = (trainer.hot_pair_window_stats or {} for trainer in trainers)
    assert small["hydration_scans"] > large["hydration_scans"]


@pytest.mark.parametrize("name", ["letters", "english", "mixed"])
def test_fewer_pairs_have_places(name: str) -> None:
    """Pairs with the newest token come on top of the window: many, if its neighbours are."""
    small, large = (trained(name, "byte", window).hot_pair_window_stats for window in (16, 4096))
    assert small is not None and large is not None
    assert small["peak_pairs"] <= 4 * 16 < large["peak_pairs"] / 5
