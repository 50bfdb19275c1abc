"""Truncation and padding of a tokenizer.

SOURCE  `truncate_encodings` and `pad_encodings` of tokenizers 0.23.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from isotok.compat.tokenizers._arguments import ignored, need_str, u32, usize
from isotok.compat.tokenizers._content import Content, Pad, padded, truncated
from isotok.compile.tokenizer_json.checked import Json, maybe, member, need, optional
from isotok.compile.tokenizer_json.errors import broken, shorten

_STRATEGIES: Final = {
    "longest_first": "LongestFirst",
    "only_first": "OnlyFirst",
    "only_second": "OnlySecond",
}
_DIRECTIONS: Final = {"left": "Left", "right": "Right"}


# ---- Truncation -----------------------------------------------------------------------


@dataclass(frozen=True)
class Truncation:
    """How long a text, or a pair, may be."""

    max_length: int = 512
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    def shorter(self, size: int) -> Truncation:
        """Return the same, for a text around which `size` tokens are put.

        Where there is no room for these, nothing is truncated: a wrap-around there.
        """
        return replace(self, max_length=(self.max_length - size) % (1 << 64))

    def apply(self, content: Content, other: Content | None) -> tuple[Content, Content | None]:
        """Return a text, or a pair, truncated.

        Raises
        ------
        ValueError
            There is no second text to truncate, or too little of the one to be truncated.
        """
        sizes = len(content), 0 if other is None else len(other)
        excess = sum(sizes) - self.max_length
        if self.max_length == 0:
            return self._cut(content, 0), None if other is None else self._cut(other, 0)
        if excess <= 0:
            return content, other
        if self.strategy == "only_first":
            return self._cut_off(content, excess), other
        if self.strategy == "only_second":
            return content, self._cut_off(other, excess)
        if other is None:
            return self._cut(content, self.max_length), None
        first, second = _shares(*sizes, self.max_length)
        return self._cut(content, first), self._cut(other, second)

    def _cut_off(self, content: Content | None, excess: int) -> Content:
        if content is None:
            raise ValueError("Truncation error: Second sequence not provided")
        if len(content) <= excess:
            raise ValueError(
                "Truncation error: Sequence to truncate too short to respect the provided "
                "max_length"
            )
        return self._cut(content, len(content) - excess)

    def _cut(self, content: Content, most: int) -> Content:
        return truncated(content, most, self.stride, self.direction)

    def to_dict(self) -> dict[str, Any]:
        """Return what `Tokenizer.truncation` is."""
        return {
            "max_length": self.max_length,
            "stride": self.stride,
            "strategy": self.strategy,
            "direction": self.direction,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the member of a tokenizer.json."""
        return {
            "direction": _DIRECTIONS[self.direction],
            "max_length": self.max_length,
            "strategy": _STRATEGIES[self.strategy],
            "stride": self.stride,
        }


def _shares(first: int, second: int, most: int) -> tuple[int, int]:
    """Lengths of two texts: only the longer is cut, unless it would be the shorter then."""
    small, swapped = min(first, second), first > second
    large = small if small > most else max(small, most - small)
    if small + large > most:
        small = most // 2
        large = small + most % 2
    return (large, small) if swapped else (small, large)


def truncation_of(max_length: object, kwargs: Mapping[str, object]) -> Truncation:
    """Check the arguments of `enable_truncation`."""
    options: dict[str, Any] = {"max_length": usize(max_length, "max_length")}
    for name, argument in kwargs.items():
        if name == "stride":
            options[name] = usize(argument, name)
        elif name in ("strategy", "direction"):
            options[name] = _choice(argument, name)
        else:
            ignored(name)
    return Truncation(**options)


def _choice(argument: object, name: str) -> str:
    chosen = need_str(argument, name)
    choices = list(_STRATEGIES if name == "strategy" else _DIRECTIONS)
    if chosen not in choices:
        raise ValueError(f"Unknown `{name}`: `{chosen}`. Use one of {', '.join(choices)}")
    return chosen


def read_truncation(part: Json | None) -> Truncation | None:
    """Return the member `truncation` of a tokenizer.json."""
    if part is None:
        return None
    path = "truncation"
    return Truncation(
        _size(member(part, "max_length", int, path), f"{path}.max_length"),
        _size(member(part, "stride", int, path), f"{path}.stride"),
        _named(member(part, "strategy", str, path), _STRATEGIES, f"{path}.strategy"),
        _named(optional(part, "direction", str, "Right", path), _DIRECTIONS, f"{path}.direction"),
    )


def _size(number: int, path: str, most: int = (1 << 64) - 1) -> int:
    if not 0 <= number <= most:
        raise broken(path, f"{number} is not in 0 to {most}")
    return number


def _named(name: str, names: Mapping[str, str], path: str) -> str:
    for ours, theirs in names.items():
        if name == theirs:
            return ours
    raise broken(path, f"{shorten(name)} is none of {', '.join(names.values())}")


# ---- Padding --------------------------------------------------------------------------


@dataclass(frozen=True)
class Padding:
    """How long a text must be: `length`, or as the longest of a batch."""

    direction: str = "right"
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    length: int | None = None

    def apply(self, contents: Sequence[Content]) -> list[Content]:
        """Return the encodings of a batch, padded."""
        if not contents:
            return []
        length = max(map(len, contents)) if self.length is None else self.length
        multiple = self.pad_to_multiple_of
        if multiple:
            length += -length % multiple
        with_ = Pad(self.pad_id, self.pad_type_id, self.pad_token, self.direction == "left")
        return [padded(one, length, with_) for one in contents]

    def to_dict(self) -> dict[str, Any]:
        """Return what `Tokenizer.padding` is."""
        return {
            "length": self.length,
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_token": self.pad_token,
            "pad_type_id": self.pad_type_id,
            "direction": self.direction,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the member of a tokenizer.json."""
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": _DIRECTIONS[self.direction],
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }


def padding_of(kwargs: Mapping[str, object]) -> Padding:
    """Check the arguments of `enable_padding`."""
    options: dict[str, Any] = {}
    for name, argument in kwargs.items():
        if name == "direction":
            options[name] = _choice(argument, name)
        elif name in ("pad_to_multiple_of", "length", "max_length"):
            if name == "max_length":
                print(
                    "enable_padding(max_length=X) is deprecated, use enable_padding(length=X) "
                    "instead"
                )
            if argument is not None or name != "pad_to_multiple_of":
                size = None if argument is None else usize(argument, name)
                options["length" if name == "max_length" else name] = size
        elif name in ("pad_id", "pad_type_id"):
            options[name] = u32(argument, name)
        elif name == "pad_token":
            options[name] = need_str(argument, name)
        else:
            ignored(name)
    return Padding(**options)


def read_padding(part: Json | None) -> Padding | None:
    """Return the member `padding` of a tokenizer.json."""
    if part is None:
        return None
    path = "padding"
    multiple = maybe(part, "pad_to_multiple_of", int, path)
    return Padding(
        _named(member(part, "direction", str, path), _DIRECTIONS, f"{path}.direction"),
        None if multiple is None else _size(multiple, f"{path}.pad_to_multiple_of"),
        _size(member(part, "pad_id", int, path), f"{path}.pad_id", (1 << 32) - 1),
        _size(member(part, "pad_type_id", int, path), f"{path}.pad_type_id", (1 << 32) - 1),
        member(part, "pad_token", str, path),
        _read_strategy(part.get("strategy"), f"{path}.strategy"),
    )


def _read_strategy(strategy: object, path: str) -> int | None:
    if strategy == "BatchLongest":
        return None
    part = cast("Json", need(strategy, dict, path))
    return _size(member(part, "Fixed", int, path), f"{path}.Fixed")
