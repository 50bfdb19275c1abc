"""Templates and decoders of tokenizer.json: random ones against tokenizers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import isotok
import pytest
from isotok.compile import compile_model
from isotok.errors import TokenizerError
from support import hf, toy_hf
from support.toy_bpe import byte_level

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

Json = dict[str, Any]
TEXTS = 12
TRIM = 0.5


def _load(source: str, backend: str, member: str) -> isotok.Tokenizer | None:
    """None if it is refused, which must be for the sake of this member."""
    try:
        return isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
    except TokenizerError as error:
        assert f": {member}" in str(error), source
        return None


# ---- Templates ------------------------------------------------------------------------


def _template(rng: random.Random, size: int) -> Json:
    specials: Json = {}
    for name in ("[A]", "[B]", "<s>"):
        ids = [rng.randrange(size) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        specials[name] = {"id": name, "ids": ids, "tokens": [name] * len(ids)}

    def token() -> Json:
        piece = {"id": rng.choice([*specials]), "type_id": rng.randrange(3)}
        return {"SpecialToken": piece}

    def around(*names: str) -> list[Json]:
        steps: list[Json] = [
            {"Sequence": {"id": name, "type_id": rng.randrange(2)}} for name in names
        ]
        for _ in range(rng.randrange(4)):
            steps.insert(rng.randrange(len(steps) + 1), token())
        return steps

    kind: Json = {"type": "TemplateProcessing", "special_tokens": specials}
    return kind | {"single": around("A"), "pair": around("A", "B")}


def _ends(rng: random.Random, size: int) -> Json:
    kind = rng.choice(("BertProcessing", "RobertaProcessing"))
    step: Json = {"type": kind, "sep": ["[SEP]", rng.randrange(size)], "cls": ["[CLS]", 1]}
    if kind == "RobertaProcessing":
        step |= {"trim_offsets": rng.random() < TRIM, "add_prefix_space": rng.random() < 0.5}
    return step


def _post_processor(rng: random.Random, size: int) -> Json | None:
    first = rng.choice((_template, _ends))(rng, size)
    flags = {"trim_offsets": rng.random() < TRIM, "add_prefix_space": rng.random() < 0.5}
    byte = byte_level(**flags, use_regex=rng.random() < 0.5)
    kind = rng.randrange(6)
    if kind < 3:
        return first
    steps = [[byte], [byte, first], [first, byte]][kind - 3]
    return {"type": "Sequence", "processors": steps} if rng.random() < 0.8 else steps[0]


@pytest.mark.parametrize("name", ["bytes", "word piece", "unigram", "llama"])
def test_templates(name: str, backend: str) -> None:
    """Ids and offsets with the template and without, limits, streams."""
    rng = random.Random(f"{name} templates")
    compared = 0
    for _ in range(40):
        model = toy_hf.MODELS[name]
        processor = _post_processor(rng, len(model["model"]["vocab"]))
        source = toy_hf.dump(model, post_processor=processor)
        tok = _load(source, backend, "post_processor")
        if tok is None:
            continue
        compared += 1
        ref = tokenizers.Tokenizer.from_str(source)
        texts = [toy_hf.text(rng, ["ab c", " a", "  "]) for _ in range(TEXTS)]
        for add in (True, False):
            hf.same_encodings(tok, ref, texts, add=add)
        for text in texts[:4]:
            hf.same_limits(tok, ref, text, rng)
            hf.same_streams(tok, ref, text, rng)
    assert compared > 15


def _trimming(rng: random.Random, contents: list[str]) -> str:
    """A model as RoBERTa's, with tokens that take white space along."""
    tokens: list[Json] = []
    strips = 0.0 if set(contents) & set(toy_hf.SPACED) else 0.5  # else they are in each other's way
    for content in contents:
        flags = {flag: rng.random() < strips for flag in ("lstrip", "rstrip")}
        flags |= {flag: rng.random() < 0.4 for flag in ("special", "single_word")}
        tokens.append({"id": 0, "content": content, "normalized": False} | flags)
    model = toy_hf.bytes_bpe()
    byte: Json = model["pre_tokenizer"]
    byte["add_prefix_space"] = rng.random() < 0.5
    removed = {
        "type": "Split",
        "pattern": {"String": rng.choice(("a", "\n", " "))},
        "invert": False,
    }
    if not byte["add_prefix_space"] and rng.random() < 0.7:
        steps = [removed | {"behavior": "Removed"}, byte]
        model["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    if rng.random() < 0.3:
        model["normalizer"] = {"type": rng.choice(("NFC", "NFD", "Lowercase"))}
    prefix = rng.random() < 0.5
    trim = byte_level(trim_offsets=True, add_prefix_space=prefix)
    template = _template(rng, len(model["model"]["vocab"]))
    roberta = _ends(rng, 3) | {"trim_offsets": True, "add_prefix_space": prefix}
    roberta["type"] = "RobertaProcessing"
    steps = rng.choice(([trim], [trim, template], [template, trim], [roberta]))
    processor = {"type": "Sequence", "processors": steps}
    return toy_hf.dump(model, added_tokens=tokens, post_processor=processor)


def test_trimmed_offsets(backend: str) -> None:
    """A space in front of the text, text that is removed, tokens with white space."""
    rng = random.Random("trimmed")
    compared = 0
    for _ in range(60):
        contents = rng.sample(rng.choice((toy_hf.SPACED, ["<a>", "<b>", "ab", "é"])), 3)
        source = _trimming(rng, contents)
        try:
            tok = isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
        except TokenizerError as error:
            assert "added_tokens" in str(error) or "that removes text" in str(error), source
            continue
        compared += 1
        ref = tokenizers.Tokenizer.from_str(source)
        texts = [toy_hf.text(rng, contents) for _ in range(40)]
        for add in (True, False):
            hf.same_encodings(tok, ref, texts, add=add)
        plain = '"add_prefix_space": true' not in source  # else a character may be cut off
        for text in texts[:10] if plain and '"normalizer": null' in source else ():
            hf.same_in_units(tok, ref, text)
    assert compared > 25


# ---- Decoders -------------------------------------------------------------------------


def _metaspace(rng: random.Random) -> Json:
    return toy_hf.metaspace(rng.choice(("always", "first", "never")), split=rng.random() < 0.5)


def _words(rng: random.Random) -> Json:
    prefix = rng.choice(("##", "##", "a", ""))
    return {"type": "WordPiece", "prefix": prefix, "cleanup": rng.random() < 0.5}


def _sequence(rng: random.Random) -> Json:
    strip = {"type": "Strip", "content": " ", "start": rng.randrange(3), "stop": 0}
    steps = [toy_hf.replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}, strip]
    steps = [step for step in steps if rng.random() < 0.7]
    return {"type": "Sequence", "decoders": steps}


DECODERS: list[Callable[[random.Random], Json | None]] = [
    lambda rng: None,
    _metaspace,
    _words,
    _sequence,
    lambda rng: {"type": "ByteFallback"},
    lambda rng: {"type": "Fuse"},
    lambda rng: toy_hf.replace("▁", " "),
]


def _vocabulary(rng: random.Random) -> list[str]:
    """Pieces with which decoders do something, in front and inside."""
    own = [
        "▁",
        "▁▁",
        "a▁b",
        "##",
        "##a",
        "##▁",
        "a##",
        ".",
        "...",
        "!",
        "n't",
        "'s",
        "'m",
        "'ve",
        "'",
    ]
    own += [
        "do",
        "not",
        "▁do",
        " a",
        "a b",
        "é",
        "中",
        "🙂",
        "?x",
        ",a",
        "'sa",
        "n'tx",
        "re",
        "'re",
    ]
    return ["<unk>", *dict.fromkeys([*rng.sample(own, 20), *"abc", "▁a"])]


def _model(rng: random.Random) -> Json:
    tokens = [*_vocabulary(rng), *(f"<0x{byte:02X}>" for byte in range(256))]
    if rng.random() < 0.5:
        vocab = [(token, -1.0 - i) for i, token in enumerate(tokens)]
        model: Json = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": True}
    else:
        model = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
        model |= {"vocab": {token: i for i, token in enumerate(tokens)}, "merges": []}
    added = [("<s>", True), ("<x>", False), (" y", False), ("<unk>", rng.random() < 0.5)]
    flags: Json = dict.fromkeys(toy_hf.FLAGS, False)
    listed = [flags | {"id": 0, "content": text, "special": yes} for text, yes in added]
    return toy_hf.whole(model, added_tokens=listed)


def _ids(rng: random.Random, size: int) -> list[int]:
    """Pieces and runs of bytes, some of which are characters."""
    ids: list[int] = []
    first = size - 4 - 256 + 1  # <unk> is there already
    for _ in range(rng.randrange(7)):
        kind = rng.randrange(4)
        if rng.random() < 0.15:  # no token's
            ids.append(rng.choice((size, size + 300, 0xFFFFFFFF)))
        elif kind == 0:
            ids += [first + byte for byte in rng.choice(("é", "中", "🙂", "\ufffd", " ")).encode()]
        elif kind == 1:
            ids += [first + rng.choice((0x20, 0x41, 0x80, 0xC3, 0xE4, 0xF0, 0xFF))]
        else:
            ids.append(rng.randrange(size) if rng.random() < 0.4 else rng.randrange(first))
    if rng.random() < 0.2 and ids:
        ids.pop()
    return ids


@pytest.mark.parametrize("kind", range(len(DECODERS)))
def test_decoders(kind: int, backend: str) -> None:
    """Random ids at once and in parts, with special tokens and without."""
    rng = random.Random(f"{kind} decoders")
    compared = 0
    for _ in range(12):
        source = toy_hf.dump(_model(rng), decoder=DECODERS[kind](rng))
        tok = _load(source, backend, "decoder")
        if tok is None:
            continue
        compared += 1
        ref = tokenizers.Tokenizer.from_str(source)
        for _ in range(60):
            hf.same_texts(tok, ref, _ids(rng, tok.vocab_size), rng)
    assert compared > 2


@pytest.mark.parametrize("name", ["bytes", "bytes, sparse", "word piece, sparse"])
def test_ids_that_are_no_tokens(name: str, backend: str) -> None:
    """They are left out, as if they were not there."""
    rng = random.Random(f"{name} decoder")
    tokens = ADDED[-2:] if "sparse" in name else ADDED  # others would get ids that are taken
    flags: Json = dict.fromkeys(toy_hf.FLAGS, False)
    added = [flags | {"id": 0, "content": text, "special": yes} for text, yes in tokens]
    source = toy_hf.dump(toy_hf.MODELS[name], added_tokens=added)
    tok = _load(source, backend, "decoder")
    assert tok is not None
    ref = tokenizers.Tokenizer.from_str(source)
    for _ in range(800):
        ids = [rng.randrange(tok.vocab_size + 9) for _ in range(rng.randrange(9))]
        hf.same_texts(tok, ref, ids, rng)
    batch = [[1, tok.vocab_size, 2], [0xFFFFFFFF]]
    assert tok.decode_batch(batch) == ref.decode_batch(batch)
    for wrong in (-1, 1 << 32):
        with pytest.raises(isotok.TokenIdError, match=r"ids\[1\]\[2\]"):
            tok.decode_batch([[tok.vocab_size], [0, 1, wrong]])
        with pytest.raises(OverflowError):
            ref.decode([wrong])


ADDED = [("<s>", True), ("x y", False), ("中", False), ("ab", True), ("a", True)]
