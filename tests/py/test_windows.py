"""Windows of pre-tokenizers (core/build/windows.c): the ends that the automaton gives alone, in
any text, in parts and into any room; wrong answers are noticed.

What the automaton gives is compared with the libraries in test_pretok.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.known import HUGGING_FACE, TIKTOKEN
from support import data, pretok, pretok_random, windows

KNOWN: dict[str, Any] = {
    **HUGGING_FACE,
    **{f"tiktoken {name}": pattern for name, pattern in TIKTOKEN.items()},
}
# More than one pass, or look-aheads; all others have windows.
WITHOUT = {
    "falcon", "clip", "deepseek_coder", "deepseek_llm", "viking", "jais2", "spark2.5", "chameleon",
    "tiny_aya", "superbpe", "exaone4",
}  # fmt: skip
ROOMS = (4, 5, 6, 7, 8, 16, 20, 33, 34, 35, 40, 64, 81, 129, 192)
PARTS = (0, 1, 1, 2, 3, 7, 17, 40)
GROUPS, ANSWERS, UNKNOWN = 512, 672, 3


def driver_of(value: Any) -> pretok.Driver:
    return pretok.of_tiktoken(value) if isinstance(value, str) else pretok.of_json(value)


def with_windows(plain: pretok.Driver) -> pretok.Driver | None:
    """Return the same with windows, if it has some that tell anything."""
    table = pretok.windows_of(plain.arrays)
    if all(answers == 0xFF for answers in table[ANSWERS:]):
        return None
    return pretok.Driver.of_arrays(plain.arrays, table)


def differences(
    plain: pretok.Driver, driver: pretok.Driver, raws: Iterator[bytes], rng: random.Random
) -> list[tuple[bytes, int, list[int]]]:
    """Return the texts that are cut otherwise: whole, into little room, or in parts."""
    wrong: list[tuple[bytes, int, list[int]]] = []
    for raw in raws:
        ends, room = plain.ends(raw), rng.choice(ROOMS)
        parts = rng.choices(PARTS, k=2 * len(raw))
        found = (driver.ends(raw), driver.ends(raw, room), driver.ends_in_parts(raw, parts, room))
        if any(each != ends for each in found):
            wrong.append((raw, room, parts))
    return wrong


def texts(rng: random.Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield windows.broken(rng) if rng.random() < 0.2 else windows.text(rng).encode()


def test_which_have_windows() -> None:
    assert {name for name in KNOWN if with_windows(driver_of(KNOWN[name])) is None} == WITHOUT


@pytest.mark.parametrize("name", sorted(KNOWN.keys() - WITHOUT))
def test_known(name: str) -> None:
    plain, rng = driver_of(KNOWN[name]), random.Random(f"windows {name}")
    driver = with_windows(plain)
    assert driver is not None
    assert differences(plain, driver, texts(rng, 250), rng) == []


def pattern_text(rng: random.Random) -> bytes:
    """Return a text of what random patterns are about; ASCII, most often."""
    kind = rng.random()
    if kind < 0.25:
        return windows.text(rng).encode()
    if kind < 0.4:
        return pretok_random.text_of_runs(rng).encode()
    alphabet = [each for each in pretok_random.SHORT if kind < 0.5 or each.isascii()]
    return pretok_random.text(rng, alphabet, 60).encode()


def test_random_patterns() -> None:
    rng = random.Random("windows of patterns")
    made = 0
    for _ in range(250):
        make = pretok_random.value if rng.random() < 0.6 else pretok_random.sequence
        value = make(rng)
        try:
            plain = driver_of(value)
        except (PatternError, ValueError):
            continue
        driver = with_windows(plain)
        if driver is None:
            continue
        made += 1
        raws = (pattern_text(rng) for _ in range(25))
        assert differences(plain, driver, raws, rng) == [], value
    assert made > 60


# ---- What would not be noticed ------------------------------------------------------------


def set_answer(table: bytearray, window: int, answer: int) -> None:
    """Change the answer for four groups, and let vectors ask for it."""
    shift = window % 4 * 2
    at = ANSWERS + window // 4
    table[at] = table[at] & ~(3 << shift) | answer << shift
    second, third = window >> 4 & 15, window >> 8 & 15
    row = 7 - second if second < 8 else second
    if third < 8:
        bit = 1 << (7 - third)
        table[GROUPS + 64 + row] |= bit
        for first in (48, 80, 96):  # ends, those by the next character, those that are dropped
            table[GROUPS + first + row] &= ~bit


def answer_of(table: bytes, window: int) -> int:
    return table[ANSWERS + window // 4] >> window % 4 * 2 & 3


@pytest.mark.parametrize("name", ["gpt2", "llama3", "o200k", "deepseek_v3", "bert"])
def test_wrong_answers_are_noticed(name: str) -> None:
    """Nearly every single wrong answer changes the ends of some of the texts of `test_known`."""
    plain, rng = driver_of(KNOWN[name]), random.Random(f"wrong {name}")
    table = pretok.windows_of(plain.arrays)
    used = set(table[:128])  # groups of ASCII
    known = [
        window
        for window in range(16**4)
        if answer_of(table, window) != UNKNOWN
        and {window >> 4 * place & 15 for place in range(4)} <= used
    ]
    raws = [windows.text(rng).encode() for _ in range(3000)]
    ends = [plain.ends(raw) for raw in raws]
    noticed = 0
    chosen = rng.sample(known, 40)
    for window in chosen:
        changed = bytearray(table)
        set_answer(changed, window, 0 if answer_of(table, window) else 1)
        driver = pretok.Driver.of_arrays(plain.arrays, bytes(changed))
        noticed += any(driver.ends(raw) != right for raw, right in zip(raws, ends, strict=True))
    assert noticed >= 36, noticed


@pytest.mark.parametrize("name", ["gpt2", "llama3", "o200k", "bert"])
def test_wrong_pairs_are_noticed(name: str) -> None:
    """An end between any two groups of ASCII too many or too few changes the ends of some texts of
    `test_known`, and what pairs do not tell is asked.
    """
    plain, rng = driver_of(KNOWN[name]), random.Random(f"pairs {name}")
    table = pretok.windows_of(plain.arrays)
    used = sorted(set(table[:128]) - {0})
    raws = [windows.text(rng).encode() for _ in range(3000)]
    ends = [plain.ends(raw) for raw in raws]
    changes = [(48, second, third) for second in used for third in used]
    changes += [(64, second, third) for second, third in asked_pairs(table, used)]
    noticed = 0
    for first, second, third in changes:
        changed = bytearray(table)
        changed[GROUPS + first + 7 - second] ^= 1 << (7 - third)
        driver = pretok.Driver.of_arrays(plain.arrays, bytes(changed))
        noticed += any(driver.ends(raw) != right for raw, right in zip(raws, ends, strict=True))
    assert noticed >= 0.85 * len(changes), (noticed, len(changes))


def asked_pairs(table: bytes, used: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of groups that do not tell alone, nor with the next one."""
    for second in used:
        asks, by_next = (table[GROUPS + first + 7 - second] for first in (64, 80))
        yield from ((second, each) for each in used if (asks & ~by_next) >> (7 - each) & 1)


@pytest.mark.parametrize("name", ["gpt2", "tiktoken o200k_base", "bert"])
def test_windows_are_asked(name: str) -> None:
    """With answers that say "an end" everywhere, ends come from windows nearly everywhere."""
    plain = driver_of(KNOWN[name])
    table = bytearray(pretok.windows_of(plain.arrays))
    for window in range(16**4):
        if answer_of(table, window) != UNKNOWN:
            set_answer(table, window, 1)
    driver = pretok.Driver.of_arrays(plain.arrays, bytes(table))
    raw = b"the quick brown fox jumps over the lazy dog " * 20
    assert len(driver.ends(raw)) > 0.9 * len(raw)
    assert len(plain.ends(raw)) < 0.5 * len(raw)


# ---- Hostile ------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 65, 255, 256, 511])
def test_groups_that_are_none_are_refused(at: int) -> None:
    plain = driver_of(KNOWN["llama3"])
    table = bytearray(pretok.windows_of(plain.arrays))
    table[at] = 16
    space = (pretok.ctypes.c_ubyte * len(table))(*table)
    assert pretok.opened(plain.core, plain.arrays, space) is None


@pytest.mark.parametrize("name", ["llama3", "exaone4", "clip", "jais2", "bert"])
def test_any_answers(name: str) -> None:
    """Windows from anywhere, also beside passes for which there are none: segments that are not
    empty, up to the end of the text.
    """
    plain, rng = driver_of(KNOWN[name]), random.Random(f"any {name}")
    for _ in range(25):
        groups = bytes(rng.randrange(16) for _ in range(GROUPS))
        rest = rng.randbytes(ANSWERS - GROUPS + 16**4 // 4)
        driver = pretok.Driver.of_arrays(plain.arrays, groups + rest)
        for raw in texts(rng, 10):
            parts = rng.choices(PARTS, k=len(raw))
            for found in (driver.ends(raw), driver.ends_in_parts(raw, parts, 4)):
                ends = [end & ~pretok.DROPPED for end in found]
                assert ends == sorted(set(ends)) and ends[0] > 0 and ends[-1] == len(raw)


@pytest.mark.parametrize("name", ["gpt2", "o200k", "deepseek_v3", "bert"])
def test_text_without_end(name: str) -> None:
    """A megabyte of one thing is not read again and again: else this would not end."""
    plain = driver_of(KNOWN[name])
    driver = with_windows(plain)
    assert driver is not None
    for unit in (b"a", b" ", b"1", b"-", b"\n", b"A", b"'", b"\t", b" \n", "é".encode()):
        raw = unit * (1_000_000 // len(unit)) + b"x!"
        assert driver.count(raw) == plain.count(raw)


def test_models_have_them() -> None:
    """The blob of a model with a known pattern holds the windows of its pre-tokenizer."""
    name = "gpt2.tokenizer.json"
    path = next((data.models_dir() / each for each in (name, f"{name}.gz")
                 if (data.models_dir() / each).exists()), None)  # fmt: skip
    if path is None:
        pytest.skip(data.absence(data.models_dir()))
    plain = pretok.of_json(pretok.pre_tokenizer_of(path))
    view = pretok.BlobView(pretok.compile_model(path.read_bytes()))
    assert bytes(view.pretok_windows) == pretok.windows_of(plain.arrays) != b""
