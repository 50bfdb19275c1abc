"""Added tokens of tokenizer.json: random sets of them against tokenizers."""

from __future__ import annotations

import itertools
import random
from typing import Any

import isotok
import pytest
from isotok.compile import compile_model
from isotok.errors import TokenizerError
from support import hf, toy_hf

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

SETS = 20
TEXTS = 25
SLOW = ("word piece, bert",)
"""Their normalizer takes a second to compile."""


def _load(source: str, backend: str) -> isotok.Tokenizer | None:
    """None if the set is refused, which must be for the sake of added tokens."""
    try:
        return isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
    except TokenizerError as error:
        assert "added_tokens: " in str(error) or "which is that of" in str(error)
        return None


def _same(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """Ids and offsets, whole and in parts, with special tokens and without."""
    for special, want in hf.same_by_special(tok, ref, text):
        parts = hf.cut(text.encode(), rng)
        streamed = [i for ids in tok.encode_stream(parts, special=special) for i in ids]  # type: ignore[arg-type]
        assert streamed == want, (parts, special)
    assert tok.encode(text) == tok.encode(text, special="all")


@pytest.mark.parametrize("name", toy_hf.MODELS)
def test_random_sets(name: str, backend: str) -> None:
    rng = random.Random(f"{name} 20261130")
    compared = 0
    for _ in range(SETS // (4 if name in SLOW else 1)):
        added = toy_hf.added_tokens(rng, rng.randrange(1, 9), normalized=rng.choice((0, 0, 0.3, 1)))
        source = toy_hf.dump(toy_hf.MODELS[name], added_tokens=added)
        tok = _load(source, backend)
        if tok is None:
            continue
        compared += 1
        ref = tokenizers.Tokenizer.from_str(source)
        contents = [token["content"] for token in added]
        for _ in range(TEXTS):
            _same(tok, ref, toy_hf.text(rng, contents), rng)
        for _ in range(10):
            ids = [rng.randrange(tok.vocab_size) for _ in range(rng.randrange(6))]
            hf.same_texts(tok, ref, ids, rng)
    assert compared > 0


# ---- In normalized text ---------------------------------------------------------------

NORMALIZERS: dict[str, dict[str, Any]] = {
    "Lowercase": {"type": "Lowercase"},
    "BertNormalizer": toy_hf.BERT,
    "StripAccents": {
        "type": "Sequence",
        "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}],
    },
    "NFKD, Lowercase": {
        "type": "Sequence",
        "normalizers": [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}],
    },
    "Replace": toy_hf.replace(" ", "▁"),
    "NFC": {"type": "NFC"},
    "NFKC": {"type": "NFKC"},
    "NFC, Lowercase": {
        "type": "Sequence",
        "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}, toy_hf.replace(" ", "▁")],
    },
    "CLIP": {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFC"},
            {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
            {"type": "Lowercase"},
        ],
    },
    "Replace of runs": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Replace", "pattern": {"Regex": "[x_]+"}, "content": "_1"},
            {"type": "Lowercase"},
        ],
    },
    "Replace of texts": {
        "type": "Sequence",
        "normalizers": [
            toy_hf.replace("ab", "Xx"),
            {"type": "Replace", "pattern": {"Regex": "1+"}, "content": "2"},
        ],
    },
    "Nmt, NFC": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFC"}]},
}
LETTERS = "abcéXkK<>[]_12i"
BESIDE = "abcéÀxX12Kk\u212a\u0301\u0323İıiſ中 \x00\t▁<>[]_\ud7a3ﬁ\u302e"
MARKS = (
    "",
    "",
    "\u0301",
    "\x00",
    "\u0338",
    "\u0334\u0338",
    "\u0323",
    "\u0323\u0338\u0301",
    "\u0344",
)


def _normalized_tokens(rng: random.Random) -> list[dict[str, Any]]:
    """Of which some are looked for in normalized text."""
    found: list[dict[str, Any]] = []
    sizes = (rng.randrange(1, 5) for _ in range(rng.randrange(1, 5)))
    for content in {"".join(rng.choices(LETTERS, k=size)): None for size in sizes}:
        flags = {flag: rng.random() < 0.1 for flag in toy_hf.FLAGS[1:4]}
        flags |= {"special": rng.random() < 0.3, "normalized": rng.random() < 0.7}
        found.append({"id": 0, "content": content} | flags)
    return found


def _spelled(rng: random.Random, contents: list[str]) -> str:
    """Contents in other cases, with accents and with what is deleted between their letters."""
    parts = [*contents, *BESIDE]
    chosen = rng.choices(parts, k=rng.randrange(8))
    text = "".join(part if rng.random() < 0.6 else part.swapcase() for part in chosen)
    if rng.random() < 0.3:
        text = "".join(char + rng.choice(MARKS) for char in text)
    return text


@pytest.mark.parametrize("name", NORMALIZERS)
@pytest.mark.parametrize("model", ["bytes", "word piece"])
def test_normalized_tokens(name: str, model: str, backend: str) -> None:
    rng = random.Random(f"{name} {model} normalized")
    compared = 0
    for _ in range(3 if name == "BertNormalizer" else 8 if "C" in name else 30):
        tokens = _normalized_tokens(rng)
        members = {"normalizer": NORMALIZERS[name], "added_tokens": tokens}
        source = toy_hf.dump(toy_hf.MODELS[model], **members)
        tok = _load(source, backend)
        if tok is None:
            continue
        compared += any(token["normalized"] for token in tokens)
        ref = tokenizers.Tokenizer.from_str(source)
        contents = [token["content"] for token in tokens]
        for _ in range(40):
            _same(tok, ref, _spelled(rng, contents), rng)
    assert compared > 0


BEHIND = "\u0338\u0334\u0301\u0323\u031b\u0344\u0327\u1161\u11a8\x01a>"
"""Marks that compose with ends of tokens, marks that hide these from them, and others."""


@pytest.mark.parametrize("name", ["NFC", "NFKC", "Nmt, NFC"])
def test_marks_behind_a_token(name: str, backend: str) -> None:
    """Whatever stands behind a token of which the last character can become another one."""
    ends = [">", "=|"] if name == "NFKC" else [">", "=|", "o", "1", "\u1100"]
    flags = dict.fromkeys(toy_hf.FLAGS, False) | {"normalized": True}
    tokens = [{"id": 0, "content": f"<{end}"} | flags for end in ends]
    members = {"normalizer": NORMALIZERS[name], "added_tokens": tokens}
    source = toy_hf.dump(toy_hf.MODELS["bytes"], **members)
    tok, ref = _load(source, backend), tokenizers.Tokenizer.from_str(source)
    assert tok is not None
    number = {token["content"]: ref.token_to_id(token["content"]) for token in tokens}
    seen = dict.fromkeys(number, 0)
    every = ["".join(some) for size in range(4) for some in itertools.product(BEHIND, repeat=size)]
    for content, there in number.items():
        texts = [f"x{content}{behind}" for behind in every]
        wanted = [encoding.ids for encoding in ref.encode_batch(texts)]
        assert tok.encode_batch(texts, output="list") == wanted
        seen[content] = sum(there in ids for ids in wanted)
    for content, count in seen.items():
        can_compose = content[-1] in ">o\u1100"
        assert 0 < count < len(every) if can_compose else count == len(every)


def test_the_same_blob_from_the_packed_form() -> None:
    """Nodes that came with the source are in both."""
    tokens = [{"id": 0, "content": "hallo"} | dict.fromkeys(toy_hf.FLAGS, False)]
    tokens[0]["normalized"] = True
    members = {"normalizer": NORMALIZERS["Lowercase"], "added_tokens": tokens}
    source = toy_hf.dump(toy_hf.MODELS["word piece"], **members).encode()
    blob, packed = compile_model(source), compile_model(source, "packed")
    assert compile_model(packed) == blob == compile_model(blob)
    assert compile_model(blob, "packed") == packed
    assert compile_model(source, backend="wasm") == blob
    assert isotok.load(packed).encode("HaLLo") == isotok.load(blob, verify="full").encode("hallo")


@pytest.mark.parametrize(
    ("content", "normalizer", "why"),
    [
        ("hi", "Lowercase", "a part of what the normalizer makes of one character"),
        ("f", "NFKD, Lowercase", "a part of what the normalizer makes of one character"),
        ("\u0301", "BertNormalizer", "of which nothing is left"),
        ("a\u302e", "Lowercase", "with combining characters"),
    ],
)
def test_normalized_tokens_that_are_refused(content: str, normalizer: str, why: str) -> None:
    tokens = [{"id": 0, "content": content} | dict.fromkeys(toy_hf.FLAGS, False)]
    tokens[0]["normalized"] = True
    members = {"normalizer": NORMALIZERS[normalizer], "added_tokens": tokens}
    source = toy_hf.dump(toy_hf.MODELS["word piece"], **members)
    with pytest.raises(TokenizerError, match=why):
        compile_model(source.encode())


@pytest.mark.parametrize("flags", [("lstrip",), ("rstrip",), ("lstrip", "rstrip")])
def test_much_white_space(flags: tuple[str, ...], backend: str) -> None:
    """More than any part of a text holds, in front of a token and behind it."""
    token = dict.fromkeys(toy_hf.FLAGS, False) | dict.fromkeys(flags, True)
    tokens = [{"id": 1000, "content": "<a>"} | token]
    source = toy_hf.dump(toy_hf.MODELS["word piece"], added_tokens=tokens)
    ref, tok = tokenizers.Tokenizer.from_str(source), _load(source, backend)
    assert tok is not None
    rng = random.Random(7)
    space = "".join(rng.choices(" \t\n\u3000\x85", k=300_000))
    for text in (f"a{space}<a>{space}b", f"{space}<a>", f"<a>{space}", space, f"{space}x<a>"):
        want = ref.encode(text)
        found = tok.encode_with_offsets(text)
        assert (found.ids, found.offsets) == (want.ids, want.offsets)
        raw = text.encode()
        for size in (5000, 70_001, 400_000):
            parts = [raw[i : i + size] for i in range(0, len(raw), size)]
            assert [i for ids in tok.encode_stream(parts) for i in ids] == want.ids
