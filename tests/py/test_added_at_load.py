"""`load(…, added_tokens=…)` against `add_tokens` of tokenizers, on small models and real ones."""

from __future__ import annotations

import pickle
import random
from typing import Any

import isotok
import pytest
from isotok import AddedToken
from isotok import _layout_gen as abi
from isotok._added import source_of
from isotok._files import aligned_copy
from isotok.compile import compile_model
from isotok.compile._tiktoken import tiktoken_fields
from isotok.compile.pretok.tiktoken import PATTERNS
from isotok.compile.tokenizer_json.added import _conflict
from isotok.errors import TokenizerError
from support import hf, toy_hf

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

SLOW = ("word piece, bert",)
SPARSE = ("bytes, sparse", "word piece, sparse")
"""tokenizers numbers on from the number of entries, and gives ids twice."""
REFUSALS = ("white space that one takes", "stand for other bytes")


def _tokens(rng: random.Random, contents: list[str], count: int) -> list[AddedToken]:
    style = rng.choice((0.0, 0.2, 0.5))
    chosen = rng.sample(contents, min(count, len(contents)))
    return [
        AddedToken(
            content,
            special=rng.random() < 0.5,
            lstrip=rng.random() < style,
            rstrip=rng.random() < style,
            single_word=rng.random() < style,
        )
        for content in chosen
    ]


def _reference(source: str, tokens: list[AddedToken]) -> Any:
    ref = tokenizers.Tokenizer.from_str(source)
    for token in tokens:
        members = token._asdict()
        del members["id"]
        ref.add_tokens([tokenizers.AddedToken(**members)])
    return ref


def _load(blob: bytes, tokens: list[AddedToken], backend: str) -> isotok.Tokenizer | None:
    """None if one search would not do."""
    try:
        return isotok.load(blob, backend=backend, added_tokens=tokens, verify="full")  # type: ignore[arg-type]
    except TokenizerError as error:
        assert any(reason in str(error) for reason in REFUSALS), error
        return None


def _same(
    tok: isotok.Tokenizer,
    ref: Any,
    text: str,
    rng: random.Random,
    own: frozenset[int] = frozenset(),
) -> None:
    for _ in hf.same_by_special(tok, ref, text, own):
        pass
    want = ref.encode(text)
    parts = hf.cut(text.encode(), rng)
    assert [i for ids in tok.encode_stream(parts) for i in ids] == want.ids
    assert tok.decode(want.ids) == ref.decode(want.ids)
    whole = ref.decode(want.ids, skip_special_tokens=False)
    assert tok.decode(want.ids, skip_special_tokens=False) == whole


def _check_ids(tok: isotok.Tokenizer, ref: Any, tokens: list[AddedToken]) -> None:
    assert tok.vocab_size == ref.get_vocab_size()
    for token in tokens:
        number = tok.piece_to_id(token.content)
        assert number == ref.token_to_id(token.content)
        assert tok.id_to_piece(number) == token.content


@pytest.mark.parametrize("name", [name for name in toy_hf.MODELS if name not in SPARSE])
def test_random_sets(name: str, backend: str) -> None:
    """Without added tokens of the model's own, and beside them; in its vocabulary, and not."""
    rng = random.Random(f"{name} at load")
    compared = 0
    for round_ in range(4 if name in SLOW else 20):
        own = toy_hf.added_tokens(rng, rng.randrange(1, 6), normalized=0) if round_ % 2 else []
        source = toy_hf.dump(toy_hf.MODELS[name], added_tokens=own)
        try:
            blob = compile_model(source.encode())
        except TokenizerError:
            continue
        contents = [*toy_hf.CONTENTS, *rng.sample(toy_hf.SPACED, 1), *(t["content"] for t in own)]
        tokens = _tokens(rng, sorted(set(contents)), rng.randrange(1, 8))
        tok = _load(blob, tokens, backend)
        if tok is None:
            continue
        ref = _reference(source, tokens)
        _check_ids(tok, ref, tokens)
        names = [token.content for token in tokens] + [t["content"] for t in own]
        for _ in range(20):
            _same(tok, ref, toy_hf.text(rng, names), rng)
        compared += 1
        tok.close()
    assert compared > 1


@pytest.mark.parametrize("name", hf.NAMES)
def test_real_models(name: str, backend: str) -> None:
    """Pieces, tokens of the model with other flags, and new ones."""
    rng = random.Random(f"{name} at load")
    blob, source = hf.blob(name), hf.source(name).decode()
    own = [token["content"] for token in hf.added(name)]
    late = [t for t in hf.added(name) if t["normalized"]]
    barred = frozenset(t["id"] for t in hf.added(name) if t["special"])
    ref = hf.reference(name)
    some = [ref.id_to_token(rng.randrange(ref.get_vocab_size())) for _ in range(40)]
    pieces = [t for t in some if t and t.isascii() and t.isprintable() and len(t) > 2]
    new = ["<user>", "<|im|>", "hello world", "Ω x", "ab", "</s", "[X]", "🙂🙂", "日本語"]
    contents = sorted({*new, *pieces[:6], *own[:4]})
    for _ in range(3):
        tokens = _tokens(rng, contents, 8)
        tokens = [t for t in tokens if not any(_overlaps(t, each) for each in late)]
        tok = _load(blob, tokens, backend)
        if tok is None:
            continue
        ref = _reference(source, tokens)
        _check_ids(tok, ref, tokens)
        names = [token.content for token in tokens] + own[:4]
        for _ in range(25):
            bits = rng.choices([*names, *hf.BITS, hf.corpus("multi", 300), " ", "\n"], k=8)
            _same(tok, ref, "".join(bits), rng, barred - {tok.unk_id})
        tok.close()


def _overlaps(token: AddedToken, late: dict[str, Any]) -> bool:
    """A token that tokenizers looks for later may begin inside one of these."""
    second = AddedToken(**{k: v for k, v in late.items() if k != "id"})
    return token.content != second.content and bool(_conflict(second, token))  # type: ignore[arg-type]


def test_many(backend: str) -> None:
    """6,400 tokens; ids in order, and a set of them."""
    blob = compile_model(toy_hf.dump(toy_hf.MODELS["bytes"]).encode())
    names = [f"<unused{i}>" for i in range(6400)]
    with isotok.load(blob, backend=backend) as bare:  # type: ignore[arg-type]
        size = bare.vocab_size
    with isotok.load(blob, backend=backend, added_tokens=names) as tok:  # type: ignore[arg-type]
        assert tok.vocab_size == size + 6400
        text = " ".join(names)
        assert [i for i in tok.encode(text) if i >= size] == list(range(size, size + 6400))
        assert tok.decode(tok.encode(text)) == text
        assert tok.decode([size + 6400]) == ""  # as in tokenizers
    special = [AddedToken(name, special=True) for name in names]
    with isotok.load(blob, backend=backend, added_tokens=special) as tok:  # type: ignore[arg-type]
        chosen = set(names[::3])
        found = [i for i in tok.encode(text, special=chosen) if i >= size]
        assert found == list(range(size, size + 6400, 3))
        assert tok.decode(tok.encode(text)) == " " * 6399


def test_rank_file(backend: str) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the reference library is not installed")
    ranks = {bytes([i]): i for i in range(256)} | {b"th": 256, b"the": 257}
    made: dict[str, Any] = {"pat_str": PATTERNS["cl100k_base"], "mergeable_ranks": ranks}
    blob = compile_model(tiktoken_fields(ranks, made["pat_str"], {"<|end|>": 260}))
    more = {"<|a|>": 261, "the cat": 262, "é🙂": 263}
    ref = tiktoken.Encoding("toy", special_tokens={"<|end|>": 260} | more, **made)
    added = [AddedToken(text, special=True, id=number) for text, number in more.items()]
    rng = random.Random(3)
    with isotok.load(blob, backend=backend, added_tokens=added) as tok:  # type: ignore[arg-type]
        for _ in range(100):
            text = "".join(rng.choices([*more, "<|end|>", "the", " ", "cat", "é", "<|"], k=8))
            want = ref.encode(text, allowed_special="all")
            assert tok.encode(text, special="all") == want
            assert tok.decode(want) == text
            assert tok.encode(text) == ref.encode_ordinary(text)


def test_the_same_in_other_forms(backend: str) -> None:
    blob = compile_model(toy_hf.dump(toy_hf.MODELS["word piece"]).encode())
    texts: list[Any] = ["<a>", "ab"]
    wanted = isotok.load(blob, backend=backend, added_tokens=texts)  # type: ignore[arg-type]
    ids = wanted.encode("<a> ab<a>x")
    for given in (
        [{"content": "<a>"}, {"content": "ab", "id": wanted.piece_to_id("ab")}],
        [tokenizers.AddedToken("<a>"), tokenizers.AddedToken("ab", normalized=False)],
        iter(texts),
        ["ab", "<a>", AddedToken("<a>", lstrip=True), "<a>"],
    ):
        with isotok.load(blob, backend=backend, added_tokens=given) as tok:  # type: ignore[arg-type]
            assert tok.encode("<a> ab<a>x") == ids
    assert pickle.loads(pickle.dumps(wanted)).encode("<a> ab<a>x") == ids
    with isotok.load(blob, backend=backend, added_tokens=[]) as tok:  # type: ignore[arg-type]
        assert tok.vocab_size + 1 == wanted.vocab_size


def test_errors(backend: str) -> None:
    def load(tokens: Any, name: str = "bytes") -> None:
        blob = compile_model(toy_hf.dump(toy_hf.MODELS[name]).encode())
        isotok.load(blob, backend=backend, added_tokens=tokens).close()  # type: ignore[arg-type]

    for tokens in ("ab", {"content": "a"}, [5], [None], [{"content": 5}], [{"special": True}]):
        with pytest.raises(TypeError, match=r"added_tokens|content"):
            load(tokens)
    for tokens, reason in (
        ([AddedToken("a", special=1)], "special must be"),  # type: ignore[arg-type]
        ([AddedToken("a", id=1.5)], "id must be"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=reason):
            load(tokens)
    for tokens, reason in (
        (["a", ""], r"added_tokens\[1\] \(''\).*empty"),
        (["a" * 8000], "8,000 bytes"),
        (["\ud800"], "lone surrogate"),
        ([{"content": "a", "strip": True}], "'strip' is unknown"),
        (["<a>", "Ġab"], r"added_tokens\[1\] \('Ġab'\).*stand for other bytes"),
        ([AddedToken("<a>", rstrip=True), " b"], "white space that one takes"),
        ([AddedToken("<a>", id=5)], "'<a>' has the id"),
    ):
        with pytest.raises(TokenizerError, match=reason):
            load(tokens)
    with pytest.raises(TokenizerError, match="normalized=True behind a normalizer"):
        load([AddedToken("<a>", normalized=True)], "llama")
    with pytest.raises(TokenizerError, match=r"only for models from a tokenizer\.json"):
        isotok.load(backend=backend, added_tokens=["<a>"])  # type: ignore[arg-type]


def test_damaged() -> None:
    """Any bytes over a base give a model or an error."""
    native = pytest.importorskip("isotok._native")
    rng = random.Random(17)
    opened = 0
    for name in ("bytes", "llama", "word piece", "unigram"):
        base = compile_model(toy_hf.dump(toy_hf.MODELS[name]).encode())
        tokens = (AddedToken("<a>"), AddedToken("ab", special=True, lstrip=True))
        made = native.compile(base, abi.SOURCE_PACKED, abi.FORM_ADDED, source_of(tokens))
        good = bytes(memoryview(made))
        aligned = aligned_copy(base)
        for _ in range(300):
            damaged = aligned_copy(good)
            for _ in range(rng.randrange(1, 4)):
                end = rng.choice((64, 500, len(good)))
                damaged[rng.randrange(end)] = rng.randrange(256)
            try:
                model = native.open(aligned, abi.VERIFY_SAFE, 0, damaged)
            except TokenizerError:
                continue
            opened += 1
            model.encode("ab <a> x\xe9", abi.SPECIAL, 0)
            model.decode(list(range(model.info()[1])), False, abi.KEEP_SPECIAL)
        for size in range(64, len(good), 97):
            with pytest.raises(TokenizerError):
                native.open(aligned, abi.VERIFY_SAFE, 0, aligned_copy(good[:size]))
    assert opened > 20
