"""Make sentencepiece_0_2_1.json: what the golden vectors are up to sentencepiece 0.2.1.

    python tests/vectors/make_0_2_1.py FOLDER          write it; FOLDER holds that package:
                                                       pip install sentencepiece==0.2.1 --target
    python tests/vectors/make_0_2_1.py FOLDER --check  write nothing; fail if it would change

The models and the calls are those of spine.json. Written are the answers that differ from it,
the models that the old release refuses or dies of, long texts, and n best segmentations.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "reference")]

from support import generation, oracle, spine  # noqa: E402
from support.generation import Crash, digest, tokens  # noqa: E402
from support.prose import prose  # noqa: E402

MODELS = HERE / "models"
COMMAND = "python tests/vectors/make_0_2_1.py FOLDER"
LEFT_OUT = {
    "uni_nested_user": "more than 64 nested user-defined pieces: it reads behind an array",
    "uni_nested_rules": "more than 32 nested rules: it reads behind an array",
    "uni_twice": "a lone NUL piece: it aborts",
    "bpe_not_finite": "scores that are no numbers: the order is that of its heap",
}
PROSE = [(2_000, 2), (200_000, 3)]  # bytes, seed
NBEST = {"uni_user_scores": 8, "uni_rules": 8, "trained_unigram": 40}
"""Unigram models with user-defined pieces: how many segmentations."""
NBEST_TEXTS = ["abcdefghij", "éé cdecde", "①② a b ab", "the 12 \n fi", "kalomi <|x|> ter\nun"]


def calls_of(vector: spine.Vector) -> list[list[Any]]:
    """The same calls of the old release; none where they take no such bytes."""
    if vector["op"] == "encode":
        text = spine.text_of(vector["text"]).hex()
        return [["encode", text], ["normalize", text], ["decode", vector["ids"]]]
    if vector["op"] == "decode":
        return [["decode", vector["ids"]]]
    try:
        if vector["op"] == "find":
            return [["find", bytes.fromhex(vector["piece"]).decode()]]
        return [["decode_pieces", [bytes.fromhex(each).decode() for each in vector["pieces"]]]]
    except UnicodeDecodeError:
        return []


def difference(vector: spine.Vector, answers: list[Any]) -> dict[str, Any]:
    """What is not as in the vector."""
    if vector["op"] == "find":
        return {} if answers[0] == vector["found"] else {"found": answers[0]}
    found: dict[str, Any] = {}
    if vector["op"] == "encode":
        ids, message = answers[0]
        encoded = tokens(bytes.fromhex(message))
        found |= {name: each for name, each in encoded.items() if each != vector[name]}
        if ids != encoded["ids"]:
            assert ids == []
            found = {"fails": True}
        if not spine.same(bytes.fromhex(answers[1]), vector["normalized"]):
            found["normalized"] = answers[1]
    decoded = generation.text(bytes.fromhex(answers[-1]))
    if not spine.same(decoded, vector["decoded"]):
        found["decoded"] = decoded.hex()
    return found


def differences(package: Path, model: str) -> tuple[str, dict[str, Any]]:
    """Why the model is refused, or what differs, by the id of the vector."""
    vectors = [each for each in spine.spine()["vectors"] if each["model"] == model]
    calls = [calls_of(vector) for vector in vectors]
    request = {"model": str(MODELS / f"{model}.model"), "calls": list(chain(*calls))}
    answers = generation.run(package, request)
    if isinstance(answers, str):
        return answers, {}
    rest = iter(answers)
    found: dict[str, Any] = {}
    for vector, made in zip(vectors, calls, strict=True):
        mine = [next(rest) for _ in made]
        if made and (each := difference(vector, mine)):
            found[vector["id"]] = each
    return "", found


def long_vectors(package: Path) -> Iterator[dict[str, Any]]:
    """Ids of long texts, and whether today's release has others."""
    for model in ("trained_unigram", "trained_bpe"):
        path = MODELS / f"{model}.model"
        today = oracle.Oracle(path.read_bytes())
        texts = [prose(size, seed=seed).encode() for size, seed in PROSE]
        request = {"model": str(path), "calls": [["encode", text.hex()] for text in texts]}
        for place, text, answer in zip(PROSE, texts, generation.run(package, request), strict=True):
            ids = answer[0]
            differs = ids != today.encode_ids(text)
            yield {
                "model": model,
                "prose": list(place),
                "count": len(ids),
                "sha256": digest(ids),
                "differs": differs,
            }


def nbest_vectors(package: Path) -> Iterator[dict[str, Any]]:
    """The ids of the n best, with their scores."""
    for model, count in NBEST.items():
        path = str(MODELS / f"{model}.model")
        calls = [["nbest", text.encode().hex(), count] for text in NBEST_TEXTS]
        answers = generation.run(package, {"model": path, "calls": calls})
        for text, answer in zip(NBEST_TEXTS, answers, strict=True):
            paths = generation.paths(bytes.fromhex(answer))
            yield {"model": model, "text": text.encode().hex(), "n": count, "paths": paths}


def made(package: Path) -> str:
    """Text of the file: a line for each vector."""
    refused: dict[str, str] = {}
    differ: dict[str, Any] = {}
    for model in spine.spine()["models"]:
        try:
            refusal, found = differences(package, model)
        except Crash as crash:
            if model not in LEFT_OUT:
                raise
            print(f"{model}: {crash}", file=sys.stderr)
            continue
        if refusal:
            refused[model] = refusal.partition("] ")[2] or refusal
        if model not in LEFT_OUT:
            differ |= found

    def lines(rows: list[Any]) -> str:
        return ",\n".join("  " + json.dumps(row, separators=(",", ":")) for row in rows)

    def table(rows: dict[str, Any]) -> str:
        pairs = ((json.dumps(name), json.dumps(rows[name], separators=(",", ":"))) for name in rows)
        return ",\n".join(f"  {name}: {row}" for name, row in pairs)

    return (
        f'{{"oracle": "sentencepiece {generation.VERSION}", "command": "{COMMAND}",\n'
        f'"left_out": {{\n{table(LEFT_OUT)}\n}},\n'
        f'"refused": {{\n{table(refused)}\n}},\n'
        f'"differences": {{\n{table(differ)}\n}},\n'
        f'"long": [\n{lines(list(long_vectors(package)))}\n],\n'
        f'"nbest": [\n{lines(list(nbest_vectors(package)))}\n]}}\n'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, metavar="FOLDER", help="with sentencepiece 0.2.1")
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    text = made(options.package)
    if not options.check:
        generation.GOLDEN.write_text(text)
    same = generation.GOLDEN.read_text() == text
    print(f"{generation.GOLDEN.name}: {len(text) >> 10} KB, {'as made' if same else 'DIFFERS'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
