"""`isotok train`, and Unigram models."""

from __future__ import annotations

import json
from pathlib import Path

import isotok
import pytest
from isotok import cli
from isotok.errors import TokenizerError
from isotok.train import BpeModel, PreTokenizer, WordCounter, files, train_bpe
from isotok.train.unigram import train_unigram
from texts import corpus


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("\n".join(corpus("english", texts=300)))
    return path


def test_writes_all_kinds(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(tmp_path / name) for name in ("m.isotok", "m.json", "m.tiktoken", "folder")]
    outputs = [word for name in names for word in ("-o", name)]
    code = cli.run(["train", str(text), "-n", "300", "-s", "<s>", "--progress", "json", *outputs])
    assert code == 0
    captured = capsys.readouterr()
    stages = [json.loads(line)["stage"] for line in captured.err.splitlines()]
    assert set(stages) == {"count", "merge"}
    assert captured.out.count("300 tokens") == 4
    model = train_bpe(files(text), vocab_size=300, special_tokens=["<s>"])
    assert BpeModel.from_pretrained(names[3]).data == model.data
    for name in names[:2]:
        with isotok.load(name) as loaded:
            assert loaded.encode("the cat<s>") == model.encode("the cat<s>")


def test_options(text: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "m")
    counts = str(tmp_path / "c")
    common = ["train", "-n", "280", "-o", out]
    options = ["--unit", "unicode", "--max-token-length", "3", "--forbid", "t", "h"]
    assert cli.run([*common, str(text), *options, "--special-last", "-s", "<s>"]) == 0
    model = BpeModel.from_pretrained(out)
    assert model.special_tokens == ["<s>"]
    assert model.data.special[0][1] == len(model.data.tokens) - 1
    assert max(len(token) for token in model.vocab) == 3
    assert b"th" not in model.vocab
    assert cli.run([*common, str(text), "--save-counts", counts]) == 0
    first = BpeModel.from_pretrained(out)
    assert cli.run([*common, "--counts", counts]) == 0
    assert BpeModel.from_pretrained(out).data == first.data
    assert cli.run([*common, str(text), "--start", out, "--checkpoint", str(tmp_path / "k")]) == 0


def test_saved_counts_keep_to_the_budget(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    free, bound = tmp_path / "free.counts", tmp_path / "bound.counts"
    out = ["-n", "280", "--progress", "json", "-o", str(tmp_path / "m.json")]
    assert cli.run(["train", str(text), *out, "--save-counts", str(free)]) == 0
    model = (tmp_path / "m.json").read_bytes()
    stages = {json.loads(line)["stage"] for line in capsys.readouterr().err.splitlines()}
    assert stages == {"count", "merge"}
    budget = ["--memory-budget", "1", "--spill-dir", str(tmp_path)]
    assert cli.run(["train", str(text), *out, "--save-counts", str(bound), *budget]) == 0
    assert bound.read_bytes() == free.read_bytes()
    assert (tmp_path / "m.json").read_bytes() == model
    assert not list(tmp_path.glob("isotok-counts-*"))
    # With a budget counts go to that folder, without they need none.
    nowhere = ["--spill-dir", str(tmp_path / "none")]
    assert cli.run(["train", str(text), *out, "--save-counts", str(bound), *nowhere]) == 0
    budget = ["--memory-budget", "1", *nowhere]
    assert cli.run(["train", str(text), *out, "--save-counts", str(bound), *budget]) != 0


def test_saved_counts_are_of_the_words_of_start(text: Path, tmp_path: Path) -> None:
    first, counts = str(tmp_path / "first"), str(tmp_path / "c")
    special = ["-s", "the", "--pattern", "[a-z]+"]
    assert cli.run(["train", str(text), "-n", "270", "-o", first, *special]) == 0
    more = ["train", str(text), "-n", "280", "--start", first]
    assert cli.run([*more, "-o", str(tmp_path / "direct")]) == 0
    assert cli.run([*more, "-o", str(tmp_path / "saved"), "--save-counts", counts]) == 0
    direct, saved = (BpeModel.from_pretrained(tmp_path / name) for name in ("direct", "saved"))
    assert saved.data == direct.data
    assert b"the" not in dict(
        WordCounter.load(counts, PreTokenizer(["the"], None, "[a-z]+")).items()
    )


def test_wrong_usage(text: Path, tmp_path: Path) -> None:
    for arguments in (
        ["train", str(text), "-n", "300", "-o", str(tmp_path / "m.model")],
        ["train", str(text), "-n", "300", "-o", str(tmp_path / "no" / "m.isotok")],
        ["train", "-n", "300", "-o", str(tmp_path / "m.isotok")],
        ["train", str(text), "-n", "3", "-o", str(tmp_path / "m.isotok")],
        ["train", str(tmp_path / "none"), "-n", "300", "-o", str(tmp_path / "m.isotok")],
    ):
        assert cli.run(arguments) == cli.EXIT_INPUT
    assert not list(tmp_path.glob("m*"))


def test_unigram(text: Path, tmp_path: Path) -> None:
    stages: list[str] = []
    model = train_unigram(
        files(text),
        vocab_size=120,
        hard_vocab_limit=False,
        progress=lambda stage, done, total: stages.append(stage),
    )
    assert stages[-2:] == ["train", "train"]
    assert model.lines > 250
    again = train_unigram(files(text).scan(), vocab_size=120, hard_vocab_limit=False)
    assert again.model == model.model
    model.save(tmp_path / "u.isotok")
    with isotok.load(tmp_path / "u.isotok") as loaded:
        assert loaded.encode("the cat") == model.tokenizer.encode("the cat")
    with pytest.raises(TokenizerError, match="num_threads"):
        train_unigram(["a"], vocab_size=9, num_threads=4)
    with pytest.raises(TokenizerError, match="empty"):
        train_unigram([], vocab_size=9)
    with pytest.raises(TypeError, match="record 1"):
        train_unigram(["a b c", b"x"], vocab_size=9)  # type: ignore[list-item]
    with pytest.raises(TokenizerError, match="model or"):
        model.save(tmp_path / "u.txt")
