"""Files that are broken, hostile or not supported: an error that says what and where."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import isotok
import pytest
from isotok.compile.tokenizer_json import read_document, tokenizer_json_fields
from isotok.errors import TokenizerError
from support import data
from support.toy_bpe import GEMMA, UNK, byte_letters, byte_level

Change = Callable[[dict[str, Any]], object]


def _characters() -> dict[str, Any]:
    vocab = {UNK: 0, "a": 1, "b": 2, "ab": 3}
    model = {"type": "BPE", "unk_token": UNK, "fuse_unk": True, "vocab": vocab}
    return {"version": "1.0", "added_tokens": [], "model": model | {"merges": [["a", "b"]]}}


def _bytes() -> dict[str, Any]:
    vocab = {letter: i for i, letter in enumerate(byte_letters())}
    whole: dict[str, Any] = {"model": {"type": "BPE", "vocab": vocab, "merges": []}}
    return whole | {"pre_tokenizer": byte_level(use_regex=False), "decoder": byte_level()}


def _set(*path: str | int, to: object) -> Change:
    def change(whole: dict[str, Any]) -> None:
        part: Any = whole
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = to

    return change


def _tokens(*changes: dict[str, Any], normalizer: str | None = None) -> Change:
    """Tokens with other texts and flags than `TOKEN`."""

    def change(whole: dict[str, Any]) -> None:
        listed = [TOKEN | {"content": f"<{'xyz'[i]}>"} | flags for i, flags in enumerate(changes)]
        whole["added_tokens"] = listed
        whole["normalizer"] = normalizer and {"type": normalizer}

    return change


TOKEN = {
    **{"id": 4, "content": "<x>", "special": True, "lstrip": False, "rstrip": False},
    **{"single_word": False, "normalized": False},
}

BROKEN: list[tuple[Change, str]] = [
    (_set("version", to="2.0"), "version: '2.0' is not 1.0"),
    (_set("version", to=1), "version: 1 is not a string"),
    (_set("model", to=[]), r"model: \[\] is not an object"),
    (lambda whole: whole.pop("model"), 'the member "model" is missing'),
    (_set("model", "type", to="Bpe"), "model.type: 'Bpe' is none of BPE"),
    (_set("model", "type", to=7), "model.type: 7 is not a string"),
    (_set("model", "vocab", to=[]), "model.vocab: an object of texts and ids"),
    (_set("model", "type", to="Unigram"), "model.vocab: an array of pairs of a text and a score"),
    (_set("model", "vocab", to=3), "model.vocab: an object of texts and ids"),
    (_set("model", "vocab", "b", to=-1), r"model.vocab\['b'\]: -1 is not an id"),
    (_set("model", "vocab", "b", to=1 << 32), r"model.vocab\['b'\]: 4294967296 is not an id"),
    (_set("model", "vocab", "b", to=10**30), r"model.vocab\['b'\]: 1000.* is not an id"),
    (_set("model", "vocab", "b", to=2.0), r"model.vocab\['b'\]: 2.0 is not an id"),
    (_set("model", "vocab", "b", to=True), r"model.vocab\['b'\]: True is not an id"),
    (_set("model", "vocab", "b", to="2"), r"model.vocab\['b'\]: '2' is not an id"),
    (_set("model", "vocab", "b", to=1), "model.vocab: 'a' and 'b' have the same id 1"),
    (_set("model", "vocab", "b", to=[]), "model.vocab: .*a name and a number should be"),
    (_set("model", "merges", to={}), "model.merges: an array of merges"),
    (_set("model", "merges", to=None), "model.merges: an array of merges"),
    (_set("model", "merges", to=["a b", "ab"]), r"model.merges\[1\]: .* is not two"),
    (_set("model", "merges", to=["a b c"]), r"model.merges\[0\]: .* is not two"),
    (_set("model", "merges", to=[["a", 1]]), r"model.merges\[0\]: .* is not two"),
    (_set("model", "merges", to=["a b", ["a", "b"]]), "must not be mixed"),
    (_set("model", "merges", to=[7]), r"model.merges\[0\]: 7 is not two"),
    (_set("model", "merges", to=[["a", "b", "c"]]), "model.merges: .*pair in brackets should be"),
    (_set("model", "merges", to=["a x"]), r"model.merges\[0\]: 'x' is not in the vocabulary"),
    (_set("model", "merges", to=["b a"]), r"model.merges\[0\]: 'ba' is not in the vocabulary"),
    (_set("model", "unk_token", to="x"), "model.unk_token: 'x' is not in the vocabulary"),
    (_set("model", "fuse_unk", to="yes"), "model.fuse_unk: 'yes' is not true or false"),
    (_set("added_tokens", to={}), "added_tokens: {} is not an array"),
    (_set("added_tokens", to=[7]), r"added_tokens\[0\]: 7 is not an object"),
    (_set("added_tokens", to=[TOKEN | {"id": -1}]), r"added_tokens\[0\].id: -1 is not an id"),
    (_set("added_tokens", to=[{"id": 1}]), r'added_tokens\[0\]: the member "'),
    (_set("normalizer", to="NFC"), "normalizer: 'NFC' is not an object"),
    (_set("decoder", to={}), 'decoder: the member "type" is missing'),
    (_set("post_processor", to={"type": "Sequence"}), 'the member "processors" is missing'),
    (
        _set("decoder", to={"type": "Sequence", "decoders": [{"type": 1}]}),
        r"decoder.decoders\[0\].type: 1 is not a string",
    ),
]

REFUSED: list[tuple[Change, str]] = [
    (_set("model", "vocab", "b", to=1 << 23), "model.vocab: an id of 8388608 among 4 entries"),
    (_set("model", "dropout", to=0.1), "model.dropout: a dropout of 0.1"),
    (_set("model", "continuing_subword_prefix", to="##"), "'##', which no token begins with"),
    (_set("model", "end_of_word_suffix", to="b"), "'a' and 'b', which spells the suffix 'b'"),
    (_set("model", "end_of_word_suffix", to="w" * 256), "a text of more than 255 bytes"),
    (_set("model", "unk_token", to=None), "unknown characters that vanish"),
    (_set("model", "unk_token", to="a"), "unk_token of one character"),
    (_set("model", "unk_token", to="ab"), "a merge of 'a' and 'b'"),
    (_set("model", "byte_fallback", to=True), "byte_fallback without <0x00>"),
    (_set("model", "ignore_merges", to=True), "ignore_merges without ByteLevel"),
    (_set("model", "vocab", "b", to=7), "no text, or an empty one, with the id 2"),
    (_set("normalizer", to={"type": "Replace", "pattern": {"Regex": "a|bc"}, "content": ""}), "a"),
    (
        _set("normalizer", to={"type": "Sequence", "normalizers": [{"type": "ByteLevel"}] * 2}),
        r"normalizer.normalizers\[0\]: ByteLevel in front of another normalizer",
    ),
    (_set("normalizer", to={"type": "Reverse"}), "the normalizer 'Reverse'"),
    (_set("pre_tokenizer", to={"type": "UnicodeScripts"}), "the pre-tokenizer UnicodeScripts"),
    (_set("decoder", to={"type": "Other"}), "decoder: the decoder Other"),
    (_set("decoder", to=GEMMA | {"pattern": {"String": "x"}}), "decoder: Replace of anything but"),
    (_set("post_processor", to={"type": "Other"}), "post_processor: the post_processor Other"),
    (
        _tokens({"normalized": True, "single_word": True}, normalizer="NFC"),
        "'<x>' with \"normalized\": true",
    ),
    (_tokens({"normalized": True}, {"content": "x>"}), "they can overlap, and only one is"),
    (_tokens({"normalized": True, "rstrip": True}, {"lstrip": True}), "the same white space"),
    (_tokens({"rstrip": True}, {"content": " y"}), "that one takes along begins the other"),
    (
        _tokens({"normalized": True, "single_word": True}, {"content": "y"}),
        'only one is "normalized", and "single_word"',
    ),
    (
        _tokens({"lstrip": True}, {"content": " y"}, {"content": "z "}),
        "they can overlap in white space that a third takes along",
    ),
]


def _refuse(source: bytes, message: str) -> TokenizerError:
    with pytest.raises(TokenizerError, match=message) as caught:
        isotok.load(source)
    assert len(str(caught.value)) < 1000
    return caught.value


@pytest.mark.parametrize(("change", "message"), BROKEN, ids=[text for _, text in BROKEN])
def test_broken(change: Change, message: str) -> None:
    """tokenizers refuses them as well, but ids that come twice."""
    tokenizers = pytest.importorskip("tokenizers")
    whole = _characters()
    change(whole)
    text = json.dumps(whole)
    error = _refuse(text.encode(), message)
    assert error.status is isotok.errors.Status.E_CORRUPT
    if "same id" not in message and "unk_token" not in message:
        with pytest.raises(BaseException):  # noqa: B017  (a panic is no Exception)
            tokenizers.Tokenizer.from_str(text)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (_set("model", "vocab", "b", to=0xFFFF00), r"model.vocab\['b'\]"),
        (_set("added_tokens", to=[TOKEN | {"id": 0xFFFF00}]), r"added_tokens\[0\].id"),
    ],
)
def test_largest_id(change: Change, place: str) -> None:
    """tokenizers takes larger ids."""
    whole = _characters()
    change(whole)
    _refuse(json.dumps(whole).encode(), f"{place}: 16776960 is not an id: 0 to 16776959")


@pytest.mark.parametrize(("change", "message"), REFUSED, ids=[text for _, text in REFUSED])
def test_refused(change: Change, message: str) -> None:
    whole = _characters()
    change(whole)
    error = _refuse(json.dumps(whole).encode(), message)
    assert error.status is isotok.errors.Status.E_UNSUPPORTED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda whole: whole["model"]["vocab"].pop("Ġ"), "without the byte 0x20"),
        (_set("model", "byte_fallback", to=True), "byte_fallback with ByteLevel"),
        (
            _set("added_tokens", to=[TOKEN | {"content": "\u00e9"}]),
            "which ByteLevel decodes to another text",
        ),
    ],
)
def test_refused_bytes(change: Change, message: str) -> None:
    whole = _bytes()
    change(whole)
    _refuse(json.dumps(whole).encode(), message)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"{", "a member's name expected, not the end of the file"),
        (b"{}", 'the member "model" is missing'),
        (b'{"a" 1}', ": expected"),
        (b'{"a": }', "where a value should be"),
        (b'{"a": 1,}', "a member's name expected"),
        (b'{"a": ]}', "where a value should be"),
        (b'{"a": [1}}', "not JSON"),
        (b'{"a": "x}', "where a value should be"),
        (b'{"a": "\xff", "model": {}}', r"text that is not UTF-8 \(byte 7\)"),
        (b'{"a": NaN}', "where a value should be"),
        (b'{"a": [NaN]}', "NaN is no number of JSON"),
        (b'{"model": {}} x', "something follows the JSON object"),
        (b'{"model": {"type": "\\ud800"}}', "half a surrogate pair"),
        (b'{"model": {"vocab": {"\\ud800": 1}, "merges": []}}', "half a surrogate pair"),
        (b'{"model": {"vocab": {"a": 1, "a": 2}, "merges": []}}', "a text is there twice"),
        (b'{"model": {"vocab": {"a": 1}, "vocab": {}}}', "this member is there twice"),
        (b'{"model": {"vocab": {"a": 1 "b": 2}}}', "a name and a number should be"),
        (b'{"model": {"vocab": {}, "merges": []}}', "without entries"),
        (b'{"model": {"vocab": {"a": 1', "should be"),
    ],
)
def test_no_json(source: bytes, message: str) -> None:
    _refuse(source, message)


@pytest.mark.parametrize("depth", [90, 200, 100_000])
def test_deep(depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        nested = opening * depth + "1" + closing * depth
        whole = json.dumps(_bytes()).replace("{", '{"x": ' + nested + ",", 1)
        if depth < 100:
            assert read_document(whole.encode()).model["type"] == "BPE"
        else:
            _refuse(whole.encode(), "x: JSON that is nested too deep")


MEGABYTE = 1 << 20
ENTRIES = ",".join(f'"number {i:08}": {i}' for i in range(MEGABYTE // 4))
LARGE = {
    "string": '{"x": "' + "a" * 20 * MEGABYTE + '"}',
    "numbers": '{"x": [' + "0," * 10 * MEGABYTE + "0]}",
    "objects": '{"model": {"x": [' + "{}," * 2 * MEGABYTE + "0]}}",
    "spaces": "{" + " " * 20 * MEGABYTE + "}",
    "members": "{" + '"x":1,' * MEGABYTE + "}",
    "open": "[" * 20 * MEGABYTE,
    "open objects": '{"a":' * 4 * MEGABYTE,
    "one entry": '{"model": {"vocab": {' + '"a":0,' * MEGABYTE + '"b": 1}, "merges": []}}',
    "entries": '{"model": {"vocab": {' + ENTRIES + '}, "merges": []}}',
    "lines": '{"model": {"merges": [' + '"a a",' * MEGABYTE + '0], "vocab": {"a": 1}}}',
    "pairs": '{"model": {"merges": [' + '["",""],' * MEGABYTE + '0], "vocab": {}}}',
}


@pytest.mark.parametrize("kind", LARGE)
def test_large(kind: str) -> None:
    """No more memory than eight times the file."""
    source = LARGE[kind].encode()
    tracemalloc.start()
    try:
        with pytest.raises(TokenizerError):
            tokenizer_json_fields(source)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(source)
    finally:
        tracemalloc.stop()


CASES = ["SEC-16", "SEC-18", "SEC-19", "SEC-20", "SEC-21"]
"""SEC-17 is a pattern that is no danger here."""


@pytest.mark.parametrize("case", CASES)
def test_cases(case: str) -> None:
    """Crafted files with which tokenizers panics: an error, or the right answer."""
    path = data.data_dir().parent / "cases" / "models" / f"{case}.tokenizer.json"
    if not path.exists():
        pytest.skip(f"no {path.name}")
    with pytest.raises(TokenizerError, match=f"{case}.tokenizer.json: "):
        isotok.load(path)
