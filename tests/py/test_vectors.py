"""SentencePiece's vectors (beside the data), on every back end and on the reference.

What an operation of this project does not cover yet is not applicable, with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cache
from typing import Any

import isotok
import isotok_reference
import pytest
from conftest import Opener, need
from support import arrays, data, reasons

Vector = dict[str, Any]

WITHIN_REACH = {  # of the vectors with op "error": what raises an exception here too
    "id out of range",
    "negative id",
    "nbest on BPE",
    "nbest too large",
    "alpha<0",
    "sampling on char model",
}


@cache
def vectors() -> list[Vector]:
    path = data.vectors_dir() / "semantics_vectors.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def reason_not_applicable(vector: Vector) -> str | None:
    if vector["op"] == "error" and vector["note"] not in WITHIN_REACH:
        return reasons.NBEST_SIZE
    if vector.get("options", {}).get("reverse"):
        return reasons.REVERSE
    return reasons.VECTOR_OPERATIONS.get(vector["op"])


APPLICABLE = [vector for vector in vectors() if reason_not_applicable(vector) is None]


def text_of(vector: Vector) -> bytes:
    if "input_file" in vector:
        path = data.vectors_dir() / "models/data" / vector["input_file"]
        return path.read_bytes() * vector["repeat"]
    return bytes.fromhex(vector["input_hex"]) if "input_hex" in vector else b""


def digest(ids: list[int]) -> str:
    return hashlib.sha256(b"".join(each.to_bytes(4, "little") for each in ids)).hexdigest()


def check_encode(tok: isotok.Tokenizer, vector: Vector) -> None:
    text = text_of(vector) if "input_hex" in vector else vector["input_text"].encode()
    options = vector.get("options", {})
    ends = {"bos": options.get("add_bos", False), "eos": options.get("add_eos", False)}
    found = tok.encode_with_offsets(text, unit="byte", **ends)
    assert tok.encode(text, **ends) == found.ids == vector["ids"]
    if arrays.INSTALLED:
        assert tok.encode_to_numpy(text, **ends).tolist() == vector["ids"]
    assert tok.count(text, **ends) == len(vector["ids"])
    if "begin" in vector:
        assert found.offsets == list(zip(vector["begin"], vector["end"], strict=True))
    if "pieces_hex" in vector:
        pieces = [bytes.fromhex(piece).decode(errors="replace") for piece in vector["pieces_hex"]]
        assert found.pieces == pieces
    if "char_offsets" in vector:
        by_codepoint = tok.encode_with_offsets(text.decode()).offsets
        assert by_codepoint == [tuple(span) for span in vector["char_offsets"]]


def check_normalize(tok: isotok.Tokenizer, vector: Vector) -> None:
    text = text_of(vector)
    assert tok.normalize(text) == bytes.fromhex(vector["norm_hex"])
    if vector["norm_hex"]:  # nothing has no places; we give the end, the original nothing
        found = tok.normalize(text, with_offsets=True, unit="byte")
        assert found.offsets == vector["offsets"]
        if "char_offsets" in vector:
            by_codepoint = tok.normalize(text.decode(), with_offsets=True).offsets
            assert by_codepoint == vector["char_offsets"]


def check_decode(tok: isotok.Tokenizer, vector: Vector) -> None:
    assert tok.decode(vector["ids"]).encode() == bytes.fromhex(vector["text_hex"])


def check_decode_pieces(tok: isotok.Tokenizer, vector: Vector) -> None:
    pieces = [bytes.fromhex(piece) for piece in vector["pieces_hex"]]
    assert tok.decode_pieces(pieces).encode() == bytes.fromhex(vector["text_hex"])


def check_piece_to_id(tok: isotok.Tokenizer, vector: Vector) -> None:
    found = [tok.piece_to_id(piece) for piece in vector["pieces"]]
    assert [-1 if each is None else each for each in found] == vector["ids"]


def check_encode_long(tok: isotok.Tokenizer, vector: Vector) -> None:
    ids = tok.encode(text_of(vector))
    assert len(ids) == vector["num_ids"]
    assert digest(ids) == vector["sha256_of_le_int32"]


def check_error(tok: isotok.Tokenizer, vector: Vector) -> None:
    if "ids" in vector:
        with pytest.raises(IndexError):
            tok.decode(vector["ids"])
        with pytest.raises(IndexError):
            tok.id_to_piece(vector["ids"][0])
        return
    with pytest.raises(isotok.TokenizerError):
        if "nbest" in vector["note"]:
            tok.nbest("a", 513 if "too large" in vector["note"] else 2)
        else:
            tok.sample("a", alpha=-0.1 if "alpha" in vector["note"] else None)


def check_nbest(tok: isotok.Tokenizer, vector: Vector) -> None:
    """The same scores, and for each the same segmentations: their order is a matter of chance."""
    found = tok.nbest(vector["input_text"], vector["options"]["nbest_size"])
    expected = [(f"{each['score']:.6g}", each["ids"]) for each in vector["nbests"]]
    assert sorted((f"{score:.6g}", ids) for ids, score in found) == sorted(expected)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


CHECKS = {
    "encode": check_encode,
    "normalize": check_normalize,
    "decode": check_decode,
    "decode_pieces": check_decode_pieces,
    "piece_to_id": check_piece_to_id,
    "encode_long": check_encode_long,
    "error": check_error,
    "nbest": check_nbest,
}


@pytest.mark.parametrize("vector", APPLICABLE, ids=lambda vector: vector["id"])
def test_vector(vector: Vector, backend: str, opened: Opener) -> None:
    tok = opened(data.vectors_dir() / "models" / vector["model"], backend)
    CHECKS[vector["op"]](tok, vector)


def test_reference() -> None:
    """The readable reference passes them too (two of the long ones: it is slow)."""
    need(data.vectors_dir())
    references: dict[str, isotok_reference.Reference] = {}
    for vector in APPLICABLE:
        model = vector["model"]
        if model not in references:
            path = data.vectors_dir() / "models" / model
            references[model] = isotok_reference.load(path.read_bytes())
        reference = references[model]
        operation, text = vector["op"], text_of(vector)
        if operation == "encode" and "options" not in vector:
            tokens = reference.encode(text)
            assert [token.id for token in tokens] == vector["ids"], vector["id"]
            assert [token.begin for token in tokens] == vector["begin"], vector["id"]
            assert [token.end for token in tokens] == vector["end"], vector["id"]
        elif operation == "normalize":
            expected = (bytes.fromhex(vector["norm_hex"]), vector["offsets"])
            assert reference.normalize(text) == expected, vector["id"]
        elif operation == "decode":
            assert reference.decode(vector["ids"]) == bytes.fromhex(vector["text_hex"])
        elif operation == "encode_long" and vector["id"] in ("v165", "v170"):
            assert digest(reference.encode_ids(text)) == vector["sha256_of_le_int32"]


def test_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    """Print what is not applicable and why; nothing else may be left out."""
    need(data.vectors_dir())
    left_out = Counter(filter(None, map(reason_not_applicable, vectors())))
    assert {vector["op"] for vector in APPLICABLE} == set(CHECKS)
    with capsys.disabled():
        print(f"\nvectors: {len(APPLICABLE)} applicable, {left_out.total()} not applicable:")
        for reason, count in left_out.items():
            print(f"  {count:3} {reason}")
    assert len(APPLICABLE) + left_out.total() == len(vectors())
