"""Samples with their probabilities, and entropy: operations of sentencepiece up to 0.2.2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from isotok.compat.sentencepiece._errors import internal
from isotok.compat.sentencepiece._lattice import (
    Lattice,
    Path,
    PieceTable,
    float32,
    inclusion,
    tokens_of_path,
)
from isotok.compat.sentencepiece._model import Model
from isotok.compat.sentencepiece._settings import random_source
from isotok.compat.sentencepiece._tokens import Tokens


class Scorer:
    """Makes lattices of one model; the table of its pieces is made once."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @cached_property
    def table(self) -> PieceTable:
        """The pieces."""
        return PieceTable(self.model)

    def need_unigram(self, operation: str) -> None:
        """Refuse models that have no lattice."""
        if self.model.algorithm != "unigram":
            raise internal(f"{operation} is not available for the current model.")

    def entropy(self, text: bytes, alpha: float) -> float:
        """Entropy of the segmentations of a text in nats."""
        self.need_unigram("CalculateEntropy")
        normalized, _ = self.model.normalize(text)
        return Lattice(self.table, normalized, alpha).entropy() if normalized else 0.0

    def sample(self, text: bytes, request: ScoredRequest) -> list[Tokens]:
        """Draw segmentations with their scores."""
        self.need_unigram("SampleEncodeAndScore")
        normalized, _ = self.model.normalize(text)
        if not normalized:
            return []
        lattice = Lattice(self.table, normalized, request.alpha)
        found = self._distinct(lattice, request) if request.wor else _independent(lattice, request)
        return [tokens_of_path(self.model, text, path, float32(score)) for path, score in found]

    def _distinct(self, lattice: Lattice, request: ScoredRequest) -> list[tuple[Path, float]]:
        """Draw without replacement; scores are logarithms of inclusion probabilities.

        One more than asked for is drawn: its perturbed probability is the threshold of the
        others. Where there is none more, all are certain. (sentencepiece takes the last one
        as the threshold then and loses it; of a single one its memory is lost.)
        """
        drawn = lattice.sample_distinct(request.num_samples + 1, random_source())
        if len(drawn) <= request.num_samples:
            certain = [path for path, _ in drawn]
            if request.include_best:
                certain.sort(key=best_path(lattice).__ne__)
            return [(path, 0.0) for path in certain]
        found: list[tuple[Path, float]] = []
        if request.include_best:
            best = best_path(lattice)
            found.append((best, 0.0))
            others = [each for each in drawn if each[0] != best]
            drawn = others if len(others) < len(drawn) else drawn[:-1]
        threshold = drawn[-1][1]
        for path, _ in drawn[:-1]:
            found.append((path, inclusion(lattice.log_probability(path), threshold)))
        return found


@dataclass(frozen=True, slots=True)
class ScoredRequest:
    """Options of `SampleEncodeAndScore`."""

    num_samples: int
    alpha: float
    wor: bool
    """Without replacement."""
    include_best: bool


def _independent(lattice: Lattice, request: ScoredRequest) -> list[tuple[Path, float]]:
    source = random_source()
    paths = (lattice.sample(source) for _ in range(request.num_samples))
    return [(path, lattice.log_probability(path)) for path in paths]


def best_path(lattice: Lattice) -> Path:
    """Best segmentation; of equal ones the one whose last pieces begin first."""
    best: dict[int, tuple[float, Path]] = {0: (0.0, ())}
    for place in sorted(lattice.ending)[1:]:
        ways = [(float32(best[node.begin][0] + node.score), node) for node in lattice.ending[place]]
        score, last = max(ways, key=lambda way: way[0])  # the first of equals
        best[place] = score, (*best[last.begin][1], last)
    return best[len(lattice.text)][1]
