"""Members of JSON objects, with their types checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported

T = TypeVar("T")
Json = Mapping[str, Any]

_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def need(value: object, kind: type[T], path: str) -> T:
    """Return the value, which must be of this type (bool is not int here)."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise broken(path, f"{shorten(value)} is not {_KINDS[kind]}")
    if isinstance(value, str):
        well_formed(value, path)
    return value


def member(part: Json, name: str, kind: type[T], path: str) -> T:
    """Return a member that must be there."""
    if name not in part:
        raise broken(path, f'the member "{name}" is missing')
    return need(part[name], kind, f"{path}.{name}" if path else name)


def optional(part: Json, name: str, kind: type[T], default: T, path: str) -> T:
    """Return a member, or the default where it is missing or null."""
    value = part.get(name)
    return default if value is None else need(value, kind, f"{path}.{name}" if path else name)


def maybe(part: Json, name: str, kind: type[T], path: str) -> T | None:
    """Return a member, or None."""
    value = part.get(name)
    return None if value is None else need(value, kind, f"{path}.{name}" if path else name)


def type_of(value: object, path: str) -> str:
    """Return the member `type` of an object."""
    return member(cast("Json", need(value, dict, path)), "type", str, path)


def flat(value: object, path: str, name: str, depth: int = 0) -> list[tuple[str, Json]]:
    """Return the steps of nested Sequences, whose lists are called `name`, with their paths."""
    if value is None:
        return []
    part = cast("Json", need(value, dict, path))
    if type_of(part, path) != "Sequence":
        return [(path, part)]
    if depth > 10:
        raise unsupported(path, "Sequences nested more than ten times")
    steps = cast("list[object]", member(part, name, list, path))
    return [
        one
        for i, step in enumerate(steps)
        for one in flat(step, f"{path}.{name}[{i}]", name, depth + 1)
    ]


def well_formed(text: str, path: str) -> None:
    """Refuse half a surrogate pair, which JSON can spell and no text can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise broken(path, f"{shorten(text)} holds half a surrogate pair") from None
