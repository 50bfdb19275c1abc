"""SentencePieceNormalizer and convert_to_flatbuffer of the drop-in, against sentencepiece."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path
from typing import Any

import isotok
import isotok.compat.sentencepiece as ours
import pytest
from isotok.compat.sentencepiece import _charsmap, _rules
from support import compat, data, models, texts
from support.toy import byte_model, toy_model

FLAGS = ("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces")
MAP = [("foo", "bar"), ("apple", "orange"), ("é", ""), ("fo", " "), ("\u3000", " ")]


def flag_choices(count: int) -> list[dict[str, bool]]:
    choose = random.Random(count)
    return [
        {},
        *({f: choose.random() < 0.5 for f in FLAGS if choose.random() < 0.8} for _ in range(count)),
    ]


def compare(source: dict[str, Any], inputs: list[Any]) -> int:
    """Normalize with both; returns the number of checks."""
    theirs, _ = compat.modules()
    count = 0
    for flags in flag_choices(6):
        pair = compat.Comparison(
            theirs.SentencePieceNormalizer(**source, **flags),
            ours.SentencePieceNormalizer(**source, **flags),
        )
        for text in inputs:
            for with_offsets in (False, True):
                pair.check(
                    f"{flags} {with_offsets} {text!r}",
                    lambda sp, t=text, w=with_offsets: sp.Normalize(t, with_offsets=w),
                )
        pair.check("a list", lambda sp: sp.normalize(inputs, with_offsets=True))
        pair.check("decompile", lambda sp: sp.Decompile())
        pair.judge()
        count += pair.count
    return count


def inputs() -> list[Any]:
    every: list[Any] = [text for text in texts.CORNERS if len(text) < 200]
    every += ["foo apple  fo  é", " apple\u3000foo ", b"foo\xff apple", "ＡＢＣ ｶﾞ Å K ẞ ſ"]
    return every + [text.decode() for text in texts.CORNERS if text.isascii()]


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize(
    "name", ["uni_rules", "uni_spaces", "bpe_user", "uni_suffix", "uni_nested_rules"]
)
def test_of_a_model(name: str) -> None:
    path = data.VECTOR_MODELS / f"{name}.model"
    assert compare({"model_file": str(path)}, inputs()) > 300
    compare({"model_proto": path.read_bytes()}, inputs()[:5])


@pytest.mark.usefixtures("sentencepiece")
def test_of_rules() -> None:
    assert compare({"norm_map": MAP}, inputs()) > 300
    as_bytes = [(source.encode(), target.encode()) for source, target in MAP]
    compare({"norm_map": tuple(as_bytes)}, inputs()[:5])
    compare({"rule_name": "identity"}, inputs()[:5])


@pytest.mark.usefixtures("sentencepiece")
def test_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text("0041\t0042 43\t# comment\nU+00E9\n61 62\tU+1F600\n200B\t20\n")
    assert compare({"rule_tsv": str(path)}, [*inputs(), "Aé ab a\u200bb"]) > 300
    for bad in ("nonsense\t41\n", "\t41\n", "\n", "41\t41\n"):
        path.write_text(bad)
        theirs, _ = compat.modules()
        pair = compat.Comparison(theirs, ours)
        pair.check(bad, lambda spm: spm.SentencePieceNormalizer(rule_tsv=str(path)))
        assert not pair.differ or "no source" in pair.differ[0] or "RuntimeError" in pair.differ[0]
        with pytest.raises((RuntimeError, ValueError)):
            ours.SentencePieceNormalizer(rule_tsv=str(path))


@pytest.mark.usefixtures("sentencepiece")
def test_of_a_spec() -> None:
    """Specs go from one to the other; those of a model are equal byte for byte."""
    theirs, _ = compat.modules()
    for flags in flag_choices(4):
        a = theirs.SentencePieceNormalizer(model_proto=byte_model(), **flags)
        b = ours.SentencePieceNormalizer(model_proto=byte_model(), **flags)
        assert a.serialized_normalizer_spec() == b.serialized_normalizer_spec()
        assert a.serialized_model_proto() == b.serialized_model_proto()
    rules = ours.SentencePieceNormalizer(norm_map=MAP, add_dummy_prefix=False)
    spec = rules.serialized_normalizer_spec()
    assert theirs.SentencePieceNormalizer(normalizer_spec=spec).decompile() == rules.decompile()
    compare({"normalizer_spec": spec}, inputs()[:8])


ERRORS = r"""
spm.SentencePieceNormalizer()
spm.SentencePieceNormalizer(model_file="")
spm.SentencePieceNormalizer(model_file="no such file")
spm.SentencePieceNormalizer(model_file=5)
spm.SentencePieceNormalizer(model_proto=b"x")
spm.SentencePieceNormalizer(model_proto="x")
spm.SentencePieceNormalizer(normalizer_spec=b"x")
spm.SentencePieceNormalizer(normalizer_spec=b"\x12\x04abcd")
spm.SentencePieceNormalizer(rule_tsv="no such file")
spm.SentencePieceNormalizer(rule_name=5)
spm.SentencePieceNormalizer(rule_name="NFKC")
spm.SentencePieceNormalizer(norm_map=[])
spm.SentencePieceNormalizer(norm_map=[("a",)])
spm.SentencePieceNormalizer(norm_map=[("a", 5)])
spm.SentencePieceNormalizer(norm_map={"a": "b"})
spm.SentencePieceNormalizer(norm_map="ab")
spm.SentencePieceNormalizer(norm_map=5)
spm.SentencePieceNormalizer(norm_map=[("a", "a")])
spm.SentencePieceNormalizer(norm_map=[("a", "b"), ("a", "c")])
spm.SentencePieceNormalizer(norm_map=[("a", ""), [b"b", "c"]]).normalize("ab")
spm.SentencePieceNormalizer(norm_map=[("a" * n, "b") for n in range(1, 33)])
spm.SentencePieceNormalizer(norm_map=[("a" * n, "b") for n in range(1, 32)]).normalize("a" * 50)
spm.SentencePieceNormalizer(rule_name="identity", add_dummy_prefix="x")
spm.SentencePieceNormalizer(rule_name="identity", add_dummy_prefix=5).normalize("a")
spm.SentencePieceNormalizer(rule_name="identity").normalize(5)
spm.SentencePieceNormalizer(rule_name="identity").normalize(["a", b"b"])
spm.SentencePieceNormalizer(rule_name="identity").normalize("\ud800")
spm.SentencePieceNormalizer(rule_name="identity").decompile()
spm.SentencePieceNormalizer(rule_name="identity").serialized_normalizer_spec()
spm.SentencePieceNormalizer(rule_name="identity").serialized_model_proto()
"""


@pytest.mark.usefixtures("sentencepiece")
def test_arguments() -> None:
    theirs, _ = compat.modules()
    pair = compat.Comparison(theirs, ours)
    for line in ERRORS.strip().splitlines():
        pair.check(line, lambda spm, line=line: eval(line, {"spm": spm}))
    rows = {
        row: any(re.match(row, each) for each in pair.differ) for row in compat.ROWS["normalizer"]
    }
    assert all(rows.values()), rows
    pair.differ = [each for each in pair.differ if not any(re.match(row, each) for row in rows)]
    assert pair.count == 30
    pair.judge()


def test_messages_of_our_own() -> None:
    for text in ("", b"\xff", "a\0b"):
        with pytest.raises(ValueError, match="INVALID_ARGUMENT"):
            ours.SentencePieceNormalizer(norm_map=[(text, "b")])
    with pytest.raises(RuntimeError, match="known are identity, nmt_nfkc"):
        ours.SentencePieceNormalizer(rule_name="nonsense")


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", _rules.NAMES)
def test_named_rules(name: str) -> None:
    """All of some 225,000 rules are equal, whatever version of Unicode this Python has."""
    theirs, _ = compat.modules()
    expected = theirs.SentencePieceNormalizer(rule_name=name)
    found = ours.SentencePieceNormalizer(rule_name=name)
    rules = expected.decompile()
    assert len(rules) > 225_000
    assert found.decompile() == rules
    # And sentencepiece reads our array of them.
    again = theirs.SentencePieceNormalizer(normalizer_spec=found.serialized_normalizer_spec())
    assert again.decompile() == rules
    choose = random.Random(name)
    for source, target in choose.sample(rules, 200):
        text = f"a{source}{target}z"
        assert found.normalize(text, with_offsets=True) == expected.normalize(
            text, with_offsets=True
        )


def test_charsmap_round_trip() -> None:
    """Random rules: those of a prefix, of bytes that differ late, with equal replacements."""
    choose = random.Random(3)
    for size in (1, 2, 10, 300, 3000):
        rules = {
            "".join(choose.choices("abcé藤😀", k=choose.randrange(1, 6))).encode(): choose.choice(
                [b"", b"x", "▁y".encode(), b"zz"]
            )
            for _ in range(size)
        }
        compiled = _charsmap.compile_rules(rules)
        assert _charsmap.decompile(compiled) == rules
        assert list(_charsmap.decompile(compiled)) == sorted(rules)
        spec = models.field(2, compiled)
        normalizer = ours.SentencePieceNormalizer(
            normalizer_spec=spec, add_dummy_prefix=False, remove_extra_whitespaces=False
        )
        for source in choose.sample(sorted(rules), min(size, 20)):
            assert normalizer.normalize(source) == rules[source]


def test_a_charsmap_with_a_loop_is_an_error() -> None:
    unit = (0 ^ 1) << 10 | 0  # the root; its child by "\1" leads back to the root's base
    units = [unit, 0] + [0xFF] * 254
    units[0 ^ 1 ^ 1] = unit
    compiled = (
        (4 * 256).to_bytes(4, "little") + b"".join(u.to_bytes(4, "little") for u in units) + b"\0"
    )
    assert isinstance(_charsmap.decompile(compiled), dict)
    base = 0x61  # child of the root by "a" at slot 0 ^ 0x61 ^ 0x61 = 0: itself
    units = [base << 10] + [0xFF] * 255
    units[base ^ 0x62] = (base ^ 0x62 ^ base) << 10 | 0x62
    compiled = (
        (4 * 256).to_bytes(4, "little") + b"".join(u.to_bytes(4, "little") for u in units) + b"\0"
    )
    with pytest.raises(_charsmap.CharsmapError, match="circles"):
        _charsmap.decompile(compiled)


# ---- .spm.fb ------------------------------------------------------------------------


def has_pairs(file: bytes) -> bool:
    """Whether the trie of pairs of characters, field 10 of the root table, is there."""
    from flatbuffers.number_types import UOffsetTFlags
    from flatbuffers.table import Table

    (root,) = struct.unpack_from("<I", file)
    table = Table(bytearray(file), root)
    at = table.Offset(4 + 2 * 10)
    return at != 0 and table.Get(UOffsetTFlags, table.Vector(at)) is not None


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", ["trained_unigram", "trained_bpe", "uni_rules", "uni_ties"])
@pytest.mark.parametrize("skip", [False, True])
def test_flatbuffer(name: str, skip: bool, tmp_path: Path) -> None:
    """The file opens here and gives the same ids; it has pairs where theirs has."""
    theirs, _ = compat.modules()
    path = data.VECTOR_MODELS / f"{name}.model"
    made = ours.convert_to_flatbuffer(model_file=path, skip_char_bigrams=skip)
    assert made is not None
    expected = theirs.convert_to_flatbuffer(model_file=str(path), skip_char_bigrams=skip)
    assert has_pairs(made) == has_pairs(expected) == (not skip or name == "trained_bpe")
    assert (
        ours.ConvertToFlatbuffer(serialized_model_proto=path.read_bytes(), skip_char_bigrams=skip)
        == made
    )
    target = tmp_path / "x.spm.fb"
    assert (
        ours.convert_to_flatbuffer(model_file=path, output_file=target, skip_char_bigrams=skip)
        is None
    )
    assert target.read_bytes() == made
    with isotok.load(path) as a, isotok.load(target) as b:
        for text in texts.CORNERS:
            assert a.encode(text) == b.encode(text)
        assert [a.id_to_bytes(i) for i in range(len(a))] == [
            b.id_to_bytes(i) for i in range(len(b))
        ]


@pytest.mark.usefixtures("sentencepiece")
def test_flatbuffer_of_word_and_char_models() -> None:
    """Only when asked for; the type in the file is the model's."""
    theirs, _ = compat.modules()
    for name, number in (("word_plain", 3), ("char_plain", 4)):
        model = (data.VECTOR_MODELS / f"{name}.model").read_bytes()
        with pytest.raises(ValueError, match="INVALID_ARGUMENT"):
            ours.convert_to_flatbuffer(model_proto=model)
        made = ours.convert_to_flatbuffer(model_proto=model, allow_unsupported_model_type=True)
        expected = theirs.convert_to_flatbuffer(
            model_proto=model, allow_unsupported_model_type=True
        )
        assert isotok.load(made).info.algorithm == isotok.load(expected).info.algorithm
        assert isotok.load(made).info.algorithm == {3: "word", 4: "char"}[number]


def test_flatbuffer_of_other_forms() -> None:
    from isotok.compile import compile_model

    made = ours.convert_to_flatbuffer(model_proto=toy_model())
    assert ours.convert_to_flatbuffer(model_proto=compile_model(toy_model(), "blob")) == made
