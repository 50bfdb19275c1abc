"""isotok.compat.tokenizers: encodings as those of tokenizers 0.23.3, on models of all kinds."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest
from isotok.compat import tokenizers as ours
from support.encodings import both, same, same_calls, same_lookups
from support.trained import ALPHABET, KINDS, trained, varied

theirs = pytest.importorskip("tokenizers", reason="the reference library is not installed")


def _byte_level(prefix: bool, trim: bool = True) -> dict[str, Any]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": trim,
        "use_regex": True,
    }


def _roberta(prefix: bool, trim: bool) -> dict[str, Any]:
    ends = {"sep": ["</s>", 1], "cls": ["<s>", 2]}
    return {"type": "RobertaProcessing", **ends, "trim_offsets": trim, "add_prefix_space": prefix}


def _sequence(*steps: object) -> dict[str, Any]:
    return {"type": "Sequence", "processors": list(steps)}


BERT = {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 2]}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "x", "type_id": 3}},
        {"Sequence": {"id": "A", "type_id": 1}},
    ],
    "pair": [
        {"Sequence": {"id": "B", "type_id": 2}},
        {"SpecialToken": {"id": "x", "type_id": 3}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ],
    "special_tokens": {"x": {"id": "x", "ids": [5, 6], "tokens": ["five", "six"]}},
}
PROCESSORS: dict[str, Any] = {
    "none": None,
    "trim": _byte_level(False),
    "trim, prefix": _byte_level(True),
    "roberta": _roberta(False, False),
    "roberta, trim": _roberta(False, True),
    "roberta, trim, prefix": _roberta(True, True),
    "bert": BERT,
    "template": TEMPLATE,
    "trim, template": _sequence(_byte_level(False), TEMPLATE),
    "bert, trim": _sequence(BERT, _byte_level(True)),
    "template, trim": _sequence(TEMPLATE, _byte_level(True)),
}
STRIPS = {"lstrip": True, "rstrip": True}


def opened(json: str) -> tuple[Any, Any]:
    return theirs.Tokenizer.from_str(json), ours.Tokenizer.from_str(json)


def texts(rng: random.Random) -> Any:
    return lambda: "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(10)))


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTOK_BACKEND", backend)
    rng = random.Random(f"{kind} 1")
    for added in ({}, STRIPS, {"single_word": True}):
        pair = opened(varied(kind, added=added))
        same_calls(*pair, rng, texts(rng), 60)


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("kind", ["bytes", "bytes_prefix", "word_piece"])
def test_processors(kind: str, processor: str) -> None:
    rng = random.Random(f"{kind} {processor}")
    pair = opened(varied(kind, post_processor=PROCESSORS[processor], added=STRIPS))
    # a token that is of two sequences: which it is told to be of is chance there
    skip = ["token_to_sequence"] if processor == "template, trim" else []
    same_calls(*pair, rng, texts(rng), 80, skip)


@pytest.mark.parametrize("kind", ["bytes", "unigram", "word_piece"])
def test_changes_of_encodings(kind: str) -> None:
    rng = random.Random(f"{kind} 2")
    reference, tokenizer = opened(varied(kind, post_processor=TEMPLATE))
    text = texts(rng)
    for _ in range(60):
        overlap = rng.randrange(2)
        for one in (reference, tokenizer):
            one.enable_truncation(8, stride=overlap)
        first, second = text(), text()
        made = both(reference, tokenizer, lambda t, a=(first, second): t.encode(*a))
        if made is None:
            continue
        wanted, found = made
        most, stride, side = rng.randrange(8), rng.randrange(2), rng.choice(["left", "right"])
        both(wanted, found, lambda e, a=(most, stride, side): e.truncate(*a))
        same(wanted, found)
        length, side = rng.randrange(20), rng.choice(["left", "right"])
        for one in (wanted, found):
            one.pad(length, direction=side, pad_id=9, pad_type_id=3, pad_token="x")
        same(wanted, found)
        growing = rng.random() < 0.5
        # every part of one is joined to every part of the others, and so are their parts
        if len(wanted.overflowing) < 3 and not any(p.overflowing for p in wanted.overflowing):
            wanted = theirs.Encoding.merge([wanted, made[0], wanted], growing)
            found = ours.Encoding.merge([found, made[1], found], growing)
            same(wanted, found)
            same_lookups(wanted, found, rng)
        same(wanted, pickle.loads(pickle.dumps(found)))
        for one in (wanted, found):
            one.set_sequence_id(1)
        same(wanted, found)


def test_encodings_do_not_change_each_other() -> None:
    _, tokenizer = opened(varied("bytes", post_processor=TEMPLATE))
    tokenizer.enable_truncation(4)
    encoding = tokenizer.encode("hello world hello")
    part = encoding.overflowing[0]
    before = part.ids
    part.pad(20)
    encoding.ids.append(7)
    encoding.tokens.clear()
    assert encoding.overflowing[0].ids == before
    assert len(encoding.tokens) == len(encoding.ids) == 4
    merged = ours.Encoding.merge([encoding, part])
    encoding.truncate(1)
    assert len(merged) == 24


def test_post_process() -> None:
    rng = random.Random(3)
    reference, tokenizer = opened(varied("bytes", post_processor=_roberta(False, True)))
    text = texts(rng)
    for _ in range(40):
        first, second, add = text(), text(), rng.random() < 0.5
        parts = [
            (one.encode(first, add_special_tokens=False), one.encode(second))
            for one in (reference, tokenizer)
        ]
        for one in (reference, tokenizer):
            one.enable_truncation(6)
            one.enable_padding(length=12)
        same(
            reference.post_process(*parts[0], add_special_tokens=add),
            tokenizer.post_process(*parts[1], add_special_tokens=add),
        )
        for one in (reference, tokenizer):
            one.no_truncation()
            one.no_padding()


@pytest.mark.parametrize("kind", KINDS)
def test_decode_and_vocabulary(kind: str) -> None:
    rng = random.Random(f"{kind} 4")
    reference, tokenizer = opened(trained(kind))
    size = reference.get_vocab_size()
    for _ in range(100):
        ids = [rng.randrange(size + 5) for _ in range(rng.randrange(8))]
        for skip in (True, False):
            assert tokenizer.decode(ids, skip) == reference.decode(ids, skip), ids
        assert [*map(tokenizer.id_to_token, ids)] == [*map(reference.id_to_token, ids)]
    batch = [[1, 2, 3], [], [size + 1, 4]]
    assert tokenizer.decode_batch(batch, False) == reference.decode_batch(batch, False)
    for with_added in (True, False):
        assert tokenizer.get_vocab(with_added) == reference.get_vocab(with_added)
        assert tokenizer.get_vocab_size(with_added) == reference.get_vocab_size(with_added)
    for token in [*reference.get_vocab(), "no token"]:
        assert tokenizer.token_to_id(token) == reference.token_to_id(token)
    wanted, found = (one.get_added_tokens_decoder() for one in (reference, tokenizer))
    assert [*map(repr, found.items())] == [*map(repr, wanted.items())]


@pytest.mark.parametrize("kind", ["bytes", "unigram", "bpe"])
def test_decode_stream(kind: str) -> None:
    from isotok.compat.tokenizers.decoders import DecodeStream
    from tokenizers.decoders import DecodeStream as Theirs

    rng = random.Random(f"{kind} 5")
    reference, tokenizer = opened(trained(kind))
    for skip in (True, False):
        for prompt in ([], [4, 5]):
            streams = Theirs(prompt, skip), DecodeStream(prompt, skip)
            for _ in range(60):
                number = rng.randrange(reference.get_vocab_size())
                new = rng.choice([number, [number, 3]])
                wanted = streams[0].step(reference, new)
                assert streams[1].step(tokenizer, new) == wanted
    with pytest.raises(TypeError, match="StreamInput"):
        DecodeStream().step(tokenizer, "1")  # type: ignore[arg-type]
