"""tokenizer.json: ids and texts of tokenizers, on real models."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import isotok
import pytest
from isotok.compile import compile_model
from support import data
from support.toy_bpe import byte_level

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

MODELS = ("gpt2", "llama3", "deepseek_v3", "qwen3", "llama2", "gemma3")
CORPORA = ("en", "ja", "zh", "code", "multi")
SCRIPTS = "aZ éß٣ηЖ中あｱ한ไทย\u0301\u200d🙂👩‍🚀\u3000\x00\x7f\ufffd\xa0"


@cache
def source(name: str) -> bytes:
    """A model without added tokens and what is not supported yet; tests of those are elsewhere."""
    whole = _whole(name)
    whole["added_tokens"] = []
    whole["post_processor"] = None
    return json.dumps(whole, ensure_ascii=False).encode()


def _whole(name: str) -> dict[str, Any]:
    for path in data.models_dir().glob(f"{name}.tokenizer.json*"):
        raw = path.read_bytes()
        whole: dict[str, Any] = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        return whole | ({"normalizer": None} if name == "qwen3" else {})
    pytest.skip(f"no {name}.tokenizer.json")


@cache
def reference(name: str) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(source(name).decode())


@cache
def blob(name: str) -> bytes:
    return compile_model(source(name))


def corpus(name: str, size: int) -> str:
    path = data.data_dir() / "corpora" / f"{name}.txt"
    if not path.exists():
        pytest.skip(f"no {path.name}")
    with path.open("rb") as file:
        return file.read(size).decode(errors="ignore")


def _documents(text: str) -> list[str]:
    return [text[i : i + 2000] for i in range(0, len(text), 2000)]


def _random_texts(name: str, count: int) -> Iterator[str]:
    """Pieces, runs of spaces and newlines, digits and characters of many scripts."""
    rng = random.Random(f"{name} 20261130")
    ref = reference(name)
    size = ref.get_vocab_size()

    def part() -> str:
        kind = rng.randrange(6)
        if kind < 3:
            return ref.decode([rng.randrange(size)]).replace("\ufffd", "")
        if kind == 3:
            return rng.choice(" \n\t\r▁") * rng.randrange(1, 5)
        if kind == 4:
            return "".join(rng.choices("0123456789", k=rng.randrange(1, 6)))
        return rng.choice(SCRIPTS)

    for _ in range(count):
        yield "".join(part() for _ in range(rng.randrange(1, 9)))


@pytest.mark.parametrize("name", MODELS)
def test_corpora(name: str, backend: str) -> None:
    """Lines and documents of 2,000 characters."""
    tok = isotok.load(blob(name), backend=backend)  # type: ignore[arg-type]
    for language in CORPORA:
        text = corpus(language, 200_000)
        texts = [*text.splitlines(), *_documents(text)]
        want = reference(name).encode_batch(texts, add_special_tokens=False)
        assert tok.encode_batch(texts, output="list") == [encoding.ids for encoding in want]


@pytest.mark.parametrize("name", MODELS)
def test_random_texts(name: str, backend: str) -> None:
    tok = isotok.load(blob(name), backend=backend, cache_bytes=0)  # type: ignore[arg-type]
    texts = list(_random_texts(name, 2000))
    want = reference(name).encode_batch(texts, add_special_tokens=False)
    for text, encoding, ids in zip(
        texts, want, tok.encode_batch(texts, output="list"), strict=True
    ):
        assert ids == encoding.ids, text


@pytest.mark.parametrize("name", ["gpt2", "llama3", "deepseek_v3", "qwen3"])
def test_decode(name: str, backend: str) -> None:
    """Random ids, whose bytes are rarely well-formed."""
    tok = isotok.load(blob(name), backend=backend)  # type: ignore[arg-type]
    ref, rng = reference(name), random.Random(name)
    for _ in range(500):
        ids = [rng.randrange(ref.get_vocab_size()) for _ in range(rng.randrange(1, 12))]
        assert tok.decode(ids) == ref.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("name", ["gpt2", "llama3", "llama2", "gemma3"])
@pytest.mark.parametrize("letter", ["a", "7", "\n", " "])
def test_long_runs(name: str, letter: str) -> None:
    """Time grows with n log n at most."""
    tok = isotok.load(blob(name), backend="native", cache_bytes=0)
    want = reference(name).encode(letter * 20_000, add_special_tokens=False).ids
    assert list(tok.encode(letter * 20_000)) == want
    spent = [min(_seconds(tok, letter * n) for _ in range(3)) for n in (250_000, 1_000_000)]
    assert spent[1] <= 4.8 * spent[0] + 0.002


def _seconds(tok: isotok.Tokenizer, text: str) -> float:
    begin = time.process_time()
    tok.count(text)
    return time.process_time() - begin


@pytest.mark.parametrize("name", MODELS)
def test_added_tokens(name: str) -> None:
    """With all of them: the number of ids, and what bytes the ids of byte-level models are."""
    text = json.dumps(_whole(name))
    ref = tokenizers.Tokenizer.from_str(text)
    tok = isotok.load(text.encode(), verify="full")
    assert tok.vocab_size == 1 + max(ref.get_vocab().values())
    for number, token in ref.get_added_tokens_decoder().items():
        if ref.decoder.__class__.__name__ == "ByteLevel":
            assert tok.decode([number]) == ref.decode([number], skip_special_tokens=False)
        assert ref.token_to_id(token.content) == number


def test_as_it_is() -> None:
    """A file with its added tokens and its post-processor, by its path."""
    path = data.models_dir() / "gpt2.tokenizer.json"
    if not path.exists():
        pytest.skip("no gpt2.tokenizer.json")
    tok = isotok.load(path)
    assert tok.info.parity == "hf"
    ref = tokenizers.Tokenizer.from_file(str(path))
    text = "Hello world! <|endoftext|>"
    assert list(tok.encode(text, special="all")) == ref.encode(text).ids
    assert tok.decode(ref.encode(text).ids) == ref.decode(ref.encode(text).ids, False)


ADDED = [("<a>", True), ("ab", True), ("é", False), ("new", False), ("<a>", True), ("", True)]


def test_ids_of_added_tokens() -> None:
    """Those of the vocabulary, else numbered on from its size; not those of the file."""
    vocab = {letter: i for i, letter in enumerate(_letters())} | {"<a>": 256, "ab": 257}
    flags = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False}
    added = [
        {"id": 900 + i, "content": content, "special": special} | flags
        for i, (content, special) in enumerate(ADDED)
    ]
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b"]}
    whole: dict[str, object] = {"model": model, "added_tokens": added}
    whole["pre_tokenizer"] = whole["decoder"] = byte_level(use_regex=False)
    text = json.dumps(whole)
    ref = tokenizers.Tokenizer.from_str(text)
    tok = isotok.load(text.encode())
    assert tok.vocab_size == 1 + max(ref.get_vocab().values())
    for number in range(tok.vocab_size):
        assert tok.decode([number]) == ref.decode([number], skip_special_tokens=False)
    assert list(tok.encode("ab<a>", special="all")) == ref.encode("ab<a>").ids


def _letters() -> list[str]:
    from support.toy_bpe import byte_letters

    return byte_letters()
