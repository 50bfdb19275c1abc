"""Random patterns, pre-tokenizers and texts, of pieces that matter to each other."""

from __future__ import annotations

import random
from typing import Any

from isotok.compile.pretok.known import HUGGING_FACE

BEHAVIORS = ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")

# ---- Texts --------------------------------------------------------------------------------

SHORT = list("aabbccsSABC11223  \n\n\r'é-.ſßKkK!xÉß_٣²日")
RUNS = ["a", " ", "\n", "1", "ab", "a1", " a", "b", "c", "é", "A", ".", "x", "\r\n", "a ", "bc"]

# Of every kind that the patterns of real models tell apart, and of their borders.
WIDE = [
    *"aabcdelmrstvzAEILMRSTVZ0123456789", *"  \t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u2003\u2028\u3000",
    *"''’.,;:!?¡-_()[]{}/\\|@#$%&*+=<>^`~\"", "ſ", "K", "ß", "ẞ", "İ", "ı", "é", "É", "e\u0301",
    *"µªºʰǅǈДдЖжΩωςאبتא\u064b\u0301\u0300\u0903\u20dd", *"٣²½Ⅷ①〇໑𝟘¹¼",
    *"中日本語漢々〇〆龥\u9fff㐀𠀀゠・゛ゝぁあアァー\u3040\u3097\u3098ㄅㄆ가힣ㄱㆎ한",
    *"—…“”‘、。，！：；～￥＄€£©®™°±×÷", *"\u200b\u200c\u200d\ufeff\u00ad\x00\x07\x7f\ufffd\ue000",
    *"😀👩🏽🇫️\ufe0f", "'s", "'S", "'ſ", "'re", "'LL", "'lL", "n't", "  ", "   ", "\r\n", "\n\n",
    " \n", "\n ", "123", "1234567", "AbC", "aB", "ABCd", "<|x|>", "IMGIMGABZ", "<sentinel:12>",
    "\U0010ffff", "\ue000", "\u0378", "\u2e43", "\u166d", "\U000111c9", "\U0001e4d0", "ﬁ", "ŉ",
]  # fmt: skip


def text(rng: random.Random, alphabet: list[str], longest: int) -> str:
    """Return a text of up to `longest` items of an alphabet."""
    return "".join(rng.choices(alphabet, k=rng.randint(1, longest)))


def text_of_runs(rng: random.Random) -> str:
    """Return a text of runs: they are what is read in vain."""
    count = rng.randint(1, 7)
    return "".join(rng.choice(RUNS) * rng.choice((1, 1, 2, 5, 9)) for _ in range(count))


# ---- Patterns -----------------------------------------------------------------------------

_LETTERS = [
    *"abcs1 '", r"\n", "é", "ſ", "-", r"\.", r"\s", r"\S", r"\d", r"\w", r"\W", r"\p{L}",
    r"\p{N}", r"\P{L}", r"\p{Lu}", ".", r"\r", r"\x{e9}", r"\u00e9",
]  # fmt: skip
_ITEMS = [
    "a", "b", "c", "s", "a-c", "0-9", r"\s", r"\d", r"\w", r"\p{L}", r"\p{N}", r"\n", r"\r", "é",
    " ", "'", "[:alpha:]", "[:space:]", "[ab]", "[^b]", r"\-", "A-Z", "[:punct:]", "[:^digit:]",
    r"\S", "ß-ö",
]  # fmt: skip
_CUT = ["[^a]", r"\w", "a-z", r"[^\s]"]
_FOLDED = ["a", "s", "b", "ab", "[as]", "'s", "[a-c]", "k", "é", "st", " "]
_BEHIND = ["a", r"\s", "[ab]", r"\w", r"\n"]
_ANCHORS = (r"\b", r"\B", "^", "$", r"\A", r"\z")
_REPEATS = [
    "*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "*?", "+?", "??", "{1,3}?", "{2}?", "++",
    "*+", "?+", "{1,2}+", "{1,3}+", "{2}+", "{,2}",
]  # fmt: skip
_NO_REPEAT = ("(?=", "(?!", "(?<", *_ANCHORS)

# Put together, they read far ahead in vain.
_GREEDY = [
    "a*b", "[ab]*c", "a+1", r"\s+$", r"\s*\n", "(?:ab)+c", r"\w+\s", r"\d+\.", "a", r"\s", r"\w",
    "[^a]+a", "a{2,3}b", "(?:a|b)*1", r"\s+(?!\S)", "a+?b", r"\p{Lu}*\p{Ll}+", ".", r"\d+\sa",
    r"\s+a\b", "a+(?=bc)", "[ab]+ 1", r"\s\s+x",
]  # fmt: skip


def pattern(rng: random.Random, depth: int = 2) -> str:
    """Return alternatives of anything."""
    count = rng.choice((1, 1, 1, 2, 2, 3))
    return "|".join(
        "".join(_repeated(rng, depth) for _ in range(rng.randint(1, 3))) for _ in range(count)
    )


def greedy_pattern(rng: random.Random) -> str:
    """Return alternatives that give back much."""
    return "|".join(rng.choice(_GREEDY) for _ in range(rng.randint(1, 4)))


def _repeated(rng: random.Random, depth: int) -> str:
    atom = _atom(rng, depth)
    repeat = rng.random() < 0.4 and not atom.startswith(_NO_REPEAT)
    return atom + rng.choice(_REPEATS) if repeat else atom


def _atom(rng: random.Random, depth: int) -> str:
    draw = rng.random()
    if draw < 0.45 or depth <= 0:
        return rng.choice(_LETTERS)
    if draw < 0.62:
        return _brackets(rng)
    if draw < 0.83:
        return f"{'(?:' if draw < 0.8 else '('}{pattern(rng, depth - 1)})"
    if draw < 0.88:
        return f"(?i:{rng.choice(_FOLDED)})"
    if draw < 0.93:
        return f"{rng.choice(('(?=', '(?!'))}{pattern(rng, depth - 1)})"
    if draw < 0.95:
        return f"{rng.choice(('(?<=', '(?<!'))}{rng.choice(_BEHIND)})"
    return rng.choice(_ANCHORS)


def _brackets(rng: random.Random) -> str:
    items = "".join(rng.choices(_ITEMS, k=rng.randint(1, 3)))
    if rng.random() < 0.15:
        items += f"&&{rng.choice(_CUT)}"
    return f"[{'^' if rng.random() < 0.3 else ''}{items}]"


# ---- Pre-tokenizers -----------------------------------------------------------------------

_STAGES = [
    r"\p{N}{1,3}", r"\p{N}", r"\s+", " ", r"[\r\n]+", r" ?\p{L}+", r"\s?\p{P}+",
    r"\s+(?!\S)|\s+", "[a-c]+", "'s|'t", r"\w+|[^\w\s]+", "a|ab|abc", "abc|a", r"\s+$", r"^\s+",
    r"\b\w", r"(?=(\d{3})+(?!\d))", r"\d{1,3}(?=(?:\d{3})*\b)", r"(?:\r?\n)+(?!\r?\n)",
    r"[^\s]{1,4}", "a*b|a", r"(?<=\n)", r"\p{Lu}?\p{Ll}+", r"(?<!\s)\p{N}+", ".", "x{2}", r"\b",
]  # fmt: skip


def split(rng: random.Random, regex: str, *, plain: float = 0.0) -> dict[str, Any]:
    """Return a Split; `plain`: how often it is Isolated whatever else."""
    behavior = "Isolated" if rng.random() < plain else rng.choice(BEHAVIORS)
    invert = rng.random() < 0.25
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}


def value(rng: random.Random) -> Any:
    """Return a pattern of tiktoken, or a Split."""
    if rng.random() < 0.3:
        return split(rng, greedy_pattern(rng))
    regex = pattern(rng)
    return regex if rng.random() < 0.5 else split(rng, regex)


def sequence(rng: random.Random) -> dict[str, Any]:
    """Return a Sequence of one to four steps."""
    steps = [_step(rng) for _ in range(rng.randint(1, 4))]
    return {"type": "Sequence", "pretokenizers": steps}


def _step(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.7:
        step = split(rng, rng.choice(_STAGES), plain=0.5)
        if rng.random() < 0.1:
            step["pattern"] = {"String": rng.choice((" ", "ab", "'", "\n"))}
        return step
    return rng.choice(
        [
            {"type": "Digits", "individual_digits": rng.random() < 0.5},
            {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)},
            {"type": "WhitespaceSplit"},
            {"type": "Whitespace"},
            {"type": "BertPreTokenizer"},
            {"type": "CharDelimiterSplit", "delimiter": rng.choice("a ")},
            {"type": "FixedLength", "length": rng.randint(1, 4)},
            HUGGING_FACE["gpt2"],
        ]
    )
