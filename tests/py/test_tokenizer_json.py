"""tokenizer.json: ids, offsets and texts of tokenizers, with the defaults of both."""

from __future__ import annotations

import json
import random
import time

import isotok
import pytest
from isotok.compile import compile_model
from support import data, hf, toy_hf
from support.toy_bpe import byte_letters, byte_level

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

RANDOM = {"native": 200, "wasm": 60}
"""Random texts of each model."""
SIZE = 5_000
"""Bytes of each corpus."""


# ---- Real models ----------------------------------------------------------------------


@pytest.mark.parametrize("name", hf.NAMES)
def test_corpora(name: str, backend: str) -> None:
    """Lines, documents of 2,000 characters, and all of it."""
    tok, ref = hf.opened(name, backend), hf.reference(name)
    samples = [hf.corpus(language, SIZE, 400_000) for language in hf.CORPORA]
    samples += [text[:SIZE] for text in hf.stress(SIZE).values()]
    for text in samples:
        hf.same_encodings(tok, ref, [text, *text.splitlines(), *hf.documents(text)], add=True)
        hf.same_encodings(tok, ref, hf.documents(text), add=False)
        ids = ref.encode(text).ids
        hf.same_texts(tok, ref, ids, random.Random(name))
        hf.same_streams(tok, ref, text, random.Random(name))


@pytest.mark.parametrize("name", hf.NAMES)
def test_random_texts(name: str, backend: str) -> None:
    """Pieces, special tokens, white space, digits, marks and scripts; all that encodes."""
    tok, ref = hf.opened(name, backend, 0), hf.reference(name)
    rng = random.Random(f"{name} cuts")
    texts = list(hf.random_texts(name, "20261130", RANDOM[backend]))
    for add in (True, False):
        hf.same_encodings(tok, ref, texts, add=add)
    for text in texts:
        hf.same_in_units(tok, ref, text)
        hf.same_limits(tok, ref, text, rng)
        hf.same_streams(tok, ref, text, rng)


@pytest.mark.parametrize("name", hf.NAMES)
def test_without_special_tokens(name: str, backend: str) -> None:
    """Texts of special tokens are text."""
    tok, ref = hf.opened(name, backend), hf.reference(name)
    rng = random.Random(f"{name} none")
    ref.encode_special_tokens = True
    try:
        for text in hf.random_texts(name, "special", RANDOM[backend]):
            hf.same_special(tok, ref, text, rng)
    finally:
        ref.encode_special_tokens = False


@pytest.mark.parametrize("name", hf.NAMES)
def test_random_ids(name: str, backend: str) -> None:
    """Decoded at once and in parts, whatever their bytes."""
    tok, ref = hf.opened(name, backend), hf.reference(name)
    texts, rng = hf.Texts(name), random.Random(f"{name} ids")
    for _ in range(RANDOM[backend]):
        hf.same_texts(tok, ref, texts.ids(rng), rng)


@pytest.mark.parametrize("name", hf.NAMES)
def test_added_tokens(name: str) -> None:
    """Their ids and texts."""
    ref, tok = hf.reference(name), hf.opened(name, "native")
    assert tok.info.parity == "hf"
    assert tok.vocab_size == 1 + max(ref.get_vocab().values())
    for number, token in ref.get_added_tokens_decoder().items():
        assert ref.token_to_id(token.content) == number
        assert tok.piece_to_id(token.content) == number
        for skip in (True, False):
            want = ref.decode([number], skip_special_tokens=skip)
            assert tok.decode([number], skip_special_tokens=skip) == want


@pytest.mark.parametrize("name", ["gpt2", "llama3", "llama2", "gemma3", "xlmr"])
@pytest.mark.parametrize("letter", ["a", "7", "\n", " "])
def test_long_runs(name: str, letter: str) -> None:
    """Time grows with n log n at most."""
    tok = hf.opened(name, "native", 0)
    assert tok.encode(letter * 20_000) == hf.reference(name).encode(letter * 20_000).ids
    for _ in range(3):
        spent = [min(_seconds(tok, letter * n) for _ in range(3)) for n in (250_000, 1_000_000)]
        if spent[1] <= 4.8 * spent[0] + 0.002:
            return
    pytest.fail(f"{spent}")


def _seconds(tok: isotok.Tokenizer, text: str) -> float:
    begin = time.thread_time()
    tok.count(text)
    return time.thread_time() - begin


def test_as_it_is(backend: str) -> None:
    """A file by its path, with the defaults of tokenizers."""
    path = data.models_dir() / "gpt2.tokenizer.json"
    if not path.exists():
        pytest.skip("no gpt2.tokenizer.json")
    tok = isotok.load(path, backend=backend)  # type: ignore[arg-type]
    ref = tokenizers.Tokenizer.from_file(str(path))
    text = "Hello world! <|endoftext|>"
    assert tok.encode(text) == ref.encode(text).ids
    assert tok.decode(ref.encode(text).ids) == ref.decode(ref.encode(text).ids)


# ---- Small models ---------------------------------------------------------------------


@pytest.mark.parametrize("name", toy_hf.MODELS)
def test_packed(name: str) -> None:
    """The packed form gives the same blob, and so does the blob itself."""
    blob = compile_model(toy_hf.dump(toy_hf.MODELS[name]).encode())
    packed = compile_model(blob, "packed")
    assert compile_model(packed) == compile_model(blob) == blob
    assert compile_model(toy_hf.dump(toy_hf.MODELS[name]).encode(), "packed") == packed


@pytest.mark.parametrize("name", toy_hf.MODELS)
def test_small_models(name: str, backend: str) -> None:
    source = toy_hf.dump(toy_hf.MODELS[name])
    tok = isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
    ref, rng = tokenizers.Tokenizer.from_str(source), random.Random(name)
    texts = [toy_hf.text(rng, ["ab c", "  a", "é\u0301", "abcabc"]) for _ in range(150)]
    hf.same_encodings(tok, ref, texts, add=True)
    for text in texts[:40]:
        hf.same_streams(tok, ref, text, rng)
        hf.same_texts(tok, ref, [rng.randrange(tok.vocab_size) for _ in range(5)], rng)


def test_byte_level_normalizer(backend: str) -> None:
    """Behind others and alone, and with tokens that are looked for in its letters."""
    rng = random.Random("byte level")
    tokens = ["<a>", "ab", "<ab", "b>"]
    for others in ([], [{"type": "Lowercase"}], [{"type": "NFD"}, {"type": "StripAccents"}]):
        whole = toy_hf.normalized_bytes([*others, {"type": "ByteLevel"}])
        late: toy_hf.Json = {"normalized": True, "special": False, "single_word": False}
        late |= {"lstrip": False, "rstrip": False}
        listed = [{"id": 1000 + i, "content": text} | late for i, text in enumerate(tokens)]
        for added in ([], listed):
            source = toy_hf.dump(whole | {"added_tokens": added})
            ref = tokenizers.Tokenizer.from_str(source)
            tok = isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
            texts = [toy_hf.text(rng, [*tokens, "AB", "Ġa", "Ã©", "é"]) for _ in range(150)]
            texts += ["".join(map(chr, range(a, a + 400))) for a in (0, 0x300, 0x3000, 0x1F300)]
            hf.same_encodings(tok, ref, texts, add=True)
            for text in texts[:40]:
                hf.same_streams(tok, ref, text, rng)
                hf.same_texts(tok, ref, ref.encode(text).ids, rng)


SCORES = [
    "-1.6428571428571428", "-7.4715776443481445", "-1e-5", "1E2", "-0.0", "12345678901234567890.5",
    "-3.4635426998138428", "123456789012345678901234567890", "0.1e-310", "-2.5e+3", "5e-324",
    "-0." + "0" * 330 + "123456789012345678901", "9007199254740993", "-18446744073709551617",
]  # fmt: skip


def test_scores_are_read_as_tokenizers_does() -> None:
    """Its JSON reader rounds decimals twice; sums of scores decide between paths."""
    rng = random.Random("scores")
    scores = [*SCORES, *(repr(rng.uniform(-20, 0)) for _ in range(3000))]
    source = toy_hf.unigram("never", split=False)
    source["model"]["vocab"] = "vocab"
    entries = ",".join(f'["x{i}", {score}]' for i, score in enumerate(["0.0", *scores]))
    text = toy_hf.dump(source).replace('"vocab": "vocab"', f'"vocab": [{entries}]')
    written = json.loads(tokenizers.Tokenizer.from_str(text).to_str())["model"]["vocab"]
    from isotok.compile.tokenizer_json.floats import read_float

    found = [read_float(score) for score in scores]
    assert found == [score for _, score in written[1:]]
    assert found != [float(score) for score in scores]


def test_equal_paths(backend: str) -> None:
    """Runs whose paths differ in the last bit of their sums."""
    tok, ref = hf.opened("xlnet_base_cased", backend, 0), hf.reference("xlnet_base_cased")
    for letter in "abcdefghijklmnopqrstuvwxyz.-*":
        for count in range(2, 40):
            for front in ("", "hello ", "1 "):
                text = front + letter * count
                assert tok.encode(text) == ref.encode(text).ids, text


ADDED = [("<a>", True), ("ab", True), ("~", False), ("new", False), ("<a>", True), ("", True)]


def test_ids_of_added_tokens() -> None:
    """Those of the vocabulary, else numbered on from its size; not those of the file."""
    vocab = {letter: i for i, letter in enumerate(byte_letters())} | {"<a>": 256, "ab": 257}
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
        for skip in (True, False):
            want = ref.decode([number], skip_special_tokens=skip)
            assert tok.decode([number], skip_special_tokens=skip) == want
    assert list(tok.encode("ab<a>", special="all")) == ref.encode("ab<a>").ids
