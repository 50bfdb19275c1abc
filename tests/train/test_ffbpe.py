"""FFBPE 0.1.10: the same names, defaults, results and files."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from isotok import train
from texts import ALPHABETS, SPECIAL, corpus

ffbpe = pytest.importorskip("ffbpe", reason="ffbpe is not installed")

CLASSES = [
    "BpeTrainer",
    "BpeModel",
    "BpeEncoder",
    "PreTokenizer",
    "Encoding",
    "WordCounter",
    "BigramCounter",
]
PROBES = ["你好 world<|endoftext|>é龘 靐😀", "  a\u3000b\n ", "<0xE4> \x00\x7f\x85", "it's 12", ""]
MADE_OTHERWISE = {"BpeModel.__init__"}  # of a Rust object there
OF_THE_INSTANCE = {"Encoding.__init__"}  # a signature of its own, compared below


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [
        (p.name, p.kind, p.default)
        for p in inspect.signature(function).parameters.values()
        if p.name not in ("self", "cls")
    ]


def public(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_")]


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_its_methods_and_defaults(name: str) -> None:
    theirs, ours = getattr(ffbpe, name), getattr(train, name)
    for member in [*public(theirs), "__init__"]:
        where = f"{name}.{member}"
        other = inspect.getattr_static(theirs, member)
        if where in MADE_OTHERWISE | OF_THE_INSTANCE or not callable(getattr(theirs, member)):
            continue
        mine = getattr(ours, member)
        if member == "__init__" and not inspect.isfunction(other):
            continue  # compiled: its text signature is that of the class
        compare(where, parameters(getattr(theirs, member)), parameters(mine))


def compare(where: str, theirs: list[Any], ours: list[Any]) -> None:
    """All of theirs with name and default, in order; more only behind, by name, with a default."""
    plain = [(name, default) for name, _, default in theirs]
    known = {name for name, _ in plain}
    assert [(name, default) for name, _, default in ours if name in known] == plain, where
    for name, kind, default in ours:
        if name not in known:
            assert kind == inspect.Parameter.KEYWORD_ONLY, (where, name)
            assert default is not inspect.Parameter.empty, (where, name)


def test_functions_have_its_defaults() -> None:
    compare("train_bpe", parameters(ffbpe.train_bpe), parameters(train.train_bpe))
    assert parameters(train.Encoding) == parameters(ffbpe.Encoding)
    assert set(ffbpe.__all__) - {"__version__"} <= set(train.__all__)


# -- Results -------------------------------------------------------------------------------


def both(name: str, unit: str, **options: Any) -> tuple[Any, Any]:
    """Trainers of both over the words of a corpus."""
    counter = train.PreTokenizer(SPECIAL).word_counter()
    counter.add_source(corpus(name))
    theirs = ffbpe.BpeTrainer(SPECIAL, unit=unit, **options)
    theirs.add_words(counter.words())
    ours = train.BpeTrainer(SPECIAL, unit=unit, **options)
    ours.add_word_counter(counter)
    return theirs, ours


def need_equal(theirs: Any, ours: Any) -> None:
    assert ours.vocab == theirs.vocab
    assert ours.last_merge_freq == theirs.last_merge_freq


@pytest.mark.parametrize("unit", ["byte", "unicode"])
@pytest.mark.parametrize("name", ALPHABETS)
def test_trains_the_same(name: str, unit: str) -> None:
    for options in (
        {},
        {"initial_alphabet": "byte_level"},
        {"tie_break": "largest_content"},
        {"hot_pair_window_size": 4},
        {"hot_pair_window_size": 64},
        {"bigram_cutoff_freq": 5},
    ):
        theirs, ours = both(name, unit, **options)
        theirs.train(330)
        ours.train(330)
        need_equal(theirs.validate_model(), ours.validate_model())


@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("name", ALPHABETS)
def test_trains_the_same_with_fallback(name: str, ratio: float) -> None:
    theirs, ours = both(name, "unicode")
    theirs.train_with_bbpe_fallback(320, primary_vocab_ratio=ratio)
    ours.train_with_bbpe_fallback(320, primary_vocab_ratio=ratio)
    theirs, ours = theirs.validate_model(), ours.validate_model()
    need_equal(theirs, ours)
    for text in [*PROBES, *corpus(name)[:5]]:
        assert ours.encode(text) == theirs.encode(text)


@pytest.mark.parametrize("mixed", ["keep", "split"])
@pytest.mark.parametrize("name", ALPHABETS)
def test_bigrams_are_the_same(name: str, mixed: Any) -> None:
    texts = corpus(name)
    theirs = ffbpe.PreTokenizer(SPECIAL, unicode_bigram_mixed_boundary=mixed)
    ours = train.PreTokenizer(SPECIAL, unicode_bigram_mixed_boundary=mixed)
    a, b = theirs.bigram_counter(), ours.bigram_counter()
    a.add_source(texts)
    b.add_source(texts)
    assert sorted(a.items()) == sorted(b.items())
    for top, least in ((0, 0), (3, 1), (20, 2), (1000, 5)):
        x, y = a.select(top, least), b.select(top, least)
        assert y.bigrams == x.bigrams
        assert (y.cutoff_freq, y.max_excluded_freq) == (x.cutoff_freq, x.max_excluded_freq)
    kept = b.selected(10, 1)
    x, y = theirs.with_unicode_bigrams(kept), ours.with_unicode_bigrams(kept)
    for text in texts:
        assert y.get_words(text) == x.get_words(text)
    for unit in ("byte", "unicode"):
        models: list[Any] = []
        for package, cutter in ((ffbpe, x), (train, y)):
            counter = cutter.word_counter()
            counter.add_source(texts)
            trainer = package.BpeTrainer(SPECIAL, unit=unit, bigram_cutoff_freq=2)
            trainer.add_word_counter(counter)
            trainer.train(330)
            models.append(trainer.validate_model())
        need_equal(*models)
        shape = {"unicode_bigrams": kept, "unicode_bigram_mixed_boundary": mixed}
        encoders = [model.encoder(**shape) for model in models]
        for text in [*PROBES, *texts[:5]]:
            assert encoders[1].encode(text) == encoders[0].encode(text)


# -- Files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "form"), [("byte", "gpt2"), ("byte", "unitoken"), ("unicode", "unitoken")]
)
@pytest.mark.parametrize("name", ["han", "wide", "mixed", "code"])
def test_folders_go_both_ways(name: str, unit: Any, form: Any, tmp_path: Path) -> None:
    theirs, ours = both(name, unit)
    for trainer in (theirs, ours):
        if unit == "unicode":
            trainer.train_with_bbpe_fallback(300, primary_vocab_ratio=0.5)
        else:
            trainer.train(300)
    theirs, ours = theirs.validate_model(), ours.validate_model()
    theirs.save_pretrained(tmp_path / "theirs", format=form)
    ours.save_pretrained(tmp_path / "ours", format=form)
    for file in ("vocab.json", "merges.txt", "ffbpe.json"):
        assert (tmp_path / "ours" / file).read_bytes() == (tmp_path / "theirs" / file).read_bytes()
    (tmp_path / "theirs" / "ffbpe.json").rename(tmp_path / "theirs" / "unitoken.json")
    model = train.BpeModel.from_pretrained(tmp_path / "theirs")
    assert model.data == ours.data
    read = ffbpe.BpeEncoder.from_pretrained(tmp_path / "ours")
    for text in [*PROBES, *corpus(name)[:5]]:
        assert model.encode(text) == read.encode(text)


def test_named_files_and_counts_go_both_ways(tmp_path: Path) -> None:
    theirs, ours = both("english", "byte")
    theirs.train(300)
    ours.train(300)
    theirs.save("a", outdir=tmp_path)
    loaded = train.BpeEncoder.load("a", input_dir=tmp_path, special_tokens=SPECIAL)
    ours.save("b", outdir=tmp_path)
    other = ffbpe.BpeEncoder.load("b", input_dir=tmp_path, special_tokens=SPECIAL)
    assert loaded.encode(PROBES[0]) == other.encode(PROBES[0])
    counter = ffbpe.PreTokenizer(SPECIAL).word_counter()
    counter.add_source(corpus("english"))
    counter.save(tmp_path / "counts.json")
    cutter = train.PreTokenizer(SPECIAL)
    mine = cutter.load_word_counter(tmp_path / "counts.json")
    assert mine.words() == json.loads((tmp_path / "counts.json").read_text())
    mine.save(tmp_path / "again.json")
    again = ffbpe.PreTokenizer(SPECIAL).load_word_counter(tmp_path / "again.json")
    assert again.words() == mine.words()


def test_encoding_reads_its_files(tmp_path: Path) -> None:
    _, ours = both("english", "byte")
    ours.train(300)
    ours.save_files(tmp_path / "v.json", tmp_path / "m.txt")
    names = {"vocab_file": tmp_path / "v.json", "merges_file": tmp_path / "m.txt"}
    special = {text: number for number, text in enumerate(SPECIAL)}
    mine = train.Encoding.from_files("x", special_tokens=special, **names)
    theirs = ffbpe.Encoding.from_files("x", special_tokens=special, **names)
    for text in PROBES:
        ids = mine.encode(text, allowed_special="all")
        assert ids == theirs.encode(text, allowed_special="all")
        assert mine.encode_ordinary(text) == theirs.encode_ordinary(text)
        assert mine.decode(ids) == text
    assert mine.n_vocab == theirs.n_vocab
