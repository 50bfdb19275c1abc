"""Make the vectors of the samplers (samples.json): what a seed draws, on every host.

    python tests/vectors/make_samples.py          write samples.json
    python tests/vectors/make_samples.py --check  write nothing; fail if it would change

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

OUT = HERE / "samples.json"
MODELS = HERE / "models"
COMMAND = "python tests/vectors/make_samples.py"
COMPACT = 1 << 8  # feature compact_space
KINDS = {
    UNIGRAM: [("ffbs", 0.0), ("ffbs", 0.1), ("ffbs", 1.5), ("gumbel", 0.5), ("gumbel", 8.0)],
    BPE: [("dropout", 0.1), ("dropout", 0.5), ("dropout", 1.0)],
}
PATHS = 7


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


def drawn_path(paths: list[isotok.Scored], alpha: float, seed: int) -> list[int]:
    """Draw one of some paths, as the core does."""
    mass, found = Mass(), paths[0].ids
    for rank, path in enumerate(paths):
        if mass.offer(alpha * path.score, lambda rank=rank: draw(seed, rank, 0, NBEST)):
            found = path.ids
    return found


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    try:
        tok = isotok.load(path)
    except isotok.TokenizerError:
        return  # it is there to be refused
    reference = load(path.read_bytes())
    compact = bool(tok.info.features & COMPACT)
    generator = random.Random(path.stem)
    texts = list(texts_of([piece.text for piece in reference.vocabulary.pieces], generator))
    if path.stem.startswith("trained"):
        texts.append(prose(1500, seed=4).encode())
    for text in texts:
        for method, alpha in KINDS.get(reference.algorithm, []):
            seed = generator.randrange(1 << 64)
            tokens = Sampler(reference, compact, seed).encode(text, method, alpha)
            ids = [token.id for token in tokens]
            yield row(path.stem, text, method, alpha, seed, ids)
        if reference.algorithm == UNIGRAM:
            seed = generator.randrange(1 << 64)
            ids = drawn_path(tok.nbest(text, PATHS), 0.25, seed)
            yield row(path.stem, text, "nbest", 0.25, seed, ids)


def row(
    model: str, text: bytes, method: str, alpha: float, seed: int, ids: list[int]
) -> dict[str, Any]:
    return {
        "model": model,
        "text": text.hex(),
        "method": method,
        "alpha": alpha,
        "seed": str(seed),  # JavaScript has no numbers of 64 bits in JSON
        "ids": ids,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the vectors of the samplers.")
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args().check
    rows = [row for path in sorted(MODELS.glob("*.model")) for row in rows_of(path)]
    head = {"command": COMMAND, "oracle": "tests/reference/samplers.py", "paths": PATHS}
    lines = [json.dumps(each, separators=(",", ":")) for each in rows]
    text = json.dumps(head)[:-1] + ', "samples": [\n' + ",\n".join(lines) + "\n]}\n"
    if check:
        same = OUT.exists() and OUT.read_text() == text
        print("samples.json: " + ("as made" if same else f"out of date; fix: {COMMAND}"))
        return 0 if same else 1
    OUT.write_text(text)
    print(f"wrote {OUT.name}: {len(rows)} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
