#!/usr/bin/env python3
"""Writes py_host/isotok/data/unicode_sets.json: which code points the properties of the
reference engines hold, found by asking the engines about every code point.

A pattern means what its engine says, and the engines carry tables of different Unicode
versions; no table of the host is used. Needs the versions in VERSIONS:

    pip install tiktoken==0.14.0 tokenizers==0.23.3
    python tools/pretok_unicode.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from string import ascii_lowercase

import tiktoken
import unicode_tables
from tokenizers import Regex, normalizers, pre_tokenizers

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "py_host"))

from isotok.compile.pretok.code_points import CodePoints  # noqa: E402

OUTPUT = ROOT / "py_host/isotok/data/unicode_sets.json"
VERSIONS = {"tiktoken": "0.14.0", "tokenizers": "0.23.3"}


def words(text: str) -> list[str]:
    return text.split()


# Loose names: lower case, without spaces, "_" and "-".
CATEGORIES = words("""
    c cc cf cn co l lc ll lm lo lt lu m mc me mn n nd nl no p pc pd pe pf pi po ps
    s sc sk sm so z zl zp zs""")
BINARY = words("""
    alnum alpha alphabetic any ascii assigned blank cased cntrl dash digit emoji
    emojimodifier emojipresentation extendedpictographic graph hexdigit ideographic lower
    lowercase print punct space unifiedideograph upper uppercase whitespace word xdigit""")
SCRIPTS = words("""
    arabic armenian balinese bengali bopomofo braille canadianaboriginal cherokee common
    coptic cuneiform cyrillic devanagari ethiopic georgian gothic greek gujarati gurmukhi
    han hangul hebrew hiragana inherited javanese kannada katakana khmer lao latin
    malayalam mongolian myanmar nko oriya runic sinhala sundanese syriac tamil telugu
    thaana thai tibetan tifinagh vai yi""")
POSIX = words("""
    alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit""")

ALL_TEXT = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, 0x110000)))

Probe = Callable[[str], CodePoints]


def set_of(text: Iterable[str]) -> CodePoints:
    return CodePoints.of(*map(ord, text))


def probe_tiktoken(pattern: str) -> CodePoints:
    """Code points that match: tiktoken drops all others."""
    ranks = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return set_of(encoding.decode(encoding.encode_ordinary(ALL_TEXT)))


def probe_tokenizers(pattern: str) -> CodePoints:
    """Code points that match: what remains when all others are removed."""
    kept = normalizers.Replace(Regex(pattern), "").normalize_str(ALL_TEXT)
    return set_of(ALL_TEXT) - set_of(kept)


def probe_split(splitter: object) -> CodePoints:
    """Code points that a pre-tokenizer of the kind `removed` keeps."""
    kept = set()
    for start in range(0, len(ALL_TEXT), 4096):
        pieces = splitter.pre_tokenize_str(ALL_TEXT[start : start + 4096])  # type: ignore[attr-defined]
        kept.update(*(piece for piece, _ in pieces))
    return set_of(kept)


def probe_names(probe: Probe) -> dict[str, CodePoints]:
    sets = {f"\\{letter}": probe(f"\\{letter}") for letter in "dsw"}
    for name in (*CATEGORIES, *BINARY, *SCRIPTS):
        try:
            sets[name] = probe(f"\\p{{{name}}}")
        except Exception as error:  # this engine has no such property
            print(f"    no \\p{{{name}}}: {str(error).splitlines()[-1][:60]}")
    for name in POSIX:
        sets[f"[:{name}:]"] = probe(f"[[:{name}:]]")
    for letter in ascii_lowercase:
        sets[f"fold {letter}"] = probe(f"(?i:{letter})")
    return sets


def check_brackets(sets: dict[str, CodePoints]) -> None:
    """A property must be the same inside brackets; of Oniguruma's \\w this is known not to
    be so.
    """
    nul = CodePoints.of(0)
    for name in (*CATEGORIES, *BINARY, *SCRIPTS, r"\s", r"\d"):
        if name in sets and name != "word":
            inside = name if name[0] == "\\" else f"\\p{{{name}}}"
            assert probe_tokenizers(f"[{inside}\\x00]") == sets[name] | nul, name
    assert probe_tokenizers(r"[\w\x00]") == sets["[:word:]"] | nul


def probe_many_folds() -> list[str]:
    """Pairs of ASCII letters that match one character when case is ignored."""
    separate = "\n".join(ALL_TEXT)

    def folds(pairs: list[str]) -> bool:
        pattern = Regex(f"(?i:{'|'.join(pairs)})")
        return normalizers.Replace(pattern, "").normalize_str(separate) != separate

    found = []
    for first in ascii_lowercase:
        pairs = [first + second for second in ascii_lowercase]
        if folds(pairs):
            found += [pair for pair in pairs if folds([pair])]
    return found


def probe_fixed() -> dict[str, CodePoints]:
    """Sets of the pre-tokenizers whose rule is in the code of tokenizers."""
    everything = set_of(ALL_TEXT)
    removed = [pre_tokenizers.Punctuation("removed"), pre_tokenizers.WhitespaceSplit()]
    punctuation, space = (everything - probe_split(splitter) for splitter in removed)
    isolated = pre_tokenizers.Digits(individual_digits=True)
    context = [f"a{character}a" for character in ALL_TEXT]
    numeric = set_of(text[1] for text in context if len(isolated.pre_tokenize_str(text)) == 3)
    whitespace = pre_tokenizers.Whitespace()
    word = set_of(text[1] for text in context if len(whitespace.pre_tokenize_str(text)) == 1)
    return {"punctuation": punctuation, "space": space, "numeric": numeric, "word": word}


def check_bert(fixed: dict[str, CodePoints]) -> None:
    """BertPreTokenizer must use the sets of Punctuation and WhitespaceSplit."""
    bert = pre_tokenizers.BertPreTokenizer()
    for character in ALL_TEXT:
        count = len(bert.pre_tokenize_str(f"a{character}a"))
        point = ord(character)
        expected = 3 if point in fixed["punctuation"] else 2 if point in fixed["space"] else 1
        assert count == expected, hex(point)


def make() -> dict[str, object]:
    unique: dict[CodePoints, int] = {}
    engines: dict[str, dict[str, int]] = {}
    probes = {
        "tiktoken": lambda: probe_names(probe_tiktoken),
        "tokenizers": lambda: probe_names(probe_tokenizers),
        "tokenizers fixed": probe_fixed,
    }
    for engine, probe in probes.items():
        print(f"{engine} …", flush=True)
        sets = probe()
        if engine == "tokenizers fixed":
            check_bert(sets)
        if engine == "tokenizers":
            check_brackets(sets)
        engines[engine] = {
            name: unique.setdefault(points, len(unique)) for name, points in sets.items()
        }
    print("pairs that fold to one character …", flush=True)
    return {
        "made_by": "tools/pretok_unicode.py",
        "versions": VERSIONS,
        "many_folds": {"tiktoken": [], "tokenizers": probe_many_folds()},
        "engines": engines,
        "sets": [unicode_tables.spell(points.toggles) for points in unique],
    }


def main() -> int:
    return unicode_tables.write(__doc__, VERSIONS, OUTPUT, make)


if __name__ == "__main__":
    sys.exit(main())
