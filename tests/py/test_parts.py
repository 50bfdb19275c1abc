"""`encode_parts`: parts one after another against tiktoken and tokenizers, their places, errors."""

from __future__ import annotations

import random
from typing import Any

import isotok
import pytest
from isotok.compile import compile_model
from isotok.compile._tiktoken import tiktoken_fields
from isotok.compile.pretok.tiktoken import PATTERNS
from isotok.errors import TokenizerError
from support import toy_hf
from support.toy import toy_model

tiktoken = pytest.importorskip("tiktoken", reason="the reference library is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

SPECIAL = {"<|start|>": 300, "<|end|>": 301, "<|message|>": 302}
PIECES = [*SPECIAL, "user", "hello ", " world", "\n\n", "é", "🙂", "<|", "  "]
UNITS = ("codepoint", "byte", "utf16")
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"SpecialToken": {"id": "<t>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]},
        "<t>": {"id": "<t>", "ids": [4], "tokens": ["<t>"]},
    },
}


@pytest.fixture
def tiny(backend: str) -> isotok.Tokenizer:
    return isotok.load(toy_model(), backend=backend)  # type: ignore[arg-type]


def _parts(rng: random.Random, special: list[str]) -> list[tuple[str, Any]]:
    parts: list[tuple[str, Any]] = []
    for _ in range(rng.randrange(5)):
        text = "".join(rng.choices(PIECES, k=rng.randrange(6)))
        chosen = set(rng.sample(special, rng.randrange(len(special) + 1)))
        parts.append((text, rng.choice(["none", "all", chosen, chosen])))
    return parts


def test_as_tiktoken(backend: str) -> None:
    """The parts of a conversation, encoded as tiktoken encodes each."""
    ranks = {bytes([i]): i for i in range(256)} | {b"us": 256, b"user": 257, b" w": 258}
    pattern = PATTERNS["o200k_base"]
    made: dict[str, Any] = {"pat_str": pattern, "mergeable_ranks": ranks}
    reference = tiktoken.Encoding("toy", special_tokens=SPECIAL, **made)
    rng = random.Random(11)
    blob = compile_model(tiktoken_fields(ranks, pattern, SPECIAL))
    with isotok.load(blob, backend=backend) as tok:  # type: ignore[arg-type]
        for _ in range(200):
            parts = _parts(rng, list(SPECIAL))
            want: list[int] = []
            for text, special in parts:
                allowed: Any = set() if special == "none" else special
                want += reference.encode(text, allowed_special=allowed, disallowed_special=())
            assert tok.encode_parts(parts) == want, parts
            assert tok.encode_parts(iter(map(list, parts))) == want  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["bytes", "llama", "word piece, bert", "unigram, first"])
def test_as_tokenizers(name: str, backend: str) -> None:
    """Ids and places of each part as tokenizers gives them; the template once around all."""
    rng = random.Random(name)
    flags = dict.fromkeys(toy_hf.FLAGS, False) | {"special": True}
    added = [{"id": i, "content": t} | flags for i, t in enumerate(["<|start|>", "<|end|>"])]
    source = toy_hf.dump(toy_hf.MODELS[name], added_tokens=added, post_processor=TEMPLATE)
    ref = tokenizers.Tokenizer.from_str(source)
    special = ["<|start|>", "<|end|>"]
    with isotok.load(compile_model(source.encode()), backend=backend) as tok:  # type: ignore[arg-type]
        for _ in range(60):
            parts = _parts(rng, special)
            parts = [
                (t, s if isinstance(s, str) else rng.choice(["all", "none"])) for t, s in parts
            ]
            ids, offsets, begin = [3, 4], [(0, 0)] * 2, 0
            for text, wanted in parts:
                ref.encode_special_tokens = wanted == "none"
                found = ref.encode(text, add_special_tokens=False)
                ids += found.ids
                offsets += [(a + begin, b + begin) for a, b in found.offsets]
                begin += len(text)
            found = tok.encode_parts_with_offsets(parts)
            assert found.ids == [*ids, 3], parts
            assert found.offsets == [*offsets, (0, 0)], parts
            assert tok.encode_parts(parts) == found.ids
            assert tok.encode_parts(parts, add_special_tokens=False) == ids[2:]


def test_one_part_is_the_text(tiny: isotok.Tokenizer) -> None:
    for text in ("", "hello world", " hé 🙂", "\ud83d\ude42 \ud800"):
        for options in ({}, {"bos": True}, {"eos": True}, {"bos": True, "eos": True}):
            want = tiny.encode_with_offsets(text, **options)
            assert tiny.encode_parts([(text, None)], **options) == want.ids
            for unit in UNITS:
                want = tiny.encode_with_offsets(text, unit=unit, **options)  # type: ignore[arg-type]
                found = tiny.encode_parts_with_offsets([(text, "none")], unit=unit, **options)  # type: ignore[arg-type]
                assert found == want, (text, options, unit)


def test_places(tiny: isotok.Tokenizer) -> None:
    """Each part's places behind the length of those before it, whatever the texts are."""
    texts: tuple[str | bytes, ...] = (
        "a🙂", "\ud83d\ude42", "\udc00é", b"\xf0\x9f\x99\x82\xf0\x9f\x99", b"", "",
        b"\xed\xa0\x80z",
    )  # fmt: skip
    whole = {
        "codepoint": (0, 2, 4, 6, 10, 10, 10, 14),
        "byte": (0, 5, 9, 14, 21, 21, 21, 25),
        "utf16": (0, 3, 5, 7, 12, 12, 12, 16),
    }
    for unit, begins in whole.items():
        found = tiny.encode_parts_with_offsets([(t, None) for t in texts], unit=unit, eos=True)  # type: ignore[arg-type]
        want: list[tuple[int, int]] = []
        for text, begin in zip(texts, begins, strict=False):
            places = tiny.encode_with_offsets(text, unit=unit).offsets  # type: ignore[arg-type]
            want += [(a + begin, b + begin) for a, b in places]
        assert found.offsets == [*want, (begins[-1], begins[-1])]


def test_errors(tiny: isotok.Tokenizer) -> None:
    wrong: tuple[Any, ...] = ("ab", b"ab", ["ab"], [5], [("a",)], [("a", None, 1)], [(5, None)])
    for parts in wrong:
        with pytest.raises(TypeError, match=r"^parts"):
            tiny.encode_parts(parts)
    with pytest.raises(TokenizerError, match=r"^parts\[1\]: special: 'some' is unknown"):
        tiny.encode_parts([("a", None), ("b", "some")])
    with pytest.raises(TokenizerError, match=r"^parts\[0\]: special: 'x' is no special"):
        tiny.encode_parts_with_offsets([("a", {"x"})])
    with pytest.raises(TokenizerError, match="unit"):
        tiny.encode_parts_with_offsets([], unit="words")  # type: ignore[arg-type]
