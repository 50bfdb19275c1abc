"""Pre-tokenizers compiled to automata: the boundaries of tiktoken and tokenizers, in parts and
in linear time; the table of known ones; hostile arrays.

tests/full/pretok.py does the same at length.
"""

from __future__ import annotations

import os
import random
from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from isotok.compile.pretok import table
from isotok.compile.pretok.arrays import (
    BACK,
    DONE,
    DROP_HERE,
    HEADER_WORDS,
    HERE,
    JOIN_HERE,
    REWIND,
    SLOW,
    PretokArrays,
)
from isotok.compile.pretok.huggingface import cuts_of, read_pre_tokenizer
from isotok.compile.pretok.known import HUGGING_FACE, TIKTOKEN
from isotok.compile.pretok.tiktoken import PATTERNS
from support import data, pretok, pretok_oracle, pretok_random
from support.pretok_compare import Pair, compare_random

KNOWN: dict[str, Any] = {
    **HUGGING_FACE,
    **{f"tiktoken {name}": pattern for name, pattern in TIKTOKEN.items()},
}
MODELS = sorted(data.models_dir().glob("*tokenizer.json*"))
TABLE = data.ROOT / "py_host/isotok/data/pretok_known.bin"
DROPPED = pretok.DROPPED


@pytest.fixture(scope="module")
def libraries() -> None:
    """Skip without tiktoken and tokenizers; in CI they must be there."""
    missing = pretok_oracle.missing()
    if missing and os.environ.get("CI"):
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


def driver_of(value: Any) -> pretok.Driver:
    return pretok.of_tiktoken(value) if isinstance(value, str) else pretok.of_json(value)


def split(regex: str, behavior: str = "Isolated", invert: bool = False) -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": behavior,
        "invert": invert,
    }


def wide_texts(seed: str, count: int, longest: int) -> list[str]:
    rng = random.Random(seed)
    return [pretok_random.text(rng, pretok_random.WIDE, longest) for _ in range(count)]


# ---- Against the libraries ----------------------------------------------------------------


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("name", KNOWN)
def test_known(name: str) -> None:
    pair = Pair(KNOWN[name])
    assert pair.difference(wide_texts(name, 1500, 9 if pair.tiktoken else 14)) is None


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", pretok_random.BEHAVIORS)
def test_behaviors(behavior: str, invert: bool) -> None:
    for regex in (r"[a-c]+", r"\s+(?!\S)|\d{2}", r"\w\s|x"):
        pair = Pair(split(regex, behavior, invert))
        rng = random.Random(f"{behavior} {invert} {regex}")
        texts = [pretok_random.text(rng, pretok_random.SHORT, 12) for _ in range(800)]
        assert pair.difference(texts) is None, regex


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("value", "other"),
    [
        # A tiktoken pattern under Ruby's syntax, another set, another pattern.
        pytest.param(split(PATTERNS["cl100k_base"]), split(PATTERNS["llama3"]), id="dialect"),
        pytest.param(
            {"type": "Whitespace"}, split(r"\w+|[^\w\s]+", "Removed", True), id="word characters"
        ),
        pytest.param(HUGGING_FACE["llama3"], HUGGING_FACE["qwen2"], id="digits"),
    ],
)
def test_power(value: Any, other: Any) -> None:
    """The random texts tell the wrong automaton from the right one."""
    right, wrong = Pair(value), Pair(other)
    wrong.oracle = right.oracle
    texts = wide_texts("power", 3000, 14)
    assert right.difference(texts) is None
    assert wrong.difference(texts) is not None


@pytest.mark.usefixtures("libraries")
def test_random_patterns() -> None:
    """A few of those of the long run."""
    for make in (pretok_random.value, pretok_random.sequence):
        result = compare_random(make, "quick", 40)
        assert result.problems == [] and result.counts["compared"] > 10


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("regex", [r"(a+)+", r"a*b|a", r"\s+$", r"(?:a|b)*1|.", r"[ab]*c|a"])
def test_hostile_patterns_are_right(regex: str) -> None:
    rng = random.Random(regex)
    texts = [pretok_random.text_of_runs(rng) for _ in range(500)]
    assert Pair(split(regex)).difference(texts) is None


# ---- What patterns mean -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regex", "text", "tiktoken", "tokenizers"),
    [
        # Ruby has no possessive braces: {1,3}+ is a repeat of a repeat.
        (r"\d{1,3}+|x", "1234567x", ["123", "456", "7", "x"], ["1234567", "x"]),
        # {2}? is optional there, lazy here.
        (r"a{2}?|b|a", "aab", ["aa", "b"], None),
        # $ is also in front of every newline there.
        (r"a$|a|\n", "a\na", ["a", "\n", "a"], ["a", "\n", "a"]),
        (r"\s+$|x|\s", " \nx", [" ", "\n", "x"], [" ", "\n", "x"]),
        (r"[a ]+$|.|\n", "a \na", ["a", " ", "\n", "a"], ["a ", "\n", "a"]),
        # POSIX classes are ASCII here.
        (r"[[:alpha:]]+|.", "aé", ["a", "é"], ["aé"]),
        # The first alternative that matches, not the longest.
        (r"a|ab|abc", "abc", ["a"], ["a", "bc"]),
        # Case folds to ſ and K.
        (r"(?i:'s|'k)|.", "'ſ'K", ["'ſ", "'K"], ["'ſ", "'K"]),
    ],
)
def test_dialects(regex: str, text: str, tiktoken: list[str], tokenizers: list[str] | None) -> None:
    # tiktoken's $ is not before a newline at the end: the third and fourth rows show the same
    # pieces by different ways, the fifth tells them apart.
    assert pretok.of_tiktoken(regex).pieces(text) == tiktoken
    if tokenizers is None:
        with pytest.raises(ValueError, match="can match nothing"):
            pretok.of_json(split(regex))
    else:
        assert pretok.of_json(split(regex)).pieces(text) == tokenizers


def test_end_of_text_is_end_of_piece() -> None:
    """(?!\\S) and $ see the end of the piece that an earlier step made."""
    steps = [split("[0-9]"), split(r"\s+(?!\S)|\s+|\w+")]
    driver = pretok.of_json({"type": "Sequence", "pretokenizers": steps})
    assert driver.pieces("a  1  a") == ["a", "  ", "1", " ", " ", "a"]


# ---- Linear time --------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in KNOWN if name != "jais2"])
def test_spaces_without_end(name: str) -> None:
    """'a', 1,200,000 spaces, 'x': the same as with fewer spaces; tiktoken panics."""
    driver, few, many = driver_of(KNOWN[name]), 1200, 1_200_000
    short, longer = (driver.ends(b"a" + b" " * size + b"x") for size in (few, 2 * few))
    if len(longer) > len(short):  # spaces are cut: more of them are more pieces
        more = (len(longer) - len(short)) * (many - few) // few
        assert driver.count(b"a" + b" " * many + b"x") == len(short) + more
        return
    moved = [end + (many - few if (end & ~DROPPED) > few // 2 else 0) for end in short]
    assert driver.ends(b"a" + b" " * many + b"x") == moved


@pytest.mark.parametrize("regex", [r"(a+)+", r"a*b|a", r"\s+$", r"(?:a|b)*1|.", r".*.*x|."])
def test_hostile_patterns_are_linear(regex: str) -> None:
    """In quadratic time this would not end."""
    driver = pretok.of_json(split(regex))
    for unit in (b"a", b" ", b"a "):
        text = unit * (1_000_000 // len(unit)) + b"\n!"
        assert driver.count(text) > 0


# ---- In parts -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", KNOWN)
def test_parts(name: str) -> None:
    """Text that comes in parts, and is moved away, gives the same ends."""
    driver, rng = driver_of(KNOWN[name]), random.Random(name)
    for text in wide_texts(f"parts {name}", 60, 30):
        raw = text.encode()
        parts = [rng.choice((0, 1, 1, 2, 3, 7, 20)) for _ in range(2 * len(raw))]
        assert driver.ends_in_parts(raw, parts, rng.randint(4, 9)) == driver.ends(raw)


@pytest.mark.parametrize("name", ["superbpe", "tiny_aya", "exaone4"])
def test_parts_inside_characters(name: str) -> None:
    """A look-ahead waits for the rest of a character that has not come."""
    driver, rng = driver_of(KNOWN[name]), random.Random(name)
    for _ in range(400):
        raw = "".join(rng.choices("٣٣1𝟘a \r\né", k=rng.randint(2, 12))).encode()
        parts = [rng.randint(1, 3) for _ in raw]
        assert driver.ends_in_parts(raw, parts, 4) == driver.ends(raw)


def test_any_bytes() -> None:
    """Bytes that are no UTF-8 are cut somehow, up to the end."""
    rng = random.Random("bytes")
    for name, value in KNOWN.items():
        driver = driver_of(value)
        for _ in range(20):
            raw = rng.randbytes(rng.randint(1, 40))
            ends = [end & ~DROPPED for end in driver.ends(raw)]
            assert ends == sorted(set(ends)) and ends[-1] == len(raw), (name, raw)


# ---- The table ----------------------------------------------------------------------------


def key_of(value: Any) -> str:
    return table.text_of([["tiktoken", value]] if isinstance(value, str) else cuts_of(value))


@pytest.mark.parametrize("name", KNOWN)
def test_table(name: str) -> None:
    """What other hosts find in the table is what is compiled here, to the byte."""
    found = table.unpack(TABLE.read_bytes())[key_of(KNOWN[name])]
    assert found.to_bytes() == driver_of(KNOWN[name]).arrays.to_bytes()


@pytest.mark.skipif(not MODELS, reason=data.absence(data.models_dir()))
def test_real_models_are_in_the_table() -> None:
    known = table.unpack(TABLE.read_bytes())
    for path in MODELS:
        value = pretok.pre_tokenizer_of(path)
        stages = read_pre_tokenizer(value).stages
        assert bool(cuts_of(value)) == bool(stages), path.name
        if stages:
            assert known[key_of(value)].to_bytes() == pretok.Driver(stages).arrays.to_bytes()


# ---- Hostile arrays -----------------------------------------------------------------------


def copies(arrays: PretokArrays) -> list[array[int]]:
    parts = (arrays.header, arrays.tables, arrays.classes)
    return [array(part.typecode, part) for part in parts]


def mutated(arrays: PretokArrays, rng: random.Random) -> PretokArrays:
    """Change a few numbers, most of them in the tables of the passes."""
    parts = copies(arrays)
    pages = arrays.header[1]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        kind = rng.random()
        part = parts[0] if kind < 0.1 else parts[2] if kind < 0.2 else parts[1]
        low = pages if part is parts[1] and kind < 0.9 else 0
        at = rng.randrange(low, len(part))
        other = part[rng.randrange(low, len(part))]
        value = rng.choice((0, 1, 255, other, part[at] ^ 1 << rng.randrange(16), part[at] + 1))
        part[at] = value & (255 if part is parts[2] else 0xFFFF)
    if rng.random() < 0.05:
        part = rng.choice(parts)
        del part[rng.randrange(len(part)) :]
    return PretokArrays(*parts)


def survives(arrays: PretokArrays, texts: Sequence[bytes]) -> bool:
    """Whether the arrays pass the check; if so, they must cut the texts."""
    core = pretok.library()
    if pretok.opened(core, arrays) is None:
        return False
    driver = pretok.Driver.of_arrays(arrays)
    for raw in texts:
        ends = [end & ~DROPPED for end in driver.ends_in_parts(raw, [5] * 20, 5)]
        assert ends == sorted(set(ends)) and all(0 < end <= len(raw) for end in ends)
    return True


def test_hostile_arrays() -> None:
    """Changed arrays are refused, or cut without end or empty segments no more than right ones."""
    rng = random.Random("arrays")
    passed = refused = 0
    for value in KNOWN.values():
        arrays = driver_of(value).arrays
        texts = [text.encode() for text in wide_texts("hostile", 8, 30)]
        for _ in range(30):
            if survives(mutated(arrays, rng), texts):
                passed += 1
            else:
                refused += 1
    assert passed > 100 and refused > 100


@pytest.mark.parametrize("part", range(3))
def test_shorter_arrays_are_refused(part: int) -> None:
    core = pretok.library()
    arrays = driver_of(HUGGING_FACE["exaone4"]).arrays
    for size in range(0, len(copies(arrays)[part]), 7):
        parts = copies(arrays)
        del parts[part][size:]
        assert pretok.opened(core, PretokArrays(*parts)) is None


# Row, symbol, flags. In row 0 nothing was read.
BAD_CELLS = {
    "a cut in front of the first character": (0, 0, HERE),
    "a cut in front of a character that was not read": (0, 1, BACK),
    "going back without a place": (0, 0, REWIND | SLOW),
    "an end in the middle": (1, 0, DONE | SLOW),
    "a slow cell that is not marked": (1, 0, REWIND),
    "unknown bits": (1, 0, 2),
    "a join where there are none": (1, 0, HERE | JOIN_HERE | SLOW),
    "a drop where there are none": (1, 0, HERE | DROP_HERE),
}


@pytest.mark.parametrize("what", BAD_CELLS)
def test_bad_cells_are_refused(what: str) -> None:
    core, arrays = pretok.library(), driver_of(HUGGING_FACE["llama3"]).arrays
    row, symbol, flags = BAD_CELLS[what]
    parts = copies(arrays)
    pages, (rows, stride) = arrays.header[1], arrays.header[HEADER_WORDS : HEADER_WORDS + 2]
    parts[1][pages + rows * stride + row * stride + symbol] = flags
    assert pretok.opened(core, PretokArrays(*parts)) is None


@pytest.mark.parametrize(
    ("what", "part", "index", "value"),
    [
        ("passes", 0, 0, 0),
        ("passes", 0, 0, 7),
        ("a block that is none", 1, 5, 65535),
        ("pages of a plane that are none", 1, 1024 + 20, 100),
        ("a class that is none", 2, 64, 254),
        ("rows", 0, HEADER_WORDS, 0),
        ("stride", 0, HEADER_WORDS + 1, 1),
        ("kind", 0, HEADER_WORDS + 2, 8),
    ],
)
def test_bad_numbers_are_refused(what: str, part: int, index: int, value: int) -> None:
    core, arrays = pretok.library(), driver_of(HUGGING_FACE["llama3"]).arrays
    parts = copies(arrays)
    parts[part][index] = value
    assert pretok.opened(core, PretokArrays(*parts)) is None, what


def test_rows_without_an_end_are_refused() -> None:
    core, arrays = pretok.library(), driver_of(HUGGING_FACE["llama3"]).arrays
    pages, (rows, stride) = arrays.header[1], arrays.header[HEADER_WORDS : HEADER_WORDS + 2]
    for row in range(rows):
        for flags in (0, HERE):
            parts = copies(arrays)
            parts[1][pages + rows * stride + row * stride + stride - 1] = flags
            assert pretok.opened(core, PretokArrays(*parts)) is None


def test_false_facts_are_refused() -> None:
    """A fact that is not so is found."""
    core, arrays = pretok.library(), driver_of(HUGGING_FACE["llama3"]).arrays
    pages, (rows, stride) = arrays.header[1], arrays.header[HEADER_WORDS : HEADER_WORDS + 2]
    for row in range(rows):
        at = pages + 2 * rows * stride + row
        for fact in range(8):
            parts = copies(arrays)
            old, parts[1][at] = parts[1][at], fact
            stronger = (fact & 3) > (old & 3) or fact & ~old & 4
            if stronger or fact & 3 == 3:
                assert pretok.opened(core, PretokArrays(*parts)) is None, (row, old, fact)
