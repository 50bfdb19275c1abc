"""isotok.compat.tiktoken: names, signatures and results of tiktoken 0.14."""

from __future__ import annotations

import importlib
import inspect
import random
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from isotok.compat import tiktoken as ours
from isotok.compat.tiktoken import model, registry
from isotok.compile._tiktoken import SPECIAL_TOKENS, read_ranks
from isotok.compile.pretok.tiktoken import PATTERNS
from support import data
from support.encodings import both

theirs = pytest.importorskip("tiktoken", reason="the reference library is not installed")

PRIVATE = ("_encode_bytes", "_encode_only_native_bpe", "_encode_single_piece")
"""Methods that its own tests call."""
SPECIAL = {"<|end|>": 900, "<|endoftext|>": 901, "<|x|>": 903}
BITS = [
    *("hello", " fanta", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "\u3000", "\x1c", "\xa0"),
    *("é", "中文", "👍🏽", "12", "1234", "!", "'s", "x", "ab", "abab", "<|end|>", "<|x|>"),
]
BROKEN = [b"", b"", b"\xff", b"\xed\xa0", b"\xe4\xb8", b"\xe4\xb8ab\xf0\x9f", b" \xc3"]
Pair = tuple[Any, Any]


@cache
def _pair(name: str, pattern: str) -> Pair:
    """Ranks of random merges, or a file's."""
    path = data.models_dir() / f"{name}.tiktoken"
    special = dict(SPECIAL_TOKENS.get(name, SPECIAL))
    if name == "random":
        ranks = _random_ranks()
    elif path.exists():
        ranks = read_ranks(path.read_bytes())
    else:
        pytest.skip(data.absence(path))
    made = [
        module.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
        for module in (theirs, ours)
    ]
    return made[0], made[1]


def _random_ranks() -> dict[bytes, int]:
    rng = random.Random("ranks")
    ranks = {bytes([byte]): byte for byte in range(256)}
    parts = [bit.encode() for bit in BITS]
    while len(ranks) < 700:
        text = b"".join(rng.choices(parts, k=3))
        begin = rng.randrange(len(text) - 1)
        ranks.setdefault(text[begin : begin + rng.randrange(2, 6)], len(ranks))
    return ranks


@pytest.fixture(params=["random", "random, o200k", "cl100k_base"])
def pair(request: pytest.FixtureRequest) -> Pair:
    name, _, pattern = str(request.param).partition(", ")
    return _pair(name, PATTERNS[f"{pattern}_base" if pattern else "cl100k_base"])


def _text(rng: random.Random) -> str:
    return "".join(rng.choice(BITS) for _ in range(rng.randrange(7)))


# ---- Names ----------------------------------------------------------------------------


def _functions(module: ModuleType | type) -> dict[str, Callable[..., Any]]:
    return {
        name: member
        for name, member in inspect.getmembers(module)
        if callable(member) and (not name.startswith("_") or name in (*PRIVATE, "__init__"))
    }


@pytest.mark.parametrize("where", ["", "Encoding", "model", "registry"])
def test_signatures(where: str) -> None:
    importlib.import_module("tiktoken.registry")
    modules = {"": ours, "Encoding": ours.Encoding, "model": model, "registry": registry}
    wanted = getattr(theirs, where) if where else theirs
    compared = 0
    for name, member in _functions(wanted).items():
        if name in ("Any", "Callable", "Sequence"):  # imports from typing
            continue
        found = getattr(modules[where], name)
        assert inspect.signature(found) == inspect.signature(member), name
        compared += 1
    assert compared >= 3


def test_names() -> None:
    named = {name for name in vars(theirs) if not name.startswith("_")}
    modules = {name for name in named if isinstance(getattr(theirs, name), ModuleType)}
    assert named - modules == set(ours.__all__)
    assert ours.__version__ == theirs.__version__
    members = {name for name in dir(theirs.Encoding) if not name.startswith("_")} | set(PRIVATE)
    assert members <= set(dir(ours.Encoding))
    assert ours.list_encoding_names() == theirs.list_encoding_names()


def test_encodings_of_models() -> None:
    from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING

    assert MODEL_TO_ENCODING == model.MODEL_TO_ENCODING
    assert MODEL_PREFIX_TO_ENCODING == model.MODEL_PREFIX_TO_ENCODING


# ---- Results --------------------------------------------------------------------------


def test_encode_with_unstable(pair: Pair) -> None:
    rng = random.Random("unstable")
    several = 0
    for _ in range(60):
        text = _text(rng)
        text = text.rstrip() if len(pair[0]._mergeable_ranks) > 1000 else text  # else slow
        allowed = rng.choice(["all", {"<|end|>"}, set()])
        options = {"allowed_special": allowed, "disallowed_special": rng.choice(["all", ()])}
        found = both(*pair, lambda one: one.encode_with_unstable(text, **options))  # noqa: B023
        if found is None:
            continue
        (stable, completions), (our_stable, our_completions) = found
        assert our_stable == stable
        assert our_completions == sorted(completions)
        several += len(completions) > 1
    assert several > 15
    assert both(*pair, lambda one: one.encode_with_unstable("a\ud800")) is None


def test_encode_bytes(pair: Pair) -> None:
    rng = random.Random("bytes")
    for _ in range(200):
        raw = _text(rng).encode() + rng.choice(BROKEN)
        assert pair[1]._encode_bytes(raw) == pair[0]._encode_bytes(raw), raw


def test_single_pieces(pair: Pair) -> None:
    rng = random.Random("pieces")
    for _ in range(200):
        piece = _text(rng) or "a"
        assert pair[1]._encode_single_piece(piece) == pair[0]._encode_single_piece(piece)


def test_encode_only_native_bpe(pair: Pair) -> None:
    pytest.importorskip("regex", reason="the package regex is not installed")
    rng = random.Random("native")
    for _ in range(50):
        text = _text(rng)
        wanted = pair[0]._encode_only_native_bpe(text)
        assert pair[1]._encode_only_native_bpe(text) == wanted


def test_ids_and_texts(pair: Pair) -> None:
    rng = random.Random("ids and texts")
    for _ in range(200):
        text = _text(rng) + rng.choice(["", "", "\ud800", "\ud83d\ude00"])
        calls: list[Callable[[Any], Any]] = [
            lambda one: one.encode_ordinary(text),  # noqa: B023
            lambda one: one.encode(text, allowed_special="all"),  # noqa: B023
            lambda one: one.encode(text, allowed_special={"<|x|>"}),  # noqa: B023
            lambda one: one.encode(text, disallowed_special=()),  # noqa: B023
            lambda one: one.encode_batch([text, "a"], disallowed_special={"a"}),  # noqa: B023
            lambda one: one.encode_to_numpy(text, allowed_special="all").tolist(),  # noqa: B023
        ]
        for call in calls:
            found = both(*pair, call)
            assert found is None or found[0] == found[1]
        ids = pair[0].encode(text, allowed_special="all")[: rng.randrange(9)]
        for name in ("decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
            found = both(*pair, lambda one: getattr(one, name)(ids))  # noqa: B023
            assert found is None or found[0] == found[1], name
    for number in (0, 255, 700, 900, 902, 903, 904, 100_261, 100_300, -1):
        for name in ("decode_single_token_bytes", "is_special_token"):
            found = both(*pair, lambda one: getattr(one, name)(number))  # noqa: B023
            assert found is None or found[0] == found[1], (name, number)
