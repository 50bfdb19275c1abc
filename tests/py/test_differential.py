"""A fixed sample of `./build.sh test full`'s matrix: every real model, the head of every
corpus, whole, by lines and by documents, on both back ends, against sentencepiece.

Without real data: our two trained models on made-up prose and hostile texts.
"""

from __future__ import annotations

from pathlib import Path

import isotok
import pytest
from full import matrix
from support import data, oracle
from support.prose import prose

SIZE = 10_000  # bytes of each corpus; the matrix reads all of it
STRESS = {
    "letter": b"a" * SIZE,
    "spaces": b" " * SIZE,
    "ill-formed": bytes(range(0x80, 0x100)) * (SIZE // 128),
    "marks": "a\u0301\u0308\u0323".encode() * (SIZE // 7),
    "nul": b"\0a" * (SIZE // 2),
    "expansion": "\ufdfa ".encode() * 500,
}

pytestmark = pytest.mark.usefixtures("sentencepiece")


def check(model: Path, corpora: list[Path]) -> None:
    """Every mode of every corpus on both back ends; the model is loaded once."""
    processor = oracle.Oracle(model.read_bytes()).sp
    tokenizers = [isotok.load(model, backend=name) for name in matrix.BACKENDS]
    for corpus in corpora:
        for mode in matrix.MODES:
            rows = [matrix.Row(model.stem, corpus.name, mode, name) for name in matrix.BACKENDS]
            for document in matrix.documents(corpus.read_bytes()[:SIZE], mode):
                expected = matrix.oracle(processor, document, mode)
                for row, tokenizer in zip(rows, tokenizers, strict=True):
                    matrix.compare(row, tokenizer, document, expected)
            for row in rows:
                assert row.documents > 0
                assert not row.differing, f"{matrix.HEADER}\n{matrix.line(row)}"


@pytest.mark.parametrize("model", data.real_models(), ids=lambda path: path.stem)
def test_real_model(model: Path) -> None:
    check(model, matrix.corpora(data.corpora_dir()))


@pytest.mark.parametrize("name", ["trained_unigram", "trained_bpe"])
def test_own_model(name: str, tmp_path: Path) -> None:
    texts = {"prose": prose(SIZE, seed=3).encode(), **STRESS}
    for text, content in texts.items():
        (tmp_path / text).write_bytes(content)
    check(data.VECTOR_MODELS / f"{name}.model", [tmp_path / text for text in texts])


def test_real_data_or_why_not() -> None:
    """The sample is of real models where they are."""
    if not data.real_models():
        pytest.skip(data.absence(data.models_dir()))
