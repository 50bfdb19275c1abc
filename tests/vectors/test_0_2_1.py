"""compat="0.2.1" on our golden vectors: spine.json, where sentencepiece_0_2_1.json is silent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import isotok
import pytest
from conftest import Opener
from isotok.compile import compile_model
from support import data, generation, spine
from support.generation import digest
from support.prose import prose
from support.spine import same, text_of

GOLDEN = generation.golden()
NOT_OURS = {"bpe_not_finite"}  # refused here
MODELS = sorted(set(spine.spine()["models"]) - set(GOLDEN["left_out"]) - set(GOLDEN["refused"]))
LONG: list[dict[str, Any]] = GOLDEN["long"]
NBEST: list[dict[str, Any]] = GOLDEN["nbest"]
Old = Callable[[str, str], isotok.Tokenizer]


@pytest.fixture
def old(opened: Opener) -> Old:
    """Return a function that opens a vector model once per back end."""
    return lambda model, backend: opened(data.VECTOR_MODELS / f"{model}.model", backend, "0.2.1")


def expected(vector: spine.Vector) -> spine.Vector:
    """What 0.2.1 answers; where it fails, isotok answers as today."""
    found = vector | GOLDEN["differences"].get(vector["id"], {})
    return vector if "fails" in found else found


@pytest.mark.parametrize("model", MODELS)
def test_encode(model: str, backend: str, old: Old) -> None:
    tok = old(model, backend)
    assert tok.info.compat == "0.2.1"
    for vector in map(expected, spine.vectors_of(model, "encode")):
        text = text_of(vector["text"])
        assert tok.encode(text) == vector["ids"], vector["id"]
        assert tok.count(text) == len(vector["ids"]), vector["id"]
        found = tok.encode_with_offsets(text, unit="byte")
        assert found.ids == vector["ids"], vector["id"]
        assert found.offsets == spine.byte_spans(vector), vector["id"]
        normalized = tok.normalize(text)
        assert same(normalized, vector["normalized"]), vector["id"]
        assert tok.encode_normalized(normalized) == vector["ids"], vector["id"]


@pytest.mark.parametrize("model", MODELS)
def test_decode(model: str, backend: str, old: Old) -> None:
    tok = old(model, backend)
    for vector in [*spine.vectors_of(model, "encode"), *spine.vectors_of(model, "decode")]:
        check_text(tok.decode(vector["ids"]), expected(vector))
    for vector in spine.vectors_of(model, "decode_pieces"):
        pieces = [bytes.fromhex(piece) for piece in vector["pieces"]]
        check_text(tok.decode_pieces(pieces), expected(vector))


def check_text(text: str, vector: spine.Vector) -> None:
    """A str cannot hold ill-formed bytes of pieces: they read as U+FFFD."""
    if isinstance(vector["decoded"], str):
        wanted = bytes.fromhex(vector["decoded"]).decode(errors="replace")
        assert text == wanted, vector["id"]
    else:
        assert same(text.encode(), vector["decoded"]), vector["id"]


@pytest.mark.parametrize("model", MODELS)
def test_find(model: str, backend: str, old: Old) -> None:
    tok = old(model, backend)
    for vector in map(expected, spine.vectors_of(model, "find")):
        found = tok.piece_to_id(bytes.fromhex(vector["piece"]))
        assert (-1 if found is None else found) == vector["found"], vector["id"]


@pytest.mark.parametrize("model", [*GOLDEN["refused"], *NOT_OURS])
def test_refused(model: str, backend: str) -> None:
    path = data.VECTOR_MODELS / f"{model}.model"
    with pytest.raises(isotok.TokenizerError) as caught:
        isotok.load(path, backend=backend, compat="0.2.1")  # type: ignore[arg-type]
    reason = "no UNKNOWN piece, without which" if model == "uni_no_unk" else "score is NaN"
    assert reason in str(caught.value)
    isotok.load(path, backend=backend).close()  # type: ignore[arg-type]


@pytest.mark.parametrize("row", LONG, ids=lambda row: f"{row['model']}-{row['prose'][0]}")
def test_long(row: dict[str, Any], backend: str, old: Old) -> None:
    """Sums that are never begun anew: the ids of a long text depend on all of it."""
    text = prose(row["prose"][0], seed=row["prose"][1]).encode()
    tok = old(row["model"], backend)
    ids = tok.encode(text)
    assert (len(ids), digest(ids)) == (row["count"], row["sha256"])
    chunks = (text[begin : begin + 7001] for begin in range(0, len(text), 7001))
    assert [each for part in tok.encode_stream(chunks) for each in part] == ids
    if backend == "native":
        assert tok.encode_long(text, threads=2, output="list") == ids
    path = data.VECTOR_MODELS / f"{row['model']}.model"
    today = isotok.load(path, backend=backend).encode(text)  # type: ignore[arg-type]
    assert (today != ids) == row["differs"]


def test_long_texts_tell_the_releases_apart() -> None:
    assert [row["model"] for row in LONG if row["differs"]] == ["trained_unigram"]
    assert len(GOLDEN["differences"]) > 50


@pytest.mark.parametrize("row", NBEST, ids=lambda row: f"{row['model']}-{row['text'][:8]}")
def test_nbest(row: dict[str, Any], backend: str, old: Old) -> None:
    """User-defined pieces have other scores there too; equal scores may change places."""
    found = old(row["model"], backend).nbest(bytes.fromhex(row["text"]), row["n"])
    paths = [(ids, score) for ids, score in row["paths"]]
    assert [each.score for each in found] == [score for _, score in paths]
    last = paths[-1][1]
    assert {(tuple(each.ids), each.score) for each in found if each.score != last} == {
        (tuple(ids), score) for ids, score in paths if score != last
    }


@pytest.mark.parametrize("model", ["trained_unigram", "bpe_unused", "word_plain", "char_plain"])
def test_same_bytes(model: str, backend: str) -> None:
    """From the source and from the packed form, natively and in wasm; full checks pass."""
    source = (data.VECTOR_MODELS / f"{model}.model").read_bytes()
    blob = compile_model(source, compat="0.2.1")
    packed = compile_model(source, "packed", backend=backend, compat="0.2.1")  # type: ignore[arg-type]
    for form in (source, packed, blob):
        again = compile_model(form, backend=backend, compat="0.2.1")  # type: ignore[arg-type]
        assert again == blob
    assert compile_model(packed, backend=backend) == blob  # type: ignore[arg-type]
    model_file = compile_model(blob, "model", backend=backend)  # type: ignore[arg-type]
    assert compile_model(model_file, compat="0.2.1") == blob
    assert compile_model(model_file) == compile_model(source)
    isotok.load(blob, backend=backend, verify="full").close()  # type: ignore[arg-type]
