"""isotok.compat.tokenizers: names, signatures, errors, files and added tokens of tokenizers."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isotok.compat import tokenizers as ours
from support.encodings import attempt, both, same
from support.trained import ALPHABET, KINDS, trained, varied

theirs = pytest.importorskip("tokenizers", reason="the reference library is not installed")

CLASSES = ("Tokenizer", "Encoding", "AddedToken")


def opened(json: str) -> tuple[Any, Any]:
    return theirs.Tokenizer.from_str(json), ours.Tokenizer.from_str(json)


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.mark.parametrize("name", CLASSES)
def test_names_and_signatures(name: str) -> None:
    wanted, found = getattr(theirs, name), getattr(ours, name)
    assert public(found) == public(wanted)
    for method in public(found):
        if not callable(getattr(wanted, method)):
            continue
        parameters = [
            [
                (p.name, p.default)
                for p in inspect.signature(getattr(one, method)).parameters.values()
            ]
            for one in (wanted, found)
        ]
        assert parameters[0] == parameters[1], method


BAD_CALLS: list[Callable[[Any], Any]] = [
    lambda t: t.encode(1),
    lambda t: t.encode(None),
    lambda t: t.encode(b"text"),
    lambda t: t.encode("\ud800"),
    lambda t: t.encode(["a", "b"]),
    lambda t: t.encode("a", 1),
    lambda t: t.encode("a", add_special_tokens=1),
    lambda t: t.encode("a", is_pretokenized=True),
    lambda t: t.encode(["a", 1], is_pretokenized=True),
    lambda t: t.encode(["a"], "b", is_pretokenized=True),
    lambda t: t.encode_batch("text"),
    lambda t: t.encode_batch(None),
    lambda t: t.encode_batch([1]),
    lambda t: t.encode_batch([("a", "b", "c")]),
    lambda t: t.encode_batch([("a", 1)]),
    lambda t: t.encode_batch(["a"], is_pretokenized=True),
    lambda t: t.encode_batch_fast([None]),
    lambda t: t.decode(["a"]),
    lambda t: t.decode("1"),
    lambda t: t.decode(1),
    lambda t: t.decode([-1]),
    lambda t: t.decode([1 << 32]),
    lambda t: t.decode([1.5]),
    lambda t: t.decode([1], skip_special_tokens="yes"),
    lambda t: t.decode_batch([1]),
    lambda t: t.token_to_id(1),
    lambda t: t.id_to_token("a"),
    lambda t: t.id_to_token(-1),
    lambda t: t.get_vocab(1),
    lambda t: t.num_special_tokens_to_add(1),
    lambda t: t.enable_truncation("a"),
    lambda t: t.enable_truncation(-1),
    lambda t: t.enable_truncation(1, 2),
    lambda t: t.enable_truncation(4, stride=5),
    lambda t: t.enable_truncation(4, strategy="longest"),
    lambda t: t.enable_truncation(4, direction="up"),
    lambda t: t.enable_padding(direction="up"),
    lambda t: t.enable_padding(pad_id="a"),
    lambda t: t.enable_padding(pad_id=-1),
    lambda t: t.enable_padding(pad_token=1),
    lambda t: t.enable_padding(1),
    lambda t: t.add_tokens("a"),
    lambda t: t.add_tokens([1]),
    lambda t: t.add_special_tokens((1,)),
    lambda t: t.post_process("a"),
    lambda t: t.encode("hello world").char_to_token("a"),
    lambda t: t.encode("hello world").char_to_token(-1),
    lambda t: t.encode("hello world").truncate(1, direction="up"),
    lambda t: t.encode("hello world").pad(9, direction="up"),
    lambda t: t.encode("hello world").pad("a"),
    lambda t: type(t.encode("a")).merge([1]),
    lambda t: setattr(t, "encode_special_tokens", 1),
    lambda t: setattr(t, "truncation", None),
    lambda t: type(t).from_file(1),
    lambda t: type(t).from_file("/no such file"),
    lambda t: type(t).from_str(b"{}"),
    lambda t: type(t).from_str("{"),
    lambda t: type(t).from_buffer("{}"),
    lambda t: type(t).from_buffer(b"{}"),
]


@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_bad_calls(number: int) -> None:
    reference, tokenizer = opened(trained("bytes"))
    expected = attempt(lambda: BAD_CALLS[number](reference))[1]
    found = attempt(lambda: BAD_CALLS[number](tokenizer))[1]
    assert isinstance(expected, Exception)
    assert isinstance(found, type(expected)), (expected, found)


def test_what_there_is_not() -> None:
    tokenizer = ours.Tokenizer.from_str(trained("bytes"))
    with pytest.raises(NotImplementedError, match="from_file"):
        ours.Tokenizer.from_pretrained("gpt2")
    with pytest.raises(NotImplementedError, match="train"):
        tokenizer.train([])
    with pytest.raises(NotImplementedError, match="train"):
        tokenizer.train_from_iterator([])


def test_unknown_options(capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = ours.Tokenizer.from_str(trained("bytes"))
    tokenizer.enable_padding(size=3)
    assert capsys.readouterr().out == "Ignored unknown kwarg option size\n"
    tokenizer.enable_padding(max_length=3)
    assert tokenizer.padding is not None
    assert tokenizer.padding["length"] == 3


# ---- Files --------------------------------------------------------------------------


def test_files(tmp_path: Path) -> None:
    reference, tokenizer = opened(trained("word_piece"))
    for one in (reference, tokenizer):
        one.enable_truncation(9, stride=2, strategy="only_first", direction="left")
        one.enable_padding(direction="left", length=7, pad_token="é", pad_to_multiple_of=4)
        one.add_special_tokens(["<new>"])
    for pretty in (True, False):
        assert tokenizer.to_str(pretty) == reference.to_str(pretty)
        tokenizer.save(str(tmp_path / "ours.json"), pretty)
        reference.save(str(tmp_path / "theirs.json"), pretty)
        assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()
    again = ours.Tokenizer.from_file(str(tmp_path / "ours.json"))
    assert again.truncation == reference.truncation
    assert again.padding == reference.padding
    same(reference.encode("hello <new> world"), again.encode("hello <new> world"))


def test_broken_settings() -> None:
    whole = json.loads(trained("bytes"))
    right = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    for name, value in {"direction": "Up", "max_length": -1, "strategy": 1, "stride": None}.items():
        whole["truncation"] = right | {name: value}
        with pytest.raises(ValueError, match=f"truncation.{name}"):
            ours.Tokenizer.from_buffer(json.dumps(whole).encode())
    whole["truncation"] = None
    whole["padding"] = {"strategy": {"Fixed": "a"}, "direction": "Left"}
    with pytest.raises(ValueError, match="padding"):
        ours.Tokenizer.from_buffer(json.dumps(whole).encode())


def test_copies() -> None:
    reference, tokenizer = opened(trained("bytes"))
    tokenizer.enable_truncation(3)
    reference.enable_truncation(3)
    for one in (
        pickle.loads(pickle.dumps(tokenizer)),
        copy.copy(tokenizer),
        copy.deepcopy(tokenizer),
    ):
        same(reference.encode("hello world hello"), one.encode("hello world hello"))
        one.no_truncation()
        assert tokenizer.truncation == reference.truncation
    encoding = tokenizer.encode("hello world hello")
    same(encoding, copy.deepcopy(encoding))
    # what was pickled there is read here
    state = reference.encode("hello world hello").__getstate__()
    made = ours.Encoding()
    made.__setstate__(state)
    same(encoding, made)


# ---- Added tokens -------------------------------------------------------------------


def test_added_token() -> None:
    options: list[dict[str, Any]] = [{}, {"special": True}, {"lstrip": True, "normalized": False}]
    for kwargs in options:
        wanted, found = theirs.AddedToken("a", **kwargs), ours.AddedToken("a", **kwargs)
        assert repr(found) == repr(wanted)
        assert str(found) == str(wanted)
        assert found.__getstate__() == wanted.__getstate__()
        assert repr(pickle.loads(pickle.dumps(found))) == repr(wanted)
        for token in (wanted, found):
            token.special = True
            token.content = "b"
        assert repr(found) == repr(wanted)
        with pytest.raises(AttributeError):
            found.lstrip = True
    assert ours.AddedToken("a") == ours.AddedToken("a")
    assert ours.AddedToken("a") != ours.AddedToken("a", special=True)
    assert ours.AddedToken("a") != "a"
    assert not ours.AddedToken("a") < ours.AddedToken("b")
    assert len({ours.AddedToken("a"), ours.AddedToken("a")}) == 1
    for bad in (lambda m: m.AddedToken(1), lambda m: m.AddedToken("a", lstrip=1)):
        assert both(theirs, ours, bad) is None


@pytest.mark.parametrize("kind", KINDS)
def test_added_tokens(kind: str) -> None:
    reference, tokenizer = opened(trained(kind))
    rng = random.Random(kind)

    def add(module: Any, one: Any) -> tuple[int, ...]:
        plain = {"normalized": False}
        return (
            one.add_tokens(
                [module.AddedToken("hello", **plain), module.AddedToken("zzz", **plain)]
            ),
            one.add_special_tokens(["<new>", "<s>", "", module.AddedToken("<two>", lstrip=True)]),
            one.add_tokens([module.AddedToken("zzz", **plain)]),
            one.add_tokens([module.AddedToken("zzz", single_word=True, **plain)]),
        )

    assert add(ours, tokenizer) == add(theirs, reference)
    assert tokenizer.get_vocab() == reference.get_vocab()
    assert repr(tokenizer.get_added_tokens_decoder()) == repr(reference.get_added_tokens_decoder())
    for _ in range(60):
        parts = [*ALPHABET, "<new>", "zzz", "<two>", " "]
        text = "".join(rng.choice(parts) for _ in range(rng.randrange(9)))
        same(reference.encode(text), tokenizer.encode(text))
        ids = reference.encode(text).ids
        assert tokenizer.decode(ids) == reference.decode(ids)


def test_special_token_is_marked() -> None:
    token = ours.AddedToken("<new>")
    ours.Tokenizer.from_str(trained("bytes")).add_special_tokens([token])
    assert token.special


# ---- Awaitables and arrays ------------------------------------------------------------


def test_async() -> None:
    tokenizer = ours.Tokenizer.from_str(trained("bytes"))

    async def run() -> None:
        same(tokenizer.encode("hello"), await tokenizer.async_encode("hello"))
        for name in ("encode_batch", "encode_batch_fast"):
            wanted = getattr(tokenizer, name)(["hello", ("a", "b")])
            found = await getattr(tokenizer, f"async_{name}")(["hello", ("a", "b")])
            for one, other in zip(wanted, found, strict=True):
                same(one, other)
        assert await tokenizer.async_decode_batch([[4, 5]]) == tokenizer.decode_batch([[4, 5]])

    asyncio.run(run())


def test_arrays() -> None:
    np = pytest.importorskip("numpy")
    reference, tokenizer = opened(varied("bytes"))
    words = np.array(["hello", "world"], dtype=object)
    same(
        reference.encode(words, is_pretokenized=True), tokenizer.encode(words, is_pretokenized=True)
    )
    ids = np.array([4, 5, 6])
    assert tokenizer.decode(ids) == reference.decode(ids)
    for one in tokenizer.encode_batch(np.array(["hello", "world"])):
        assert one.ids in [tokenizer.encode(text).ids for text in ("hello", "world")]
