"""Functions over batches and shards give what a plain loop gives, in any partition."""

from __future__ import annotations

import importlib
import pickle
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import isotok
import numpy as np
import pytest
from isotok.errors import TokenizerError
from isotok.train import (
    BigramCounter,
    BpeModel,
    PreTokenizer,
    Shards,
    WordCounter,
    count_bigrams,
    count_words,
    encode_batch,
    merge_counts,
    train_bpe,
    write_shard,
    write_shards,
)
from texts import SPECIAL, corpus

pa: Any = importlib.import_module("pyarrow")
TEXTS = [text for name in ("english", "han", "mixed", "wide") for text in corpus(name, texts=60)]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def model() -> BpeModel:
    return train_bpe(TEXTS, vocab_size=400, special_tokens=SPECIAL)


def partitions(seed: int) -> list[list[str]]:
    """The texts in another order, cut anywhere, with empty parts."""
    rng = random.Random(seed)
    texts = rng.sample(TEXTS, len(TEXTS))
    ends = sorted(rng.choices(range(len(texts) + 1), k=7))
    return [texts[a:b] for a, b in zip([0, *ends], [*ends, len(texts)], strict=True)]


@pytest.mark.parametrize("seed", range(20))
def test_merged_counts_are_the_same_bytes(seed: int) -> None:
    cutter = PreTokenizer(SPECIAL)
    words, bigrams = WordCounter(cutter), BigramCounter(cutter)
    words.add_batch(TEXTS)
    bigrams.add_batch(TEXTS)
    rng = random.Random(seed)
    for count, whole in ((count_words, words), (count_bigrams, bigrams)):
        parts: list[Any] = [count(pa.table({"text": part}), cutter) for part in partitions(seed)]
        while len(parts) > 2:  # a tree of merges
            pair = [parts.pop(rng.randrange(len(parts))) for _ in range(2)]
            parts.append(merge_counts(pair, cutter))
        assert merge_counts(parts, cutter) == whole.to_bytes()


def test_sums_by_an_engine_are_counts_of_all() -> None:
    cutter = pickle.loads(pickle.dumps(PreTokenizer(SPECIAL)))
    tables = [count_words({"text": part}, cutter) for part in partitions(3)]
    sums = pa.concat_tables(tables).group_by("word").aggregate([("count", "sum")])
    sums = sums.rename_columns({"count_sum": "count"}).select(["word", "count"])
    whole = WordCounter(cutter)
    whole.add_batch(TEXTS)
    assert WordCounter.from_arrow(sums, cutter).to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("kind", ["table", "batch", "array", "chunked", "dict", "list"])
def test_kinds_of_batches(kind: str, model: BpeModel) -> None:
    array = pa.array(TEXTS)
    batches: dict[str, Any] = {
        "table": pa.table({"text": array}),
        "batch": pa.record_batch({"text": array}),
        "array": array,
        "chunked": pa.chunked_array([array[:7], array[7:]]),
        "dict": {"text": np.array(TEXTS, object)},
        "list": TEXTS,
    }
    found = encode_batch(batches[kind], model)
    assert found.schema.field("ids").type == pa.large_list(pa.uint32())
    tokenizer = model.tokenizer
    assert found.column("ids").to_pylist() == [tokenizer.encode(t, special="none") for t in TEXTS]


def test_bad_batches(model: BpeModel) -> None:
    cutter = PreTokenizer([])
    with pytest.raises(TokenizerError, match=r"no column 'text'; it has \['body'\]"):
        count_words(pa.table({"body": ["a"]}), cutter)
    with pytest.raises(TokenizerError, match="row 1 of the batch is null"):
        encode_batch(pa.table({"text": ["a", None]}), model)
    with pytest.raises(TypeError, match="record 0: int, not str"):
        count_bigrams({"text": [1]}, cutter)
    with pytest.raises(TypeError, match="record 1: bytes"):
        count_words(["a", b"\xff"], cutter)
    with pytest.raises(TokenizerError, match="lone surrogate"):
        count_words(["\ud800"], cutter)
    with pytest.raises(TypeError, match="a list of texts"):
        encode_batch("text", model)
    with pytest.raises(TokenizerError, match="no counts to merge"):
        merge_counts([], cutter)
    with pytest.raises(TokenizerError, match="part 1: words and bigrams"):
        merge_counts([count_words(["a"], cutter), count_bigrams(["a"], cutter)], cutter)
    with pytest.raises(TokenizerError, match="another pre-tokenizer"):
        merge_counts([count_words(["a"], PreTokenizer(SPECIAL))], cutter)
    with pytest.raises(TypeError, match="part 0: dict holds no counts"):
        merge_counts([{}], cutter)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("vocab_size", [400, 70_000])
def test_shards_hold_the_ids(vocab_size: int, tmp_path: Path, model: BpeModel) -> None:
    tokenizer: Any = model
    if vocab_size > 1 << 16:
        tokenizer = isotok.load(
            model.to_blob(), added_tokens=[f"<t{i}>" for i in range(vocab_size)]
        )
    assert write_shards(iter(TEXTS), tokenizer, tmp_path, documents=50) == 5
    shards = Shards(tmp_path)
    wanted = [model.tokenizer.encode(text, special="none") for text in TEXTS]
    assert len(shards) == len(TEXTS) and shards.tokens == sum(map(len, wanted))
    assert [ids.tolist() for ids in shards] == wanted
    assert [shards[i].tolist() for i in range(-len(TEXTS), 0)] == wanted
    assert [ids.tolist() for ids in shards[48:52]] == wanted[48:52]
    assert shards[0].dtype == (np.uint16 if vocab_size < 1 << 16 else np.uint32)
    with pytest.raises(IndexError):
        shards[len(TEXTS)]


def test_a_finished_shard_is_not_written_again(tmp_path: Path, model: BpeModel) -> None:
    write_shards(TEXTS, model, tmp_path, documents=100)
    before = contents(tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    (tmp_path / "00000001.bin").write_bytes(b"damage")
    (tmp_path / "00000002.json").unlink()
    write_shards(TEXTS, model, tmp_path, documents=100)
    assert contents(tmp_path) == before
    first = tmp_path / "00000000.bin"
    assert first.stat().st_mtime_ns == times[first]


KILLED = """
import os, signal, sys
sys.path[:0] = [{here!r}, {package!r}]
from isotok.train import BpeModel, write_shards
import isotok.train._shards as shards
from test_scale import TEXTS

calls, write = 0, shards.write_atomic

def killed(path, data):
    global calls
    calls += 1
    if calls == {calls}:
        path.write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, data)

shards.write_atomic = killed
write_shards(TEXTS, BpeModel.from_pretrained(sys.argv[1]), sys.argv[2], documents=40)
"""


@pytest.mark.parametrize("calls", range(1, 18, 2))
def test_killed_and_gone_on(calls: int, tmp_path: Path, model: BpeModel) -> None:
    folder, once = tmp_path / "shards", tmp_path / "once"
    model.save_pretrained(tmp_path / "model")
    program = KILLED.format(here=str(HERE), package=str(HERE.parents[1] / "py_host"), calls=calls)
    folder.mkdir()
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "model", folder])
    assert done.returncode == -signal.SIGKILL
    write_shards(TEXTS, model, folder, documents=40)
    write_shards(TEXTS, model, once, documents=40)
    assert contents(folder) == contents(once)


def test_shards_of_something_else(tmp_path: Path, model: BpeModel) -> None:
    other = train_bpe(TEXTS, vocab_size=300)
    write_shards(TEXTS, model, tmp_path, documents=100)
    before = contents(tmp_path)
    with pytest.raises(TokenizerError, match=r"00000000\.json: the shard was made with another"):
        write_shards(TEXTS, other, tmp_path, documents=100)
    with pytest.raises(TokenizerError, match="has 100 documents, not 50"):
        write_shards(TEXTS, model, tmp_path, documents=50)
    with pytest.raises(TokenizerError, match="more shards than the source fills"):
        write_shards(TEXTS[:100], model, tmp_path, documents=100)
    assert contents(tmp_path) == before


def test_bad_shards(tmp_path: Path, model: BpeModel) -> None:
    with pytest.raises(TokenizerError, match="there are no shards"):
        Shards(tmp_path)
    write_shards(TEXTS, model, tmp_path, documents=100)
    (tmp_path / "00000001.idx").write_bytes(b"1234")
    with pytest.raises(TokenizerError, match=r"00000001\.idx: it has 4 bytes"):
        Shards(tmp_path)
    (tmp_path / "00000001.json").write_text("[]")
    with pytest.raises(TokenizerError, match=r"00000001\.json: it is no manifest"):
        Shards(tmp_path)
    (tmp_path / "00000001.json").unlink()
    with pytest.raises(TokenizerError, match="shard 1 is missing"):
        Shards(tmp_path)


def test_records_before_a_bad_one_are_kept(tmp_path: Path, model: BpeModel) -> None:
    records: list[Any] = [*TEXTS[:120], None]
    with pytest.raises(TypeError, match="record 120"):
        write_shards(records, model, tmp_path, documents=50)
    assert len(Shards(tmp_path)) == 120


FULL = """
import resource, signal, sys
sys.path[:0] = [{here!r}, {package!r}]
from isotok.errors import TokenizerError
from isotok.train import BpeModel, write_shards
from test_scale import TEXTS

resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    write_shards(TEXTS * 40, BpeModel.from_pretrained(sys.argv[1]), sys.argv[2], documents=5000)
except TokenizerError as error:
    print(error)
"""


def test_no_space_for_a_shard(tmp_path: Path, model: BpeModel) -> None:
    """A limit on the size of files stands for a full disk; what was finished stays."""
    model.save_pretrained(tmp_path / "model")
    folder = tmp_path / "shards"
    write_shard(TEXTS, model, folder, 0)
    before = contents(folder)
    program = FULL.format(here=str(HERE), package=str(HERE.parents[1] / "py_host"), limit=20_000)
    command = [sys.executable, "-c", program, tmp_path / "model", tmp_path / "other"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "cannot be written (File too large)" in told and "00000000.bin" in told
    assert not list((tmp_path / "other").glob("*.json"))
    assert contents(folder) == before
