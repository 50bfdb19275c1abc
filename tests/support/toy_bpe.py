"""Small random BPE models as tokenizer.json, for tokenizers and for isotok."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import strategies as st

UNK = "<unk>"


@dataclass(frozen=True)
class Toy:
    """A model, and the letters its texts are made of."""

    json: str
    letters: str


def byte_letters() -> list[str]:
    """The 256 letters of ByteLevel, sorted."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return [chr(b) for b in plain] + [chr(256 + i) for i in range(256 - len(plain))]


@st.composite
def merge_lists(draw: st.DrawFn, letters: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Tokens of several letters, and merges of random tokens in random order.

    Some tokens are made by several pairs, some pairs that would make a token are missing, some
    pairs come twice, some tokens cannot be reached.
    """
    tokens = list(letters)
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 14))):
        pair = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        text = pair[0] + pair[1]
        if len(text) > 9:
            continue
        if text not in tokens:
            tokens.append(text)
        merges.append(pair)
        splits = [(text[:i], text[i:]) for i in range(1, len(text))]
        merges += draw(st.lists(st.sampled_from(splits), max_size=2))
    merges = [pair for pair in merges if pair[0] in tokens and pair[1] in tokens]
    tokens += draw(st.lists(st.text(letters, min_size=2, max_size=5), max_size=3))
    merges = draw(st.permutations(merges))
    return list(dict.fromkeys(tokens)), merges


@st.composite
def toys(draw: st.DrawFn) -> Toy:
    """Models over bytes or characters."""
    kind = draw(st.sampled_from(["bytes", "characters", "fallback", "spaces"]))
    letters = "ab▁é" if kind != "bytes" else "abÃ©"
    tokens, merges = draw(merge_lists(letters))
    model: dict[str, object] = {"type": "BPE", "dropout": None, "ignore_merges": False}
    whole: dict[str, object] = {"version": "1.0", "added_tokens": [], "model": model}
    if kind == "bytes":
        tokens = list(dict.fromkeys([*byte_letters(), *tokens]))
        model["ignore_merges"] = draw(st.booleans())
        whole["pre_tokenizer"] = byte_level(use_regex=draw(st.booleans()))
        whole["decoder"] = byte_level(use_regex=False)
    else:
        tokens = [UNK, *tokens]
        model |= {"unk_token": UNK, "fuse_unk": True, "byte_fallback": kind == "fallback"}
    if kind == "fallback":
        tokens += [f"<0x{byte:02X}>" for byte in range(256)]
        model["unk_token"] = draw(st.sampled_from([None, UNK]))
    if kind == "spaces":
        whole["normalizer"] = draw(st.sampled_from([LLAMA, GEMMA]))
    tokens = draw(st.permutations(tokens)) if kind != "bytes" else tokens
    model["vocab"] = {token: i for i, token in enumerate(tokens)}
    pairs = draw(st.booleans())
    model["merges"] = [list(pair) if pairs else " ".join(pair) for pair in merges]
    text = json.dumps(whole, ensure_ascii=draw(st.booleans()))
    return Toy(text, "abé" if kind == "bytes" else letters + " xy")


def byte_level(**options: object) -> dict[str, object]:
    """A ByteLevel pre-tokenizer or decoder."""
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True} | options


GEMMA = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
LLAMA = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, GEMMA]}
