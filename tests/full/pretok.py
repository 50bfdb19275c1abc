"""Pre-tokenizers against their libraries: random texts, every code point, corpora, hostile
patterns, linear time.

Needs tiktoken and tokenizers in the versions of tests/support/pretok_oracle.py.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.full.limits import Check, Checks
from tests.full.matrix import corpora
from tests.support import data

sys.path.insert(0, str(data.ROOT / "tests"))

from isotok.compile.pretok.known import HUGGING_FACE, TIKTOKEN
from support import pretok, pretok_oracle, pretok_random
from support.pretok_compare import Difference, Pair, batches, compare_random

TEXTS = int(os.environ.get("ISOTOK_PRETOK_TEXTS", "200000"))
PATTERNS = int(os.environ.get("ISOTOK_PRETOK_PATTERNS", "3000"))
CONTEXTS = ("{}", "{0}{0}", "a{}", "1{}", " {}", "{}\n")
QUOTES = ("'{}", "a'{}", "'l{}")
BATCH = 2000
CHARACTERS = 1 << 18
LIMIT = 0x110000
RATIO = 4.8

# In these every character of every class map is looked at; others have the same sets.
EVERY = (
    "gpt2", "llama3", "qwen2", "qwen3.5", "o200k", "kimi", "tekken", "deepseek_v3", "clip",
    "bert", "whitespace", "youtu", "deepseek_coder", "deepseek_llm", "falcon", "bloom",
    "tiny_aya", "chameleon",
)  # fmt: skip
QUOTED = ("llama3", "o200k", "tiktoken cl100k_base", "tiktoken o200k_base")


def _pairs() -> Iterator[tuple[str, Any]]:
    yield from HUGGING_FACE.items()
    for name, pattern in TIKTOKEN.items():
        yield f"tiktoken {name}", pattern


def _line(what: str, texts: int, wrong: Difference | None) -> Check:
    value = f"{texts:,} texts" if wrong is None else f"{wrong.count} differ: {wrong}"
    return what, value, "equal", wrong is None


def _compare(pair: Pair, texts: Iterator[str]) -> tuple[int, Difference | None]:
    """Compare all; the number of texts and the first batch's difference."""
    count, worst = 0, None
    for batch in batches(texts, BATCH):
        count += len(batch)
        worst = worst or pair.difference(batch)
    return count, worst


def random_texts() -> Iterator[Check]:
    """200,000 random texts through every known pre-tokenizer (ISOTOK_PRETOK_TEXTS)."""
    for name, value in _pairs():
        rng = random.Random(f"pretok {name}")
        longest = 9 if isinstance(value, str) else 14
        texts = (pretok_random.text(rng, pretok_random.WIDE, longest) for _ in range(TEXTS))
        yield _line(name, *_compare(Pair(value), texts))


def code_points() -> Iterator[Check]:
    """Every code point, twice, and behind and in front of others."""
    names = [*EVERY, *(f"tiktoken {name}" for name in TIKTOKEN)]
    for name, value in _pairs():
        if name not in names:
            continue
        contexts = (*CONTEXTS, *QUOTES) if name in QUOTED else CONTEXTS
        texts = (
            context.format(chr(point))
            for context in contexts
            for point in range(LIMIT)
            if not 0xD800 <= point < 0xE000
        )
        yield _line(name, *_compare(Pair(value), texts))


def whole_corpora() -> Iterator[Check]:
    """Each corpus as one text."""
    paths = corpora(data.corpora_dir())
    texts = [(path.name, path.read_text("utf-8", errors="replace")) for path in paths]
    for name, value in _pairs():
        pair = Pair(value)
        results = {title: _agrees(pair, text) for title, text in texts}
        wrong = [title for title, same in results.items() if same is False]
        panics = [title for title, same in results.items() if same is None]
        equal = f"{len(texts)} corpora, differing: {wrong or 'none'}"
        yield name, f"{equal}, it panics on: {panics or 'none'}", "equal", not wrong


def _agrees(pair: Pair, text: str) -> bool | None:
    """Compare a long text; None: the library gives up on it."""
    try:
        return pair.agrees_on(text)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def _random(make: Callable[[random.Random], Any], seed: str) -> Iterator[Check]:
    result = compare_random(make, seed, PATTERNS)
    for problem in result.problems:
        yield seed, problem, "equal", False
    fine = not result.problems and result.counts["compared"] > 0
    yield seed, str(dict(result.counts)), "0 differ", fine


def random_patterns() -> Iterator[Check]:
    """Random patterns of both dialects (ISOTOK_PRETOK_PATTERNS)."""
    yield from _random(pretok_random.value, "random patterns")


def random_sequences() -> Iterator[Check]:
    """Random Sequences of up to four steps."""
    yield from _random(pretok_random.sequence, "random sequences")


def linear_time() -> Iterator[Check]:
    """1 MB of one thing through every known pre-tokenizer: at most 4.8 times 250 KB."""
    units = ("a", " ", "\n", "1", " \n", "a ", "'", "A", "\r\n", "é", "A\u0301", "日")
    for name, value in _pairs():
        driver = pretok.of_tiktoken(value) if isinstance(value, str) else pretok.of_json(value)
        worst, where = 0.0, ""
        for unit in units:
            raw = unit.encode()
            for tail in (b"", b"x", b"\nx "):
                short, long = (raw * (size // len(raw)) + tail for size in (250_000, 1_000_000))
                ratio = _ratio(driver, short, long)
                worst, where = max((worst, where), (ratio, f"{unit!r}…{tail!r}"))
        yield name, f"{worst:.2f} ({where})", f"<= {RATIO}", worst <= RATIO


def _ratio(driver: pretok.Driver, short: bytes, long: bytes) -> float:
    """Return the ratio of the least times, again if something else may have disturbed it."""
    found = 1e9
    for _ in range(6):
        times = [(_time(driver, short), _time(driver, long)) for _ in range(3)]
        found = min(found, min(b for _, b in times) / min(a for a, _ in times))
        if found <= RATIO:
            break
    return found


def _time(driver: pretok.Driver, text: bytes) -> float:
    begin = time.thread_time()
    driver.count(text)
    return time.thread_time() - begin


def _available(checks: Callable[[], Iterator[Check]]) -> Callable[[], Iterator[Check]]:
    def run() -> Iterator[Check]:
        missing = pretok_oracle.missing()
        if missing:
            yield "the libraries", missing, "there", False
            return
        yield from checks()

    return run


ALL: Checks = {
    "pretok_random": _available(random_texts),
    "pretok_code_points": _available(code_points),
    "pretok_corpora": _available(whole_corpora),
    "pretok_patterns": _available(random_patterns),
    "pretok_sequences": _available(random_sequences),
    "pretok_linear": linear_time,
}
