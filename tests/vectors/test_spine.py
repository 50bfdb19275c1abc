"""Our golden vectors (spine.json), on every back end and on the reference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import isotok
import isotok_reference
import pytest
from conftest import Opener
from support import data, spine
from support.spine import byte_spans, codepoint_spans, is_text, same, text_of

REFUSED = {name for name, row in spine.divergences().items() if row["what"] == "refused"}
MODELS = sorted(set(spine.spine()["models"]) - REFUSED)
FILES: list[dict[str, Any]] = spine.spine()["files"]


def path_of(model: str) -> Path:
    return data.VECTOR_MODELS / f"{model}.model"


def expected_piece(tok: isotok.Tokenizer, vector: spine.Vector, index: int) -> str:
    """Text of token `index`: of its id, or what an unknown stands for."""
    unknown = vector.get("unknown", {}).get(str(index))
    piece = tok.id_to_bytes(vector["ids"][index]) if unknown is None else bytes.fromhex(unknown)
    return piece.decode(errors="replace")


@pytest.mark.parametrize("model", MODELS)
def test_encode(model: str, backend: str, opened: Opener) -> None:
    tok = opened(path_of(model), backend)
    for vector in spine.vectors_of(model, "encode"):
        text = text_of(vector["text"])
        assert tok.encode(text) == vector["ids"], vector["id"]
        found = tok.encode_with_offsets(text, unit="byte")
        assert found.ids == vector["ids"], vector["id"]
        assert found.offsets == byte_spans(vector), vector["id"]
        pieces = [expected_piece(tok, vector, index) for index in range(len(found.ids))]
        assert found.pieces == pieces, vector["id"]
        if is_text(text):
            by_codepoint = tok.encode_with_offsets(text.decode())
            assert by_codepoint.offsets == codepoint_spans(vector), vector["id"]
            units = isotok_reference.unit_positions(text, "utf16")
            by_utf16 = tok.encode_with_offsets(text.decode(), unit="utf16").offsets
            assert by_utf16 == [(units[b], units[e]) for b, e in byte_spans(vector)], vector["id"]


@pytest.mark.parametrize("model", MODELS)
def test_normalize(model: str, backend: str, opened: Opener) -> None:
    tok = opened(path_of(model), backend)
    for vector in spine.vectors_of(model, "encode"):
        text = text_of(vector["text"])
        normalized = tok.normalize(text)
        assert same(normalized, vector["normalized"]), vector["id"]
        if normalized and "map" in vector:
            found = tok.normalize(text, with_offsets=True, unit="byte")
            assert (found.text, found.offsets) == (normalized, vector["map"]), vector["id"]


@pytest.mark.parametrize("model", MODELS)
def test_decode(model: str, backend: str, opened: Opener) -> None:
    tok = opened(path_of(model), backend)
    for vector in [*spine.vectors_of(model, "encode"), *spine.vectors_of(model, "decode")]:
        text = tok.decode(vector["ids"])
        if isinstance(vector["decoded"], str):
            # A str cannot hold ill-formed bytes of pieces: they read as U+FFFD.
            expected = bytes.fromhex(vector["decoded"])
            assert text == expected.decode(errors="replace"), vector["id"]
        else:
            assert same(text.encode(), vector["decoded"]), vector["id"]
    for vector in spine.vectors_of(model, "decode_pieces"):
        pieces = [bytes.fromhex(piece) for piece in vector["pieces"]]
        expected = bytes.fromhex(vector["decoded"]).decode(errors="replace")
        assert tok.decode_pieces(pieces) == expected, vector["id"]


@pytest.mark.parametrize("model", MODELS)
def test_pieces(model: str, backend: str, opened: Opener) -> None:
    tok = opened(path_of(model), backend)
    for vector in spine.vectors_of(model, "find"):
        piece = bytes.fromhex(vector["piece"])
        found = tok.piece_to_id(piece)
        assert (-1 if found is None else found) == vector["found"], vector["id"]
        assert (piece in tok) == ("missing" not in vector), vector["id"]
    properties = spine.spine()["models"][model]
    ids = {"unk": tok.unk_id, "bos": tok.bos_id, "eos": tok.eos_id, "pad": tok.pad_id}
    assert tok.vocab_size == properties["vocab_size"]
    for name, found in ids.items():
        assert (-1 if found is None else found) == properties[name], name


@pytest.mark.parametrize("model", MODELS)
def test_every_piece(model: str, backend: str, opened: Opener) -> None:
    """Text, type and score of every piece, as our reader of the file has them."""
    tok = opened(path_of(model), backend)
    reference = isotok_reference.load(path_of(model).read_bytes())
    for index, piece in enumerate(reference.vocabulary.pieces):
        assert tok.id_to_bytes(index) == piece.text
        assert int(tok.piece_type(index)) == piece.kind
        score = tok.score(index)
        assert score == piece.score or (score != score and piece.score != piece.score)


def test_divergences(backend: str) -> None:
    """A known divergence is still one: else its row must go."""
    for model in REFUSED:
        with pytest.raises(isotok.TokenizerError):
            isotok.load(path_of(model), backend=backend)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file["name"])
def test_files(file: dict[str, Any], backend: str) -> None:
    """What sentencepiece loads we load, what it refuses we refuse, saying what and where."""
    source = bytes.fromhex(file["model"])
    if file["loads"]:
        with isotok.load(source, backend=backend) as tok:
            reference = isotok_reference.load(source)
            assert tok.encode(b" a xab ") == reference.encode_ids(b" a xab ")
        return
    with pytest.raises(isotok.TokenizerError) as caught:
        isotok.load(source, backend=backend)
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("model", sorted(spine.spine()["models"]))
def test_reference(model: str) -> None:
    """The readable reference gives the same as sentencepiece."""
    reference = isotok_reference.load(path_of(model).read_bytes())
    for vector in spine.vectors_of(model, "encode"):
        text = text_of(vector["text"])
        tokens = reference.encode(text)
        assert [token.id for token in tokens] == vector["ids"], vector["id"]
        assert [(token.begin, token.end) for token in tokens] == byte_spans(vector), vector["id"]
        for index, piece in vector.get("unknown", {}).items():
            assert tokens[int(index)].piece == bytes.fromhex(piece), vector["id"]
        normalized, offsets = reference.normalize(text)
        assert same(normalized, vector["normalized"]), vector["id"]
        assert offsets == vector.get("map", offsets), vector["id"]
        assert same(reference.decode(vector["ids"]), vector["decoded"]), vector["id"]
    for vector in spine.vectors_of(model, "decode"):
        assert same(reference.decode(vector["ids"]), vector["decoded"]), vector["id"]
    for vector in spine.vectors_of(model, "decode_pieces"):
        pieces = [bytes.fromhex(piece) for piece in vector["pieces"]]
        assert same(reference.decode_pieces(pieces), vector["decoded"]), vector["id"]
    for vector in spine.vectors_of(model, "find"):
        assert reference.vocabulary.find(bytes.fromhex(vector["piece"])) == vector["found"]


@pytest.mark.usefixtures("sentencepiece")
def test_as_made() -> None:
    """spine.json is what make.py writes, and its models are those of the zoo."""
    command = [sys.executable, str(data.SPINE.parent / "make.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file["name"])
def test_files_in_sentencepiece(file: dict[str, Any], tmp_path: Path) -> None:
    import sentencepiece

    source = bytes.fromhex(file["model"])
    path = tmp_path / "x.model"
    path.write_bytes(source)
    processor = sentencepiece.SentencePieceProcessor()
    if file["loads"]:
        processor.load(str(path))
        isotok_reference.load(source)
        return
    with pytest.raises(RuntimeError):
        processor.load(str(path))
    with pytest.raises(isotok_reference.ModelError):
        isotok_reference.load(source)
