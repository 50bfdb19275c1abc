"""Bad input: a clear error, and what was done before it is kept."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from isotok.errors import TokenizerError
from isotok.train import BpeTrainer, PreTokenizer, files, train_bpe
from texts import corpus

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
from pyarrow import parquet  # noqa: E402

TEXTS = corpus("english")


def scan(path: Path, **options: Any) -> list[str]:
    return list(files(path, **options).scan())


# -- Files that are as they should be --------------------------------------------------------


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "txt.zst", "jsonl", "jsonl.gz", "jsonl.zst"])
def test_reads_compressed_or_not(ending: str, tmp_path: Path) -> None:
    lines = ["the cat\n", "\n", "你好"]
    if "jsonl" in ending:
        data = "".join(json.dumps({"text": line}) + "\n" for line in lines).encode()
    else:
        data = "".join(lines).encode()
    path = tmp_path / f"a.{ending}"
    if ending.endswith("zst"):
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            out.write(data)
    else:
        path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    assert scan(path) == lines


def test_reads_tables(tmp_path: Path) -> None:
    table = pa.table({"text": TEXTS, "n": list(range(len(TEXTS)))})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pa.ipc.new_file(str(tmp_path / "f.arrow"), table.schema) as out:
        out.write_table(table)
    with pa.ipc.new_stream(str(tmp_path / "s.arrow"), table.schema) as out:
        out.write_table(table)
    for name in ("t.parquet", "f.arrow", "s.arrow"):
        source = files(tmp_path / name)
        assert list(source.scan()) == list(source.scan()) == TEXTS


def test_documents_of_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo<|end|>three\n<|end|>")
    assert scan(path) == ["one\n", "two<|end|>three\n", "<|end|>"]
    assert scan(path, documents="file") == ["one\ntwo<|end|>three\n<|end|>"]
    assert scan(path, separator="<|end|>") == ["one\ntwo", "three\n"]


# -- Files that are not ----------------------------------------------------------------------


def test_invalid_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\nbad \xff\nmore\n")
    with pytest.raises(TokenizerError, match=r"a\.txt, line 2: byte 4 \(0xff\) is not UTF-8"):
        scan(path)
    assert scan(path, errors="replace") == ["good\n", "bad \ufffd\n", "more\n"]
    assert scan(path, errors="skip") == ["good\n", "more\n"]
    lines = tmp_path / "a.jsonl"
    lines.write_bytes(b'{"text": "good"}\n{"text": "\xff"}\n')
    with pytest.raises(TokenizerError, match=r"a\.jsonl, line 2: byte 10"):
        scan(lines)
    binary = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": [b"good", b"\xff"]}), binary)
    with pytest.raises(TokenizerError, match=r"a\.parquet, row 2: byte 0"):
        scan(binary)


def test_broken_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    data = gzip.compress("".join(f"line {i} {i * i}\n" for i in range(20_000)).encode())
    for broken in (data[: len(data) // 2], b"hello"):
        path.write_bytes(broken)
        with pytest.raises(
            TokenizerError, match=r"a\.txt\.gz: the file is broken or cut off after"
        ):
            scan(path)
    path.write_bytes(data[: len(data) // 2])
    counter = PreTokenizer([]).word_counter()
    with pytest.raises(TokenizerError) as caught:
        counter.add_source(files(path), max_records=10)
    assert "records before this are counted and kept" in caught.value.__notes__[0]
    assert len(counter) > 100


def test_broken_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": TEXTS}), path)
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    with pytest.raises(TokenizerError, match=r"a\.parquet: the table is broken or cut off"):
        scan(path)
    for name in ("b.arrow", "c.zst"):
        (tmp_path / name).write_bytes(b"\x28\xb5\x2f\xfdnonsense")
        with pytest.raises(TokenizerError, match="broken or cut off"):
            scan(tmp_path / name)


def test_wrong_columns_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"body": ["a", None], "n": [1, 2]}), path)
    with pytest.raises(TokenizerError, match=r"no column 'text' .there are body, n."):
        scan(path)
    with pytest.raises(TokenizerError, match="'n' holds int64, not texts"):
        scan(path, column="n")
    with pytest.raises(TokenizerError, match="row 2: no text"):
        scan(path, column="body")
    assert scan(path, column="body", errors="skip") == ["a"]
    lines = tmp_path / "a.jsonl"
    for text, message in (
        ('{"text": "a"}\n{broken\n', "line 2: it is not JSON"),
        ('{"body": "a"}\n', "line 1: it has no member 'text'"),
        ('{"text": 3}\n', "line 1: 'text' is int, not a text"),
    ):
        lines.write_text(text)
        with pytest.raises(TokenizerError, match=message):
            scan(lines)
    with pytest.raises(TokenizerError, match="there is no such file"):
        files(tmp_path / "nothing.txt")


# -- Records ---------------------------------------------------------------------------------


def test_wrong_types() -> None:
    counter = PreTokenizer([]).word_counter()
    with pytest.raises(TypeError, match="character by character"):
        counter.add_source("a text")
    with pytest.raises(TypeError, match="one text"):
        counter.add_batch("a text")
    with pytest.raises(TypeError, match="neither iterable"):
        counter.add_source(3)
    for records in (["ab", b"cd"], ["ab", None], ["ab", 3]):
        for prefetch in (0, 1):
            counter.clear()
            with pytest.raises(TypeError, match=r"record 1: .* not str") as caught:
                counter.add_source(records, max_records=1, prefetch=prefetch)
            assert counter.words() == {"ab": 1}
            assert "1 records before this" in caught.value.__notes__[0]
    counter.clear()
    with pytest.raises(TypeError):
        counter.add_batch(["ab", b"cd"])  # type: ignore[list-item]
    assert counter.words() == {}
    with pytest.raises(TokenizerError, match="record 0: character 1 is a lone surrogate"):
        counter.add_text("a\ud800")
    for words in ({"a": 1.5}, {"a": -1}, {"a": True}):
        with pytest.raises(TokenizerError, match="whole number"):
            BpeTrainer([]).add_words(words)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        BpeTrainer([]).add_words([3])  # type: ignore[list-item]


def test_a_source_that_fails_keeps_what_was_read(tmp_path: Path) -> None:
    def failing() -> Iterator[str]:
        yield from TEXTS[:10]
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        train_bpe(failing(), vocab_size=300, checkpoint=tmp_path / "c", max_records=5)
    left = iter(TEXTS)
    model = train_bpe(left, vocab_size=300, checkpoint=tmp_path / "c", max_records=5)
    assert model.data == train_bpe(TEXTS, vocab_size=300).data
    with pytest.raises(TokenizerError, match=r"other options .vocab_size."):
        train_bpe(TEXTS, vocab_size=301, checkpoint=tmp_path / "c")


def test_lossless_needs_two_passes() -> None:
    with pytest.raises(TypeError, match="two passes"):
        train_bpe(iter(TEXTS), vocab_size=300, unit="unicode", lossless=True)


def test_empty_corpus() -> None:
    for texts in ([], [""], "", ["<s>"]):
        with pytest.raises(TokenizerError, match="no words to train on"):
            train_bpe(texts, vocab_size=300, special_tokens=["<s>"])


def test_target_below_base_vocabulary() -> None:
    def never() -> Iterator[str]:
        raise AssertionError("the corpus was read")
        yield ""

    with pytest.raises(TokenizerError, match=r"100 is smaller than .* 257 tokens"):
        train_bpe(never(), vocab_size=100, special_tokens=["<s>"])


def test_disk_full(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    model = train_bpe(TEXTS, vocab_size=300)
    model.save_pretrained(tmp_path / "m")
    before = {path.name: path.read_bytes() for path in (tmp_path / "m").iterdir()}
    counter = PreTokenizer([]).word_counter()
    counter.add_source(TEXTS)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        for write in (
            lambda: model.save_pretrained(tmp_path / "m"),
            lambda: model.save_isotok(tmp_path / "m.isotok"),
            lambda: counter.save(tmp_path / "counts"),
        ):
            with pytest.raises(TokenizerError, match="cannot be written"):
                write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert {path.name: path.read_bytes() for path in (tmp_path / "m").iterdir()} == before
    assert os.listdir(tmp_path) == ["m"]
    counter.save(tmp_path / "counts")
    assert model.encode("the cat")


def test_broken_folders(tmp_path: Path) -> None:
    from isotok.train import BpeModel

    with pytest.raises(TokenizerError, match=r"no ffbpe\.json"):
        BpeModel.from_pretrained(tmp_path)
    train_bpe(TEXTS, vocab_size=300).save_pretrained(tmp_path)
    (tmp_path / "merges.txt").write_text("a b c\n")
    with pytest.raises(TokenizerError, match=r"merges\.txt, line 1"):
        BpeModel.from_pretrained(tmp_path)
    config = json.loads((tmp_path / "ffbpe.json").read_text())
    (tmp_path / "ffbpe.json").write_text(json.dumps({**config, "vocab_file": "../x"}))
    with pytest.raises(TokenizerError, match="out of the folder"):
        BpeModel.from_pretrained(tmp_path)
