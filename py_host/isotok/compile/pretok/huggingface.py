"""The `pre_tokenizer` of a tokenizer.json as stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from isotok.compile.pretok.code_points import ALL, CodePoints
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.nodes import Chars, Choice, Concat, Node, Repeat
from isotok.compile.pretok.parse import parse
from isotok.compile.pretok.properties import many_folds, need
from isotok.compile.pretok.stages import BehaviorName, Stage, behavior_of

PrefixPlace = Literal["none", "segments", "start", "pieces"]

GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WHOLE: Final = Stage(Repeat(Chars(ALL), 1, None, "greedy", 0), behavior_of("Isolated"), "")
"""All of a text is one piece."""
_BEHAVIORS: Final[tuple[BehaviorName, ...]] = (
    "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous",
)  # fmt: skip
_CUTTING: Final[dict[str, tuple[tuple[str, object], ...]]] = {
    "Split": (("behavior", None), ("invert", None)),
    "ByteLevel": (("use_regex", True),),
    "Digits": (("individual_digits", None),),
    "Punctuation": (("behavior", "Isolated"),),
    "CharDelimiterSplit": (("delimiter", None),),
    "FixedLength": (("length", 5),),
    "Metaspace": (("replacement", None), ("split", True)),
}
"""Members that decide where text is cut, and their defaults."""
_MAX_STAGES: Final = 32
_MAX_LENGTH: Final = 255


@dataclass(frozen=True)
class PreTokenizer:
    """What a tokenizer.json does with normalized text in front of the model.

    Parameters
    ----------
    stages : tuple of Stage
        How text is cut; none: not at all.
    prefix, prefix_place : str
        A character that is put in front, unless one is there: of every text between
        special tokens (`segments`), only of text at the very start of the input (`start`),
        or of every piece after the cutting (`pieces`).
    space : str
        What stands for U+0020: replaced before the cutting, after it if the prefix goes to
        pieces. Empty: nothing is replaced.
    byte_level : bool
        The model sees bytes, spelled as letters.
    """

    stages: tuple[Stage, ...] = ()
    prefix: str = ""
    prefix_place: PrefixPlace = "none"
    space: str = ""
    byte_level: bool = False


def read_pre_tokenizer(value: object) -> PreTokenizer:
    """Read the member `pre_tokenizer`.

    Parameters
    ----------
    value : object
        As json.loads returns it; None: there is no pre-tokenizer.

    Returns
    -------
    PreTokenizer
        The same as stages.

    Raises
    ------
    PatternError
        It is malformed, or does something that cannot be reproduced exactly.
    """
    result = PreTokenizer()
    for part in _flat(value):
        result = _add(result, part)
        if len(result.stages) > _MAX_STAGES:
            raise PatternError(f"a Sequence of more than {_MAX_STAGES} steps")
    return result


def cuts_of(value: object) -> list[list[object]]:
    """Return what cuts text in a member `pre_tokenizer`, step by step.

    Equal results mean equal stages. What only rewrites pieces is left out. This needs no
    pattern compiler: other hosts look the result up in the table of known pre-tokenizers.
    """
    steps: list[list[object]] = []
    for part in _flat(value):
        kind = str(part.get("type"))
        step = [kind, *(part.get(name, default) for name, default in _CUTTING.get(kind, ()))]
        if kind == "Split":
            step[1:1] = [text for pair in _pattern(part).items() for text in pair]
        if not (kind == "Metaspace" and step.pop() is False):
            steps.append(step)
    while steps and steps[-1] == ["ByteLevel", False]:
        steps.pop()
    return steps


def _flat(value: object, depth: int = 0) -> list[Mapping[str, object]]:
    """Return the steps of nested Sequences."""
    if value is None:
        return []
    if not isinstance(value, Mapping) or depth > 10:
        raise PatternError("a pre_tokenizer that is not a JSON object")
    part = cast("Mapping[str, object]", value)
    if part.get("type") != "Sequence":
        return [part]
    steps = part.get("pretokenizers")
    if not isinstance(steps, list):
        raise PatternError("a Sequence without its list")
    return [one for step in cast("list[object]", steps) for one in _flat(step, depth + 1)]


def _add(result: PreTokenizer, part: Mapping[str, object]) -> PreTokenizer:
    kind = part.get("type")
    if kind == "ByteLevel":
        return _add_byte_level(result, part)
    if kind == "Metaspace":
        return _add_metaspace(result, part)
    stages = _STAGES.get(str(kind))
    if stages is None:
        raise PatternError(f"the pre-tokenizer {kind}")
    if result.prefix_place == "pieces" or result.space:
        raise PatternError(f"{kind} after a step that rewrites the pieces")
    added = (replace(stage, on_bytes=result.byte_level) for stage in stages(part))
    return replace(result, stages=(*result.stages, *added))


def _add_byte_level(result: PreTokenizer, part: Mapping[str, object]) -> PreTokenizer:
    use_regex = _bool(part, "use_regex", True)
    if result.byte_level or (use_regex and result.prefix_place == "pieces"):
        raise PatternError("ByteLevel after a step that rewrites the pieces")
    if _bool(part, "add_prefix_space", None):
        if result.prefix or (result.stages and use_regex):
            raise PatternError("ByteLevel with add_prefix_space after other steps")
        place = "pieces" if result.stages else "segments"
        result = replace(result, prefix=" ", prefix_place=place)
    stages = (_regex(GPT2, "Isolated"),) if use_regex else ()
    return replace(result, stages=(*result.stages, *stages), byte_level=True)


def _add_metaspace(result: PreTokenizer, part: Mapping[str, object]) -> PreTokenizer:
    if result.prefix or result.byte_level:
        raise PatternError("Metaspace after a step that rewrites the pieces")
    letter = _character(part, "replacement")
    scheme = part.get("prepend_scheme", "always")
    if part.get("add_prefix_space") is False:
        scheme = "never"
    places: dict[object, PrefixPlace] = {
        "always": "pieces" if result.stages else "segments",
        "first": "start",
        "never": "none",
    }
    if scheme not in places or (scheme == "first" and result.stages):
        raise PatternError(f"Metaspace with prepend_scheme {scheme} after other steps")
    marks = CodePoints.of(ord(letter), 0x20)  # whether spaces were replaced yet or not
    stages = (_class(marks, "MergedWithNext"),) if _bool(part, "split", True) else ()
    return replace(
        result,
        stages=(*result.stages, *stages),
        prefix=letter if places[scheme] != "none" else "",
        prefix_place=places[scheme],
        space=letter,
    )


def _regex(pattern: str, behavior: BehaviorName, *, invert: bool = False) -> Stage:
    return Stage(
        parse(pattern, "tokenizers"),
        behavior_of(behavior, invert=invert),
        pattern,
        many_folds("tokenizers"),
    )


def _class(points: CodePoints, behavior: BehaviorName) -> Stage:
    return Stage(Chars(points), behavior_of(behavior), "")


def _pattern(part: Mapping[str, object]) -> dict[str, object]:
    value = part.get("pattern")
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _split(part: Mapping[str, object]) -> list[Stage]:
    behavior, invert = _behavior(part, None), _bool(part, "invert", None)
    match list(_pattern(part).items()):
        case [("Regex", str(text))]:
            return [_regex(text, behavior, invert=invert)]
        case [("String", str(text))]:
            node = Concat(tuple(Chars(CodePoints.of(ord(character))) for character in text))
            return [Stage(node, behavior_of(behavior, invert=invert), text)]
        case _:
            raise PatternError("a Split whose pattern is neither a String nor a Regex")


def _whitespace(_: Mapping[str, object]) -> list[Stage]:
    word, space = need("tokenizers fixed", "word"), need("tokenizers fixed", "space")
    runs: list[Node] = [
        Repeat(Chars(points), 1, None, "greedy", 0) for points in (word, ~(word | space))
    ]
    return [Stage(Choice(tuple(runs)), behavior_of("Removed", invert=True), r"\w+|[^\w\s]+")]


def _whitespace_split(_: Mapping[str, object]) -> list[Stage]:
    return [_class(need("tokenizers fixed", "space"), "Removed")]


def _bert(_: Mapping[str, object]) -> list[Stage]:
    punctuation = need("tokenizers fixed", "punctuation")
    return [*_whitespace_split(_), _class(punctuation, "Isolated")]


def _punctuation(part: Mapping[str, object]) -> list[Stage]:
    behavior = _behavior(part, "Isolated")
    return [_class(need("tokenizers fixed", "punctuation"), behavior)]


def _digits(part: Mapping[str, object]) -> list[Stage]:
    behavior = "Isolated" if _bool(part, "individual_digits", None) else "Contiguous"
    return [_class(need("tokenizers fixed", "numeric"), behavior)]


def _delimiter(part: Mapping[str, object]) -> list[Stage]:
    return [_class(CodePoints.of(ord(_character(part, "delimiter"))), "Removed")]


def _fixed_length(part: Mapping[str, object]) -> list[Stage]:
    length = part.get("length", 5)
    if not isinstance(length, int) or isinstance(length, bool) or not 0 < length <= _MAX_LENGTH:
        raise PatternError(f"FixedLength whose length is not 1 to {_MAX_LENGTH}")
    return [Stage(Repeat(Chars(ALL), 1, length, "greedy", 0), behavior_of("Isolated"), "")]


_STAGES: Final = {
    "Split": _split,
    "Whitespace": _whitespace,
    "WhitespaceSplit": _whitespace_split,
    "BertPreTokenizer": _bert,
    "Punctuation": _punctuation,
    "Digits": _digits,
    "CharDelimiterSplit": _delimiter,
    "FixedLength": _fixed_length,
}


def _behavior(part: Mapping[str, object], default: BehaviorName | None) -> BehaviorName:
    value = part.get("behavior", default)
    for name in _BEHAVIORS:
        if value == name:
            return name
    raise PatternError(f"the behavior {value!r} of {part.get('type')}")


def _bool(part: Mapping[str, object], name: str, default: bool | None) -> bool:
    value = part.get(name, default)
    if not isinstance(value, bool):
        raise PatternError(f"{part.get('type')} whose {name} is not true or false")
    return value


def _character(part: Mapping[str, object], name: str) -> str:
    value = part.get(name)
    if not isinstance(value, str) or len(value) != 1:
        raise PatternError(f"{part.get('type')} whose {name} is not one character")
    return value
