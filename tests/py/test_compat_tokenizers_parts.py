"""Components of isotok.compat.tokenizers: as those of tokenizers 0.23.3, each alone."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isotok.compat import tokenizers as ours
from isotok.compat.tokenizers import _json
from isotok.errors import TokenizerError
from support.components import DECODERS, MODELS, NORMALIZERS, PRE_TOKENIZERS, PROCESSORS, Make
from support.encodings import attempt, both, same
from support.trained import trained

theirs = pytest.importorskip("tokenizers", reason="the reference library is not installed")

ALL = {
    f"{role}: {name}": make
    for role, every in {
        "normalizer": NORMALIZERS,
        "pre_tokenizer": PRE_TOKENIZERS,
        "processor": PROCESSORS,
        "decoder": DECODERS,
        "model": MODELS,
    }.items()
    for name, make in every.items()
}
MODULES = ("normalizers", "pre_tokenizers", "processors", "decoders", "models")
ODD_SIGNATURES = {
    ("processors", "BertProcessing"),  # is no Python
    ("decoders", "Metaspace"),  # is no ASCII
    ("pre_tokenizers", "Metaspace"),  # says that the symbol is _
    ("normalizers", "Prepend"),  # says nothing of the default ▁
}
PIECES = [*" \t\n▁,.!?'aAbxQΩжéﬁ１中☃", "  ", "hello", "\u0301", "Ġ", "<0x41>", "_", "9", "##", "|"]


def pair(make: Make) -> tuple[Any, Any]:
    return make(theirs), make(ours)


def texts(seed: str, count: int = 60) -> list[str]:
    rng = random.Random(seed)
    return ["", *("".join(rng.choices(PIECES, k=rng.randrange(9))) for _ in range(count))]


# ---- What they are ------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_json_and_shown(name: str) -> None:
    wanted, found = pair(ALL[name])
    assert found.__getstate__() == wanted.__getstate__()
    assert repr(found) == repr(wanted)
    assert str(found) == str(wanted)
    assert type(found).__name__ == type(wanted).__name__ or name == "model: Model"
    for one in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(one) is type(found)
        assert one.__getstate__() == wanted.__getstate__()
    # what was pickled there is read here
    again = type(found).__new__(type(found))
    again.__setstate__(wanted.__getstate__())
    assert repr(again) == repr(wanted)


@pytest.mark.parametrize("module", MODULES)
def test_names_and_signatures(module: str) -> None:
    wanted, found = getattr(theirs, module), getattr(ours, module)
    classes = [name for name, one in vars(wanted).items() if inspect.isclass(one)]
    assert set(classes) <= set(found.__all__)
    for name in classes:
        one, other = getattr(wanted, name), getattr(found, name)
        public = {member for member in dir(one) if member[0] != "_"}
        assert {member for member in dir(other) if member[0] != "_"} == public, name
        hidden = {"_clear_cache", "_resize_cache"} & {*dir(one)}
        functions = [k for k in public | hidden if callable(getattr(one, k))]
        for member in functions:
            assert _parameters(getattr(other, member)) == _parameters(getattr(one, member)), member
        if (module, name) not in ODD_SIGNATURES:
            assert _parameters(other) == _parameters(one), name


def _parameters(function: Any) -> list[tuple[str, object]]:
    parameters = inspect.signature(function).parameters.values()
    shown = [p for p in parameters if p.kind is not p.VAR_KEYWORD or p.name == "kwargs"]
    return [(p.name, p.default) for p in shown if p.name != "self"]


VALUES = (True, False, None, "b", "", "isolated", "never", 3, -1, 0.25, ("x", 7))


@pytest.mark.parametrize("name", ALL)
def test_members(name: str) -> None:
    for member in _members(ALL[name](theirs)):
        for value in VALUES:
            _same_member(name, member, value)


def _same_member(name: str, member: str, value: object) -> None:
    wanted, found = pair(ALL[name])

    def compare() -> None:
        every = [attempt(lambda o=one: getattr(o, member))[0] for one in (wanted, found)]
        assert every[1] == every[0]

    compare()
    both(wanted, found, lambda one: setattr(one, member, value))
    compare()
    if member not in ("alpha", "nbest_size"):  # are no part of the file
        assert found.__getstate__() == wanted.__getstate__(), (member, value)


def _members(component: Any) -> list[str]:
    names = [name for name in dir(type(component)) if name[0] != "_"]
    return [name for name in names if not callable(getattr(type(component), name))]


BAD: list[Callable[[Any], Any]] = [
    lambda m: m.models.BPE({"a": 0}, None),
    lambda m: m.models.BPE({"a": 0}, [("a", "b")]),
    lambda m: m.models.BPE({"a": 0, "b": 1}, [("a", "b")]),
    lambda m: m.models.BPE({"a": 0}, "merges.txt"),
    lambda m: m.models.BPE({"a": 0}, ["a b"]),
    lambda m: m.models.BPE({"a": -1}, []),
    lambda m: m.models.BPE("no such vocab.json", "no such merges.txt"),
    lambda m: m.models.BPE(dropout=1.5),
    lambda m: m.models.BPE(dropout="a"),
    lambda m: m.models.BPE(fuse_unk=None),
    lambda m: m.models.BPE(end_of_word_suffix=None),
    lambda m: m.models.WordPiece(3),
    lambda m: m.models.WordPiece("no such vocab.txt"),
    lambda m: m.models.WordPiece(unk_token=None),
    lambda m: m.models.WordLevel({"a": "b"}),
    lambda m: m.models.Unigram([("a", 0.0)], 3),
    lambda m: m.models.Unigram([], 0),
    lambda m: m.models.Unigram(unk_id=0),
    lambda m: m.models.Unigram(["a"]),
    lambda m: m.models.Unigram([("a", "b")]),
    lambda m: m.normalizers.Normalizer(),
    lambda m: m.normalizers.Strip("a"),
    lambda m: m.normalizers.Strip(left=None),
    lambda m: m.normalizers.Strip(up=True),
    lambda m: m.normalizers.Prepend(None),
    lambda m: m.normalizers.Replace(3, ""),
    lambda m: m.normalizers.Replace("a", None),
    lambda m: m.normalizers.Replace("a", "b").pattern,
    lambda m: setattr(m.normalizers.Replace("a", "b"), "pattern", "c"),
    lambda m: m.normalizers.Precompiled(b"x"),
    lambda m: m.normalizers.Sequence(()),
    lambda m: m.normalizers.Sequence([1]),
    lambda m: m.normalizers.Sequence([m.normalizers.NFC()])[1],
    lambda m: m.normalizers.Sequence([m.normalizers.NFC()])[-1],
    lambda m: m.normalizers.Sequence([m.normalizers.NFC()])["a"],
    lambda m: m.normalizers.Sequence([m.normalizers.NFC()]).__setitem__(1, m.normalizers.NFC()),
    lambda m: m.normalizers.Sequence([m.normalizers.NFC()]).__setitem__(0, 1),
    lambda m: m.normalizers.Sequence([m.normalizers.NFC()]).__setitem__(
        0, m.normalizers.Sequence([])
    ),
    lambda m: m.normalizers.unicode_normalizer_from_str("nfx"),
    lambda m: m.normalizers.NFC().normalize_str(3),
    lambda m: m.pre_tokenizers.PreTokenizer(),
    lambda m: m.pre_tokenizers.Split("a", "x"),
    lambda m: m.pre_tokenizers.Punctuation("Isolated"),
    lambda m: m.pre_tokenizers.Metaspace("ab"),
    lambda m: m.pre_tokenizers.Metaspace(prepend_scheme="x"),
    lambda m: m.pre_tokenizers.CharDelimiterSplit(""),
    lambda m: m.pre_tokenizers.FixedLength(-1),
    lambda m: m.pre_tokenizers.Sequence([m.normalizers.NFC()]),
    lambda m: m.pre_tokenizers.Whitespace().pre_tokenize_str(None),
    lambda m: m.processors.PostProcessor(),
    lambda m: m.processors.BertProcessing("a", 1),
    lambda m: m.processors.BertProcessing(("a", "b"), ("c", 1)),
    lambda m: m.processors.TemplateProcessing(single=3),
    lambda m: m.processors.TemplateProcessing(single="[A]"),
    lambda m: m.processors.TemplateProcessing(single="$$"),
    lambda m: m.processors.TemplateProcessing(single="$A:x"),
    lambda m: m.processors.TemplateProcessing(single="$A:"),
    lambda m: m.processors.TemplateProcessing(single="$A:1:2"),
    lambda m: m.processors.TemplateProcessing(single="$4294967296"),
    lambda m: m.processors.TemplateProcessing(pair="$A"),
    lambda m: m.processors.TemplateProcessing(special_tokens=[3]),
    lambda m: m.processors.TemplateProcessing(special_tokens=[{"id": "a", "ids": [1]}]),
    lambda m: m.processors.TemplateProcessing(
        special_tokens=[{"id": "a", "ids": [1], "tokens": []}]
    ),
    lambda m: m.processors.ByteLevel().process("a"),
    lambda m: m.decoders.Decoder(),
    lambda m: m.decoders.Strip("ab"),
    lambda m: m.decoders.Strip("a", -1),
    lambda m: m.decoders.Sequence([3]),
    lambda m: m.decoders.Sequence(m.decoders.Fuse()),
    lambda m: m.decoders.Fuse().decode("text"),
    lambda m: m.decoders.Fuse().decode([1]),
    lambda m: m.Regex(3),
    lambda m: m.Tokenizer(3),
    lambda m: m.Tokenizer(None),
    lambda m: m.Tokenizer(),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_calls(number: int) -> None:
    assert both(theirs, ours, BAD[number]) is None


def test_unknown_options(capsys: pytest.CaptureFixture[str]) -> None:
    ours.models.BPE(size=3)
    ours.models.WordPiece(size=3)
    expected = "Ignored unknown kwarg option size\nIgnored unknown kwargs option size\n"
    assert capsys.readouterr().out == expected
    assert ours.pre_tokenizers.ByteLevel(size=3).add_prefix_space


def test_what_there_is_not() -> None:
    for call in (
        lambda: ours.normalizers.Normalizer.custom(3),
        lambda: ours.pre_tokenizers.PreTokenizer.custom(3),
        lambda: ours.decoders.Decoder.custom(3),
        lambda: ours.pre_tokenizers.Whitespace().pre_tokenize(3),
        lambda: ours.models.BPE().get_trainer(),
        lambda: ours.models.Unigram(alpha=0.5).tokenize("a"),
        lambda: ours.BertWordPieceTokenizer().train([]),
        lambda: ours.BertWordPieceTokenizer().train_from_iterator([]),
    ):
        with pytest.raises(NotImplementedError, match="isotok"):
            call()


def test_numbers() -> None:
    rng = random.Random(7)
    numbers = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(2000)]
    numbers += [-float(f"{rng.randrange(1, 99)}e{rng.randrange(-9, 25)}") for _ in range(2000)]
    kept = [number for number in numbers if abs(number) < 1e300]  # no infinity, and is one
    model = theirs.models.Unigram([("a", number) for number in kept], None)
    written = json.loads(model.__getstate__(), parse_float=str, parse_int=str)["vocab"]
    assert [_json.number(number) for number in kept] == [text for _, text in written]
    for number in [rng.random() for _ in range(200)]:
        state = theirs.models.BPE(dropout=number).__getstate__()
        assert ours.models.BPE(dropout=number).__getstate__() == state


# ---- What they do -------------------------------------------------------------------


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalize_str(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTOK_BACKEND", backend)
    wanted, found = pair(NORMALIZERS[name])
    for text in texts(name):
        assert found.normalize_str(text) == wanted.normalize_str(text), text
        one, other = theirs.NormalizedString(text), ours.NormalizedString(text)
        wanted.normalize(one)
        found.normalize(other)
        assert (repr(other), str(other)) == (repr(one), str(one))
        assert (other.original, other.normalized) == (one.original, one.normalized)


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_pre_tokenize_str(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTOK_BACKEND", backend)
    wanted, found = pair(PRE_TOKENIZERS[name])
    if name == "UnicodeScripts":
        with pytest.raises(TokenizerError, match=name):
            found.pre_tokenize_str("text")
        return
    for text in texts(name):
        assert found.pre_tokenize_str(text) == wanted.pre_tokenize_str(text), text


def test_precompiled() -> None:
    data = _charsmap()
    wanted, found = (m.normalizers.Precompiled(data) for m in (theirs, ours))
    assert found.__getstate__() == wanted.__getstate__()
    for text in texts("precompiled"):
        assert found.normalize_str(text) == wanted.normalize_str(text), text


def _charsmap() -> bytes:
    from isotok.compat.sentencepiece._charsmap import compile_rules

    rules = {"Ａ": "A", "ﬁ": "fi", "\t": " ", "é": "e", "a": ""}
    return compile_rules({k.encode(): v.encode() for k, v in rules.items()})


@pytest.mark.parametrize("name", DECODERS)
def test_decode(name: str) -> None:
    wanted, found = pair(DECODERS[name])
    rng = random.Random(name)
    more = [
        "<0xE5>",
        "<0x8f>",
        "<0xab>",
        "<0x+A>",
        "<0xé>",
        "<pad>",
        "don",
        " n't",
        " do not",
        "aa",
    ]
    for _ in range(150):
        tokens = [
            rng.choice([*more, "".join(rng.choices(PIECES, k=rng.randrange(4)))])
            for _ in range(rng.randrange(7))
        ]
        both_texts = both(wanted, found, lambda one, t=tokens: one.decode(t))
        if both_texts is not None:
            assert both_texts[1] == both_texts[0], tokens


@pytest.mark.parametrize("name", PROCESSORS)
def test_process(name: str) -> None:
    wanted, found = pair(PROCESSORS[name])
    reference = theirs.Tokenizer.from_str(trained("bytes"))
    tokenizer = ours.Tokenizer.from_str(trained("bytes"))
    rng = random.Random(name)
    for is_pair in (True, False):
        counts = [one.num_special_tokens_to_add(is_pair) for one in (wanted, found)]
        assert counts[0] == counts[1]
    for _ in range(40):
        first, second = ("".join(rng.choices(PIECES, k=rng.randrange(6))) for _ in range(2))
        add, alone = rng.random() < 0.7, rng.random() < 0.5
        results: list[Any] = []
        for one, processor in ((reference, wanted), (tokenizer, found)):
            other = None if alone else one.encode(second)
            results.append(processor.process(one.encode(first), other, add))
        same(*results)


# ---- Models -------------------------------------------------------------------------

REFUSED = {"BPE": "vanish", "BPE, ignore_merges": "vanish"}
"""Models that isotok refuses text of, with what it says."""


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str, tmp_path: Path) -> None:
    wanted, found = pair(MODELS[name])
    for text in ["a", "ab", "<unk>", "nothing", "é"]:
        assert found.token_to_id(text) == wanted.token_to_id(text)
    for number in range(12):
        assert found.id_to_token(number) == wanted.id_to_token(number)
    for prefix in (None, "x"):
        for one, folder in ((wanted, "theirs"), (found, "ours")):
            (tmp_path / folder).mkdir(exist_ok=True)
            paths = one.save(str(tmp_path / folder), prefix)
            assert [Path(path).parent.name for path in paths] == [folder] * len(paths)
    names = {path.name for path in (tmp_path / "theirs").iterdir()}
    assert names == {path.name for path in (tmp_path / "ours").iterdir()}
    for file in names:
        data = [(tmp_path / folder / file).read_bytes() for folder in ("theirs", "ours")]
        assert data[0] == data[1], file


@pytest.mark.parametrize("name", MODELS)
def test_tokenize(name: str) -> None:
    wanted, found = pair(MODELS[name])
    rng = random.Random(name)
    for _ in range(80):
        text = "".join(rng.choices(["a", "b", "é", "hello", "x", "☃"], k=rng.randrange(6)))
        tokens, error = attempt(lambda t=text: found.tokenize(t))
        if isinstance(error, NotImplementedError):
            assert REFUSED[name] in str(error)
            assert set(text) - {*"abé"} or "hello" in text
            continue
        expected, reason = attempt(lambda t=text: wanted.tokenize(t))
        assert (error is None) == (reason is None), (text, error, reason)
        if reason is None:
            every = [[token.as_tuple() for token in one] for one in (expected, tokens)]
            assert every[1] == every[0], text
            assert all(
                token.as_tuple() == (token.id, token.value, token.offsets) for token in tokens
            )


@pytest.mark.parametrize("kind", ["bytes", "bpe", "unigram", "word_piece", "word_level"])
def test_tokenize_trained(kind: str) -> None:
    reference = theirs.Tokenizer.from_str(trained(kind)).model
    model = ours.Tokenizer.from_str(trained(kind)).model
    letters = [*"Ġheloéthar", "▁", "##s", "hello", "Ã©"]
    rng = random.Random(kind)
    for _ in range(60):
        text = "".join(rng.choices(letters, k=rng.randrange(6)))
        tokens, error = attempt(lambda t=text: model.tokenize(t))
        if not isinstance(error, NotImplementedError):
            expected = [token.as_tuple() for token in reference.tokenize(text)]
            assert [token.as_tuple() for token in tokens] == expected, text


def test_model_files(tmp_path: Path) -> None:
    folder = str(tmp_path)
    vocab = {"a": 0, "é": 1, "aé": 2, "<unk>": 3}
    for make in (
        lambda m: m.models.BPE(vocab, [("a", "é")], unk_token="<unk>"),
        lambda m: m.models.WordPiece(vocab),
        lambda m: m.models.WordLevel(vocab),
    ):
        model = make(theirs)
        files = model.save(folder)
        kind = type(model).__name__
        for options in ({}, {"unk_token": "a"}):
            made = [getattr(m.models, kind).from_file(*files, **options) for m in (theirs, ours)]
            assert made[1].__getstate__() == made[0].__getstate__()
        read = [getattr(m.models, kind).read_file(*files) for m in (theirs, ours)]
        assert read[1] == read[0]
        made = [getattr(m.models, kind)(*files) for m in (theirs, ours)]
        assert made[1].__getstate__() == made[0].__getstate__()
    (tmp_path / "vocab.txt").write_bytes("a \r\n\n  b\x1c\nc\u3000\né".encode())
    paths = str(tmp_path / "vocab.txt")
    assert ours.models.WordPiece.read_file(paths) == theirs.models.WordPiece.read_file(paths)
    broken = {"vocab.json": ["[]", '{"a": -1}', '{"a": 1.0}', "{"], "merges.txt": ["a", "a b c"]}
    for name, contents in broken.items():
        for content in contents:
            theirs.models.BPE(vocab, []).save(folder)
            (tmp_path / name).write_text(content)
            files = [str(tmp_path / one) for one in ("vocab.json", "merges.txt")]
            assert both(theirs, ours, lambda m, f=files: m.models.BPE.read_file(*f)) is None


def test_token() -> None:
    wanted, found = (m.Token(3, "é", (1, 3)) for m in (theirs, ours))
    assert found.as_tuple() == wanted.as_tuple()
    assert (found.id, found.value, found.offsets) == (3, "é", (1, 3))
    assert both(theirs, ours, lambda m: m.Token(-1, "a", (0, 1))) is None
