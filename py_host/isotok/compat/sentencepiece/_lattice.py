"""The lattice of a unigram model in plain Python, for what the core has no operation for.

Entropy of the segmentations, and samples with their probabilities, with or without
replacement. Slow: a Python loop over every piece at every character.

Without replacement: Kool, van Hoof, Welling 2019, arXiv:1903.06059 (Gumbel top-k, from the
end of the text to its beginning).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from heapq import heappop, heappush
from math import exp, expm1, inf, log, log1p
from random import Random
from typing import Final, NamedTuple

from isotok.compat.sentencepiece._model import NO_ID, Model
from isotok.compat.sentencepiece._tokens import Tokens, character_size, with_surfaces

NORMAL: Final = 1
USER_DEFINED: Final = 4
UNK_PENALTY: Final = 10.0
FLT_MAX: Final = 3.4028234663852886e38
FLT_MIN: Final = 1.1754943508222875e-38
SMALL: Final = -10.0
"""Below it the inclusion probability is a series: 1 - exp(-y) would lose its digits."""


def float32(value: float) -> float:
    """Round to float32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Node(NamedTuple):
    """A piece at a place of the normalized text."""

    begin: int
    end: int
    id: int
    score: float


Path = tuple[Node, ...]


class PieceTable:
    """What the lattice is made of: the usable pieces of a model with their scores."""

    def __init__(self, model: Model) -> None:
        self.scores: dict[bytes, tuple[int, float]] = {}
        lowest, highest = FLT_MAX, FLT_MIN
        user: list[tuple[int, bytes]] = []
        backend = model.backend
        for token_id in range(model.size):
            piece, kind, score = backend.piece(token_id)
            if kind == NORMAL:
                lowest, highest = min(lowest, score), max(highest, score)
                self.scores[piece] = token_id, score
            elif kind == USER_DEFINED:
                user.append((token_id, piece))
        for token_id, piece in user:
            size = len(piece.decode(errors="replace"))
            old = model.compat is not None
            score = float32(size * highest) - 0.1 if old else 0.1 * (size - 1)
            self.scores[piece] = token_id, float32(score)
        self.unknown = model.unk_id, float32(lowest - UNK_PENALTY)
        self.longest = max(map(len, self.scores), default=0)


class Lattice:
    """All segmentations of a normalized text, weighted by exp(alpha * score)."""

    def __init__(self, table: PieceTable, text: bytes, alpha: float) -> None:
        self.text = text
        self.alpha = alpha
        self.ending: dict[int, list[Node]] = {0: []}
        self._add_nodes(table)
        self.mass = {0: 0.0}
        """Logarithm of the weight of all ways to a place."""
        for place in sorted(self.ending)[1:]:
            terms = [self.weight(node) + self.mass[node.begin] for node in self.ending[place]]
            self.mass[place] = _log_sum(terms)

    @property
    def total(self) -> float:
        """Logarithm of the weight of all segmentations."""
        return self.mass[len(self.text)]

    def weight(self, node: Node) -> float:
        """Logarithm of the weight of a node."""
        return self.alpha * node.score

    def _add_nodes(self, table: PieceTable) -> None:
        at = 0
        while at < len(self.text):
            first = min(at + character_size(self.text[at]), len(self.text))
            self.ending.setdefault(first, [])
            has_single = False
            for node in self._pieces_at(table, at, first):
                self.ending.setdefault(node.end, []).append(node)
                has_single = has_single or node.end == first
            if not has_single:
                self.ending[first].append(Node(at, first, *table.unknown))
            at = first

    def _pieces_at(self, table: PieceTable, at: int, first: int) -> Iterator[Node]:
        end = first
        while end <= len(self.text) and end - at <= table.longest:
            found = table.scores.get(self.text[at:end])
            if found is not None:
                yield Node(at, end, *found)
            if end == len(self.text):
                return
            end = min(end + character_size(self.text[end]), len(self.text))

    def log_probability(self, path: Path) -> float:
        """Logarithm of the probability of a segmentation."""
        return sum(map(self.weight, path)) - self.total

    def entropy(self) -> float:
        """Entropy of the segmentations in nats."""
        mean = {0: 0.0}  # of the logarithm of the weight, over all ways to a place
        for place in sorted(self.ending)[1:]:
            mean[place] = sum(
                self._share(node) * (mean[node.begin] + self.weight(node))
                for node in self.ending[place]
            )
        return self.total - mean[len(self.text)]

    def _share(self, node: Node) -> float:
        """Share of a node in the weight of all ways to its end."""
        return exp(self.mass[node.begin] + self.weight(node) - self.mass[node.end])

    def sample(self, source: Random) -> Path:
        """Draw a segmentation."""
        path: list[Node] = []
        place = len(self.text)
        while place > 0:
            nodes = self.ending[place]
            (node,) = source.choices(nodes, [self._share(node) for node in nodes])
            path.append(node)
            place = node.begin
        return tuple(reversed(path))

    def sample_distinct(self, count: int, source: Random) -> list[tuple[Path, float]]:
        """Draw up to `count` different segmentations, with their perturbed probabilities.

        They come in descending order of those: log P + Gumbel noise.
        """
        end = len(self.text)
        # (- perturbed, tie-break, place, log of the weight from there on, nodes from there on)
        agenda: list[tuple[float, int, int, float, Path]] = [(-_gumbel(source), 0, end, 0.0, ())]
        found: list[tuple[Path, float]] = []
        number = 0
        while agenda and len(found) < count:
            negative, _, place, tail, path = heappop(agenda)
            if place == 0:
                found.append((path, -negative))
                continue
            nodes = self.ending[place]
            tails = [tail + self.weight(node) for node in nodes]
            logs = [
                each + self.mass[node.begin] - self.total
                for each, node in zip(tails, nodes, strict=True)
            ]
            noisy = _with_maximum([each + _gumbel(source) for each in logs], -negative)
            for node, each, value in zip(nodes, tails, noisy, strict=True):
                number += 1
                heappush(agenda, (-value, number, node.begin, each, (node, *path)))
        return found


def _log_sum(terms: list[float]) -> float:
    top = max(terms)
    return top + log(sum(exp(term - top) for term in terms))


def _gumbel(source: Random) -> float:
    return -log(-log(source.random() or 2.0**-54))


def _with_maximum(values: list[float], maximum: float) -> list[float]:
    """Move Gumbel variables so that their maximum is `maximum` (the paper's appendix B.3)."""
    top = max(values)
    moved: list[float] = []
    for value in values:
        shift = maximum - value + (_log1mexp(value - top) if value < top else -inf)
        moved.append(maximum - max(0.0, shift) - log1p(exp(-abs(shift))))
    return moved


def _log1mexp(value: float) -> float:
    """log(1 - exp(value)) of a negative value."""
    return log(-expm1(value)) if value > -0.6931471805599453 else log1p(-exp(value))


def inclusion(log_probability: float, threshold: float) -> float:
    """Logarithm of the probability that a segmentation is above the threshold."""
    x = log_probability - threshold
    y = exp(x)
    if x <= SMALL:
        return x - y / 2 + y**2 / 24 - y**4 / 2880
    return log(-expm1(-y))


def tokens_of_path(model: Model, text: bytes, path: Path, score: float) -> Tokens:
    """Make tokens of a path: unknown characters become one token, or bytes."""
    normalized, origin = model.normalize(text)
    ids: list[int] = []
    pieces: list[bytes] = []
    spans: list[tuple[int, int]] = []
    after_unknown = False
    for node in path:
        begin, end = origin[node.begin], origin[node.end]
        piece = normalized[node.begin : node.end]
        is_unknown = node.id in (model.unk_id, NO_ID)
        if is_unknown and model.byte_ids:
            names = [f"<0x{byte:02X}>".encode() for byte in piece]
            pieces += names
            ids += map(model.find, names)
            spans += [(begin, begin)] * (len(names) - 1) + [(begin, end)]
        elif is_unknown and after_unknown:
            pieces[-1] += piece
            spans[-1] = spans[-1][0], end
        else:
            ids.append(node.id)
            pieces.append(piece)
            spans.append((begin, end))
        after_unknown = is_unknown
    tokens = with_surfaces(model, text, ids, pieces, spans)
    tokens.score = score
    return tokens
