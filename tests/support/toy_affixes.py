"""Small random BPE models with a continuing_subword_prefix, an end_of_word_suffix, or both."""

from __future__ import annotations

import random
from typing import Any

from support.toy_bpe import UNK, byte_letters, byte_level
from support.toy_hf import Json, metaspace, whole

LETTERS = "ab#é中<"
CUTS: list[Json | None] = [
    None,
    {"type": "WhitespaceSplit"},
    {"type": "Whitespace"},
    {"type": "BertPreTokenizer"},
    metaspace(),
]


def forms(prefix: str, suffix: str) -> list[tuple[str, str]]:
    """What stands around a symbol: the first, another, the last, the only one."""
    return [(before, after) for before in ("", prefix) for after in ("", suffix)]


def characters(rng: random.Random) -> tuple[Json, str]:
    """A model over characters, some of which are unknown in some places, and its letters."""
    prefix, suffix = rng.choice(["", "##", "@", "▁"]), rng.choice(["", "</w>", "_"])
    letters = LETTERS + rng.choice(["", "/w>", "_"])
    symbols = [
        before + letter + after
        for before, after in forms(prefix, suffix)
        for letter in letters
        if rng.random() < 0.9
    ]
    tokens, merges = _merges(rng, symbols, prefix)
    vocab = {token: i for i, token in enumerate([UNK, *rng.sample(tokens, len(tokens))])}
    model: Json = {"type": "BPE", "vocab": vocab, "merges": merges, "unk_token": UNK}
    model |= {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    model["fuse_unk"] = rng.random() < 0.5
    decoder = {"type": "WordPiece", "prefix": prefix or "##", "cleanup": False}
    return whole(model, pre_tokenizer=rng.choice(CUTS), decoder=decoder), letters + " xy"


def bytes_bpe(rng: random.Random) -> tuple[Json, str]:
    """A model over bytes, and its letters."""
    prefix, suffix = rng.choice([("", "</w>"), ("##", ""), ("##", "</w>"), ("", "_")])
    symbols = [
        before + letter + after
        for before, after in forms(prefix, suffix)
        for letter in byte_letters()
    ]
    often = [
        before + letter + after
        for before, after in forms(prefix, suffix)
        for letter in ("a", "b", "Ã", "©", "ÿ", "<", "Ġ")
    ]
    tokens, merges = _merges(rng, often, prefix)
    vocab = {token: i for i, token in enumerate(dict.fromkeys([*symbols, *tokens]))}
    model: Json = {"type": "BPE", "vocab": vocab, "merges": merges}
    model |= {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    if not suffix:
        model["ignore_merges"] = rng.random() < 0.5
    cuts = byte_level(use_regex=rng.random() < 0.7)
    return whole(model, pre_tokenizer=cuts, decoder=byte_level()), "ab<é中/w>_ \xff#"


def _merges(rng: random.Random, symbols: list[str], prefix: str) -> tuple[list[str], list[Any]]:
    """Tokens, and merges of random ones, most of which some text can have side by side."""
    tokens, merges = list(dict.fromkeys(symbols)), list[Any]()
    for _ in range(rng.randrange(30)):
        left = rng.choice(tokens)
        right = rng.choice([t for t in tokens if t.startswith(prefix)] or tokens)
        if rng.random() < 0.1:
            right = rng.choice(tokens)
        size, rest = len(prefix.encode()), right.encode()
        text = left + rest[size:].decode(errors="replace")
        if "\ufffd" in text or len(rest) < size or len(text) > 14 or text == UNK:
            continue
        tokens = list(dict.fromkeys([*tokens, text]))
        merges.append([left, right])
    return tokens, rng.sample(merges, len(merges))


def text(rng: random.Random, letters: str) -> str:
    return "".join(rng.choices(letters, k=rng.choice([1, 2, 3, 5, 9, 20, 60, 150])))
