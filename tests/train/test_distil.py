"""Distilled models: exact ones give the teacher's ids everywhere, the others what they are."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import isotok
import pytest
import sentencepiece
from click.testing import CliRunner
from isotok._distil_command import commands
from isotok._inspect import describe
from isotok.errors import TokenizerError
from isotok.train import agreement, distil
from isotok.train.unigram import UnigramModel, train_unigram

MODELS = Path(__file__).parents[1] / "vectors/models"
rng = random.Random(7)
WORDS = ["".join(rng.choices("abcdeé漢", k=rng.randint(1, 9))) for _ in range(400)]


def texts(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [
        " ".join(draw.choices(WORDS, [1 / (i + 1) for i in range(len(WORDS))], k=30)) + " -- 12.5"
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def trained() -> UnigramModel:
    return train_unigram(texts(400, 1), vocab_size=150, byte_fallback=False)


@pytest.fixture(scope="module")
def teacher(trained: UnigramModel) -> isotok.Tokenizer:
    return isotok.load(trained.model, backend="native", cache_bytes=0)


@pytest.mark.parametrize("cache_bytes", [0, 4096, 1 << 20])
@pytest.mark.parametrize("backend", ["native", "wasm"])
def test_exact_gives_the_ids_of_sentencepiece(
    backend: Any, cache_bytes: int, trained: UnigramModel, teacher: isotok.Tokenizer
) -> None:
    """In wasm the memo is left alone; the ids are the same."""
    made = distil(teacher, texts(2000, 2))
    assert made.agreement.equal_texts == made.agreement.token_f1 == made.agreement.fertility == 1
    assert made.tried
    teacher_2 = sentencepiece.SentencePieceProcessor(model_proto=trained.model)
    with isotok.load(made.blob, backend=backend, cache_bytes=cache_bytes) as student:
        assert student.info.parity == "sentencepiece" and student.info.algorithm == "unigram"
        for text in [*texts(200, 3), "", " ", "漢漢漢", "-" * 300, "\0a\0", "zzz 😀 a"]:
            assert student.encode(text) == teacher_2.encode(text)
            wanted = teacher.encode_with_offsets(text)
            assert student.encode_with_offsets(text) == wanted
        batch = student.encode_batch(texts(300, 4), threads=2)
        assert batch.ids.tolist() == [i for t in texts(300, 4) for i in teacher_2.encode(t)]
        stream = student.encoder()
        whole = " ".join(texts(100, 5))
        parts = [whole[i : i + 7] for i in range(0, len(whole), 7)]
        ids = [i for part in parts for i in stream.push(part)] + stream.flush()
        assert ids == teacher_2.encode(whole)


def longest_match(pieces: dict[str, int], text: str, unk: int = 0) -> list[int]:
    """A plain search; neighbouring unknown characters are one token."""
    ids: list[int] = []
    at = 0
    while at < len(text):
        size = next((n for n in range(len(text) - at, 0, -1) if text[at : at + n] in pieces), 0)
        found = pieces[text[at : at + size]] if size else unk
        if size or not ids or ids[-1] != unk:
            ids.append(found)
        at += size or 1
    return ids


def test_longest_is_longest_match(teacher: isotok.Tokenizer) -> None:
    made = distil(teacher, texts(300, 2), mode="longest")
    pieces = {teacher.id_to_piece(i): i for i in range(3, teacher.vocab_size)}
    student = isotok.load(made.blob)
    assert student.info.parity == "distilled" and student.info.algorithm == "longest"
    for text in [*texts(100, 3), "漢z漢", "zzzz", ""]:
        assert student.encode(text) == longest_match(pieces, teacher.normalize(text))


def test_exceptions_bring_it_nearer(teacher: isotok.Tokenizer) -> None:
    corpus, held = texts(1000, 2), texts(200, 9)
    found = {
        most: agreement(teacher, isotok.load(made.blob), held)
        for most in (0, 5, 1000)
        for made in [distil(teacher, corpus, mode="compact", exceptions=most)]
    }
    assert found[0].token_f1 < found[5].token_f1 < found[1000].token_f1
    assert found[1000].token_f1 > 0.97 and abs(found[1000].fertility - 1) < 0.01


def test_texts_come_back(teacher: isotok.Tokenizer) -> None:
    for mode in ("exact", "compact", "longest", "priority"):
        student = isotok.load(distil(teacher, texts(300, 2), mode=mode).blob)
        for text in texts(50, 3):
            assert student.decode(student.encode(text)) == teacher.decode(teacher.encode(text))


def test_priority_is_the_highest_priority(teacher: isotok.Tokenizer) -> None:
    made = distil(teacher, texts(300, 2), mode="priority", alpha=0.5)
    student = isotok.load(made.blob)
    assert student.info.algorithm == "priority" and made.tried[0]["alpha"] == 0.5
    score = {student.id_to_piece(i): student.score(i) for i in range(3, student.vocab_size)}
    text = teacher.normalize(texts(1, 3)[0])
    at = 0
    for piece in map(student.id_to_piece, student.encode(texts(1, 3)[0])):
        begun = [text[at : at + n] for n in range(1, 20) if text[at : at + n] in score]
        if begun:
            assert piece == max(begun, key=lambda each: (score[each], len(each)))
        at += len(piece) if begun else 1


def test_what_inspect_says(teacher: isotok.Tokenizer) -> None:
    exact = distil(teacher, texts(300, 2))
    found = describe(exact.blob).get("distilled", {"memo_chunks": 0})
    assert found["memo_chunks"] == exact.stats["memo_chunks"] or exact.stats["memo_sets"]
    made = distil(teacher, texts(300, 2), mode="compact")
    assert describe(made.blob)["distilled"] == {
        "mode": "compact",
        "exceptions": made.stats["exceptions"],
    }
    assert describe(distil(teacher, texts(9, 2), mode="priority").blob)["distilled"] == {
        "mode": "priority"
    }


def test_wasm_refuses_what_it_has_not(teacher: isotok.Tokenizer) -> None:
    made = distil(teacher, texts(300, 2), mode="longest")
    with pytest.raises(TokenizerError, match="feature unknown here"):
        isotok.load(made.blob, backend="wasm")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trained_bpe", "of the kind bpe, not unigram"),
        ("uni_long", "cannot be distilled"),
        ("uni_ill_formed", "cannot be distilled"),
    ],
)
def test_models_that_cannot_be_distilled(name: str, message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        distil(isotok.load(MODELS / f"{name}.model", backend="native"), ["text"])


def test_bad_arguments(teacher: isotok.Tokenizer, trained: UnigramModel) -> None:
    with pytest.raises(TokenizerError, match="no text to distil from"):
        distil(teacher, [])
    with pytest.raises(TypeError, match="a text alone"):
        distil(teacher, "text")
    with pytest.raises(TypeError, match="record 1: int"):
        distil(teacher, ["text", 1])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TokenizerError, match="mode"):
        distil(teacher, ["text"], mode="fast")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TokenizerError, match="exceptions"):
        distil(teacher, ["text"], exceptions=-1)
    with pytest.raises(TokenizerError, match="native back end"):
        distil(isotok.load(trained.model, backend="wasm"), ["text"])


def test_command(trained: UnigramModel, tmp_path: Path, teacher: isotok.Tokenizer) -> None:
    model, corpus, out = tmp_path / "t.model", tmp_path / "c.txt", tmp_path / "o.isotok"
    model.write_bytes(trained.model)
    corpus.write_text("\n".join(texts(300, 2)))
    command = ["distil", str(model), "--corpus", str(corpus), "-o", str(out), "--mode", "compact"]
    done = CliRunner().invoke(commands, [*command, "--report", str(tmp_path / "r.json")])
    assert done.exit_code == 0, done.output
    assert "token F1" in done.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["mode"] == "compact" and report["blob_bytes"] == out.stat().st_size
    found = agreement(teacher, isotok.load(out), texts(50, 3))
    assert found.token_f1 > 0.9
