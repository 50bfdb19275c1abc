"""Templates as a post-processor is given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from isotok.compat.tokenizers._arguments import is_text, need_sequence, need_str, u32

Template = str | Sequence[str]
Piece = dict[str, dict[str, Any]]

_SEQUENCES: Final = {"": "A", "A": "A", "a": "A", "B": "B", "b": "B"}
_MOST: Final = (1 << 32) - 1


def pieces_of(template: object) -> list[Piece]:
    """Return the pieces of a template.

    Raises
    ------
    TypeError
        It is neither a str nor a list of str.
    ValueError
        A piece is malformed.
    """
    if is_text(template):
        every: list[object] = list(cast("str", template).split(" "))
    else:
        every = _texts(template)
    return [_piece(cast("str", text)) for text in every]


def _texts(template: object) -> list[object]:
    every: list[object] = [None]
    with suppress(TypeError):
        every = need_sequence(template, "template")
    if not all(map(is_text, every)):
        raise TypeError("Expected Union[str, List[str]]")
    return every


def _piece(text: str) -> Piece:
    name, *types = text.split(":")
    piece = _named(name)
    type_id = _number(types[0]) if types else 0
    if len(types) > 1 or piece is None or type_id is None:
        raise ValueError(f'Cannot build Piece from string "{text}"')
    if types:
        next(iter(piece.values()))["type_id"] = type_id
    return piece


def _named(name: str) -> Piece | None:
    if not name.startswith("$"):
        return {"SpecialToken": {"id": name, "type_id": 0}}
    if name[1:] in _SEQUENCES:
        return {"Sequence": {"id": _SEQUENCES[name[1:]], "type_id": 0}}
    type_id = _number(name[1:])
    return None if type_id is None else {"Sequence": {"id": "A", "type_id": type_id}}


def _number(text: str) -> int | None:
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdecimal()):
        return None
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 10 and int(digits) <= _MOST else None


def need_token(argument: object, name: str) -> tuple[str, int]:
    """Return a text with its id; else TypeError."""
    if not isinstance(argument, tuple) or len(cast("tuple[object, ...]", argument)) != 2:
        kind = type(cast("object", argument)).__name__
        raise TypeError(f"argument '{name}': '{kind}' object is not a tuple of a text and an id")
    text, number = cast("tuple[object, object]", argument)
    return need_str(text, name), u32(number, name)


def special_tokens_of(argument: object) -> dict[str, Any]:
    """Return what names of a template stand for, in the order of a file."""
    every = [_special(one) for one in need_sequence(argument, "special_tokens")]
    return dict(sorted((one["id"], one) for one in every))


def _special(argument: object) -> dict[str, Any]:
    if isinstance(argument, tuple):
        every = cast("tuple[object, ...]", argument)
        pair = every if len(every) == 2 and isinstance(every[0], str) else every[::-1]
        text, number = need_token(pair, "special_tokens")
        return {"id": text, "ids": [number], "tokens": [text]}
    if not isinstance(argument, Mapping):
        raise TypeError("Expected Union[Tuple[str, int], Tuple[int, str], dict]")
    members = cast("Mapping[str, object]", argument)
    for name in ("id", "ids", "tokens"):
        if name not in members:
            raise ValueError(f"`{name}` must be specified")
    ids = [u32(one, "ids") for one in need_sequence(members["ids"], "ids")]
    tokens = [need_str(one, "tokens") for one in need_sequence(members["tokens"], "tokens")]
    if len(ids) != len(tokens):
        raise ValueError("SpecialToken: ids and tokens must be of the same length")
    return {"id": need_str(members["id"], "id"), "ids": ids, "tokens": tokens}


def check_templates(given: Mapping[str, Any]) -> None:
    """Refuse a pair without both texts, and tokens that are not declared; ValueError."""
    if "pair" in given:
        found = {piece["Sequence"]["id"] for piece in given["pair"] if "Sequence" in piece}
        if found != {"A", "B"}:
            raise ValueError("Template for `pair` must use both sequences")
    used = [piece for name in ("single", "pair") for piece in given.get(name, ())]
    names = {piece["SpecialToken"]["id"] for piece in used if "SpecialToken" in piece}
    missing = sorted(names - set(given.get("special_tokens", ())))
    if missing:
        raise ValueError(f"Missing SpecialToken(s) with id(s) `{', '.join(missing)}`")


def shown_pieces(pieces: Sequence[Piece]) -> str:
    """Return a template as tokenizers shows it."""
    found: list[str] = []
    for piece in pieces:
        kind, members = next(iter(piece.items()))
        name = members["id"] if kind == "Sequence" else _quoted(members["id"])
        found.append(f"{kind} {{ id: {name}, type_id: {members['type_id']} }}")
    return f"Template([{', '.join(found)}])"


def _quoted(text: str) -> str:
    for char, escape in {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}.items():
        text = text.replace(char, escape)
    return f'"{text}"'
