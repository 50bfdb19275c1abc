"""Models as files of others, and what they encode."""

from __future__ import annotations

import base64
import pickle
from pathlib import Path
from typing import Any

import isotok
import numpy as np
import pytest
import tiktoken
import tokenizers
from isotok.errors import TokenIdError, TokenizerError
from isotok.train import BpeModel, BpeTrainer, PreTokenizer, train_bpe
from isotok.train._options import GPT2_PATTERN
from texts import ALPHABETS, SPECIAL, corpus

CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PROBES = [
    "你好 world<|endoftext|>é龘 靐😀",
    "  a\u3000b\n\n ",
    "<0xE4> \x00\x7f\x85",
    "it's 12",
    "",
]


def trained(name: str, **options: Any) -> BpeModel:
    """A model of 320 tokens."""
    return train_bpe(corpus(name), vocab_size=320, special_tokens=SPECIAL, **options)


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("unit", ["byte", "unicode"])
@pytest.mark.parametrize("name", ["english", "han", "wide", "code"])
def test_tokenizer_json_and_blob_give_its_ids(
    name: str, unit: Any, place: Any, tmp_path: Path
) -> None:
    model = trained(name, unit=unit, special_tokens_position=place)
    model.save_tokenizer_json(tmp_path / "tokenizer.json")
    model.save_isotok(tmp_path / "m.isotok")
    reference = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    loaded = [isotok.load(tmp_path / file) for file in ("tokenizer.json", "m.isotok")]
    for text in [*PROBES, *corpus(name)]:
        ids = model.encode(text)
        assert reference.encode(text).ids == ids
        assert [one.encode(text) for one in loaded] == [ids, ids]
        assert model.decode(ids) == text
        assert reference.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize("name", ["han", "kana", "mixed"])
def test_byte_fallback_has_the_ids_of_tokenizers(name: str, tmp_path: Path) -> None:
    model = trained(name, unit="unicode", primary_vocab_ratio=0.0)
    assert model.data.bytes_built
    model.save_tokenizer_json(tmp_path / "tokenizer.json")
    reference = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in [*PROBES, *corpus(name)]:
        ids = model.encode(text)
        assert reference.encode(text).ids == ids
        assert model.decode(ids) == text
    with pytest.raises(TokenizerError, match="byte fallback"):
        model.save_isotok(tmp_path / "m.isotok")
    assert not (tmp_path / "m.isotok").exists()


@pytest.mark.parametrize("pattern", [None, CL100K])
def test_rank_files_and_gpt2_files(pattern: str | None, tmp_path: Path) -> None:
    model = trained("english", pat_str=pattern)
    model.save_tiktoken(tmp_path / "m.tiktoken")
    lines = (tmp_path / "m.tiktoken").read_text().splitlines()
    ranks = {base64.b64decode(a): int(b) for a, b in map(str.split, lines)}
    special = dict(model.data.special)
    other = tiktoken.Encoding(
        "m", pat_str=pattern or GPT2_PATTERN, mergeable_ranks=ranks, special_tokens=special
    )
    for text in [*PROBES, *corpus("english")]:
        assert other.encode(text, allowed_special="all") == model.encode(text)
    model.save_gpt2(tmp_path)
    paths = str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    read = tokenizers.models.BPE.from_file(*paths)
    word = corpus("english")[1].replace(" ", "")
    merged = [token.id for token in read.tokenize(word.replace("\n", "Ċ"))]
    assert merged == model.encoder().encode_word(word)
    again = BpeModel.from_files(*paths, special_tokens=SPECIAL)
    assert again.merges == model.merges
    assert again.vocab == model.vocab


@pytest.mark.parametrize("name", ALPHABETS)
def test_hugging_face_trains_the_same(name: str) -> None:
    reference = tokenizers.Tokenizer(tokenizers.models.BPE())
    reference.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=SPECIAL,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        min_frequency=2,
    )
    texts = [text.replace(SPECIAL[0], "") for text in corpus(name)]
    reference.train_from_iterator(texts, trainer)
    model = train_bpe(
        texts,
        vocab_size=330,
        special_tokens=SPECIAL,
        initial_alphabet="byte_level",
        min_frequency=2,
    )
    from isotok.train._exports import letters

    assert {text: i for i, text in enumerate(letters(model.data))} == reference.get_vocab()


def test_everything_can_be_pickled() -> None:
    model = trained("mixed", unit="unicode")
    again = pickle.loads(pickle.dumps(model))
    assert again.data == model.data
    encoder = pickle.loads(pickle.dumps(model.encoder()))
    assert encoder.encode(PROBES[0]) == model.encode(PROBES[0])
    cutter = PreTokenizer(SPECIAL, None, CL100K, ["你好"], "split")
    assert pickle.loads(pickle.dumps(cutter)).fingerprint == cutter.fingerprint


def test_split_on_vocab_bigrams_changes_no_id() -> None:
    model = trained("han")
    for text in corpus("han"):
        assert model.encoder(split_on_vocab_bigrams=False).encode(text) == model.encode(text)


def test_words_and_arrays() -> None:
    model = trained("english")
    encoder = model.encoder()
    assert encoder.encode_words(["the", " cat"]) == [
        encoder.encode_word("the"),
        encoder.encode_word(" cat"),
    ]
    ids = encoder.encode_to_numpy("the cat")
    assert ids.dtype == np.uint32
    assert encoder.decode(ids) == "the cat"
    with pytest.raises(TokenIdError, match="out of range"):
        encoder.decode([999])


def test_goes_on_from_a_model() -> None:
    for unit in ("byte", "unicode"):
        texts = corpus("mixed")
        short = train_bpe(texts, vocab_size=290, special_tokens=SPECIAL, unit=unit)
        again = train_bpe(texts, vocab_size=330, start=short)
        assert (
            again.data == train_bpe(texts, vocab_size=330, special_tokens=SPECIAL, unit=unit).data
        )
    other = train_bpe(corpus("english"), vocab_size=330, start=short)
    assert other.data.tokens[: len(short.data.tokens)] == short.data.tokens


@pytest.mark.parametrize("name", ["han", "kana", "mixed", "hangul", "thai", "english"])
def test_lossless_is_the_unshaped_model(name: str) -> None:
    texts = corpus(name, texts=100)
    for size in (270, 300, 400):
        plain = train_bpe(texts, vocab_size=size, unit="unicode")
        shaped = train_bpe(texts, vocab_size=size, unit="unicode", lossless=True)
        assert shaped.data == plain.data
        assert shaped.encode(texts[0]) == plain.encode(texts[0])


def test_trainers_say_what_cannot_be() -> None:
    trainer = BpeTrainer(["<s>"])
    trainer.add_words({"ab": 2})
    with pytest.raises(TokenizerError, match="unicode"):
        trainer.train_with_bbpe_fallback(300)
    with pytest.raises(TokenizerError, match="smaller than the vocabulary"):
        trainer.train(256)
    trainer.train(258)
    with pytest.raises(TokenizerError, match="no pair is left"):
        trainer.step()
    for special in (["a"], ["<s>", "<s>"], [""]):
        with pytest.raises(TokenizerError, match="special_tokens"):
            BpeTrainer(special)
    with pytest.raises(TokenizerError, match="bigram_cutoff_freq"):
        low = BpeTrainer([], bigram_cutoff_freq=9)
        low.add_words({"ab": 2})
        low.step()
        low.validate_model()
    for options in ({"lossless": True}, {"limit_alphabet": 3}, {"tie_break": "none"}):
        with pytest.raises(TokenizerError):
            train_bpe(["ab"], vocab_size=300, **options)  # type: ignore[arg-type]


def test_words_are_added_up() -> None:
    one, two = BpeTrainer([]), BpeTrainer([])
    one.add_words({"ab": 1})
    one.add_words([("ab", 2), ("cd", 2)])
    two.add_words({"ab": 3, "cd": 2})
    one.train(258)
    two.train(258)
    assert one.validate_model().data == two.validate_model().data
    assert one.last_merge_freq == 2
