"""Patterns and pre-tokenizers that are refused, by the name of the construct and its place."""

from __future__ import annotations

from typing import Any

import pytest
from isotok.compile.pretok.chain import make_chain
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.huggingface import read_pre_tokenizer
from isotok.compile.pretok.parse import parse
from isotok.compile.pretok.reader import Dialect
from isotok.compile.pretok.tiktoken import tiktoken_stage
from isotok.errors import TokenizerError

BOTH: tuple[Dialect, ...] = ("tiktoken", "tokenizers")
TIKTOKEN: tuple[Dialect, ...] = ("tiktoken",)
TOKENIZERS: tuple[Dialect, ...] = ("tokenizers",)

# pattern, construct, offset, dialects
SYNTAX = [
    (r"a(?P<x>b)", "a named group", 1, BOTH),
    (r"a(?<x>b)", "a named group", 1, BOTH),
    (r"ab\1", "a back-reference or octal number", 2, BOTH),
    (r"a\k<x>", "a back-reference", 1, BOTH),
    (r"a\Gb", "\\G (end of the previous match)", 1, BOTH),
    (r"\Xb", "\\X (grapheme cluster)", 0, BOTH),
    (r"\Rb", "\\R (general newline)", 0, BOTH),
    (r"a\Kb", "\\K (keep out)", 1, BOTH),
    (r"a(?#b)", "a comment", 1, BOTH),
    (r"(?(1)a|b)", "a conditional", 0, BOTH),
    (r"(?~ab)", "an absent operator", 0, BOTH),
    (r"a(*FAIL)", "a verb or call-out", 1, BOTH),
    (r"(?:ab)++c", "a possessive repeat of a group", 6, BOTH),
    (r"x(?>ab|a)c", "an atomic group that is not one repeated character", 1, BOTH),
    (r"(?<=ab)c", "a look-behind that is not one character", 0, BOTH),
    (r"(?:a*)*b", "a repeat of something that may match nothing", 0, BOTH),
    (r"(?i:é)", "(?i) on characters outside ASCII that may have cases", 4, BOTH),
    (r"(?i:\p{Lu})", "(?i) on characters outside ASCII that may have cases", 4, BOTH),
    (r"ab(?i)c", "flags in the middle of a group", 2, BOTH),
    (r"a{1,2000}", "a repeat of more than 1000", 1, BOTH),
    (r"a{3,2}", "a repeat whose most is below its least, or 0", 1, BOTH),
    (r"a{x}", "{ outside a repeat; write \\{", 1, BOTH),
    (r"*a", "a repeat of nothing", 0, BOTH),
    (r"a)b", "a ) without (", 1, BOTH),
    (r"a(b", "a group without )", 1, BOTH),
    (r"a[b", "brackets without ]", 1, BOTH),
    (r"[]a]", "brackets that begin with ]; write \\]", 1, BOTH),
    (r"[z-a]", "a range whose ends are in the wrong order", 1, BOTH),
    (r"[\w-z]", "a range between classes", 1, BOTH),
    (r"[--b]", "-- in brackets; write \\-", 1, BOTH),
    (r"\p{Klingon}", "the property 'Klingon'", 0, BOTH),
    (r"[[:foo:]]", "the POSIX class [:foo:]", 1, BOTH),
    (r"\pL", "a property without braces", 0, TOKENIZERS),
    (r"a\p{L", "a property without }", 1, BOTH),
    (r"\x{110000}", "the character \\x110000", 0, BOTH),
    (r"\xe9", "the character \\xe9", 0, TOKENIZERS),
    ("(" * 60 + "a" + ")" * 60, "groups nested more than 50 deep", 51, BOTH),
    ("a" * 20_001, "a pattern of more than 20000 characters", 0, BOTH),
    ("a\\", "a pattern that ends inside an escape", 2, BOTH),
]

# What only the automaton shows: pattern, construct, dialects
MEANING = [
    ("(?i:ss)", "(?i) on ss, which a single character also matches", TOKENIZERS),
    ("(?i:s)(?:x|T|(?i:t))", "(?i) on st, which a single character also matches", TOKENIZERS),
    ("a?", "a pattern that can match nothing", BOTH),
    ("a*|b", "a pattern that can match nothing", BOTH),
    ("(?:a{1,1000}){1,1000}", "more than 20000 steps", BOTH),
    ("[ab]*a[ab]{30}", "more than 2000 states", BOTH),
    (r"(?:ab)+c|a|[ab]+ca", "a pattern that may take quadratic time", BOTH),
]


def compile_pattern(pattern: str, dialect: Dialect) -> None:
    if dialect == "tiktoken":
        make_chain([tiktoken_stage(pattern)])
    else:
        make_chain(read_pre_tokenizer(split(pattern)).stages)


def split(regex: str, **more: Any) -> dict[str, Any]:
    known = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated"}
    return {**known, "invert": False, **more}


@pytest.mark.parametrize(("pattern", "construct", "offset", "dialects"), SYNTAX)
def test_syntax(pattern: str, construct: str, offset: int, dialects: tuple[Dialect, ...]) -> None:
    for dialect in BOTH:
        if dialect in dialects:
            with pytest.raises(PatternError) as caught:
                parse(pattern, dialect)
            assert (caught.value.construct, caught.value.offset) == (construct, offset)
            assert f"{construct} at character {offset} of the pattern" in str(caught.value)
        else:
            parse(pattern, dialect)


@pytest.mark.parametrize(("pattern", "construct", "dialects"), MEANING)
def test_meaning(pattern: str, construct: str, dialects: tuple[Dialect, ...]) -> None:
    for dialect in BOTH:
        if dialect in dialects:
            with pytest.raises(PatternError) as caught:
                compile_pattern(pattern, dialect)
            assert caught.value.construct == construct
        else:
            compile_pattern(pattern, dialect)


@pytest.mark.parametrize(
    ("value", "construct"),
    [
        (3, "a pre_tokenizer that is not a JSON object"),
        ({"type": "UnicodeScripts"}, "the pre-tokenizer UnicodeScripts"),
        ({"type": "Sequence"}, "a Sequence without its list"),
        (split("a", behavior="Merged"), "the behavior 'Merged' of Split"),
        (split("a", invert=1), "Split whose invert is not true or false"),
        (split("a", pattern="a"), "a Split whose pattern is neither a String nor a Regex"),
        ({"type": "CharDelimiterSplit", "delimiter": "ab"},
         "CharDelimiterSplit whose delimiter is not one character"),
        ({"type": "FixedLength", "length": 0}, "FixedLength whose length is not 1 to 255"),
        ({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}] * 33},
         "a Sequence of more than 32 steps"),
        (split("(?=a)", behavior="Removed"), "matches without characters that are not Isolated"),
    ],
)  # fmt: skip
def test_pre_tokenizers(value: object, construct: str) -> None:
    with pytest.raises(PatternError) as caught:
        read_pre_tokenizer(value)
    assert caught.value.construct == construct


def test_many_passes() -> None:
    steps = [split(r"a*b|a|x", behavior="MergedWithNext")] * 8
    from support import pretok

    with pytest.raises(PatternError, match="8 passes over the text"):
        pretok.of_json({"type": "Sequence", "pretokenizers": steps})


def test_error_is_a_tokenizer_error() -> None:
    with pytest.raises(TokenizerError, match=r"^pre-tokenizer: .*; isotok does not support this$"):
        parse(r"\Xa", "tiktoken")
