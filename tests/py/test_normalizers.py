"""Normalizers of a tokenizer.json: text and alignments are those of tokenizers."""

from __future__ import annotations

import json
import random
from array import array
from itertools import pairwise
from typing import Any

import isotok
import pytest
from isotok import _layout_gen as abi
from isotok.compile import compile_model
from isotok.compile._fields import byte_level_fields, pack_fields, scalar
from isotok.compile.normalizers import known, make_normalizer
from isotok.compile.pretok.arrays import make_arrays
from isotok.compile.pretok.chain import make_chain
from isotok.compile.pretok.huggingface import read_pre_tokenizer
from isotok.compile.pretok.stages import byte_letters
from isotok.errors import TokenizerError
from support import data
from support import normalizers as support

pytest.importorskip("tokenizers", reason="the reference library is not installed")

NAMES = sorted(support.pipelines())
SLOW_TO_ASK = {"precompiled_runs"}
EDGES = [
    "", " ", "\u2581", " \u2581", "\u2581 ", "   ", "\u3000", "a ", " a", " a b ", "\n\n", "\u0301",
    "\u0301a", "\x01", "\x01a\x01b", "\x01\x02\u0301 a", "½\x01a", "a\x01½", "\r\n", "\r\u0301\n",
    "①\u0301", "ﬁ\u0301", "\u212a\u0301", "ｶﾞ", "\u1100\u1161\u11a8", "\uac00\u11a8", "``''`", "'''",
    "aabab", "\ufeffa", "\ufdfa" * 3, "a\u0323\u0301\u0307\u0301", "\u0958\u094d\u0915",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_texts(name: str, backend: str) -> None:
    count = 2500 if backend == "native" else 300
    support.compare(name, [*EDGES, *support.random_texts(len(name), count)], backend)


@pytest.mark.parametrize("name", NAMES)
def test_long_texts(name: str) -> None:
    """Units, runs and what is removed in front are longer than a usual window."""
    rest = "".join(support.random_texts(9, 3000))
    texts = [
        rest,
        "a" + "\u0301\u0323" * 9000 + "b" + " " * 9000 + "c\u0345" + "\u0323" * 10 + " " * 9000,
        "\x01" * 7000 + "abc é\u0323 def" * 10,
        " " * 9000 + "\u3000" * 9000,
        "\u1100\u1161" * 5000 + "\u0915\u094d" * 4000 + "\u2764\u200d" * 4000,
        "word " * 5000 + "don't ``stop'' NOW\n" * 1000,
    ]
    support.compare(name, texts[:5] if name in SLOW_TO_ASK else texts)


@pytest.mark.parametrize("name", NAMES)
def test_code_points_in_contexts(name: str) -> None:
    """A sample; `test full` has all."""
    rng = random.Random(len(name))
    points = [*range(0x250), *rng.sample(range(0x250, 0xD800), 700), *range(0x1100, 0x1120)]
    points += rng.sample(range(0xE000, 0x20000), 500)
    texts = [text for point in points for text in support.contexts(chr(point))]
    support.compare(name, texts)


@pytest.mark.parametrize("name", NAMES)
def test_parts(name: str, backend: str) -> None:
    """Text in parts, cut inside characters too, gives the ids of the whole."""
    rng = random.Random(17)
    texts = [*support.random_texts(3, 40, 60), "ab \u0301" * 3000, "é\xff".encode("latin-1") * 40]
    raw = [text if isinstance(text, bytes) else text.encode() for text in texts]
    chars = {c for text in raw for c in text.decode(errors="replace")} | set('"_<é>▁ ')
    blob = support.char_model(support.program(name), chars)
    with isotok.load(blob, backend=backend) as tok:
        for text in raw:
            cuts = sorted({0, len(text), *(rng.randrange(len(text) + 1) for _ in range(9))})
            ids = [
                i for part in tok.encode_stream(text[a:b] for a, b in pairwise(cuts)) for i in part
            ]
            assert ids == tok.encode(text), (name, text)
            assert tok.count(text) == len(ids)


def test_ill_formed_bytes_become_replacement_characters() -> None:
    blob = support.char_model(support.program("nfc"), set("aé\ufffd"))
    with isotok.load(blob) as tok:
        assert tok.normalize(b"a\xffe\xcc\x81\xe2\x82") == "a\ufffdé\ufffd\ufffd".encode()
        found = tok.encode_with_offsets(b"\xff\xe2\x82a", unit="byte")
        assert found.offsets == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_units_of_offsets() -> None:
    blob = support.char_model(support.program("bert_uncased"), set("ae ") | {"\U00020000"})
    with isotok.load(blob) as tok:
        text = "É\U00020000a"
        spans = {
            unit: tok.encode_with_offsets(text, unit=unit).offsets for unit in ("byte", "utf16")
        }
        assert spans["byte"] == [(0, 2), *[(2, 6)] * 3, (6, 7)]
        assert spans["utf16"] == [(0, 1), *[(1, 3)] * 3, (3, 4)]


@pytest.mark.parametrize("name", ["nfc", "bert_uncased", "xlmr", "t5", "xlnet", "llama2"])
def test_corpora(name: str) -> None:
    files = sorted(data.corpora_dir().glob("*.txt"))
    if not files or name not in support.pipelines():
        pytest.skip("no data")
    rng = random.Random(5)
    texts: list[str] = []
    for file in files:
        text = file.read_text("utf-8")
        start = rng.randrange(max(1, len(text) - 20_000))
        texts += [text[start : start + 20_000], *text[start : start + 20_000].split("\n")]
    support.compare(name, texts)


# ---- With special tokens, and bytes --------------------------------------------------------

SPECIAL = "<|x|>"


def _byte_level(normalizer: Any, pre: Any, backend: str) -> tuple[isotok.Tokenizer, Any]:
    from tokenizers import Tokenizer

    letters = [chr(point) for point in byte_letters()]
    added = {
        "id": 256, "content": SPECIAL, "single_word": False, "lstrip": False, "rstrip": False,
        "normalized": False, "special": True,
    }  # fmt: skip
    reference = Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [added],
                "normalizer": normalizer,
                "pre_tokenizer": pre,
                "post_processor": None,
                "decoder": None,
                "model": {
                    "type": "BPE",
                    "vocab": {letter: i for i, letter in enumerate(letters)},
                    "merges": [],
                },
            }
        )
    )
    stages = read_pre_tokenizer(pre)
    made = make_normalizer(normalizer, stages)
    assert made is not None
    fields = byte_level_fields(
        [*(bytes([byte]) for byte in range(256)), SPECIAL.encode()],
        bytes([abi.NORMAL]) * 256 + bytes([abi.CONTROL]),
        array("f", (-float(i) for i in range(257))),
        make_arrays(make_chain(made.stages)).to_bytes(),
        parity=abi.PARITY_HF,
        whole=False,
    )
    return isotok.load(compile_model(fields + made.fields_bytes()), backend=backend), reference  # type: ignore[arg-type]


@pytest.mark.parametrize("normalizer", [None, {"type": "NFC"}, support.BERT, support.STRIP])
def test_segments_between_special_tokens(normalizer: Any, backend: str) -> None:
    pre = support.BYTE_PREFIX | {"use_regex": True}
    tok, reference = _byte_level(normalizer, pre, backend)
    rng = random.Random(4)
    with tok:
        for text in support.random_texts(8, 1200 if backend == "native" else 150):
            parts = [text[i : i + 4] for i in range(0, len(text), 4)]
            whole = "".join(part + SPECIAL * rng.randrange(2) for part in parts)
            expected = reference.encode(whole, add_special_tokens=False)
            got = tok.encode_with_offsets(whole, special="all")
            assert got.ids == expected.ids, ascii(whole)
            assert got.offsets == expected.offsets, ascii(whole)


def test_a_space_among_the_pieces() -> None:
    """Then U+2581 stays three bytes in the core, though no space comes out."""
    for name in ("gemma3", "llama2", "words"):
        if name in support.pipelines():
            blob = support.char_model(support.program(name), set("ab \u2581"))
            with isotok.load(blob) as tok:
                got = tok.normalize("a b  abababababababab abababab")
                assert got.replace("\u2581", "") == "ab" * 13
                assert " " not in got


def test_a_prefix_only_at_the_very_start() -> None:
    """Metaspace with "first": not where Strip has removed what stood at 0."""
    support.compare("strip_metaspace_first", ["a b", " a b", "", " ", "\u2581a", "\ta"])


# ---- What is refused -----------------------------------------------------------------------

REFUSED = {
    "Unknown": ({"type": "Fancy"}, "'Fancy'"),
    "regex": (support.replace("a|b", "", "Regex"), "repeated character"),
    "lazy": (support.replace(" +?", "", "Regex"), "repeated character"),
    "at start": (support.replace("^ +", "", "Regex"), "repeated character"),
    "bounded": (support.replace(" {2,4}", "", "Regex"), "repeated character"),
    "empty": (support.replace("", "x"), "pattern"),
    "no content": ({"type": "Replace", "pattern": {"String": "a"}}, "content"),
    "strip": ({"type": "Strip", "strip_left": 1, "strip_right": True}, "strip_left"),
    "bert": (support.BERT | {"strip_accents": "no"}, "strip_accents"),
    "charsmap": ({"type": "Precompiled", "precompiled_charsmap": "!!"}, "base64"),
    "short charsmap": ({"type": "Precompiled", "precompiled_charsmap": "AAAA"}, "charsmap"),
    "no charsmap": ({"type": "Precompiled", "precompiled_charsmap": None}, "charsmap"),
    "list": ({"type": "Sequence", "normalizers": None}, "normalizers"),
    "nested": (support.sequence({"type": "NFC"}, {"type": "Fancy"}), r"normalizers\[1\]"),
    "text": ("NFC", "JSON object"),
    "surrogate": (support.replace("\ud800", ""), "surrogate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    value, words = REFUSED[case]
    with pytest.raises(TokenizerError, match=words):
        make_normalizer(value)


@pytest.mark.parametrize("value", [None, support.sequence(), support.sequence(support.sequence())])
def test_nothing_to_do(value: Any) -> None:
    assert make_normalizer(value) is None


def test_deep_nesting() -> None:
    value: Any = {"type": "NFC"}
    for _ in range(50):
        value = support.sequence(value)
    with pytest.raises(TokenizerError, match="nested"):
        make_normalizer(value)


# ---- Hostile programs ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert_uncased", "nfkc_spaces", "strip_nfc_lower", "words", "t5"])
def test_hostile_programs(name: str) -> None:
    """Arrays with wrong numbers are refused, or normalize any text without harm."""
    if name not in support.pipelines():
        pytest.skip("no data")
    made = support.program(name)
    rng = random.Random(11)
    text = "".join(support.random_texts(2, 60)) + " \u0301" * 200
    refused = 0
    for _ in range(150):
        header, tables, pool = made.header[:], made.tables[:], bytearray(made.text)
        for _ in range(rng.randrange(1, 4)):
            kind = rng.randrange(4)
            if kind == 0:
                at = rng.randrange(min(len(header), 48))
                header[at] = rng.choice([0, 1, 2, 7, 255, 65535, 0xFFFFFFFF, header[at] + 1])
            elif kind == 1:
                at = rng.randrange(len(tables))
                tables[at] = rng.choice([0, 1, 255, 0x7FFF, 0xFFFF, rng.randrange(65536)])
            elif kind == 2:
                pool[rng.randrange(len(pool))] = rng.randrange(256)
            else:
                at = rng.randrange(len(tables))
                tables = tables[:at] if rng.random() < 0.1 else tables
        fields = [
            (abi.FIELD_ALGORITHM, scalar(abi.CHAR)),
            (abi.FIELD_PARITY, scalar(abi.PARITY_HF)),
            (abi.FIELD_PIECE_TEXT, b"<unk>a"),
            (abi.FIELD_PIECE_SIZES, array("H", [5, 1])),
            (abi.FIELD_SCORES, array("f", [0.0, 0.0])),
            (abi.FIELD_TYPES, bytes([abi.UNKNOWN, abi.NORMAL])),
            *made.fields(),
            (abi.FIELD_UNICODE_HEADER, header),
            (abi.FIELD_UNICODE_TABLES, tables),
            (abi.FIELD_UNICODE_TEXT, bytes(pool)),
        ]
        try:
            tok = isotok.load(compile_model(pack_fields(fields)))
        except TokenizerError:
            refused += 1
            continue
        with tok:
            try:
                tok.normalize(text)
                tok.encode_with_offsets(text)
            except (TokenizerError, MemoryError):
                pass
    assert 10 < refused < 150


def test_expansion_behind_a_normal_form() -> None:
    """What a charsmap would make longer is not there any more: memory of long units is for 19."""
    charsmap = known.precompiled(known.nmt_nfkc())
    steps = (support.simple("NFKD"), support.simple("StripAccents"), charsmap)
    place = 13  # where the program says into how many characters one may turn
    for normalizer, most in ((charsmap, 18), (support.sequence(*steps), 18)):
        made = make_normalizer(normalizer)
        assert made is not None
        assert made.header[place] == most
    composed = make_normalizer(support.sequence(support.simple("NFC"), charsmap))
    assert composed is not None
    assert composed.header[place] > 18
