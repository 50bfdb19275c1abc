"""examples/c/train.c under sanitizers that also find leaks, beside the Python package."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import data
from support.toolchain import C11, CORE, EXAMPLES, STRICT, attempt, need, run
from support.train_example import corpus_and_model, merges_of

SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("clang-19")
    target = tmp_path_factory.mktemp("train") / "train"
    folders = [f"-I{CORE / name}" for name in ("include", "src", "train")]
    sources = [*CORE.glob("src/*.c"), *CORE.glob("train/*.c"), EXAMPLES / "train.c"]
    run("clang-19", *C11, *STRICT, *SANITIZE, *folders, *sources, "-o", target)
    return target


@pytest.mark.parametrize("vocab_size", [256, 257, 280, 5000])
def test_prints_the_merges_of_python(program: Path, tmp_path: Path, vocab_size: int) -> None:
    blob, text = corpus_and_model(tmp_path)
    expected = merges_of(text, vocab_size, blob)
    assert run(program, text, str(vocab_size), blob) == expected
    assert expected.endswith("no pair is left\n") == (vocab_size == 5000)
    assert run(program, text, str(vocab_size)) == merges_of(text, vocab_size)


def test_errors(program: Path, tmp_path: Path) -> None:
    _, text = corpus_and_model(tmp_path)
    (tmp_path / "empty").touch()
    for arguments, code, message in (
        ([text, "255"], 1, "train: fewer tokens are wanted than there are already (256)\n"),
        ([tmp_path / "empty", "300"], 1, "train: there are no words to train on (0)\n"),
        ([tmp_path / "none", "300"], 1, "none: No such file or directory\n"),
        ([text, "300", text], 1, "not an isotok blob, or cut short"),
        ([text, "300", plain_model(tmp_path)], 1, "train: the model has no pre-tokenizer"),
        ([text, "30x"], 2, "usage: train FILE TOKENS"),
        ([text, "0"], 2, "usage: train FILE TOKENS"),
        ([text, "4294967296"], 2, "usage: train FILE TOKENS"),
        ([text], 2, "usage: train FILE TOKENS"),
    ):
        done = attempt(program, *arguments)
        assert done.returncode == code and message in done.stdout, (arguments, done.stdout)


def plain_model(folder: Path) -> Path:
    """Return a model of SentencePiece, compiled."""
    from isotok.compile import compile_model

    path = folder / "plain.isotok"
    path.write_bytes(compile_model((data.VECTOR_MODELS / "trained_unigram.model").read_bytes()))
    return path
