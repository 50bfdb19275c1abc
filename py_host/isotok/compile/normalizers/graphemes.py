"""Extended grapheme clusters as tokenizers cuts them: classes, and an automaton over them.

A state is what the rules of UAX #29 need to know of the cluster so far. Regional indicators are
left out: whether two are one cluster changes nothing, as clusters of 6 bytes or more are taken
apart.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from isotok.compile.normalizers.data import HANGUL, character_set
from isotok.compile.pretok.code_points import CodePoints

CUT: Final = 0x8000
_JOINER: Final = CodePoints.of(0x200D)
_NAMES: Final = (
    "other", "cr", "lf", "control", "extend", "linker", "plain_extend", "joiner", "spacing",
    "prepend", "leading", "vowel", "trailing", "lv", "lvt", "pictographic", "consonant",
)  # fmt: skip
"""`extend`: of conjuncts too; `plain_extend`: not of conjuncts; `linker`: virama."""


@cache
def classes() -> tuple[CodePoints, ...]:
    """Return the members of each class, by number; those of the first are all others."""
    found = {name: character_set(f"grapheme {name}") for name in _NAMES if name in _PROBED}
    extend, conjunct = found["extend"], character_set("grapheme conjunct_extend")
    cr, lf = CodePoints.of(13), CodePoints.of(10)
    found |= {
        "cr": cr,
        "lf": lf,
        "control": found["control"] - cr - lf,
        "joiner": _JOINER,
        "linker": found["linker"] - _JOINER,
        "extend": (extend & conjunct) - found["linker"] - _JOINER,
        "plain_extend": extend - conjunct - found["linker"] - _JOINER,
        "lvt": CodePoints.from_ranges([(HANGUL[0], HANGUL[-1])]) - found["lv"],
        "other": CodePoints(),
    }
    return tuple(found[name] for name in _NAMES)


_PROBED: Final = frozenset(_NAMES) - {"other", "cr", "lf", "joiner", "plain_extend", "lvt"}


@cache
def class_of(char: str) -> int:
    """Return the number of a character's class."""
    return next((i for i, points in enumerate(classes()) if ord(char) in points), 0)


_State = tuple[str, bool, bool, int]
"""Last class; of a conjunct: a consonant came, and a linker after it; 1: a pictograph and
Extend came, 2: and a joiner.
"""


def _is_joined(state: _State, name: str) -> bool:
    last, conjunct, linker, picture = state
    if last == "cr" and name == "lf":
        return True
    if last in ("cr", "lf", "control") or name in ("cr", "lf", "control"):
        return False
    if (last, name) in _HANGUL_PAIRS:
        return True
    if name in ("extend", "linker", "plain_extend", "joiner", "spacing") or last == "prepend":
        return True
    if conjunct and linker and name == "consonant":
        return True
    return picture == 2 and name == "pictographic"


_HANGUL_PAIRS: Final = {
    *(("leading", after) for after in ("leading", "vowel", "lv", "lvt")),
    *((before, after) for before in ("lv", "vowel") for after in ("vowel", "trailing")),
    *((before, "trailing") for before in ("lvt", "trailing")),
}


def _next(state: _State, name: str) -> _State:
    _, conjunct, linker, picture = state
    inside = name in ("extend", "linker", "joiner")
    return (
        name,
        name == "consonant" or (conjunct and inside),
        inside and conjunct and (linker or name == "linker"),
        _picture(picture, name),
    )


def _picture(picture: int, name: str) -> int:
    if name == "pictographic":
        return 1
    if picture == 1 and name in ("extend", "plain_extend", "linker"):
        return 1
    return 2 if picture == 1 and name == "joiner" else 0


@cache
def automaton() -> tuple[tuple[int, ...], ...]:
    """Return cells [state][class]: the next state, or `CUT`. State 0 begins a cluster."""
    start: _State = ("", False, False, 0)
    numbers: dict[_State, int] = {start: 0}
    todo: list[_State] = [start]
    rows: list[tuple[int, ...]] = []
    for state in todo:
        row: list[int] = []
        for name in _NAMES:
            if state != start and not _is_joined(state, name):
                row.append(CUT)
                continue
            after = _next(state, name)
            if after not in numbers:
                numbers[after] = len(numbers)
                todo.append(after)
            row.append(numbers[after])
        rows.append(tuple(row))
    return tuple(rows)


def clusters(text: list[int]) -> list[int]:
    """Return the ends of the clusters of a text that is given as class numbers."""
    ends: list[int] = []
    state, cells = 0, automaton()
    for i, number in enumerate(text):
        if i and cells[state][number] == CUT:
            ends.append(i)
            state = 0
        state = cells[state][number]
    return [*ends, len(text)] if text else []


_LEFT: Final = {"extend", "linker", "plain_extend", "joiner", "spacing", "vowel", "trailing"}
_RIGHT: Final = {"cr", "prepend", "joiner", "leading"}
_SOFT: Final = {"consonant", "extend", "linker", "joiner"}
LEFT: Final = frozenset(i for i, name in enumerate(_NAMES) if name in _LEFT)
"""Classes that join what stands before them …"""
RIGHT: Final = frozenset(i for i, name in enumerate(_NAMES) if name in _RIGHT)
"""… or behind them …"""
SOFT: Final = frozenset(i for i, name in enumerate(_NAMES) if name in _SOFT)
"""… or each other."""
EXTENDING: Final = frozenset(
    i for i, name in enumerate(_NAMES) if name in _LEFT - {"vowel", "trailing"}
)
"""Classes that the replacement of a cluster drops, wherever they come."""
