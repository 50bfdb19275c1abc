"""Make the golden vectors (spine.json) and their models from sentencepiece 0.2.3.

    python tests/vectors/make.py            write spine.json from the models
    python tests/vectors/make.py --models   write the models first (trains two of them)
    python tests/vectors/make.py --check    write nothing; fail if spine.json would change

The models are ours: made by hand (tests/support/zoo.py) or trained on a text that this
script makes up. spine.json names the oracle and its version; every host runs it.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "reference")]

from isotok_reference import Reference  # noqa: E402
from support import oracle, refusals, texts, zoo  # noqa: E402
from support.models import (  # noqa: E402
    BPE,
    USER_DEFINED,
    Piece,
    charsmap,
    model,
)
from support.prose import prose  # noqa: E402

MODELS = HERE / "models"
COMMAND = "python tests/vectors/make.py"
TRAINED = {
    "trained_unigram": "700 pieces trained on made-up prose; our charsmap, byte fallback",
    "trained_bpe": "700 pieces trained on made-up prose; as it is, byte fallback",
}


def train(name: str) -> bytes:
    """Train pieces with sentencepiece, then write a model of our own around them."""
    import sentencepiece

    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(prose(200_000, seed=1).splitlines()),
        model_writer=out,
        model_type=name.removeprefix("trained_"),
        vocab_size=700,
        byte_fallback=True,
        normalization_rule_name="identity",
        num_threads=1,
        minloglevel=2,
    )
    vocabulary = Reference(out.getvalue()).vocabulary.pieces
    pieces: list[Piece] = [(each.text, each.score, each.kind) for each in vocabulary]
    user: list[Piece] = [(text, 0.0, USER_DEFINED) for text in ("\n", "<|x|>")]
    if name == "trained_bpe":
        return model([*pieces, *user], {"model_type": BPE, "byte_fallback": True})
    rules = {"precompiled_charsmap": charsmap(zoo.RULES)}
    return model([*pieces, *user], {"byte_fallback": True}, rules)


def write_models() -> None:
    MODELS.mkdir(exist_ok=True)
    for name, (_, build) in zoo.MODELS.items():
        (MODELS / f"{name}.model").write_bytes(build())
    for name in TRAINED:
        (MODELS / f"{name}.model").write_bytes(train(name))


def purposes() -> dict[str, str]:
    return {name: purpose for name, (purpose, _) in zoo.MODELS.items()} | TRAINED


def texts_for(name: str, pieces: list[bytes]) -> Iterator[bytes]:
    """Corner cases, random texts of the model's pieces, and what the model is made for."""
    yield from texts.CORNERS
    short = [piece for piece in pieces if len(piece) < 24 and not piece.startswith(b"<0x")]
    random_texts = texts.from_pieces(short, random.Random(name))
    for _ in range(16):
        yield next(random_texts)
    if name.startswith("trained"):
        yield prose(1200, seed=2).encode()
    yield from SPECIAL_TEXTS.get(name, [])


SPECIAL_TEXTS: dict[str, list[bytes]] = {
    "uni_long": [b"a" * size for size in (254, 255, 256, 299, 300, 301, 600, 8000)]
    + ["é".encode() * size for size in (126, 127, 128, 129, 255)],
    "uni_recentre": [b"ab" * 30 + b"c" * 9 + b"aab" * 9, b"c" * 40, b"aba" * 20 + b"cab" * 20],
    "uni_infinite": [
        b"ab" * 6,
        b"a" * 12,
        b"b" * 9 + b"c" * 9,
        b"abc" * 6,
        b"caab" * 5,
        b"ccccabab",
    ],
    "uni_rounding": [b"-" * 50, b"-" * 400, (b"-" * 37 + b"ab") * 12],
    "uni_unknown_ties": [b"ab" * 40, b"abcab" * 60, b"c" * 300 + b"ab" * 300],
    "uni_nested_user": [b"a" * size for size in (63, 64, 65, 66, 70, 71, 140)],
    "uni_nested_rules": [b"a" * size for size in (31, 32, 33, 40, 80)],
    "uni_expand": ["\ufdfa".encode() * 3, "\ufdfa a\ufdfa\u3000".encode()],
    "bpe_unused": [b"abcde", b"abcd", b"abcabcd", b"abcdabcd abcd", b"cdab", b"abab cdcd abcde bc"],
    "bpe_unused_deep": [
        (zoo.CHAIN[:size] + tail).encode()
        for size, tail in [
            *((size, "") for size in (2, 99, 100, 101, 102, 103, 104, 119, 120)),
            (103, zoo.CHAIN),
            (120, "a" + zoo.CHAIN[:110] + " " + zoo.CHAIN[1:]),
        ]
    ],
    "bpe_runs": [b"a" * size for size in (3, 5, 7, 63, 64, 65, 127, 200)] + [b"aab" * 20],
    "bpe_long": [b"a" * size for size in (255, 256, 257, 299, 300, 301, 556)] + [b"b" * 511],
    "bpe_scores": [
        *(b"abcdefg", b"gfedcba abcdefg", b"cde cd de", b"efg fg ef"),
        *(b"hij", b"hihij hijij"),
    ],
    "bpe_not_finite": [b"abcde", b"abc bcd cde", b"edcba"],
}


LONG = 1500  # bytes: longer results are stored as a digest


def packed(value: bytes) -> Any:
    """Hex; or for long values size and SHA-256."""
    if len(value) <= LONG:
        return value.hex()
    return {"size": len(value), "sha256": hashlib.sha256(value).hexdigest()}


def packed_text(text: bytes) -> Any:
    """Hex; or for long texts a unit (hex) and how often it is repeated."""
    if len(text) <= LONG:
        return text.hex()
    size = next(size for size in range(1, len(text)) if text == text[:size] * (len(text) // size))
    return [text[:size].hex(), len(text) // size]


def encode_vector(sp: oracle.Oracle, text: bytes, pieces: list[bytes]) -> dict[str, Any]:
    found = sp.encode(text)
    normalized, offsets = sp.normalize(text)
    # The piece of a token is that of its id, but for unknown ones.
    unknown = {
        str(index): piece.hex()
        for index, (token, piece) in enumerate(zip(found.ids, found.pieces, strict=True))
        if pieces[token] != piece
    }
    vector: dict[str, Any] = {
        "text": packed_text(text),
        "normalized": packed(normalized),
        "ids": found.ids,
        "begin": found.begin,
        "end": found.end,
        "decoded": packed(sp.decode(found.ids)),
    }
    if unknown:
        vector["unknown"] = unknown
    if len(text) <= LONG:
        vector["map"] = offsets
    try:
        vector["codepoints"] = [list(span) for span in sp.codepoint_offsets(text.decode())]
    except UnicodeDecodeError:
        return vector
    if vector["codepoints"] == [list(span) for span in zip(found.begin, found.end, strict=True)]:
        del vector["codepoints"]
    return vector


def decode_vectors(sp: oracle.Oracle, name: str, pieces: list[bytes]) -> Iterator[dict[str, Any]]:
    generator = random.Random(f"decode {name}")
    short = [index for index, piece in enumerate(pieces) if len(piece) < 40]
    for _ in range(12):
        ids = [generator.choice(short) for _ in range(generator.randrange(1, 9))]
        yield {"op": "decode", "ids": ids, "decoded": sp.decode(ids).hex()}
    spare = [b"zz", "▁zz▁".encode(), "日".encode(), *pieces[:2]]
    for _ in range(8):
        some = [generator.choice(spare) for _ in range(generator.randrange(1, 6))]
        decoded = sp.decode_pieces(some).hex()
        yield {"op": "decode_pieces", "pieces": [each.hex() for each in some], "decoded": decoded}


def find_vectors(sp: oracle.Oracle, pieces: list[bytes]) -> Iterator[dict[str, Any]]:
    """`found` is the unknown id (or -1) and `missing` set where there is no such piece."""
    for piece in [*pieces[:4], *pieces[-6:], b"zz", b"", b"\0", "▁".encode()]:
        index = sp.sp.piece_to_id(piece)
        vector = {"op": "find", "piece": piece.hex(), "found": index}
        yield vector if index >= 0 and pieces[index] == piece else vector | {"missing": True}


def vectors_of(name: str, data: bytes) -> Iterator[dict[str, Any]]:
    sp = oracle.Oracle(data)
    pieces = [piece.text for piece in Reference(data).vocabulary.pieces]
    for text in texts_for(name, pieces):
        yield {"op": "encode", **encode_vector(sp, text, pieces)}
    yield from decode_vectors(sp, name, pieces)
    yield from find_vectors(sp, pieces)


def describe(name: str, data: bytes) -> dict[str, Any]:
    sp = oracle.Oracle(data).sp
    return {
        "purpose": purposes()[name],
        "sha256": hashlib.sha256(data).hexdigest(),
        "vocab_size": sp.get_piece_size(),
        "unk": sp.unk_id(),
        "bos": sp.bos_id(),
        "eos": sp.eos_id(),
        "pad": sp.pad_id(),
    }


def spine() -> str:
    """Text of spine.json: one model and one vector a line."""
    models: list[str] = []
    vectors: list[str] = []

    def dump(value: dict[str, Any]) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=True)

    for name in purposes():
        data = (MODELS / f"{name}.model").read_bytes()
        models.append(f"  {json.dumps(name)}: {dump(describe(name, data))}")
        for number, vector in enumerate(vectors_of(name, data)):
            vectors.append("  " + dump({"id": f"{name}/{number}", "model": name, **vector}))
    refused = [
        "  " + dump({"name": name, "loads": loads, "model": data.hex()})
        for name, (data, loads) in refusals.FILES.items()
    ]
    return (
        f'{{"oracle": "sentencepiece {oracle.VERSION}", "command": "{COMMAND}",\n'
        + '"models": {\n'
        + ",\n".join(models)
        + "\n},\n"
        + '"vectors": [\n'
        + ",\n".join(vectors)
        + "\n],\n"
        + '"files": [\n'
        + ",\n".join(refused)
        + "\n]}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", action="store_true", help="write the models too")
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    if not oracle.available():
        sys.exit(
            f"needs sentencepiece {oracle.VERSION}: pip install sentencepiece=={oracle.VERSION}"
        )
    if options.models:
        write_models()
    stale = [
        name
        for name, (_, build) in zoo.MODELS.items()
        if (MODELS / f"{name}.model").read_bytes() != build()
    ]
    text = spine()
    path = HERE / "spine.json"
    if not options.check:
        path.write_text(text)
    same = path.read_text() == text and not stale
    vectors = text.count('"op":')
    print(
        f"spine.json: {vectors} vectors, {len(text) >> 10} KB, {'as made' if same else 'DIFFERS'}"
    )
    if stale:
        print(
            f"models that differ from tests/support/zoo.py: {', '.join(stale)}; run with --models"
        )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
