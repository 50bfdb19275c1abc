"""Counters: the same bytes however the texts were divided, and nothing lost or mixed up."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from isotok.errors import TokenizerError
from isotok.train import BigramCounter, PreTokenizer, WordCounter
from texts import SPECIAL, corpus

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

CUTTER = PreTokenizer(SPECIAL)
TEXTS = [*corpus("mixed"), *corpus("english"), *corpus("wide")]


def counter_of(kind: type, texts: list[str], **options: Any) -> Any:
    counter = kind(CUTTER, **options)
    counter.add_source(texts, max_records=7)
    return counter


@pytest.mark.parametrize("kind", [WordCounter, BigramCounter])
def test_merge_in_any_order_and_partition(kind: type) -> None:
    whole = counter_of(kind, TEXTS).to_bytes()
    rng = random.Random(1)
    for parts in (1, 2, 5, 30):
        texts = rng.sample(TEXTS, len(TEXTS))
        counters = [counter_of(kind, texts[part::parts]) for part in range(parts)]
        rng.shuffle(counters)
        while len(counters) > 1:  # as a tree
            first, second = counters.pop(), counters.pop(0)
            first.merge(second)
            counters.append(first)
        assert counters[0].to_bytes() == whole


@pytest.mark.parametrize("kind", [WordCounter, BigramCounter])
def test_pickle_save_and_arrow_keep_all(kind: Any, tmp_path: Path) -> None:
    counter = counter_of(kind, TEXTS)
    data = counter.to_bytes()
    assert pickle.loads(pickle.dumps(counter)).to_bytes() == data
    assert kind.from_arrow(counter.to_arrow(), CUTTER).to_bytes() == data
    counter.save(tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == data
    assert kind.from_bytes(data, CUTTER).to_bytes() == data


def test_a_budget_changes_nothing(tmp_path: Path) -> None:
    whole = counter_of(WordCounter, TEXTS)
    spilled = counter_of(WordCounter, TEXTS, memory_budget=4000, spill_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert spilled.to_bytes() == whole.to_bytes()
    assert len(spilled) == len(whole) == whole.len
    assert spilled.words() == whole.words()
    other = counter_of(WordCounter, TEXTS, memory_budget=4000, spill_dir=tmp_path)
    other.merge(spilled)
    assert other.words() == {word: 2 * count for word, count in whole.words().items()}
    spilled.clear()
    other.clear()
    assert len(spilled) == 0
    assert not list(tmp_path.iterdir())


def test_counters_of_other_pre_tokenizers_do_not_mix() -> None:
    others = [
        PreTokenizer([]),
        PreTokenizer(SPECIAL, None, r"\w+"),
        PreTokenizer(SPECIAL, None, None, ["你好"]),
    ]
    for other in others:
        counter = other.word_counter()
        with pytest.raises(TokenizerError, match="another pre-tokenizer"):
            CUTTER.word_counter().merge(counter)
        with pytest.raises(TokenizerError, match="another pre-tokenizer"):
            WordCounter.from_bytes(counter.to_bytes(), CUTTER)
        with pytest.raises(TokenizerError, match="another pre-tokenizer"):
            WordCounter.from_arrow(counter.to_arrow(), CUTTER)
    with pytest.raises(TokenizerError, match="another pre-tokenizer"):
        CUTTER.bigram_counter().merge(others[0].bigram_counter())
    CUTTER.bigram_counter().merge(others[1].bigram_counter())  # a pattern does not matter
    assert PreTokenizer(SPECIAL[::-1]).fingerprint == CUTTER.fingerprint


def test_overflow_is_an_error() -> None:
    most = 2**63 - 1
    counter = CUTTER.word_counter()
    counter.add_words({"a": most})
    with pytest.raises(TokenizerError, match="above"):
        counter.add_words({"a": 1})
    assert counter.words() == {"a": most}
    with pytest.raises(TokenizerError, match="whole number from 0"):
        counter.add_words({"b": most + 1})
    other = CUTTER.bigram_counter()
    other.add_text("你好")
    table = pa.table({"bigram": ["你好"], "count": [most]})
    with pytest.raises(TokenizerError, match="above"):
        other.merge(BigramCounter.from_arrow(table, CUTTER))
    assert other.items() == [("你好", 1)]


def test_damaged_counts_are_named() -> None:
    data = counter_of(WordCounter, TEXTS).to_bytes()
    for broken in (data[:-5], data[:100] + bytes([data[100] ^ 1]) + data[101:]):
        with pytest.raises(TokenizerError, match=r"damaged|no saved|fingerprint"):
            WordCounter.from_bytes(broken, CUTTER)
    with pytest.raises(TokenizerError, match="no saved counts"):
        WordCounter.from_bytes(b"hello", CUTTER)
    with pytest.raises(TokenizerError, match="counts of words"):
        BigramCounter.from_bytes(data, CUTTER)


def test_word_tables(tmp_path: Path) -> None:
    from pyarrow import parquet

    (tmp_path / "t.tsv").write_text("the\t3\n cat\t2\na\tb\t1\n")
    assert CUTTER.load_word_counter(tmp_path / "t.tsv").words() == {" cat": 2, "a\tb": 1, "the": 3}
    parquet.write_table(pa.table({"word": ["a", "b"], "count": [1, 2]}), tmp_path / "t.parquet")
    assert CUTTER.load_word_counter(tmp_path / "t.parquet").words() == {"a": 1, "b": 2}
    (tmp_path / "bad.tsv").write_text("the\t3\ncat\n")
    with pytest.raises(TokenizerError, match=r"bad\.tsv, line 2"):
        CUTTER.load_word_counter(tmp_path / "bad.tsv")
