"""Make the vectors of the samplers (samples.json): what a seed draws, on every host.

    python tests/vectors/make_samples.py          write samples.json and models/lattices
    python tests/vectors/make_samples.py --check  write nothing; fail if it would change

Drawn from are texts that have much to choose in, on the models of the other vectors, and the
lattices of lattices.json, of which tests/py/test_sampling.py knows the distributions.

The ids come from tests/reference/samplers.py, not from the core. Of the n best segmentations
the core makes the list (tests/py/test_nbest.py compares it with sentencepiece), and the
reference draws from it. Needs the built package: compact models are told by their blob.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "reference")]

import isotok  # noqa: E402
from isotok_reference import BPE, UNIGRAM, load  # noqa: E402
from samplers import NBEST, Mass, Sampler, draw  # noqa: E402
from support.prose import prose  # noqa: E402
from support.sampling import LATTICES, lattice_model  # noqa: E402

OUT = HERE / "samples.json"
MODELS = HERE / "models"
COMMAND = "python tests/vectors/make_samples.py"
COMPACT = 1 << 8  # feature compact_space
KINDS = {
    UNIGRAM: [("ffbs", 0.0), ("ffbs", 0.1), ("ffbs", 1.5), ("gumbel", 0.5), ("gumbel", 8.0)],
    BPE: [("dropout", 0.1), ("dropout", 0.5), ("dropout", 1.0)],
}
PATHS = 7
DRAWS = 50
"""From each lattice, with its own seed and those after it."""


def texts_of(pieces: list[bytes], generator: random.Random) -> Iterator[bytes]:
    """Text that has much to choose in: pieces, spaces, and characters without a piece."""
    short = [piece for piece in pieces if len(piece) < 40 and not piece.startswith(b"<")]
    for size in (12, 60):
        text = b""
        while len(text) < size:
            kind = generator.random()
            if kind < 0.15:
                text += b" "
            elif kind < 0.2:
                text += generator.choice(["é", "漢", "😀"]).encode()
            else:
                text += generator.choice(short)
        yield text


class Drawer:
    """The reference for one model."""

    def __init__(self, name: str, model: bytes) -> None:
        self.name = name
        self.tok = isotok.load(model)
        self.reference = load(model)
        self.compact = bool(self.tok.info.features & COMPACT)

    def row(
        self, text: bytes, method: str, alpha: float, seed: int, paths: int = PATHS
    ) -> dict[str, Any]:
        """What a seed draws."""
        if method == "nbest":
            ids = drawn_path(self.tok.nbest(text, paths), alpha, seed)
        else:
            sampler = Sampler(self.reference, self.compact, seed)
            ids = [token.id for token in sampler.encode(text, method, alpha)]
        return {
            "model": self.name,
            "text": text.hex(),
            "method": method,
            "alpha": alpha,
            **({"paths": paths} if method == "nbest" else {}),
            "seed": str(seed),  # JavaScript has no numbers of 64 bits in JSON
            "ids": ids,
        }


def drawn_path(paths: list[isotok.Scored], alpha: float, seed: int) -> list[int]:
    """Draw one of some paths, as the core does."""
    mass, found = Mass(), paths[0].ids
    for rank, path in enumerate(paths):
        if mass.offer(alpha * path.score, lambda rank=rank: draw(seed, rank, 0, NBEST)):
            found = path.ids
    return found


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    try:
        drawer = Drawer(path.stem, path.read_bytes())
    except isotok.TokenizerError:
        return  # it is there to be refused
    reference = drawer.reference
    generator = random.Random(path.stem)
    texts = list(texts_of([piece.text for piece in reference.vocabulary.pieces], generator))
    if path.stem.startswith("trained"):
        texts.append(prose(1500, seed=4).encode())
    for text in texts:
        for method, alpha in KINDS.get(reference.algorithm, []):
            yield drawer.row(text, method, alpha, generator.randrange(1 << 64))
        if reference.algorithm == UNIGRAM:
            yield drawer.row(text, "nbest", 0.25, generator.randrange(1 << 64))


def rows_of_lattice(lattice: dict[str, Any]) -> Iterator[dict[str, Any]]:
    drawer = Drawer(f"lattices/{lattice['name']}", lattice_model(lattice))
    text, method, noise = lattice["text"].encode(), lattice["method"], lattice["noise"]
    paths = lattice.get("paths", PATHS)
    for seed in range(lattice["seed"], lattice["seed"] + DRAWS):
        yield drawer.row(text, method, noise, seed, paths)


def files() -> dict[Path, bytes]:
    """All that is made."""
    rows = [row for path in sorted(MODELS.glob("*.model")) for row in rows_of(path)]
    rows += [row for lattice in LATTICES for row in rows_of_lattice(lattice)]
    head = {"command": COMMAND, "oracle": "tests/reference/samplers.py"}
    lines = [json.dumps(each, separators=(",", ":")) for each in rows]
    text = json.dumps(head)[:-1] + ', "samples": [\n' + ",\n".join(lines) + "\n]}\n"
    models = {MODELS / f"lattices/{each['name']}.model": lattice_model(each) for each in LATTICES}
    return {OUT: text.encode(), **models}


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the vectors of the samplers.")
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args().check
    made = files()
    if check:
        changed = [
            path.name
            for path, wanted in made.items()
            if not path.exists() or path.read_bytes() != wanted
        ]
        print(f"out of date: {', '.join(changed)}; fix: {COMMAND}" if changed else "as made")
        return 1 if changed else 0
    for path, content in made.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    print(f"wrote {OUT.name} and {len(made) - 1} models")
    return 0


if __name__ == "__main__":
    sys.exit(main())
