"""tekken.json and rank files by their names, against tiktoken with the same ranks."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import isotok
import pytest
from isotok.compile.pretok.tiktoken import PATTERNS
from isotok.errors import TokenizerError
from support import data

tiktoken = pytest.importorskip("tiktoken", reason="the reference library is not installed")

FIRST = 30
RANKS = {bytes([byte]): byte for byte in range(256)}
for text in ("th", "the", " the", "an", "and", " and", "é".encode().hex(), "12", "\n\n"):
    RANKS[text.encode()] = len(RANKS)


def _file(**changes: object) -> dict[str, Any]:
    """A file with three tokens more than the model has, as published ones have."""
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for token, rank in RANKS.items()
    ]
    config: dict[str, object] = {
        "pattern": PATTERNS["tekken"],
        "num_vocab_tokens": len(vocab),
        "default_vocab_size": len(vocab) - 3 + FIRST,
        "default_num_special_tokens": FIRST,
        "version": "v3",
    }
    return {"config": config, "vocab": vocab} | changes


def _load(whole: dict[str, Any], backend: str = "native") -> isotok.Tokenizer:
    return isotok.load(json.dumps(whole).encode(), backend=backend)  # type: ignore[arg-type]


def test_same_ids(backend: str) -> None:
    """The ids of tiktoken and the number of special tokens; these are not found in text."""
    ranks = {token: rank for token, rank in RANKS.items() if rank < len(RANKS) - 3}
    reference = tiktoken.Encoding(
        "tekken", pat_str=PATTERNS["tekken"], mergeable_ranks=ranks, special_tokens={}
    )
    tok, rng = _load(_file(), backend), random.Random(1)
    for _ in range(300):
        parts = rng.choices(["the", " the", "and", "A", "é", "12", "\n", " ", "[INST]"], k=9)
        want = [FIRST + rank for rank in reference.encode("".join(parts))]
        assert list(tok.encode("".join(parts))) == want
        assert tok.decode(want) == "".join(parts)
    assert tok.decode([0, 3, 19, 20, 29]) == "<unk>[INST][TOOL_CONTENT]<SPECIAL_20><SPECIAL_29>"
    assert list(tok.encode("a[INST]", special="all")) == [FIRST + 97, 3]
    assert tok.info.parity == "tiktoken"
    assert tok.vocab_size == len(RANKS) - 3 + FIRST


def test_own_special_tokens() -> None:
    named = [{"rank": 1, "token_str": "<b>", "is_control": True}]
    named.append({"rank": 0, "token_str": "<a>", "is_control": True})
    tok = _load(_file(special_tokens=named))
    assert tok.decode([0, 1, 2]) == "<a><b><SPECIAL_2>"


def _config(**changes: object) -> Callable[[dict[str, Any]], None]:
    return lambda whole: whole["config"].update(changes)


def _vocab(at: int, **changes: object) -> Callable[[dict[str, Any]], None]:
    return lambda whole: whole["vocab"][at].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_config(pattern=1), "config.pattern: 1 is not a string"),
        (_config(default_vocab_size=-1), "config: 30 special tokens of -1 tokens"),
        (_config(default_vocab_size=10**6), "vocab: 265 tokens, but config needs 999970"),
        (_config(version="v11"), "special_tokens: a file of version 'v11' without them"),
        (_config(pattern=r"(a)\1"), "pre-tokenizer: a back-reference"),
        (_vocab(3, rank=7), r"vocab\[3\]: rank 7 where 3 should be"),
        (_vocab(3, token_bytes="QQ=="), r"vocab\[3\]: b'A' where the byte 0x03 should be"),
        (_vocab(3, token_bytes="é"), r"vocab\[3\]: 'é' is not base64"),
        (_vocab(257, token_bytes="dGg="), r"vocab\[257\]: b'th' is there twice"),
        (lambda whole: whole["vocab"].insert(2, 7), r"vocab\[2\]: 7 is not an object"),
        (lambda whole: whole.update(special_tokens={}), "special_tokens: {} is not an array"),
        (
            lambda whole: whole.update(special_tokens=[{"rank": 30, "token_str": "x"}]),
            r"special_tokens\[0\]: 'x' of rank 30: twice, or out of range",
        ),
    ],
)
def test_refused(change: Callable[[dict[str, Any]], None], message: str) -> None:
    whole = _file()
    change(whole)
    with pytest.raises(TokenizerError, match=message):
        _load(whole)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_rank_files(name: str, tmp_path: Path) -> None:
    """The name of the file is that of the encoding."""
    path = data.models_dir() / f"{name}.tiktoken"
    if not path.exists():
        pytest.skip(f"no {path.name}")
    tok = isotok.load(path)
    text = "The quick  brown fox'll jump\n\n over 12345 日本語"
    from isotok.compile._tiktoken import SPECIAL_TOKENS, read_ranks

    reference = tiktoken.Encoding(
        name,
        pat_str=PATTERNS[name],
        mergeable_ranks=read_ranks(path.read_bytes()),
        special_tokens=dict(SPECIAL_TOKENS[name]),
    )
    assert list(tok.encode(text)) == reference.encode_ordinary(text)
    assert list(tok.encode("<|endoftext|>", special="all")) == [reference.eot_token]
    with pytest.raises(TokenizerError, match="rank file: it holds no pattern, and '' is no"):
        isotok.load(path.read_bytes())
    other = tmp_path / "tokenizer.model"
    other.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(TokenizerError, match=r"'tokenizer.model' is no encoding"):
        isotok.load(other)
