"""Vocabularies and merges as models are given them, and as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, SupportsFloat, cast

from isotok.compat.tokenizers._arguments import need_sequence, need_str, u32
from isotok.compat.tokenizers._json import dump
from isotok.compat.tokenizers._text import WHITE_SPACE

Pairs = list[tuple[str, str]]


# ---- Arguments ------------------------------------------------------------------------


def need_float(argument: object, name: str) -> float:
    """Return a number; else TypeError."""
    if isinstance(argument, str):
        raise TypeError(f"argument '{name}': must be real number, not str")
    try:
        return float(cast("SupportsFloat", argument))
    except (TypeError, ValueError) as error:
        raise TypeError(f"argument '{name}': {error}") from None


def need_vocabulary(argument: object) -> dict[str, int]:
    """Return a map of texts to ids; else TypeError."""
    if not isinstance(argument, dict):
        kind = type(argument).__name__
        raise TypeError(f"argument 'vocab': '{kind}' object is neither a 'dict' nor a 'str'")
    every = cast("dict[object, object]", argument).items()
    try:
        return {need_str(text, "vocab"): u32(number, "vocab") for text, number in every}
    except OverflowError as error:
        raise TypeError(str(error)) from None


def need_merges(argument: object) -> Pairs:
    """Return pairs of texts; else TypeError."""
    return [_need_pair(one, "merges") for one in need_sequence(argument, "merges")]


def _need_pair(argument: object, name: str) -> tuple[str, str]:
    if not isinstance(argument, tuple) or len(cast("tuple[object, ...]", argument)) != 2:
        raise TypeError(f"argument '{name}': {argument!r} is not a tuple of two")
    left, right = cast("tuple[object, object]", argument)
    return need_str(left, name), need_str(right, name)


def need_pieces(argument: object) -> list[tuple[str, float]]:
    """Return texts with their scores; else TypeError."""
    found: list[tuple[str, float]] = []
    for one in need_sequence(argument, "vocab"):
        if not isinstance(one, (tuple, list)) or len(cast("list[object]", one)) != 2:
            raise TypeError(f"argument 'vocab': {one!r} is not a tuple of a text and a score")
        text, score = cast("list[object]", one)
        found.append((need_str(text, "vocab"), need_float(score, "vocab")))
    return found


def check_merges(vocabulary: Mapping[str, int], merges: Pairs, prefix: int) -> None:
    """Refuse merges of what is no token, or to none; ValueError."""
    for left, right in merges:
        made = (left.encode() + right.encode()[prefix:]).decode(errors="replace")
        for text in (left, right, made):
            if text not in vocabulary:
                raise ValueError(f"Error while initializing BPE: Token `{text}` out of vocabulary")


# ---- Files ----------------------------------------------------------------------------


def read_vocabulary(path: str) -> dict[str, int]:
    """Read a vocab.json; what is no number in it is left out.

    Raises
    ------
    ValueError
        It is no JSON object, or a number in it is no id.
    """
    whole = json.loads(_text(path, "vocab"))
    if not isinstance(whole, dict):
        raise ValueError(f"{path}: Bad vocabulary json file")
    found: dict[str, int] = {}
    for text, number in cast("dict[str, Any]", whole).items():
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            if not isinstance(number, int) or not 0 <= number < 1 << 64:
                raise ValueError(f"{path}: Bad vocabulary json file: {text!r} is {number}")
            found[text] = number & 0xFFFFFFFF
    return found


def read_merges(path: str) -> Pairs:
    """Read a merges.txt.

    Raises
    ------
    ValueError
        A line is not two texts with a space between them.
    """
    lines = _lines(_text(path, "merges"))
    found: Pairs = []
    for number, line in enumerate((one for one in lines if not one.startswith("#version")), 1):
        left, *right = line.split(" ")
        if len(right) != 1:
            raise ValueError(f"{path}: Merges text file invalid at line {number}")
        found.append((left, right[0]))
    return found


def read_lines(path: str) -> dict[str, int]:
    """Read a vocab.txt: a token per line, without the white space behind it."""
    return {line.rstrip(WHITE_SPACE): i for i, line in enumerate(_lines(_text(path, "vocab")))}


def _text(path: str, name: str) -> str:
    return Path(need_str(path, name)).read_bytes().decode()


def _lines(text: str) -> list[str]:
    """Lines that end with a line feed, or with a carriage return in front of one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def vocabulary_text(vocabulary: Mapping[str, int]) -> str:
    """Return a vocab.json."""
    return dump(vocabulary)


def merges_text(merges: Iterable[tuple[str, str]]) -> str:
    """Return a merges.txt."""
    return "#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in merges)


def pretty(value: object) -> str:
    """Return JSON with a member per line."""
    return dump(value, pretty=True)
