"""Sets of code points by name, as each reference engine has them.

The data file is made by tools/pretok_unicode.py from the engines themselves.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Final, Literal, TypedDict

from isotok.compile.pretok.code_points import CodePoints

Engine = Literal["tiktoken", "tokenizers", "tokenizers fixed"]
"""`tiktoken`: its patterns. `tokenizers`: patterns in a tokenizer.json. `tokenizers fixed`:
rules in the code of tokenizers (Punctuation, Digits, Whitespace, …)."""


class _Data(TypedDict):
    made_by: str
    versions: dict[str, str]
    many_folds: dict[str, list[str]]
    engines: dict[str, dict[str, int]]
    sets: list[str]


_LONG_NAMES: Final = {
    "other": "c", "control": "cc", "format": "cf", "unassigned": "cn", "privateuse": "co",
    "letter": "l", "casedletter": "lc", "lowercaseletter": "ll", "modifierletter": "lm",
    "otherletter": "lo", "titlecaseletter": "lt", "uppercaseletter": "lu", "mark": "m",
    "spacingmark": "mc", "enclosingmark": "me", "nonspacingmark": "mn", "number": "n",
    "decimalnumber": "nd", "letternumber": "nl", "othernumber": "no", "punctuation": "p",
    "connectorpunctuation": "pc", "dashpunctuation": "pd", "closepunctuation": "pe",
    "finalpunctuation": "pf", "initialpunctuation": "pi", "otherpunctuation": "po",
    "openpunctuation": "ps", "symbol": "s", "currencysymbol": "sc", "modifiersymbol": "sk",
    "mathsymbol": "sm", "othersymbol": "so", "separator": "z", "lineseparator": "zl",
    "paragraphseparator": "zp", "spaceseparator": "zs",
}  # fmt: skip


@cache
def _data() -> _Data:
    text = files("isotok").joinpath("data/unicode_sets.json").read_text("utf-8")
    data: _Data = json.loads(text)
    return data


@cache
def _set(index: int) -> CodePoints:
    steps = (int(step, 16) for step in _data()["sets"][index].split())
    return CodePoints(tuple(accumulate(steps)))


def find(engine: Engine, name: str) -> CodePoints | None:
    r"""Return a set by its name in the data file (``\s``, ``lu``, ``[:alpha:]``), or None."""
    index = _data()["engines"][engine].get(name)
    return None if index is None else _set(index)


def need(engine: Engine, name: str) -> CodePoints:
    """Return a set that the data file is known to hold."""
    return _set(_data()["engines"][engine][name])


def find_property(engine: Engine, name: str) -> CodePoints | None:
    r"""Return the set of ``\p{name}``, or None if it is unknown."""
    loose = "".join(character for character in name.lower() if character not in " _-")
    key, _, value = loose.partition("=")
    if value:
        if key not in ("gc", "generalcategory", "sc", "script") or engine != "tiktoken":
            return None
        loose = value
    return find(engine, _LONG_NAMES.get(loose, loose))


def many_folds(engine: Engine) -> frozenset[str]:
    """Return pairs of letters that match one character when their case is ignored."""
    return frozenset(_data()["many_folds"][engine])


def tables() -> dict[str, str]:
    """Return the package versions that the sets were read from."""
    return dict(_data()["versions"])
