"""Types of isotok.train that users see; mypy and pyright check this file, nothing runs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, assert_type

import numpy as np
from isotok import Tokenizer
from isotok.train import (
    Agreement,
    BigramCounter,
    Bigrams,
    BoundaryMode,
    BpeEncoder,
    BpeModel,
    BpeTrainer,
    Distilled,
    Encoding,
    FileFormat,
    FileSource,
    JsonLines,
    PreTokenizer,
    ProgressBar,
    Shards,
    Source,
    Texts,
    UnicodeBigramMixedBoundary,
    UnicodeBigramSelection,
    Unit,
    WordCounter,
    agreement,
    count_bigrams,
    count_words,
    distil,
    encode_batch,
    encoding_for_model,
    encoding_name_for_model,
    files,
    get_encoding,
    list_encoding_names,
    merge_counts,
    train_bpe,
    write_shard,
    write_shards,
)
from isotok.train.unigram import UnigramModel, train_unigram
from numpy.typing import NDArray


class Rows:
    """A source of a user."""

    def scan(self) -> Iterator[str]:
        """Return all records, from the first."""
        return iter(["x"])


def report(stage: str, done: int, total: int | None) -> None:
    """Show progress, as a user does."""


def training(path: Path, counter: WordCounter, start: BpeModel) -> None:
    assert_type(train_bpe("x", vocab_size=300), BpeModel)
    assert_type(train_bpe(["x"], vocab_size=300, unit="unicode", tie_break=None), BpeModel)
    assert_type(train_bpe(Rows(), vocab_size=300, progress=report), BpeModel)
    assert_type(train_bpe(files(path), vocab_size=300, progress="bar"), BpeModel)
    assert_type(train_bpe(counter, vocab_size=300, progress=JsonLines()), BpeModel)
    assert_type(train_bpe(["x"], vocab_size=300, start=start, checkpoint=path), BpeModel)
    assert_type(train_bpe(["x"], vocab_size=300, bigrams=Bigrams(9, 1, "split")), BpeModel)
    pairs = [("x", b"y")]
    assert_type(train_bpe(["x"], vocab_size=300, forbidden_merges=pairs), BpeModel)
    train_bpe(["x"], 300)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    train_bpe(["x"])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    train_bpe([b"x"], vocab_size=300)  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    train_bpe("x", vocab_size=300, unit="word")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    train_bpe("x", vocab_size=300, progress="no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def sources(path: Path) -> None:
    source: Source = Rows()
    assert_type(source.scan(), Iterator[str])
    assert_type(files(path, "b.jsonl", column="x", errors="skip"), FileSource)
    assert_type(files(path, documents="file").scan(), Iterator[str])
    source = files(path, separator="x")
    source = Texts(["x"])
    files(path, documents="word")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    source = ["x"]  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


def cutting(path: Path) -> None:
    mixed: UnicodeBigramMixedBoundary = "keep"
    cutter = PreTokenizer(["x"], "x", None, ["ab"], mixed)
    assert_type(cutter.special_tokens, tuple[str, ...])
    assert_type(cutter.get_words("x"), dict[str, int])
    assert_type(cutter.words_of("x"), list[bytes])
    assert_type(cutter.fingerprint, str)
    assert_type(cutter.with_unicode_bigrams(["ab"]), PreTokenizer)
    assert_type(cutter.word_counter(), WordCounter)
    assert_type(cutter.bigram_counter(), BigramCounter)
    assert_type(cutter.load_word_counter(path), WordCounter)
    boundary: BoundaryMode = "line"
    assert_type(cutter.get_words_from_file(path, boundary=boundary), dict[str, int])
    assert_type(cutter.get_words_from_segment(path, 0, 9), dict[str, int])
    assert_type(cutter.find_chunk_boundaries(path, chunk_size=9), list[tuple[int, int]])
    assert_type(cutter.build_unicode_bigrams_from_file(path), list[str])
    assert_type(cutter.select_unicode_bigrams_from_file(path), UnicodeBigramSelection)
    PreTokenizer()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def counting(cutter: PreTokenizer, path: Path, table: Any) -> None:
    counter = WordCounter(cutter, memory_budget=1 << 20, spill_dir=path)
    counter.add_text("x")
    counter.add_batch(["x"])
    counter.add_source(Rows(), prefetch=0, progress=ProgressBar())
    counter.add_words({"x": 1})
    counter.add_words([(b"x", 1), ("y", 2)])
    counter.merge(counter)
    assert_type(counter.words(), dict[str, int])
    assert_type(counter.items(), Iterator[tuple[bytes, int]])
    assert_type(len(counter) + counter.memory, int)
    assert_type(counter.pre_tokenizer, PreTokenizer)
    assert_type(WordCounter.from_bytes(counter.to_bytes(), cutter), WordCounter)
    assert_type(WordCounter.load(path, cutter), WordCounter)
    assert_type(WordCounter.from_arrow(table, cutter), WordCounter)
    counter.add_words({"x": "1"})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    counter.add_batch([b"x"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    counter.add_source([], prefetch=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def counting_pairs(cutter: PreTokenizer, path: Path) -> None:
    counter = BigramCounter(cutter)
    counter.add_source(["x"])
    counter.save(path)
    assert_type(counter.items(), list[tuple[str, int]])
    assert_type(counter.selected(9, 1), list[str])
    assert_type(BigramCounter.from_bytes(counter.to_bytes(), cutter), BigramCounter)
    chosen = counter.select(9, 1)
    assert_type(chosen.bigrams, list[str])
    assert_type(chosen.cutoff_freq, int | None)
    counter.merge(WordCounter(cutter))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def trainer(counter: WordCounter, path: Path) -> None:
    unit: Unit = "unicode"
    run = BpeTrainer(["x"], unit=unit, initial_alphabet=["x"], hot_pair_window_size=16)
    run.add_words({"x": 1})
    run.add_word_counter(counter)
    run.train(300)
    run.train_with_bbpe_fallback(300, primary_vocab_ratio=0.5)
    assert_type(run.step(), int)
    assert_type(run.unit, Literal["byte", "unicode"])
    assert_type(run.vocab_size, int)
    assert_type(run.vocab, dict[bytes, int])
    assert_type(run.last_merge_freq, int | None)
    assert_type(run.memory_usage, dict[str, int])
    assert_type(run.hot_pair_window_stats, dict[str, int] | None)
    assert_type(run.validate_model(), BpeModel)
    assert_type(BpeTrainer.from_model(run.validate_model()), BpeTrainer)
    run.save("x", outdir=path, format="gpt2")
    BpeTrainer(["x"], unit="word")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    BpeTrainer(["x"], "byte")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def model(path: Path) -> None:
    kind: FileFormat = "unitoken"
    found = BpeModel.from_pretrained(path)
    assert_type(BpeModel.from_files(path, "merges.txt", format=kind), BpeModel)
    assert_type(found.vocab, dict[bytes, int])
    assert_type(found.merges, list[tuple[bytes, bytes]])
    assert_type(found.special_tokens, list[str])
    assert_type(found.encode("x"), list[int])
    assert_type(found.decode([1]), str)
    assert_type(found.tokenizer, Tokenizer)
    assert_type(found.to_blob(), bytes)
    assert_type(found.encoder(), BpeEncoder)
    found.save_isotok(path)
    found.save_tokenizer_json("tokenizer.json")
    found.save_pretrained(path, format="msgpack")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    found.vocab_size = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def encoder(path: Path) -> None:
    found = BpeEncoder.load("x", input_dir=path, unit="unicode")
    assert_type(BpeEncoder.from_pretrained(path), BpeEncoder)
    assert_type(found.encode("x"), list[int])
    assert_type(found.encode_word("x"), list[int])
    assert_type(found.encode_words(["x"]), list[list[int]])
    assert_type(found.encode_to_numpy("x"), NDArray[np.uint32])
    assert_type(found.encode_file(path), NDArray[np.uint32])
    assert_type(found.decode(np.array([1], np.uint32)), str)
    assert_type(found.decode_bytes([1]), bytes)
    found.encode(b"x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def encodings(path: Path) -> None:
    found = Encoding.from_files("x", vocab_file=path, merges_file="m", special_tokens={"x": 9})
    assert_type(found, Encoding)
    assert_type(found.encode_ordinary("x"), list[int])
    assert_type(found.encode_ordinary_batch(["x"]), list[list[int]])
    assert_type(found.decode_bytes([1]), bytes)
    assert_type(encoding_name_for_model("x"), str)
    assert_type(list_encoding_names(), list[str])
    assert_type(get_encoding("x").encode("x"), list[int])
    assert_type(encoding_for_model("x").decode([1]), str)


def unigram(path: Path) -> None:
    found = train_unigram(files(path), vocab_size=300, progress="json", byte_fallback=True)
    assert_type(found, UnigramModel)
    assert_type(found.to_blob() + found.model, bytes)
    assert_type(found.tokenizer, Tokenizer)
    assert_type(found.lines_left_out, int)
    found.save(path)
    train_unigram(["x"])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def at_scale(path: Path, cutter: PreTokenizer, model: BpeModel, tokenizer: Tokenizer) -> None:
    parts = [count_words(["x"], cutter), count_bigrams({"text": ["x"]}, cutter, column="text")]
    assert_type(merge_counts(parts, cutter), bytes)
    assert_type(merge_counts([b""], cutter), bytes)
    encode_batch(["x"], tokenizer)
    assert_type(write_shard(["x"], model, path, 0), dict[str, Any])
    assert_type(write_shards(files(path), tokenizer, path, documents=9, progress="bar"), int)
    shards = Shards(path)
    assert_type(len(shards), int)
    assert_type(shards.tokens, int)


def distilling(path: Path, teacher: Tokenizer) -> None:
    made = distil(teacher, files(path), mode="compact", exceptions=9, progress="bar")
    assert_type(made, Distilled)
    assert_type(made.blob, bytes)
    assert_type(made.agreement, Agreement)
    assert_type(agreement(teacher, teacher, ["x"]).token_f1, float)
    made.save(path)
