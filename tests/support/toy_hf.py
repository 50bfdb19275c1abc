"""Small tokenizer.json models of all types, and random things around them."""

from __future__ import annotations

import json
import random
from typing import Any

from support.toy_bpe import GEMMA, LLAMA, UNK, byte_letters, byte_level

Json = dict[str, Any]

WORD = ["a", "b", "c", "ab", "bc", "abc", "é", "x", "1", "12", "中", "[", "]", "<", ">", "."]
SPACES = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
NO_SPACES = "\u200b\x1c\x1f\u180e\u2060\ufeff"
"""What some take for white space."""
PARTS = [*WORD, "_", "é", "\u0301", "\u200d", "٣", "Ⅳ", "ⓐ", "▁", "𝐚", "🙂", "'s"]


def whole(model: Json, **members: Any) -> Json:
    """A tokenizer.json."""
    empty: Json = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": [], **empty, "model": model} | members


def metaspace(scheme: str = "always", *, split: bool = True) -> Json:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def bytes_bpe(*, use_regex: bool = True) -> Json:
    letters = byte_letters()
    pairs = [("a", "b"), ("ab", "c"), ("Ġ", "a"), ("Ġ", "Ġ"), ("Ã", "©"), ("<", "a"), ("1", "2")]
    tokens = dict.fromkeys([*letters, *(a + b for a, b in pairs)])
    vocab = {token: i for i, token in enumerate(tokens)}
    model = {"type": "BPE", "vocab": vocab, "merges": [f"{a} {b}" for a, b in pairs]}
    cuts = byte_level(use_regex=use_regex)
    return whole(model, pre_tokenizer=cuts, decoder=byte_level())


def whole_words() -> Json:
    """Bytes with ignore_merges, and words that no merge gives."""
    source = bytes_bpe(use_regex=False)
    vocab: dict[str, int] = source["model"]["vocab"]
    words = ("<ab>", "[X]", "bc", "abab", "Ġabc")
    vocab |= {word: len(vocab) + i for i, word in enumerate(words)}
    cuts = {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated", "invert": False}
    steps = [cuts, source["pre_tokenizer"]]
    source["model"] |= {"ignore_merges": True}
    return source | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}}


def normalized_bytes(normalizers: list[Json]) -> Json:
    """Bytes that the last normalizer makes."""
    steps = {"type": "Sequence", "normalizers": normalizers}
    return bytes_bpe() | {"pre_tokenizer": None, "normalizer": steps}


def sparse(source: Json) -> Json:
    """With every other id."""
    vocab = {text: 2 * number for text, number in source["model"]["vocab"].items()}
    return source | {"model": source["model"] | {"vocab": vocab}}


def characters_bpe(normalizer: Json | None) -> Json:
    """As Llama and Gemma are."""
    tokens = [UNK, *(f"<0x{byte:02X}>" for byte in range(256)), *"▁abcé中1<>", "▁a", "ab", "▁ab"]
    merges = [["▁", "a"], ["a", "b"], ["▁a", "b"]]
    model: Json = {"type": "BPE", "unk_token": UNK, "fuse_unk": True, "byte_fallback": True}
    model |= {"vocab": {token: i for i, token in enumerate(tokens)}, "merges": merges}
    steps = [replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
    decoder = {"type": "Sequence", "decoders": steps}
    return whole(model, normalizer=normalizer, decoder=decoder)


def replace(pattern: str, content: str) -> Json:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def word_piece(normalizer: Json | None = None, cuts: str = "BertPreTokenizer") -> Json:
    tokens = ["[UNK]", "[CLS]", "[SEP]", *WORD, *(f"##{word}" for word in WORD)]
    model: Json = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    model |= {"max_input_chars_per_word": 20, "vocab": {t: i for i, t in enumerate(tokens)}}
    decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    return whole(model, normalizer=normalizer, pre_tokenizer={"type": cuts}, decoder=decoder)


def unigram(scheme: str = "always", *, split: bool = True) -> Json:
    words = [*WORD, *(f"▁{word}" for word in WORD), "▁", "▁▁"]
    vocab = [(UNK, 0.0), *((word, -1.5 - i / 7) for i, word in enumerate(words))]
    model: Json = {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": vocab}
    cuts = metaspace(scheme, split=split)
    return whole(model, pre_tokenizer=cuts, decoder=cuts)


def word_level() -> Json:
    vocab = {word: i for i, word in enumerate(["[UNK]", *WORD])}
    model: Json = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocab}
    return whole(model, pre_tokenizer={"type": "Whitespace"})


BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
MODELS: dict[str, Json] = {
    "bytes": bytes_bpe(),
    "bytes without a cut": bytes_bpe(use_regex=False),
    "bytes, normalizer": normalized_bytes([replace("x", " c"), {"type": "ByteLevel"}]),
    "bytes, whole words": whole_words(),
    "bytes, sparse": sparse(bytes_bpe()),
    "word piece, sparse": sparse(word_piece()),
    "llama": characters_bpe(LLAMA),
    "gemma": characters_bpe(GEMMA),
    "word piece": word_piece(),
    "word piece, bert": word_piece(BERT),
    "word level": word_level(),
    "unigram": unigram(),
    "unigram, first": unigram("first"),
    "unigram, never": unigram("never", split=False),
}

# ---- Added tokens ---------------------------------------------------------------------

CONTENTS = [
    "<a>", "<a", "a>", "<a>b", "ab", "abc", "a", "b c", "bc", "[X]", "<ab>", "_a", "é", "中",
    "ab ab", "x", "12", "٣", "\u0301a", "[", "]]", "<a><a>", "UNK", "[UNK]", "🙂", "a.", ">", ">>",
]  # fmt: skip
SPACED = [" ", "  ", "\n", "\n\n", " a", "a ", "\u3000", "<a> ", " <a>", "\tb\t", "\xa0", "b\n"]
FLAGS = ("special", "lstrip", "rstrip", "single_word", "normalized")


def added_tokens(rng: random.Random, count: int, *, normalized: float) -> list[Json]:
    """Random added tokens; `normalized`: how many are looked for in normalized text."""
    pool = [*CONTENTS, *rng.sample(SPACED, rng.randrange(4))]
    found: list[Json] = []
    style = rng.choice((0.0, 0.2, 0.5))
    for i, content in enumerate(rng.sample(pool, count)):
        flags: Json = {flag: rng.random() < style for flag in FLAGS[1:4]}
        flags |= {"special": rng.random() < 0.5, "normalized": rng.random() < normalized}
        found.append({"id": 1000 + i, "content": content} | flags)
    return found


def text(rng: random.Random, contents: list[str]) -> str:
    """Contents, parts of them, letters, and white space of all kinds."""
    parts: list[str] = []
    for _ in range(rng.randrange(9)):
        kind = rng.randrange(8)
        if kind < 3 and contents:
            parts.append(rng.choice(contents))
        elif kind == 3 and contents:
            content = rng.choice(contents)
            parts.append(content[rng.randrange(len(content)) :])
        elif kind == 4:
            parts.append(" " * rng.choice((1, 1, 2, 5)))
        elif kind == 5:
            parts.append(rng.choice(SPACES + NO_SPACES))
        else:
            parts.append(rng.choice(PARTS))
    return "".join(parts)


def dump(model: Json, **members: Any) -> str:
    return json.dumps(model | members)
