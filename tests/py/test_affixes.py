"""BPE with prefixes and suffixes of words, and unknown characters in pre-tokens."""

from __future__ import annotations

import json
import random
from typing import Any

import isotok
import pytest
from isotok.compile import compile_model
from isotok.compile.normalizers import known
from isotok.compile.pretok.known import HUGGING_FACE
from isotok.errors import TokenizerError
from support import hf, toy_affixes
from support.toy_affixes import forms
from support.toy_bpe import UNK, byte_letters, byte_level

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

MODELS = {"native": 60, "wasm": 12}
CLIP = next(value for name, value, _ in known.known() if name == "clip")


def _compare(source: str, texts: list[str], backend: str, rng: random.Random) -> None:
    """Ids, offsets and texts; with the cache, without, and in parts."""
    ref = tokenizers.Tokenizer.from_str(source)
    blob = compile_model(source.encode())
    for size in (None, 0):
        with isotok.load(blob, backend=backend, cache_bytes=size, verify="full") as tok:  # type: ignore[arg-type]
            hf.same_encodings(tok, ref, [*texts, *texts], add=False)
            for text in texts:
                hf.same_streams(tok, ref, text, rng)
                hf.same_limits(tok, ref, text, rng)
                hf.same_in_units(tok, ref, text)
            for _ in range(20):
                hf.same_texts(tok, ref, [rng.randrange(tok.vocab_size) for _ in range(6)], rng)
            for token, number in ref.get_vocab().items():
                if tok.id_to_piece(number) == token:  # not letters of bytes
                    assert tok.piece_to_id(token) == number


@pytest.mark.parametrize("make", [toy_affixes.characters, toy_affixes.bytes_bpe])
def test_random_models(make: Any, backend: str) -> None:
    """Whatever the merges: but a few of them are refused, as text could spell the suffix."""
    done = 0
    for seed in range(MODELS[backend]):
        rng = random.Random(f"{seed} {make.__name__}")
        model, letters = make(rng)
        source, texts = json.dumps(model), [toy_affixes.text(rng, letters) for _ in range(12)]
        try:
            blob = compile_model(source.encode())
        except TokenizerError as error:
            assert "the suffix" in str(error) or "behind the prefix" in str(error)
            continue
        _compare(source, texts, backend, rng)
        assert compile_model(compile_model(source.encode(), "packed")) == blob
        assert compile_model(blob) == blob
        done += 1
    assert done > MODELS[backend] // 2


# ---- Trained models -------------------------------------------------------------------


def _trained(pre_tokenizer: Any, **affixes: str) -> dict[str, Any]:
    """A vocabulary as the trainer of tokenizers makes it."""
    tok = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=UNK, **affixes))
    tok.pre_tokenizer = pre_tokenizer
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1500, special_tokens=[UNK, "[X]"], show_progress=False, **affixes
    )
    texts = [hf.corpus(name, 60_000, 400_000) for name in ("en", "code")]
    texts.append(hf.corpus("multi", 10_000))
    tok.train_from_iterator(texts, trainer)
    whole: dict[str, Any] = json.loads(tok.to_str())
    return whole


AFFIXES = [
    {"end_of_word_suffix": "</w>"},
    {"continuing_subword_prefix": "##"},
    {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"},
    {},
]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("affixes", AFFIXES, ids=lambda affixes: " ".join(affixes.values()))
def test_trained(affixes: dict[str, str], fused: bool, backend: str) -> None:
    """Words of several languages, most of whose characters are unknown."""
    cuts = tokenizers.pre_tokenizers.BertPreTokenizer()
    whole = _trained(cuts, **affixes)
    whole["model"] |= {"fuse_unk": fused}
    rng, texts = random.Random("trained"), list[str]()
    for name in hf.CORPORA:
        texts += hf.corpus(name, 6_000, 900_000).splitlines()
    _compare(json.dumps(whole), texts, backend, rng)


def clip() -> dict[str, Any]:
    """As CLIP's: with all bytes in the middle of words and at their ends."""
    whole = _trained(
        tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        end_of_word_suffix="</w>",
    )
    vocab: dict[str, int] = whole["model"]["vocab"]
    for before, after in forms("", "</w>"):
        for letter in byte_letters():
            vocab.setdefault(before + letter + after, len(vocab))
    tokens = ("<|startoftext|>", "<|endoftext|>")
    vocab |= {text: len(vocab) + i for i, text in enumerate(tokens)}
    ends = {"cls": [tokens[0], vocab[tokens[0]]], "sep": [tokens[1], vocab[tokens[1]]]}
    post = {"type": "RobertaProcessing", "trim_offsets": False, "add_prefix_space": False} | ends
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [{"id": vocab[t], "content": t, "special": True} | flags for t in tokens]
    whole["model"] |= {"unk_token": tokens[1]}
    changed = {"normalizer": CLIP, "pre_tokenizer": HUGGING_FACE["clip"], "decoder": byte_level()}
    return whole | changed | {"post_processor": post, "added_tokens": added}


def test_clip(backend: str) -> None:
    """The chain of CLIP: corpora, hostile texts, its special tokens, many code points."""
    source, rng = json.dumps(clip()), random.Random("clip")
    ref = tokenizers.Tokenizer.from_str(source)
    tok = isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
    texts = [hf.corpus(name, 5_000, 900_000) for name in hf.CORPORA]
    texts += [text[:2000] for text in hf.stress(3_000).values()]
    texts += [chr(c) + "a" + chr(c) for c in range(0x30000) if c % 37 == 5 and c >> 11 != 0x1B]
    parts = ["</w>", "<", "/w>", "<|endoftext|>", " ", "\u3000\n", "İ", "the", "'s", "\xff", "é"]
    texts += ["".join(rng.choices(parts, k=8)) for _ in range(100)]
    for add in (True, False):
        hf.same_encodings(tok, ref, texts, add=add)
    for text in texts[:30] + texts[-60:]:
        hf.same_streams(tok, ref, text, rng)
        hf.same_texts(tok, ref, ref.encode(text).ids, rng)
        hf.same_texts(tok, ref, [rng.randrange(tok.vocab_size) for _ in range(9)], rng)
    for text in ("a" * 20_000, "中" * 9_000, "é" * 9_000):
        assert tok.encode(text) == ref.encode(text).ids


def test_added_at_load() -> None:
    """Beside pieces that end with the suffix, which keep their ids and texts."""
    source = json.dumps(clip())
    ref = tokenizers.Tokenizer.from_str(source)
    words = ["<user>", "hello", "the</w>"]
    ref.add_tokens([tokenizers.AddedToken(word, normalized=False) for word in words])
    with isotok.load(compile_model(source.encode()), added_tokens=words) as tok:
        for text in ("a <user> the</w> hello", "the", "hello the", "</w>"):
            assert tok.encode(text) == ref.encode(text).ids
            assert tok.decode(tok.encode(text)) == ref.decode(ref.encode(text).ids)


# ---- Fields ---------------------------------------------------------------------------


def test_damaged(backend: str) -> None:
    """Any change of a blob is refused or harmless."""
    model, _ = toy_affixes.characters(random.Random("damaged"))
    model["model"] |= {"continuing_subword_prefix": "", "end_of_word_suffix": "</w>", "merges": []}
    whole, rng = bytearray(compile_model(json.dumps(model).encode())), random.Random(5)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(64, len(whole))
            damaged[at] = rng.choice([0, 1, 7, 0x7F, 0xFF, rng.randrange(256)])
        try:
            tok = isotok.load(bytes(damaged), backend=backend)  # type: ignore[arg-type]
        except TokenizerError:
            continue
        assert tok.count("ab aba  b中 a" * 20) >= 0
        assert tok.decode(list(tok.encode("aba"))) is not None
