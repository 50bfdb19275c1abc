"""Tokenizers of isotok.compat.tokenizers that are put together, as with tokenizers 0.23.3."""

from __future__ import annotations

import copy
import json
import pickle
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from isotok.compat import tokenizers as ours
from isotok.compile.tokenizer_json.floats import read_float
from isotok.errors import TokenizerError
from support.components import DECODERS, NORMALIZERS, PRE_TOKENIZERS, PROCESSORS, Make
from support.encodings import attempt, both, same, same_calls
from support.trained import ALPHABET, KINDS, trained

theirs = pytest.importorskip("tokenizers", reason="the reference library is not installed")

PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
WORDS = [
    "my",
    "name",
    "is",
    "Jo",
    "hn",
    "Ġx",
    "é",
    "中",
    " ",
    "  ",
    "A",
    "🤗",
    "x1",
    "9",
    "_",
    "\n",
]


def equal(wanted: Any, found: Any) -> None:
    for pretty in (True, False):
        assert found.to_str(pretty) == wanted.to_str(pretty)
    assert repr(found) == repr(wanted)
    assert str(found) == str(wanted)


def same_texts(wanted: Any, found: Any, seed: str, count: int = 40) -> None:
    """Encode and decode the same on both; what is an error there is one here."""
    rng = random.Random(seed)
    for _ in range(count):
        first, second = ("".join(rng.choices(WORDS, k=rng.randrange(7))) for _ in range(2))
        both_made = both(wanted, found, lambda t, a=(first, second): t.encode(*a))
        if both_made is not None:
            same(*both_made, first)
        batch = [first, (first, second)]
        every = both(wanted, found, lambda t, b=batch: t.encode_batch_fast(b))
        for i in range(2 if every else 0):
            same(every[0][i], every[1][i])
        ids = [rng.randrange(14) for _ in range(rng.randrange(6))]
        for skip in (True, False):
            texts = both(wanted, found, lambda t, i=ids, s=skip: t.decode(i, s))
            assert texts is None or texts[1] == texts[0], ids


# ---- From a file and put together -----------------------------------------------------


def rebuilt(module: Any, kind: str) -> Any:
    """Return a trained tokenizer, put together from its parts."""
    whole = json.loads(trained(kind))
    model = dict(whole["model"])
    name = model.pop("type")
    if name == "Unigram":
        model["vocab"] = [tuple(one) for one in model["vocab"]]
    if name == "BPE":
        model["merges"] = [tuple(one) for one in model["merges"]]
    made = {k: value for k, value in model.items() if value is not None}
    tokenizer = module.Tokenizer(getattr(module.models, name)(**made))
    template = theirs.Tokenizer.from_str(trained(kind))
    for part, holder in {"normalizer": "normalizers", "pre_tokenizer": "pre_tokenizers"}.items():
        component = getattr(template, part)
        if component is not None:
            new = getattr(getattr(module, holder), type(component).__name__)
            again = new.__new__(new)
            again.__setstate__(component.__getstate__())
            setattr(tokenizer, part, again)
    if template.decoder is not None:
        tokenizer.decoder = module.decoders.ByteLevel()
    tokenizer.add_special_tokens([one["content"] for one in whole["added_tokens"]])
    return tokenizer


@pytest.mark.parametrize("kind", KINDS)
def test_trained(kind: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTOK_BACKEND", backend)
    wanted, found = rebuilt(theirs, kind), rebuilt(ours, kind)
    equal(wanted, found)
    rng = random.Random(kind)
    same_calls(wanted, found, rng, lambda: "".join(rng.choices(ALPHABET, k=rng.randrange(8))), 30)
    equal(wanted, found)
    again = pickle.loads(pickle.dumps(wanted))  # some scores become their neighbours
    for one in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
        equal(again, one)
    same(wanted.encode("hello world"), one.encode("hello world"))


@pytest.mark.parametrize("kind", KINDS)
def test_components_of_files(kind: str) -> None:
    wanted, found = (m.Tokenizer.from_str(trained(kind)) for m in (theirs, ours))
    equal(wanted, found)
    for part in ("model", *PARTS):
        one, other = getattr(wanted, part), getattr(found, part)
        assert repr(other) == repr(one)
        assert type(other).__name__ == type(one).__name__
        assert one is None or other.__getstate__() == one.__getstate__()
        assert getattr(found, part) is other


def test_files_that_leave_things_out() -> None:
    """They are written with all members, as there."""
    bpe = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<unk>": 3}, "merges": ["a b"]}
    cuts = [{"type": "Metaspace", "replacement": "_", "prepend_scheme": "never"}]
    files: list[dict[str, Any]] = [
        {"model": bpe | {"unk_token": "<unk>", "fuse_unk": True}},
        {
            "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts},
            "decoder": {"type": "Metaspace", "replacement": "_"},
        },
    ]
    for whole in files:
        text = json.dumps({"version": "1.0", "added_tokens": [], **whole})
        equal(theirs.Tokenizer.from_str(text), ours.Tokenizer.from_str(text))


# ---- Each component in a tokenizer ----------------------------------------------------

EVERY: dict[str, tuple[str, Make]] = {
    f"{part}: {name}": (part, make)
    for part, every in zip(PARTS, (NORMALIZERS, PRE_TOKENIZERS, PROCESSORS, DECODERS), strict=True)
    for name, make in every.items()
}
REFUSED = {
    "normalizer: ByteLevel": "ByteLevel",
    "normalizer: Sequence, ByteLevel": "ByteLevel",
    "pre_tokenizer: UnicodeScripts": "UnicodeScripts",
    "pre_tokenizer: ByteLevel": "ByteLevel in front of a model of words",
    "pre_tokenizer: ByteLevel, no prefix": "ByteLevel in front of a model of words",
    "pre_tokenizer: ByteLevel, no regex": "ByteLevel in front of a model of words",
    "pre_tokenizer: Sequence, bytes": "ByteLevel in front of a model of words",
}
"""What isotok says of a component in front of WordPiece, with the message."""


def with_model(module: Any, part: str, make: Make) -> Any:
    words = ["[UNK]", "my", "name", "is", "Jo", "##hn", "_", "▁my", "_name", "x", "##1", "é", "e"]
    vocab = {word: i for i, word in enumerate(words)}
    tokenizer = module.Tokenizer(module.models.WordPiece(vocab))
    setattr(tokenizer, part, make(module))
    return tokenizer


@pytest.mark.parametrize("name", EVERY)
def test_each(name: str) -> None:
    part, make = EVERY[name]
    wanted, found = (with_model(m, part, make) for m in (theirs, ours))
    equal(wanted, found)
    if name in REFUSED:
        with pytest.raises(TokenizerError, match=REFUSED[name]):
            found.encode("text")
        return
    same_texts(wanted, found, name)
    assert [found.num_special_tokens_to_add(one) for one in (True, False)] == [
        wanted.num_special_tokens_to_add(one) for one in (True, False)
    ]
    setattr(found, part, None)
    setattr(wanted, part, None)
    equal(wanted, found)
    same_texts(wanted, found, name, 5)


# ---- Models without entries -----------------------------------------------------------

EMPTY: dict[str, Make] = {
    "BPE": lambda m: m.models.BPE(),
    "BPE, unknown": lambda m: m.models.BPE(unk_token="<unk>"),
    "WordPiece": lambda m: m.models.WordPiece(),
    "WordLevel": lambda m: m.models.WordLevel(),
}
ADDED = ["my", "name", "Jo", "hn", "x1", "é"]
REFUSED_EMPTY = {
    "pre_tokenizer: UnicodeScripts": "UnicodeScripts",
    "pre_tokenizer: ByteLevel": "one letter",
    "normalizer: NFD": "added_tokens",
    "normalizer: NFKD": "added_tokens",
    "normalizer: Prepend": "added_tokens",
    "normalizer: Strip": "added_tokens",
    "normalizer: Strip, left": "added_tokens",
    "normalizer: NFC": "added_tokens",
    "normalizer: NFKC": "added_tokens",
    "normalizer: Sequence, ByteLevel": "added_tokens",
}
"""What isotok says of a component with tokens that are normalized, with the message."""


SLOW = {f"normalizer: {name}" for name in ("BertNormalizer", "Bert, accents", "Sequence")}
"""Spellings of tokens, which have tests of their own."""
CASES = [(name, normalized) for name in EVERY for normalized in (True, False)]


@pytest.mark.parametrize(("name", "normalized"), [c for c in CASES if c[0] not in SLOW or not c[1]])
def test_empty(name: str, normalized: bool) -> None:
    part, make = EVERY[name]
    made: list[Any] = []
    for module in (theirs, ours):
        tokenizer = module.Tokenizer(module.models.BPE())
        setattr(tokenizer, part, make(module))
        tokens = [module.AddedToken(one, normalized=normalized) for one in ADDED]
        tokenizer.add_tokens([*tokens, module.AddedToken("is", special=True)])
        made.append(tokenizer)
    wanted, found = made
    equal(wanted, found)
    error = attempt(lambda: found.encode("my"))[1]
    if isinstance(error, (TokenizerError, NotImplementedError)):
        assert REFUSED_EMPTY[name] in str(error), error
        return
    assert name not in REFUSED_EMPTY or not normalized
    same_texts(wanted, found, name)


@pytest.mark.parametrize("name", EMPTY)
def test_empty_models(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTOK_BACKEND", backend)
    wanted, found = (m.Tokenizer(EMPTY[name](m)) for m in (theirs, ours))
    same_texts(wanted, found, name, 10)
    for one in (wanted, found):
        assert one.add_tokens(["my", "name", "<unk>"]) == 3
        assert one.add_special_tokens(["is", "my"]) == 2
    equal(wanted, found)
    assert found.get_vocab() == wanted.get_vocab()
    assert found.get_vocab_size(False) == 0
    assert both(wanted, found, lambda t: t.encode("my name")) is not None or name != "BPE"
    same_texts(wanted, found, name)
    rng = random.Random(name)
    same_calls(wanted, found, rng, lambda: "".join(rng.choices(WORDS, k=rng.randrange(8))), 30)
    again = ours.Tokenizer.from_str(wanted.to_str())
    equal(wanted, again)
    same_texts(wanted, again, name, 10)


def test_letters_of_bytes() -> None:
    """A token that consists of them is decoded to their bytes, unless it was normalized."""
    made: list[Any] = []
    for module in (theirs, ours):
        tokenizer = module.Tokenizer(module.models.BPE())
        tokenizer.decoder = module.decoders.ByteLevel()
        tokenizer.normalizer = module.normalizers.ByteLevel()
        plain = module.AddedToken("Začnimo", normalized=False, special=True)
        tokenizer.add_tokens([plain, module.AddedToken("kuća"), module.AddedToken("日本")])
        made.append(tokenizer)
    wanted, found = made
    for text in ("Začnimokuća 日本", "kuća", "日", "Začnimo日本kuć"):
        same(wanted.encode(text), found.encode(text))
        ids = wanted.encode(text).ids
        for skip in (True, False):
            assert found.decode(ids, skip) == wanted.decode(ids, skip)
    for number in range(4):
        assert found.id_to_token(number) == wanted.id_to_token(number)
    for one in made:
        one.normalizer = None
    same(wanted.encode("kuća"), found.encode("kuća"))
    assert found.decode([0, 1, 2], False) == wanted.decode([0, 1, 2], False)


# ---- Changes --------------------------------------------------------------------------

Change = Callable[[Any, Any], Any]
CHANGES: dict[str, Change] = {
    "pre_tokenizer, in place": lambda m, t: setattr(t.pre_tokenizer, "split", False),
    "pre_tokenizer, a step": lambda m, t: setattr(t, "pre_tokenizer", _steps(m)),
    "step, in place": lambda m, t: setattr(t.pre_tokenizer[1], "behavior", "removed"),
    "step, another": lambda m, t: t.pre_tokenizer.__setitem__(1, m.pre_tokenizers.Digits(True)),
    "normalizer": lambda m, t: setattr(t, "normalizer", m.normalizers.Lowercase()),
    "normalizer, a Sequence": lambda m, t: setattr(
        t, "normalizer", m.normalizers.Sequence([m.normalizers.NFD(), m.normalizers.Strip()])
    ),
    "normalizer, a step": lambda m, t: setattr(t.normalizer[1], "left", False),
    "special tokens": lambda m, t: t.add_special_tokens(["[X]", "my"]),
    "post_processor": lambda m, t: setattr(
        t, "post_processor", m.processors.BertProcessing(("[X]", 9), ("my", 1))
    ),
    "post_processor, in place": lambda m, t: setattr(t.post_processor, "sep", ("is", 3)),
    "decoder": lambda m, t: setattr(t, "decoder", m.decoders.WordPiece()),
    "decoder, in place": lambda m, t: setattr(t.decoder, "cleanup", False),
    "decoder, CTC": lambda m, t: setattr(t, "decoder", m.decoders.CTC("my")),
    "model, in place": lambda m, t: setattr(t.model, "unk_token", "name"),
    "model": lambda m, t: setattr(
        t, "model", m.models.WordLevel({"my": 1, "name": 0, "<unk>": 2, "[X]": 9}, "<unk>")
    ),
    "truncation": lambda m, t: t.enable_truncation(4, stride=1),
    "padding": lambda m, t: t.enable_padding(length=5),
    "nothing": lambda m, t: setattr(t, "post_processor", None),
}


def _steps(module: Any) -> Any:
    cuts = module.pre_tokenizers
    return cuts.Sequence([cuts.WhitespaceSplit(), cuts.Split("m", "isolated")])


def test_changes() -> None:
    made: list[Any] = []
    for module in (theirs, ours):
        words = ["[UNK]", "my", "name", "is", "##y", "m", "##1", "x", "▁my"]
        model = module.models.WordPiece({word: i for i, word in enumerate(words)})
        tokenizer = module.Tokenizer(model)
        tokenizer.pre_tokenizer = module.pre_tokenizers.Metaspace()
        made.append(tokenizer)
    wanted, found = made
    same_texts(wanted, found, "before")
    for name, change in CHANGES.items():
        changed = both((theirs, wanted), (ours, found), lambda pair, c=change: c(*pair))
        assert changed is not None, name
        assert changed[1] == changed[0]
        equal(wanted, found)
        same_texts(wanted, found, name, 12)
        for text in ("my name is x1", "  my", "MY"):
            assert found.encode(text).tokens == wanted.encode(text).tokens, name


def test_components_are_shared() -> None:
    made: list[Any] = []
    for module in (theirs, ours):
        lower = module.normalizers.Lowercase()
        strip = module.normalizers.Strip(left=False)
        every = module.normalizers.Sequence([lower, strip])
        model = module.models.WordLevel({"a": 0, "<unk>": 1}, "<unk>")
        both_of_them = [module.Tokenizer(model) for _ in range(2)]
        for tokenizer in both_of_them:
            tokenizer.normalizer = every
        strip.left = True
        model.unk_token = "a"
        made.append([tokenizer.encode(" B").ids for tokenizer in both_of_them])
        every[1] = module.normalizers.Prepend("_")
        made[-1] += [tokenizer.to_str() for tokenizer in both_of_them]
    assert made[0] == made[1]


def test_scores_are_exact() -> None:
    """A model that was not read from a file has the scores that it was given."""
    rng = random.Random(5)
    for _ in range(3):
        pieces = [(a + b, -rng.random()) for a in ["", *"abcd"] for b in "abcd"]
        pieces += [(a * 3, -3 * rng.random()) for a in "abcd"]
        wanted, found = (
            m.Tokenizer(m.models.Unigram([*pieces, ("<unk>", 0.0)], len(pieces)))
            for m in (theirs, ours)
        )
        for one in (wanted, found):
            one.add_tokens(["X"])
        equal(wanted, found)
        for _ in range(300):
            text = "".join(rng.choices("abcdX", k=rng.randrange(12)))
            assert found.encode(text).ids == wanted.encode(text).ids, text
        # some of these no file can have
        kept = json.loads(wanted.to_str(), parse_float=read_float)["model"]["vocab"]
        assert found._file.document.scores == [score for _, score in [*pieces, ("<unk>", 0.0)]]
        assert [score for _, score in kept] != found._file.document.scores


def test_a_model_that_moves_added_tokens() -> None:
    tokenizer = ours.Tokenizer(ours.models.BPE())
    tokenizer.add_tokens(["x", "y"])
    before = tokenizer.to_str()
    with pytest.raises(NotImplementedError, match="other ids"):
        tokenizer.model = ours.models.WordLevel({"a": 0, "b": 1}, "a")
    assert tokenizer.to_str() == before
    assert tokenizer.encode("x").ids == [0]


def test_what_is_refused_later() -> None:
    tokenizer = ours.Tokenizer(ours.models.BPE({"a": 0}, [], dropout=0.5, unk_token="a"))
    with pytest.raises(TokenizerError, match="dropout"):
        tokenizer.encode("a")
    tokenizer.model.dropout = None
    tokenizer.model.fuse_unk = True
    with pytest.raises(TokenizerError, match="one character"):
        tokenizer.encode("a")
    tokenizer.model = ours.models.Unigram([("a", 0.0)], 0, alpha=0.5)
    with pytest.raises(NotImplementedError, match="alpha"):
        tokenizer.encode("a")
    tokenizer.model.alpha = None
    assert tokenizer.encode("a").ids == [0]


def test_threads() -> None:
    tokenizer = ours.Tokenizer(ours.models.WordLevel({"a": 0, "<unk>": 1}, "<unk>"))
    failures: list[BaseException] = []
    stop = threading.Event()

    def run(call: Callable[[], object]) -> None:
        try:
            while not stop.is_set():
                call()
        except BaseException as error:
            failures.append(error)

    def change() -> None:
        tokenizer.normalizer = ours.normalizers.Lowercase()
        tokenizer.normalizer = None

    calls: list[Callable[[], object]] = [
        lambda: tokenizer.encode("a A").tokens,
        change,
        lambda: tokenizer.to_str(),
        lambda: setattr(tokenizer, "pre_tokenizer", ours.pre_tokenizers.Whitespace()),
    ]
    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    stop.wait(1)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert tokenizer.encode("a A").ids == [0, 1]


# ---- Put together as usual ------------------------------------------------------------

WORD_PIECES = {w: i for i, w in enumerate(["[UNK]", "[CLS]", "[SEP]", "my", "name", "##s", "."])}
IMPLEMENTATIONS: dict[str, Make] = {
    "Bert": lambda m: m.BertWordPieceTokenizer(WORD_PIECES),
    "Bert, other": lambda m: m.BertWordPieceTokenizer(
        WORD_PIECES, sep_token=".", lowercase=False, strip_accents=True, wordpieces_prefix="#"
    ),
    "Bert, empty": lambda m: m.BertWordPieceTokenizer(),
    "bytes, empty": lambda m: m.ByteLevelBPETokenizer(
        unicode_normalizer="nfc", lowercase=True, trim_offsets=True
    ),
    "characters, empty": lambda m: m.CharBPETokenizer(lowercase=True),
    "characters, whitespace": lambda m: m.CharBPETokenizer(
        unicode_normalizer="nfkd", bert_normalizer=False, split_on_whitespace_only=True
    ),
    "SentencePiece BPE": lambda m: m.SentencePieceBPETokenizer(
        {"<unk>": 0, "▁": 1, "a": 2, "▁a": 3}, [("▁", "a")], fuse_unk=True
    ),
    "SentencePiece BPE, never": lambda m: m.SentencePieceBPETokenizer(add_prefix_space=False),
    "SentencePiece Unigram": lambda m: m.SentencePieceUnigramTokenizer(),
    "SentencePiece Unigram, vocab": lambda m: m.SentencePieceUnigramTokenizer([("▁a", -1.0)], "_"),
}


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_implementations(name: str) -> None:
    wanted, found = (IMPLEMENTATIONS[name](m) for m in (theirs, ours))
    assert repr(found) == repr(wanted)
    assert found.to_str() == wanted.to_str()
    for one in (wanted, found):
        one.add_special_tokens(["[X]"])
        one.enable_truncation(4)
        one.enable_padding(length=6)
    assert found.truncation == wanted.truncation
    assert found.padding == wanted.padding
    assert found.normalize("Ä b") == wanted.normalize("Ä b")
    for text in ("my names. [X]", "a a", "", "aa"):
        if name == "SentencePiece BPE":  # a pre-tokenizer in front of fuse_unk
            continue
        made = both(wanted, found, lambda t, a=text: t.encode(a))
        if made is not None:
            same(*made)
            assert found.decode(made[0].ids) == wanted.decode(made[0].ids)
    assert found.get_vocab() == wanted.get_vocab()


def test_implementations_surface() -> None:
    from isotok.compat.tokenizers import implementations as found
    from tokenizers import implementations as wanted

    for name in found.__all__:
        one, other = getattr(wanted, name), getattr(found, name)
        assert {k for k in dir(other) if k[0] != "_"} >= {k for k in dir(one) if k[0] != "_"}, name
    for bad in (
        lambda m: m.BertWordPieceTokenizer({"a": 0}),
        lambda m: m.BertWordPieceTokenizer().encode(None),
        lambda m: m.BertWordPieceTokenizer().encode_batch(None),
        lambda m: m.BertWordPieceTokenizer().decode(None),
        lambda m: m.BertWordPieceTokenizer().decode_batch(None),
    ):
        assert both(theirs, ours, bad) is None
