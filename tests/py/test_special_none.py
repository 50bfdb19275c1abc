"""`special="none"`: no text gives the id of a special token, whatever the vocabulary has."""

from __future__ import annotations

import random
from typing import Any

import isotok
import pytest
from isotok.compat import tokenizers as drop_in
from isotok.compile import compile_model
from support import hf, toy_hf

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

WIDE = {ord("<"): "\uff1c", ord(">"): "\uff1e", ord("s"): "\uff53"}


@pytest.mark.parametrize("name", ["xlmr", "xlnet_base_cased", "bert_base_cased", "llama2"])
def test_real_models(name: str, backend: str) -> None:
    tok, ref = hf.opened(name, backend), hf.reference(name)
    barred = hf.controls(tok, ref)
    contents = [token["content"] for token in hf.added(name)]
    given = 0
    for content in contents:
        for written in (content, content.translate(WIDE)):
            for text in (written, f"a {written} b", f"a{written}b", written * 3):
                for special, ids in hf.same_by_special(tok, ref, text):
                    if special == "none":
                        plain = tok.encode(text, special="none", add_special_tokens=False)
                        assert barred.isdisjoint(plain)
                        assert len(plain) <= len(ids)
                        ref.encode_special_tokens = True
                        want = ref.encode(text, add_special_tokens=False).ids
                        given += not barred.isdisjoint(want)
    ref.encode_special_tokens = False
    assert (given > 0) == (name in ("xlmr", "xlnet_base_cased"))


def test_the_letters_of_a_piece(backend: str) -> None:
    tok = hf.opened("xlmr", backend)
    text = "<s>x</s>\uff1cs\uff1e"
    found = tok.encode_with_offsets(text, special="none", add_special_tokens=False)
    assert tok.decode(found.ids) == "<s>x</s><s>"
    pieces = [tok.id_to_piece(i) for i in found.ids]
    assert "".join(pieces) == "\u2581<s>x</s><s>"
    assert not {"<s>", "</s>"} & set(pieces)


def _word_level(words: list[str], special: list[str]) -> dict[str, Any]:
    source = toy_hf.word_level()
    source["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    source["model"]["vocab"] = {word: i for i, word in enumerate(words)}
    flags = dict.fromkeys(toy_hf.FLAGS, False) | {"special": True}
    return source | {"added_tokens": [{"id": 0, "content": text} | flags for text in special]}


@pytest.mark.parametrize("unk", [True, False])
def test_word_level(unk: bool, backend: str) -> None:
    words = ["a", "M", "[", "[MASK]", "!", *(["[UNK]"] if unk else [])]
    source = toy_hf.dump(_word_level(words, ["[MASK]", "!"]))
    tok = isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
    ids = tok.encode("a [MASK] ! a", special="none")
    letters = [
        2,
        1,
        *([5] if unk else []),
    ]  # [ M and the unknown ones, if there is a token for them
    assert ids == [0, *letters, 4, 0]
    assert tok.encode("a [MASK] ! a") == [0, 3, 4, 0]
    assert tok.encode("a [MASK] ! a", special={"!"}) == [0, 3, 4, 0]
    theirs, ours = tokenizers.Tokenizer.from_str(source), drop_in.Tokenizer.from_str(source)
    theirs.encode_special_tokens = ours.encode_special_tokens = True
    for text in ("a [MASK] ! a", "[MASK]"):
        assert ours.encode(text).ids == theirs.encode(text).ids
        assert 3 in theirs.encode(text).ids


@pytest.mark.parametrize("name", toy_hf.MODELS)
def test_random_vocabularies(name: str, backend: str) -> None:
    """Some pieces of each vocabulary are special tokens as well."""
    rng = random.Random(f"{name} none")
    source = toy_hf.MODELS[name]
    vocab = source["model"]["vocab"]
    words = [entry[0] for entry in vocab] if isinstance(vocab, list) else [*vocab]
    words = [word for word in words if word.isascii() and len(word) > 1 and "0x" not in word]
    words = words or ["ab"]
    seen = 0
    for _ in range(4):
        chosen = rng.sample(words, min(3, len(words)))
        flags = dict.fromkeys(toy_hf.FLAGS, False) | {"special": True}
        added = [{"id": 0, "content": text} | flags | {"single_word": rng.random() < 0.5}
                 for text in chosen]  # fmt: skip
        data = toy_hf.dump(source, added_tokens=added)
        try:
            tok = isotok.load(compile_model(data.encode()), backend=backend)  # type: ignore[arg-type]
        except isotok.TokenizerError as error:
            assert "added_tokens: " in str(error) or "which is that of" in str(error)
            continue
        ref = tokenizers.Tokenizer.from_str(data)
        for _ in range(40):
            text = toy_hf.text(rng, [*chosen, *words[:40]])
            seen += 1
            ref.encode_special_tokens = True
            hf.same_special(tok, ref, text, rng)
            ref.encode_special_tokens = False
            assert tok.encode(text) == ref.encode(text).ids
    assert seen or name == "words"
