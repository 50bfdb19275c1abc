"""Sampling: exact distributions, one seed everywhere, and arguments that do not fit.

The lattices and their seeds are listed in tests/vectors/lattices.json; distributions are
enumerated here, from the pieces. What a seed draws is in tests/vectors.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isotok
import numpy as np
import pytest
from conftest import BACKENDS, Opener, need
from isotok_reference import Bpe, Reference, Segments, load
from samplers import lattice
from support import data
from support.prose import prose
from support.sampling import LATTICES, lattice_model, sample

Ids = tuple[int, ...]


# ---- Exact distributions ------------------------------------------------------------------


def ids_of(reference: Reference, segments: Segments) -> Ids:
    """Ids of a segmentation: unknown characters become bytes, or one token."""
    ids: list[int] = []
    unknown = False
    for text, index in segments:
        if index == reference.vocabulary.unk and reference.byte_fallback:
            ids += [reference.vocabulary.find(b"<0x%02X>" % byte) for byte in text]
        elif index != reference.vocabulary.unk or not unknown:
            ids.append(index)
        unknown = index == reference.vocabulary.unk
    return tuple(ids)


def paths_of(reference: Reference, text: bytes) -> Iterator[tuple[Segments, float]]:
    """All segmentations of normalized text, with their scores."""
    edges = defaultdict(list)
    for edge in lattice(reference, text):
        edges[edge.begin].append(edge)

    def go_on(at: int) -> Iterator[tuple[Segments, float]]:
        if at == len(text):
            yield [], 0.0
        for edge in edges[at]:
            for rest, score in go_on(edge.end):
                yield [(text[at : edge.end], edge.id), *rest], edge.weight + score

    return go_on(0)


def ffbs(reference: Reference, text: bytes, alpha: float) -> dict[Ids, float]:
    found: dict[Ids, float] = defaultdict(float)
    for segments, score in paths_of(reference, text):
        found[ids_of(reference, segments)] += math.exp(alpha * score)
    return found


def nbest(reference: Reference, text: bytes, alpha: float, paths: int) -> dict[Ids, float]:
    every = sorted(paths_of(reference, text), key=lambda each: -each[1])
    assert every[paths - 1][1] > every[paths][1], "a tie at the last path"
    return {ids_of(reference, path): math.exp(alpha * score) for path, score in every[:paths]}


def gumbel(reference: Reference, text: bytes, alpha: float) -> dict[Ids, float]:
    """Two paths, of one and of two pieces; the noise of the second is integrated."""
    (one, one_score), (two, two_score) = sorted(paths_of(reference, text), key=lambda e: len(e[0]))
    assert (len(one), len(two)) == (1, 2)
    grid = -np.log(-np.log((np.arange(4000) + 0.5) / 4000))
    needed = grid[:, None] + grid[None, :] + (two_score - one_score) / alpha
    win = float(np.mean(1.0 - np.exp(-np.exp(-needed))))
    return {ids_of(reference, one): win, ids_of(reference, two): 1.0 - win}


def dropout(reference: Reference, text: bytes, p: float) -> dict[Ids, float]:
    """Follow sentencepiece's merger through every outcome of its draws."""
    bpe = reference.segmenter
    assert isinstance(bpe, Bpe)
    visible, pieces = bpe.vocabulary.visible, bpe.vocabulary.pieces
    found: dict[Ids, float] = defaultdict(float)

    def offer(state: list[bytes], i: int, parts: dict[bytes, tuple[bytes, bytes]]) -> list[Any]:
        """Return the agenda's entry for symbols i and i + 1, if they are a piece."""
        if not 0 <= i < len(state) - 1 or state[i] + state[i + 1] not in visible:
            return []
        piece = pieces[visible[state[i] + state[i + 1]]]
        if piece.kind == 5:
            parts[piece.text] = (state[i], state[i + 1])
        place = sum(map(len, state[:i]))
        return [(-piece.rank, place, len(state[i]), len(state[i + 1]))]

    def go_on(state: list[bytes], agenda: list[Any], parts: dict[Any, Any], chance: float) -> None:
        agenda = sorted(agenda)
        while agenda:
            _, place, left, right = agenda.pop(0)
            ends = np.cumsum([0, *map(len, state)]).tolist()
            i = ends.index(place) if place in ends else -1
            fresh = 0 <= i < len(state) - 1 and [left, right] == [*map(len, state[i : i + 2])]
            if not fresh:
                continue
            merged = [*state[:i], state[i] + state[i + 1], *state[i + 2 :]]
            recorded = dict(parts)
            more = [*offer(merged, i - 1, recorded), *offer(merged, i, recorded)]
            go_on(merged, [*agenda, *more], recorded, chance * (1 - p))
            chance *= p  # dropped: the next entry
        segments = [part for symbol in state for part in bpe.resplit(symbol, parts)]
        found[ids_of(reference, segments)] += chance

    symbols = [symbol for symbol, _ in bpe.split(text)]
    parts: dict[bytes, tuple[bytes, bytes]] = {}
    agenda = [entry for i in range(len(symbols)) for entry in offer(symbols, i, parts)]
    go_on(symbols, agenda, parts, 1.0)
    return found


def exact(row: dict[str, Any]) -> dict[Ids, float]:
    """Probability of every possible result."""
    reference = load(lattice_model(row))
    text, _ = reference.normalize(row["text"].encode())
    noise = row["noise"]
    if row["method"] == "nbest":
        found = nbest(reference, text, noise, row["paths"])
    else:
        found = {"ffbs": ffbs, "gumbel": gumbel, "dropout": dropout}[row["method"]](
            reference, text, noise
        )
    total = sum(found.values())
    return {ids: mass / total for ids, mass in found.items()}


def upper_gamma(a: float, x: float) -> float:
    """Regularized upper incomplete gamma function Q(a, x), by its series or fraction."""
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1.0 / a
        for n in range(1, 1000):
            term *= x / (a + n)
            total += term
        return 1.0 - front * total
    b, c = x + 1 - a, 1e300
    d = h = 1 / b
    for n in range(1, 1000):
        an = -n * (n - a)
        b += 2
        d, c = 1 / (an * d + b), b + an / c
        h *= d * c
    return front * h


def p_value(counts: Counter[Ids], expected: dict[Ids, float], draws: int) -> float:
    """Chi-square test; results that are expected less than 5 times are taken together."""
    rare = [ids for ids, chance in expected.items() if chance * draws < 5]
    groups = [[ids] for ids in expected if ids not in set(rare)] + ([rare] if rare else [])
    statistic = 0.0
    for group in groups:
        wanted = draws * sum(expected[ids] for ids in group)
        if wanted == 0.0:  # less than the least double
            assert not any(counts[ids] for ids in group)
            continue
        statistic += (sum(counts[ids] for ids in group) - wanted) ** 2 / wanted
    return upper_gamma((len(groups) - 1) / 2, statistic / 2)


def test_p_value() -> None:
    """Against known quantiles of the distribution."""
    for freedom, quantile, p in ((1, 3.841459, 0.05), (10, 23.209251, 0.01), (30, 20.599235, 0.9)):
        assert abs(upper_gamma(freedom / 2, quantile / 2) - p) < 1e-6


@pytest.fixture(scope="module")
def tokenizers() -> dict[tuple[str, str], isotok.Tokenizer]:
    return {
        (row["name"], backend): isotok.load(lattice_model(row), backend=backend)
        for row in LATTICES
        for backend in BACKENDS
    }


@pytest.mark.parametrize("row", LATTICES, ids=lambda row: row["name"])
def test_distribution(
    row: dict[str, Any], tokenizers: dict[tuple[str, str], isotok.Tokenizer]
) -> None:
    expected = exact(row)
    tok = tokenizers[row["name"], BACKENDS[0]]
    arguments = (row["text"], row["method"], row["noise"])
    paths, first, draws = row.get("paths", 0), row["seed"], row["draws"]
    counts = Counter(tuple(sample(tok, *arguments, first + i, paths)) for i in range(draws))
    assert set(counts) <= set(expected), "a result that cannot be"
    assert len(expected) > 1
    p = p_value(counts, expected, draws)
    print(f"{row['name']}: {len(expected)} results, p = {p:.3f}")
    assert p > 0.01
    # and the test can fail: it notices a little more noise
    assert p_value(counts, exact({**row, "noise": 1.2 * row["noise"] + 0.05}), draws) < 0.001
    for other in BACKENDS[1:]:
        found = tokenizers[row["name"], other]
        for seed in range(first, first + 100):
            here = sample(tok, *arguments, seed, paths)
            assert sample(found, *arguments, seed, paths) == here


# ---- Seeds: those of samples.json are in tests/vectors/test_samples.py ---------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("xlmr", {"alpha": 0.1}),
        ("xlmr", {"alpha": 5.0, "method": "gumbel"}),
        ("gemma3", {"dropout": 0.1}),
    ],
)
def test_long_texts(name: str, arguments: dict[str, Any], opened: Opener) -> None:
    """Texts of many windows, in which the back ends cut differently."""
    path = need(data.models_dir() / f"{name}.model")
    text = need(data.corpora_dir() / "multi.txt").read_bytes()[: 600 << 10]
    found = [opened(path, backend).sample(text, seed=5, **arguments) for backend in BACKENDS]
    assert all(each == found[0] for each in found)
    plain = opened(path, BACKENDS[0])
    assert plain.decode(found[0]) == plain.decode(plain.encode(text))


def test_new_seeds(backend: str, opened: Opener) -> None:
    """Without a seed every call draws anew."""
    tok = opened(data.VECTOR_MODELS / "trained_unigram.model", backend)
    text = prose(400, seed=9)
    assert len({tuple(tok.sample(text, alpha=0.0)) for _ in range(20)}) > 10
    assert len({tuple(tok.sample_nbest(text, 100, alpha=0.0)) for _ in range(20)}) > 10


# ---- Arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("trained_unigram", {"dropout": 0.1}, "use alpha"),
        ("trained_unigram", {"alpha": -1.0}, "alpha"),
        ("trained_unigram", {"alpha": math.inf}, "alpha"),
        ("trained_unigram", {"alpha": math.nan}, "alpha"),
        ("trained_unigram", {"method": "magic"}, "method"),
        ("trained_unigram", {"seed": -1}, "seed"),
        ("trained_unigram", {"seed": 1 << 64}, "seed"),
        ("trained_bpe", {"alpha": 0.1}, "use dropout"),
        ("trained_bpe", {"method": "gumbel"}, "use dropout"),
        ("trained_bpe", {"dropout": 1.1}, "dropout"),
        ("word_plain", {"alpha": 0.1}, "no such sampling"),
        ("char_plain", {}, "no such sampling"),
    ],
)
def test_arguments(
    name: str, arguments: dict[str, Any], message: str, backend: str, opened: Opener
) -> None:
    tok = opened(data.VECTOR_MODELS / f"{name}.model", backend)
    with pytest.raises(isotok.TokenizerError, match=message):
        tok.sample("text", **arguments)


def test_edges(backend: str, opened: Opener) -> None:
    tok = opened(data.VECTOR_MODELS / "trained_unigram.model", backend)
    assert tok.sample("", seed=1) == []
    assert tok.sample("", seed=1, bos=True, eos=True) == [tok.bos_id, tok.eos_id]
    text = "nothing is drawn without noise"
    assert tok.sample(text, alpha=1e9, seed=1) == tok.encode(text)
    assert tok.sample(text, alpha=0, method="gumbel", seed=1) == tok.encode(text)
    assert tok.sample(text.encode(), seed=(1 << 64) - 1) == tok.sample(text, seed=(1 << 64) - 1)
    bpe = opened(data.VECTOR_MODELS / "trained_bpe.model", backend)
    assert bpe.sample(text, dropout=0, seed=1) == bpe.encode(text)
    assert len(bpe.sample(text, dropout=1, seed=1)) > len(bpe.encode(text))
    closed = isotok.load(Path(data.VECTOR_MODELS / "uni_ties.model"), backend=backend)
    closed.close()
    with pytest.raises(isotok.ClosedError):
        closed.sample("text")
