"""The members `normalizer` and `pre_tokenizer` of a tokenizer.json as steps."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Final, cast

from isotok.compile.normalizers import data
from isotok.compile.normalizers.charsmap import Charsmap
from isotok.compile.normalizers.steps import (
    SELF,
    Form,
    Images,
    Literal,
    Map,
    Precompiled,
    Prefix,
    Run,
    Split,
    Step,
    Strip,
)
from isotok.compile.pretok.code_points import CodePoints
from isotok.compile.pretok.huggingface import PreTokenizer
from isotok.compile.pretok.nodes import Chars, Concat, Node, Repeat
from isotok.compile.pretok.parse import parse
from isotok.compile.pretok.properties import need
from isotok.errors import Status, TokenizerError

Part = Mapping[str, object]
_MAX_DEPTH: Final = 10
_MAX_CONTENT: Final = 200


def fail(where: str, what: str) -> TokenizerError:
    """Return the error of a normalizer that cannot be reproduced exactly."""
    return TokenizerError(
        f"{where}: {what}; isotok does not support this", status=Status.E_UNSUPPORTED
    )


def read_normalizer(value: object, where: str = "normalizer", depth: int = 0) -> list[Step]:
    """Read the member `normalizer`.

    Parameters
    ----------
    value : object
        As json.loads returns it.
    where : str
        Where it stands, for errors.

    Raises
    ------
    TokenizerError
        It is malformed, or does something that cannot be reproduced exactly.
    """
    if value is None:
        return []
    if not isinstance(value, Mapping) or depth > _MAX_DEPTH:
        raise TokenizerError(f"{where}: not a JSON object, or nested too deep")
    part = cast("Part", value)
    kind = part.get("type")
    if kind == "Sequence":
        steps = part.get("normalizers")
        if not isinstance(steps, list):
            raise TokenizerError(f"{where}: a Sequence without the list `normalizers`")
        return [
            step
            for i, one in enumerate(cast("list[object]", steps))
            for step in read_normalizer(one, f"{where}.normalizers[{i}]", depth + 1)
        ]
    read = _READERS.get(str(kind))
    if read is None:
        raise fail(where, f"the normalizer {str(kind)[:60]!r}")
    return read(part, f"{where} ({kind})")


def read_rewrites(pre: PreTokenizer, where: str = "pre_tokenizer") -> tuple[list[Step], int]:
    """Return what a pre-tokenizer rewrites, and how many of its first stages that does.

    Raises
    ------
    TokenizerError
        It rewrites the pieces of something else than WhitespaceSplit.
    """
    if pre.prefix_place == "pieces":
        spaces = need("tokenizers fixed", "space")
        node = pre.stages[0].node if pre.stages else None
        if not isinstance(node, Chars) or node.points != spaces or len(pre.stages) != 2:
            raise fail(where, "a prefix for each piece, but of WhitespaceSplit with Metaspace")
        if pre.byte_level:
            raise fail(where, "ByteLevel with add_prefix_space after WhitespaceSplit")
        return [Split(pre.prefix)], 1
    steps: list[Step] = []
    if pre.space:
        steps.append(Map((Images({" ": pre.space}),)))
    if pre.prefix_place != "none":
        steps.append(Prefix(pre.prefix, pre.prefix, pre.prefix_place == "start"))
    return steps, 0


def _set(name: str, image: str) -> Images:
    return Images({}, ((data.character_set(name), image),))


def _form(name: str, *, composes: bool) -> Callable[[Part, str], list[Step]]:
    return lambda part, where: [Form(name, composes)]


def _lowercase(_: Part, where: str) -> list[Step]:
    return [Map((Images(data.character_map("lowercase")),))]


def _nmt(_: Part, where: str) -> list[Step]:
    return [Map((_set("nmt_removed", ""), _set("nmt_space", " ")))]


def _bert(part: Part, where: str) -> list[Step]:
    lower = _bool(part, "lowercase", where)
    strip = part.get("strip_accents")
    if strip is None:
        strip = lower
    if not isinstance(strip, bool):
        raise TokenizerError(f"{where}: strip_accents is not true, false or null")
    steps: list[Step] = []
    if _bool(part, "clean_text", where):
        steps.append(Map((_set("bert_control", ""), _set("bert_space", " "))))
    if _bool(part, "handle_chinese_chars", where):
        steps.append(Map((_set("chinese", f" {SELF} "),)))
    if strip:
        steps += [Form("nfd", composes=False), Map((_set("bert_accents", ""),))]
    return [*steps, *(_lowercase(part, where) if lower else [])]


def _strip(part: Part, where: str) -> list[Step]:
    return [Strip(_bool(part, "strip_left", where), _bool(part, "strip_right", where))]


def _prepend(part: Part, where: str) -> list[Step]:
    text = _text(part, "prepend", where)
    return [Prefix(text)] if text else []


def _precompiled(part: Part, where: str) -> list[Step]:
    value = part.get("precompiled_charsmap")
    if value is None or value == "":
        raise TokenizerError(f"{where}: no precompiled_charsmap")
    try:
        raw = base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError) as error:
        raise TokenizerError(f"{where}: a precompiled_charsmap that is not base64") from error
    return [Precompiled(Charsmap(raw), raw)]


def _replace(part: Part, where: str) -> list[Step]:
    content = _text(part, "content", where)
    pattern = part.get("pattern")
    items = list(cast("Part", pattern).items()) if isinstance(pattern, Mapping) else []
    match items:
        case [("String", str(text))] if text:
            return [_literal(text, content)]
        case [("Regex", str(text))]:
            return [_regex(parse(text, "tokenizers"), content, f"{where}: the pattern {text!r}")]
        case _:
            raise fail(where, "a pattern that is empty, or neither a String nor a Regex")


def _literal(text: str, content: str) -> Step:
    _check(text, "normalizer (Replace)")
    if len(text) == 1:
        return Map((Images({text: content}),))
    return Literal(text, content)


def _regex(node: Node, content: str, where: str) -> Step:
    match node:
        case Chars(points):
            return Map((Images({}, ((points, content),)),))
        case Repeat(Chars(points), low, None, "greedy" | "possessive", _) if low > 0:
            return Run(points, low, content)
        case Concat(items):
            texts = [_only(item) for item in items]
            if texts and all(texts):
                return _literal("".join(texts), content)
            if len(items) == 1:
                return _regex(items[0], content, where)
        case _:
            pass
    raise fail(where, "which is not a repeated character")


def _only(node: Node) -> str:
    """Return the character that a node always is, or nothing."""
    if isinstance(node, Chars) and len(node.points) == 1:
        return chr(node.points.toggles[0])
    return ""


def _check(text: str, where: str) -> str:
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_CONTENT or any(
        0xD800 <= ord(char) < 0xE000 for char in text
    ):
        raise fail(where, f"a text with surrogates or of more than {_MAX_CONTENT} bytes")
    return text


def _text(part: Part, name: str, where: str) -> str:
    value = part.get(name)
    if not isinstance(value, str):
        raise TokenizerError(f"{where}: {name} is not a text")
    return _check(value, where)


def _bool(part: Part, name: str, where: str) -> bool:
    value = part.get(name)
    if not isinstance(value, bool):
        raise TokenizerError(f"{where}: {name} is not true or false")
    return value


def strip_accents(_: Part, where: str) -> list[Step]:
    """Return the step of StripAccents."""
    return [Map((_set("accents", ""),))]


_READERS: Final[dict[str, Callable[[Part, str], list[Step]]]] = {
    "NFC": _form("nfd", composes=True),
    "NFD": _form("nfd", composes=False),
    "NFKC": _form("nfkd", composes=True),
    "NFKD": _form("nfkd", composes=False),
    "Lowercase": _lowercase,
    "StripAccents": strip_accents,
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": _prepend,
    "BertNormalizer": _bert,
    "Nmt": _nmt,
    "Precompiled": _precompiled,
}


def spaces() -> CodePoints:
    """Return what Strip and WhitespaceSplit take for whitespace."""
    return need("tokenizers fixed", "space")
