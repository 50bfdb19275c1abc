"""Normalizers of tokenizer.json in the reference and in isotok: text and alignments of each
character that comes out.
"""

from __future__ import annotations

import gzip
import json
import random
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import isotok
from isotok import _layout_gen as abi
from isotok.compile import compile_model
from isotok.compile._fields import pack_fields, scalar
from isotok.compile.normalizers import Normalizer, make_normalizer
from isotok.compile.pretok.huggingface import read_pre_tokenizer

from support import data

Aligned = list[tuple[str, int, int]]
"""Characters of normalized text, each with begin and end of the character it is aligned to."""

BERT: dict[str, Any] = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
EVERY = {"type": "Split", "pattern": {"Regex": r"(?m:.)"}, "behavior": "Isolated", "invert": False}


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def sequence(*steps: Any) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": [*steps]}


def pre_sequence(*steps: Any) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": [*steps]}


def metaspace(scheme: str, *, split: bool = True) -> dict[str, Any]:
    return {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": scheme,
        "split": split,
    }


def simple(kind: str) -> dict[str, Any]:
    return {"type": kind}


STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
STRIP_RIGHT = {"type": "Strip", "strip_left": False, "strip_right": True}
STRIP_LEFT = {"type": "Strip", "strip_left": True, "strip_right": False}
PREPEND = {"type": "Prepend", "prepend": "\u2581"}
SPLIT = simple("WhitespaceSplit")
BYTE_PREFIX = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": False,
}

OWN: dict[str, tuple[Any, Any]] = {
    "nfc": (simple("NFC"), None),
    "nfd": (simple("NFD"), None),
    "nfkc": (simple("NFKC"), None),
    "nfkd": (simple("NFKD"), None),
    "lowercase": (simple("Lowercase"), None),
    "strip_accents": (simple("StripAccents"), None),
    "nmt": (simple("Nmt"), None),
    "strip": (STRIP, None),
    "strip_left": (STRIP_LEFT, None),
    "strip_right": (STRIP_RIGHT, None),
    "prepend": ({"type": "Prepend", "prepend": "<é>"}, None),
    "replace_one": (replace(" ", "\u2581"), None),
    "replace_quotes": (sequence(replace("``", '"'), replace("''", '"')), None),
    "replace_none": (sequence(replace("ab", ""), simple("NFC")), None),
    "replace_spaces": (replace(" {2,}", "\u2581", "Regex"), None),
    "replace_group": (replace("( ){2,}", "\u2581", "Regex"), None),
    "replace_whitespace": (replace(r"\s+", " ", "Regex"), None),
    "replace_set": (replace(r"[\u0300-\u036f]", "", "Regex"), None),
    "bert_uncased": (BERT, None),
    "bert_cased": (BERT | {"lowercase": False}, None),
    "bert_accents": (BERT | {"lowercase": False, "strip_accents": True}, None),
    "bert_keep": (BERT | {"strip_accents": False, "clean_text": False}, None),
    "bert_no_chinese": (BERT | {"handle_chinese_chars": False}, None),
    "lower_nfd_strip": (
        sequence(simple("NFD"), simple("Lowercase"), simple("StripAccents")), None),
    "strip_nfc_lower": (sequence(STRIP, simple("NFC"), simple("Lowercase")), None),
    "nfkc_spaces": (sequence(simple("NFKC"), replace(r"\s+", " ", "Regex"), STRIP), None),
    "nmt_nfkc": (
        sequence(simple("Nmt"), simple("NFKC"), replace(" {2,}", " ", "Regex")),
        metaspace("always")),
    "llama2": (sequence(PREPEND, replace(" ", "\u2581")), None),
    "metaspace_always": (None, metaspace("always")),
    "metaspace_first": (None, metaspace("first")),
    "metaspace_never": (None, metaspace("never", split=False)),
    "strip_metaspace_first": (STRIP, metaspace("first")),
    "words": (None, pre_sequence(SPLIT, metaspace("always"))),
    "nfkc_words": (simple("NFKC"), pre_sequence(SPLIT, metaspace("always"))),
    "bert_words": (BERT, pre_sequence(SPLIT, metaspace("always"))),
    "prefix_space": (None, BYTE_PREFIX),
    "nfc_prefix_space": (simple("NFC"), BYTE_PREFIX),
}  # fmt: skip
"""Names -> normalizer and pre_tokenizer, made for the tests."""


@cache
def real(name: str) -> dict[str, Any]:
    path = data.models_dir() / name
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)


def _members(name: str) -> tuple[Any, Any]:
    members = real(name)
    return members["normalizer"], members["pre_tokenizer"]


@cache
def pipelines() -> dict[str, tuple[Any, Any]]:
    """The above and those of real tokenizers, where the data is."""
    found = dict(OWN)
    names = {
        "bert_base_cased": "bert_base_cased.tokenizer.json",
        "xlmr": "xlmr.tokenizer.json.gz",
        "xlnet": "xlnet_base_cased.tokenizer.json",
        "qwen3": "qwen3.tokenizer.json.gz",
        "gemma3": "gemma3.tokenizer.json.gz",
    }
    for name, file in names.items():
        if (data.models_dir() / file).exists():
            normalizer, pre = _members(file)
            cuts_only = name in ("bert_base_cased", "qwen3", "gemma3")
            found[name] = (normalizer, None if cuts_only else pre)
    if "xlmr" in found:
        charsmap = found["xlmr"][0]
        found["precompiled"] = (charsmap, None)
        found["t5"] = (
            sequence(charsmap, STRIP_RIGHT, replace(" {2,}", "\u2581", "Regex")),
            metaspace("always"),
        )
        found["precompiled_runs"] = (
            sequence(simple("NFKD"), charsmap, replace(r"\s+", "_", "Regex"), simple("NFC")),
            None,
        )
    return found


# ---- The reference -----------------------------------------------------------------------


class Reference:
    def __init__(self, normalizer: Any, pre_tokenizer: Any) -> None:
        from tokenizers import Tokenizer

        steps = [*([pre_tokenizer] if pre_tokenizer else []), EVERY]
        if pre_tokenizer and pre_tokenizer["type"] == "ByteLevel":
            raise ValueError("see prefix_space")
        text = json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "normalizer": normalizer,
                "pre_tokenizer": pre_sequence(*steps),
                "post_processor": None,
                "decoder": None,
                "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"},
            }
        )
        self._tokenizer = Tokenizer.from_str(text)

    def of(self, text: str) -> Aligned:
        from tokenizers import PreTokenizedString

        pieces = PreTokenizedString(text)
        normalizer = self._tokenizer.normalizer
        if normalizer is not None:
            pieces.normalize(normalizer.normalize)
        # as AddedVocabulary does: what normalization removed in front is no part of the text
        pieces.split(
            lambda _, part: [part.slice((0, len(part.normalized)))] if part.normalized else []
        )
        self._tokenizer.pre_tokenizer.pre_tokenize(pieces)
        return [
            (piece, begin, end) for piece, (begin, end), _ in pieces.get_splits("original", "char")
        ]

    def many(self, texts: Sequence[str]) -> list[tuple[list[tuple[int, int]]]]:
        return [encoding.offsets for encoding in self._tokenizer.encode_batch(list(texts))]


class PrefixReference(Reference):
    """ByteLevel writes bytes; what its prefix does is that of a Prepend that looks first."""

    def __init__(self, normalizer: Any, pre_tokenizer: Any) -> None:
        super().__init__(normalizer, None)

    def of(self, text: str) -> Aligned:
        found = super().of(text)
        if not found or found[0][0] == " ":
            return found
        return [(" ", *found[0][1:]), *found]


@cache
def reference(name: str) -> Reference:
    normalizer, pre = pipelines()[name]
    if pre and pre["type"] == "ByteLevel":
        return PrefixReference(normalizer, pre)
    return Reference(normalizer, pre)


# ---- isotok ------------------------------------------------------------------------------


@cache
def program(name: str) -> Normalizer:
    normalizer, pre = pipelines()[name]
    made = make_normalizer(normalizer, read_pre_tokenizer(pre))
    assert made is not None
    return made


def char_model(made: Normalizer, chars: set[str]) -> bytes:
    """A model whose pieces are these characters."""
    letters = sorted(chars - {"\0"})
    pieces = [b"<unk>", *(char.encode() for char in letters)]
    return compile_model(
        pack_fields(
            [
                (abi.FIELD_ALGORITHM, scalar(abi.CHAR)),
                (abi.FIELD_PARITY, scalar(abi.PARITY_HF)),
                (abi.FIELD_PIECE_TEXT, b"".join(pieces)),
                (abi.FIELD_PIECE_SIZES, array("H", map(len, pieces))),
                (abi.FIELD_SCORES, array("f", [0.0] * len(pieces))),
                (abi.FIELD_TYPES, bytes([abi.UNKNOWN]) + bytes([abi.NORMAL]) * len(letters)),
                *made.fields(),
            ]
        )
    )


def _join_nuls(aligned: Aligned) -> Aligned:
    """Join NULs, which are no pieces: isotok makes one unknown token of a run of them."""
    out: Aligned = []
    for char, begin, end in aligned:
        if char == "\0" and out and out[-1][0].endswith("\0"):
            text, first, _ = out[-1]
            out[-1] = (text + char, first, end)
        else:
            out.append((char, begin, end))
    return out


def compare(name: str, texts: Sequence[str], backend: str = "native") -> None:
    """Assert that isotok gives the characters and alignments of the reference."""
    expected = [_join_nuls(reference(name).of(text)) for text in texts]
    chars = {char for aligned in expected for item in aligned for char in item[0]}
    blob = char_model(program(name), chars)
    with isotok.load(blob, backend=backend) as tok:  # type: ignore[arg-type]
        for text, aligned in zip(texts, expected, strict=True):
            _, pieces, offsets = tok.encode_with_offsets(text)
            got = [(piece, *offset) for piece, offset in zip(pieces, offsets, strict=True)]
            assert got == aligned, (name, ascii(text), got, aligned)
            whole = "".join(char for char, _, _ in aligned)
            assert tok.normalize(text) == whole, (name, ascii(text), "", "")


# ---- Texts -------------------------------------------------------------------------------

MARKS = "\u0301\u0323\u0308\u0344\u0345\u0327\u031b\u3099\u309a\u05b0\u0591\u064b\u0f71\u0f72\u1dce"
MARKS += "\u0338\u20dd\u302e\u093c\u094d\u0941\u09be\U0001d165\U0001e944\u0340\u0f73\u0f75"
PARTS = [
    *MARKS, *"aAeEeéÉÅİıßſKÅµ", *" \t\n\r\u00a0\u3000\u2028\u200b\ufeff\u2581\ufffd\u00ad\u180e",
    *"①½ﬁﬀ㍿㍻ΣςΣﷺ¨´＀Ａｶﾞﾟが日本語中文㐀豈\U0002f800\U00020000", *"\u1100\u1161\u11a8\uac00\uac01",
    *"\u0915\u0930\u094d\u200d\u200c", *"\U0001f468\u200d\U0001f469\u2764\ufe0f\U0001f3fd©\u00ae",
    *"\U0001f1e6\U0001f1e7", *"\u0600\u06dd\u070f\U000110bd", *"``''\"'`ab.,12",
    "\r\n", "\r\r\n", "  ", "   ", "``", "''", "ab", "abc", "e\u0301", "\0", "\x01", "\x08",
    "\x7f", "\x85", "\u0e33", "\u0eb3", "\ufdfa", "\U0001d15e", "\u2126", "\u0958", "\ufb1d",
]  # fmt: skip


def random_texts(seed: int, count: int, longest: int = 12) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        parts = PARTS if rng.random() < 0.7 else rng.sample(PARTS, 5)
        yield "".join(rng.choice(parts) for _ in range(rng.randrange(longest)))


def contexts(char: str) -> Iterator[str]:
    """A character alone and beside others that it may join."""
    yield char
    yield f"a{char}"
    yield f"{char}b"
    yield f"{char}\u0301"
    yield f"a{char}\u0323"
    yield char + char
    yield f" {char} "
    yield f"\u1100{char}\u11a8"
    yield f"a\u0301{char}b"
    yield f"\u00a9\u200d{char}\u0301"
    yield f"\u0915\u094d{char}\u0301"
