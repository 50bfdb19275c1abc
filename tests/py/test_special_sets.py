"""`special=` as a set of tokens: against tiktoken's `allowed_special`, and against tokenizers
with no other special tokens."""

from __future__ import annotations

import random
from array import array
from typing import Any

import isotok
import pytest
from isotok.compile import compile_model
from isotok.compile._tiktoken import tiktoken_fields
from isotok.compile.pretok.tiktoken import PATTERNS
from isotok.errors import TokenizerError
from support import data, toy_hf

tiktoken = pytest.importorskip("tiktoken", reason="the reference library is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

# No one begins with another: which of the two tiktoken finds then is up to its hash table.
SPECIAL = {"<|end|>": 400, "|><|": 402, "d|>x": 405, "é<": 406, "ab": 407, "<|s|>": 420}
PIECES = [*SPECIAL, "<|", "|>", "en", "d", "a", "b", "x", " ", "\n", "é", "<", "the", "12"]
TEXTS = 300


@pytest.fixture(scope="module")
def pair() -> tuple[bytes, Any]:
    """A blob, and the same model in tiktoken."""
    ranks = {bytes([i]): i for i in range(256)} | {b"th": 256, b"the": 257, b"d|": 258}
    pattern = PATTERNS["cl100k_base"]
    reference = tiktoken.Encoding(
        "toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens=SPECIAL
    )
    return compile_model(tiktoken_fields(ranks, pattern, SPECIAL)), reference


def _every_call(tok: isotok.Tokenizer, text: str, special: Any, rng: random.Random) -> list[int]:
    """Ids of a text; all calls agree on them."""
    options: Any = {"special": special, "add_special_tokens": False}
    ids = tok.encode(text, **options)
    assert tok.encode_to_numpy(text, **options).tolist() == ids
    assert tok.encode_with_offsets(text, **options).ids == ids
    buffer = array("I", [0]) * (len(ids) + 1)
    assert tok.encode_into(buffer, text, **options) == len(ids)
    assert buffer[: len(ids)].tolist() == ids
    assert tok.encode_batch([text, "", text], output="list", **options) == [ids, [], ids]
    assert tok.encode_batch([text, text], threads=2, **options).ids.tolist() == ids * 2
    assert tok.count(text, **options) == len(ids)
    assert tok.count_batch([text], **options) == [len(ids)]
    limit = rng.randrange(len(ids) + 2)
    assert tok.fits(text, limit, **options) == (len(ids) <= limit)
    assert tok.truncate(text, limit, **options) == ids[:limit]
    cut = rng.randrange(len(text) + 1)
    parts = [text[:cut], text[cut:]]
    assert [i for part in tok.encode_stream(parts, **options) for i in part] == ids
    with tok.encoder(**options) as encoder:
        assert tok.encode(text, special="none", add_special_tokens=False) is not None
        assert encoder.push(parts[0]) + encoder.push(parts[1]) + encoder.flush() == ids
    return ids


def test_as_tiktoken(pair: tuple[bytes, Any], backend: str) -> None:
    rng = random.Random(5)
    with isotok.load(pair[0], backend=backend) as tok:  # type: ignore[arg-type]
        for _ in range(TEXTS):
            text = "".join(rng.choices(PIECES, k=rng.randrange(12)))
            chosen = rng.sample(list(SPECIAL), rng.randrange(len(SPECIAL) + 1))
            want = pair[1].encode(text, allowed_special=set(chosen), disallowed_special=())
            assert _every_call(tok, text, set(chosen), rng) == want, (text, chosen)
            ids: list[str | int] = [SPECIAL[t] if rng.random() < 0.5 else t for t in chosen]
            assert tok.encode(text, special=ids) == want


def test_long_texts(pair: tuple[bytes, Any], backend: str) -> None:
    """More than a window holds; sets of all sizes one after another, which share memory."""
    rng = random.Random(6)
    with isotok.load(pair[0], backend=backend) as tok:  # type: ignore[arg-type]
        text = "".join(rng.choices(PIECES, k=200_000))
        for size in (1, 6, 3, 0, 5):
            chosen = set(rng.sample(list(SPECIAL), size))
            want = pair[1].encode(text, allowed_special=chosen, disallowed_special=())
            assert tok.encode(text, special=chosen) == want
            assert tok.encode("<|end|>", special="all") == [400]


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_published(name: str, backend: str) -> None:
    path = data.models_dir() / f"{name}.tiktoken"
    if not path.exists():
        pytest.skip(f"no {name}.tiktoken")
    from isotok.compile._tiktoken import SPECIAL_TOKENS, read_ranks

    known = SPECIAL_TOKENS[name]
    reference = tiktoken.Encoding(
        name,
        pat_str=PATTERNS[name],
        mergeable_ranks=read_ranks(path.read_bytes()),
        special_tokens=dict(known),
    )
    rng = random.Random(name)
    with isotok.load(path, backend=backend) as tok:  # type: ignore[arg-type]
        for _ in range(50):
            text = "".join(rng.choices([*known, "user: ", "hello", "<|", "日本", "\n"], k=9))
            chosen = set(rng.sample(list(known), rng.randrange(len(known) + 1)))
            want = reference.encode(text, allowed_special=chosen, disallowed_special=())
            assert tok.encode(text, special=chosen) == want


def _only(source: dict[str, Any], chosen: set[str]) -> Any:
    """The model in tokenizers, with these special tokens alone."""
    kept = [t for t in source["added_tokens"] if not t["special"] or t["content"] in chosen]
    return tokenizers.Tokenizer.from_str(toy_hf.dump(source, added_tokens=kept))


@pytest.mark.parametrize("name", ["bytes", "llama", "word piece", "unigram"])
def test_as_tokenizers(name: str, backend: str) -> None:
    """Others are not there at all; those that are no special tokens are found as ever."""
    rng = random.Random(f"{name} sets")
    compared = 0
    for _ in range(12):
        added = toy_hf.added_tokens(rng, rng.randrange(2, 9), normalized=0)
        source = toy_hf.MODELS[name] | {"added_tokens": added}
        try:
            tok = isotok.load(compile_model(toy_hf.dump(source).encode()), backend=backend)  # type: ignore[arg-type]
        except TokenizerError:
            continue  # two that can overlap, or one that is a byte
        special = [token["content"] for token in added if token["special"]]
        contents = [token["content"] for token in added]
        for _ in range(4):
            chosen = set(rng.sample(special, rng.randrange(len(special) + 1)))
            ref = _only(source, chosen)
            for _ in range(15):
                text = toy_hf.text(rng, contents)
                want = ref.encode(text)
                number = {i: t.content for i, t in ref.get_added_tokens_decoder().items()}
                ids = [tok.piece_to_id(number[i]) if i in number else i for i in want.ids]
                found = tok.encode_with_offsets(text, special=chosen, add_special_tokens=False)
                assert found.ids == ids, (text, chosen)
                assert found.offsets == want.offsets, (text, chosen)
                assert _every_call(tok, text, chosen, rng) == ids
                compared += 1
        tok.close()
    assert compared > 100


def test_errors(pair: tuple[bytes, Any], backend: str) -> None:
    with isotok.load(pair[0], backend=backend) as tok:  # type: ignore[arg-type]
        unknown: tuple[Any, ...] = ("the", "<|end|>x", "", "|>", 257, 401, 10**9, -1)
        for member in unknown:
            with pytest.raises(TokenizerError, match="is no special token") as raised:
                tok.encode("a", special={"ab", member})
            assert repr(member) in str(raised.value)
        wrong: tuple[Any, ...] = ("ab", 400, [["ab"]], object())
        for special in wrong:
            with pytest.raises(TokenizerError, match="is unknown; use"):
                tok.count("a", special=special)
        with pytest.raises(TokenizerError, match="neither a text nor an id"):
            tok.encode_batch(["a"], special=[4.0])  # type: ignore[list-item]


def test_no_special_tokens(backend: str) -> None:
    with isotok.load(backend=backend) as tok:  # type: ignore[arg-type]
        assert tok.encode("a </s>", special=set()) == tok.encode("a </s>")
        with pytest.raises(TokenizerError, match="'</s>' is no special token"):
            tok.encode("a </s>", special={"</s>"})


def test_compat() -> None:
    """Programs for tiktoken; also where two special tokens have one id."""
    from isotok.compat import tiktoken as ours

    ranks = {bytes([i]): i for i in range(256)} | {b"th": 256, b"the": 257, b"d|": 258}
    special = SPECIAL | {"<|also|>": 420}
    made: dict[str, Any] = {"pat_str": PATTERNS["cl100k_base"], "mergeable_ranks": ranks}
    reference = tiktoken.Encoding("toy", special_tokens=special, **made)
    encoding = ours.Encoding("toy", special_tokens=special, **made)
    rng = random.Random(8)
    for _ in range(TEXTS):
        text = "".join(rng.choices([*PIECES, "<|also|>"], k=rng.randrange(12)))
        chosen = set(rng.sample(list(special), rng.randrange(len(special) + 1)))
        allowed = rng.choice([chosen, chosen, "all"])
        want = reference.encode(text, allowed_special=allowed, disallowed_special=())
        options: dict[str, Any] = {"allowed_special": allowed, "disallowed_special": ()}
        assert encoding.encode(text, **options) == want, (text, allowed)
        assert encoding.encode_to_numpy(text, **options).tolist() == want
        assert encoding.encode_batch([text, "a"], **options)[0] == want
