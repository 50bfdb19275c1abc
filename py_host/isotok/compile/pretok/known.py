"""Pre-tokenizers of published models.

Their compiled forms are checked in, for hosts that have no pattern compiler
(tools/pretok_known.py); the tests compare each with its library.
"""

from __future__ import annotations

from typing import Final

from isotok.compile.pretok.huggingface import GPT2
from isotok.compile.pretok.tiktoken import PATTERNS

_Json = dict[str, object]

_CONTRACTIONS: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES: Final = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LETTERS: Final = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_MARKS: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_QWEN2: Final = rf"{_CONTRACTIONS}|{_LETTERS}|\p{{N}}|{_MARKS}|{_SPACES}"
_DEEPSEEK3: Final = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^"""
    "\r\n"
    r"""\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+["""
    "\r\n"
    r"""]*|\s*["""
    "\r\n"
    r"""]+|\s+(?!\S)|\s+"""
)
_YOUTU: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    rf"{_CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+"
    rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTIONS}?|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)


def _byte_level(use_regex: bool = False, **more: object) -> _Json:
    known: _Json = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return known | {"use_regex": use_regex} | more


def _split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> _Json:
    regex = {"Regex": pattern}
    return {"type": "Split", "pattern": regex, "behavior": behavior, "invert": invert}


def _sequence(*steps: _Json) -> _Json:
    return {"type": "Sequence", "pretokenizers": list(steps)}


def _splits(*patterns: str) -> _Json:
    return _sequence(*map(_split, patterns), _byte_level())


def _removed(pattern: str) -> _Json:
    """As files have it that were converted from ranks."""
    return _sequence(_split(pattern, "Removed", invert=True), _byte_level())


def _digits(individual: bool) -> _Json:
    return {"type": "Digits", "individual_digits": individual}


def _metaspace(scheme: str = "always", *, split: bool = True) -> _Json:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


HUGGING_FACE: Final[dict[str, _Json]] = {
    "gpt2": _byte_level(use_regex=True),
    "gpt2_prefix": _byte_level(use_regex=True, add_prefix_space=True),
    "starcoder": _sequence(_digits(True), _byte_level(use_regex=True)),
    "falcon": _sequence(
        {"type": "Punctuation", "behavior": "Contiguous"},
        _byte_level(use_regex=True),
        _digits(False),
        _split("[0-9][0-9][0-9]"),
    ),
    "clip": _sequence(
        _split(
            r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", "Removed", invert=True
        ),
        _byte_level(use_regex=True),
    ),
    "llama3": _splits(PATTERNS["llama3"]),
    "qwen2": _splits(_QWEN2),
    "qwen3.5": _splits(
        rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
        rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}"
    ),
    "o200k": _splits(PATTERNS["o200k_base"]),
    "gpt4": _removed(PATTERNS["llama3"]),
    "gpt4o": _removed(PATTERNS["o200k_base"]),
    "r50k_new": _splits(PATTERNS["r50k_base"]),
    "cl100k_new": _splits(PATTERNS["cl100k_base"]),
    "kimi": _splits(PATTERNS["kimi"]),
    "tekken": _splits(PATTERNS["tekken"]),
    "deepseek_v3": _splits(r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", _DEEPSEEK3),
    "deepseek_coder": _sequence(
        *map(_split, ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")),
        _digits(True),
        _byte_level(),
    ),
    "deepseek_llm": _splits(
        "[\r\n]",
        r"\s?[A-Za-zµÀ-ÖØ-öø-ƺ]+",
        r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
        r"\s+$",
        "[一-龥ࠀ-一가-퟿]+",
        r"\p{N}+",
    ),
    "bloom": _splits(r" ?[^(\s|[.,!?…。，、।۔،])]+"),
    "viking": _sequence(_split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), _digits(True), _byte_level()),
    "exaone_moe": _splits(
        rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "bailing": _splits(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
        r"|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "seed_coder": _splits(
        rf"{_CONTRACTIONS}|{_LETTERS}|\p{{N}}{{1}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACES}"
    ),
    "jais2": _splits(
        rf"{_CONTRACTIONS}|{_LETTERS}|\p{{N}}{{1,3}}|{_MARKS}|\s*[\r\n]+|"
        + "".join(rf"\s{{{1 << i}}}(?!\S)|" for i in range(9, 1, -1))
        + r"\s{1,2}(?!\S)|\s{1}"
    ),
    "spark2.5": _splits(
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+",
        r"\p{N}",
    ),
    "youtu": _splits("[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+", _YOUTU),
    "laguna": _splits(r"[^\n]+|[\n]+", _QWEN2),
    "chameleon": _sequence(
        _split("<sentinel:[0-9]+>"),
        _split("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
        _split("([\\t\\n]|    |  )"),
        _digits(True),
        {"type": "Punctuation", "behavior": "Isolated"},
        _byte_level(use_regex=True),
    ),
    "tiny_aya": _splits(r"\d{1,3}(?=(?:\d{3})*\b)", PATTERNS["o200k_base"]),
    "superbpe": _splits(r"\p{N}+", r"(?=(\d{3})+(?!\d))"),
    "exaone4": _splits(rf"(?:\r?\n)+(?!\r?\n)|{_QWEN2}"),
    "bert": {"type": "BertPreTokenizer"},
    "whitespace": {"type": "Whitespace"},
    "whitespace_split": {"type": "WhitespaceSplit"},
    "t5": _sequence({"type": "WhitespaceSplit"}, _metaspace()),
    "albert": _metaspace(),
    "metaspace_first": _metaspace("first"),
    "metaspace_never": _metaspace("never"),
    "gemma3": {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
        "invert": False,
    },
}
"""`pre_tokenizer` of tokenizer.json files."""

TIKTOKEN: Final = {
    "gpt2_old": GPT2,
    "r50k_base": PATTERNS["r50k_base"],
    "cl100k_base": PATTERNS["cl100k_base"],
    "o200k_base": PATTERNS["o200k_base"],
    "llama3": PATTERNS["llama3"],  # and older strings of cl100k_base
    "qwen": _QWEN2,
    "kimi": PATTERNS["kimi"],
    "tekken": PATTERNS["tekken"],
}
"""Patterns of rank files, without those that are the same."""
