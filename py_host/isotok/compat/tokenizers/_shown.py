"""What `repr` and `str` of components show, made of their JSON.

SOURCE  The serializer of the binding of tokenizers 0.23.3: structures with their names, at most
        99 elements (5 in `str`), strings as they are (100 bytes of them in `str`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, cast

_WORDS: Final = frozenset(("behavior", "prepend_scheme", "direction", "strategy"))
"""Members whose values are names, not texts."""
_TUPLES: Final = frozenset(("sep", "cls"))


def shown(component: Mapping[str, Any], *, short: bool) -> str:
    """Return a component with its members, as tokenizers shows it."""
    return _Show(6, 100).struct(component) if short else _Show(100, None).struct(component)


def shown_tokenizer(document: Mapping[str, Any], *, short: bool) -> str:
    """Return a tokenizer with its members; `added_tokens` are shown as maps there."""
    show = _Show(6, 100) if short else _Show(100, None)
    parts: list[str] = []
    for name, value in document.items():
        match name:
            case "truncation" | "padding" if value is not None:
                parts.append(f"{name}={show.settings(name, value)}")
            case "added_tokens" if value is not None:
                parts.append(f"{name}={show.sequence([show.map(one) for one in value])}")
            case _:
                parts.append(f"{name}={show.value(value)}")
    return f"Tokenizer({', '.join(parts)})"


@dataclass(frozen=True)
class _Show:
    most: int
    longest: int | None

    def struct(self, component: Mapping[str, Any]) -> str:
        members = {name: value for name, value in component.items() if name != "type"}
        return self.named(component["type"], members)

    def named(self, name: str, members: Mapping[str, Any]) -> str:
        return f"{name}({', '.join(f'{k}={self.member(k, one)}' for k, one in members.items())})"

    def settings(self, name: str, members: Mapping[str, Any]) -> str:
        kind = "TruncationParams" if name == "truncation" else "PaddingParams"
        return self.named(kind, members)

    def member(self, name: str, value: Any) -> str:
        if name in _WORDS and isinstance(value, str):
            return value
        match name, value:
            case "strategy", {"Fixed": size}:
                return f"Fixed({size})"
            case "pattern", {"String": text}:
                return f"String({self.text(text)})"
            case "pattern", {"Regex": text}:
                return f"Regex({self.text(text)})"
            case (("single" | "pair"), list()):
                return self.sequence([self.piece(one) for one in cast("list[Any]", value)])
            case "special_tokens", dict():
                every = cast("dict[str, Any]", value).items()
                return self.entries((k, self.named("SpecialToken", one)) for k, one in every)
            case (("vocab" | "merges"), list()):
                return self.sequence([self.pair(one) for one in cast("list[Any]", value)])
            case _:
                return self.pair(value) if name in _TUPLES else self.value(value)

    def piece(self, piece: Mapping[str, Any]) -> str:
        kind, members = next(iter(piece.items()))
        label = members["id"] if kind == "Sequence" else self.text(members["id"])
        return f"{kind}(id={label}, type_id={members['type_id']})"

    def pair(self, pair: Iterable[Any]) -> str:
        return f"({', '.join(map(self.value, pair))})"

    def value(self, value: Any) -> str:
        if value is None or isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, float):
            return _positional(value)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, Mapping):
            one = cast("Mapping[str, Any]", value)
            return self.struct(one) if isinstance(one.get("type"), str) else self.map(one)
        return self.sequence([self.value(one) for one in cast("Iterable[Any]", value)])

    def map(self, every: Mapping[str, Any]) -> str:
        return self.entries((k, self.value(one)) for k, one in every.items())

    def entries(self, every: Iterable[tuple[str, str]]) -> str:
        return f"{{{self.some([f'{self.text(k)}:{one}' for k, one in every])}}}"

    def sequence(self, parts: list[str]) -> str:
        return f"[{self.some(parts)}]"

    def some(self, parts: list[str]) -> str:
        more = [] if len(parts) < self.most else ["..."]
        return ", ".join(parts[: self.most - 1] + more)

    def text(self, text: str) -> str:
        if self.longest is not None and len(text.encode()) > self.longest:
            text = text.encode()[: self.longest].decode(errors="ignore") + "..."
        return f'"{text}"'


def _positional(value: float) -> str:
    text = format(Decimal(repr(float(value))), "f")
    return text.removesuffix(".0")
