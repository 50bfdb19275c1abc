"""post_processor and decoder as operations of the blob."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from isotok import _layout_gen as abi
from isotok.compile.tokenizer_json.added import Field
from isotok.compile.tokenizer_json.checked import Json, flat, maybe, member, need, optional
from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.piece_decoders import Texts, check_suffix, find_delimiter

_TOKEN, _SEQUENCE, _SEQUENCE_PAIR = 1, 2, 3
_PAIR: Final = 0x10000
_TRIM: Final = 0x20000
_TRIM_PREFIX: Final = 0x40000
_MOST_TYPES: Final = 0xFFFF
_PIECEWISE: Final = abi.DECODE_SUFFIX | abi.DECODE_CTC
_NEVER: Final = b"\xff"
"""A prefix that no piece has."""
_SPACES_STAY: Final = frozenset(("NFC", "NFD", "Lowercase", "Sequence"))
"""Normalizers behind which a U+0020 is one of the text."""
_REMOVING: Final = frozenset(
    ("BertPreTokenizer", "CharDelimiterSplit", "Whitespace", "WhitespaceSplit")
)
_SPACE_LETTER: Final = "Ġ"
"""What tokenizers takes for a space at the ends of a token, too."""

Find = Callable[[str], int | None]


# ---- Templates ------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One step of a template: a token, or a sequence (0 or 1)."""

    type_id: int
    token: int | None = None
    sequence: int | None = None


@dataclass(frozen=True)
class Template:
    """What is put around one text, and around a pair."""

    single: tuple[Step, ...]
    pair: tuple[Step, ...]
    trim_offsets: bool = False
    add_prefix_space: bool = False
    trims_last: bool = False
    """There are tokens in front of the text already."""


PLAIN: Final = Template((Step(0, sequence=0),), (Step(0, sequence=0), Step(1, sequence=1)))


def read_template(post_processor: Json | None) -> Template:
    """Return what a post_processor does; refuse by name what is not supported."""
    found = PLAIN
    last = False
    trims: list[bool] = []  # of the steps that trim: add_prefix_space
    for path, step in flat(post_processor, "post_processor", "processors"):
        kind = step["type"]
        if kind in ("ByteLevel", "RobertaProcessing"):
            prefix = optional(step, "add_prefix_space", bool, True, path)
            if optional(step, "trim_offsets", bool, True, path):
                trims.append(prefix)
                last = found is not PLAIN
        if kind == "ByteLevel":
            continue
        if kind not in _TEMPLATES:
            raise unsupported(path, f"the post_processor {kind}")
        if found is not PLAIN:
            raise unsupported(path, "more than one template")
        found = _TEMPLATES[kind](step, path)
    if len(trims) > 1:
        raise unsupported("post_processor", "trim_offsets twice")
    return Template(found.single, found.pair, bool(trims), any(trims), last)


def check_trimming(template: Template, document: Document, *, byte_level: bool) -> None:
    """Refuse `trim_offsets` where the white space of a token is not that of the text."""
    if not template.trim_offsets:
        return
    steps = flat(document.normalizer, "normalizer", "normalizers")
    if not byte_level or any(step["type"] not in _SPACES_STAY for _, step in steps):
        raise unsupported(
            "post_processor",
            "trim_offsets of another model than ByteLevel without changes of white space",
        )
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if document.model.get(name):  # tokens do not end with their text's white space
            raise unsupported("post_processor", f"trim_offsets with model.{name}")
    if template.trims_last and any(map(_removes, _cuts(document))):
        what = "trim_offsets behind a template and a pre_tokenizer that removes text"
        raise unsupported("post_processor", what)
    for token in document.added_tokens:
        if _SPACE_LETTER in (token.content[:1], token.content[-1:]):
            raise unsupported("post_processor", f"trim_offsets with {shorten(token.content)}")


def _cuts(document: Document) -> list[Json]:
    return [step for _, step in flat(document.pre_tokenizer, "pre_tokenizer", "pretokenizers")]


def _removes(step: Json) -> bool:
    return step.get("behavior") == "Removed" or step["type"] in _REMOVING


def template_fields(template: Template) -> list[Field]:
    """Return the operations of a template."""
    numbers = array("I")
    trim = _TRIM | (_TRIM_PREFIX if template.add_prefix_space else 0)
    for flag, steps in ((0, template.single), (_PAIR, template.pair)):
        for step in steps:
            if step.token is not None:
                numbers.extend((_TOKEN, flag | step.type_id, step.token))
            else:
                kind = _SEQUENCE_PAIR if step.sequence else _SEQUENCE
                more = trim if template.trim_offsets and not flag else 0
                numbers.extend((kind, flag | more | step.type_id, 0))
    return [(abi.FIELD_TEMPLATE, numbers)]


def _template_processing(step: Json, path: str) -> Template:
    specials = _specials(step, path)
    single = _steps(step, "single", specials, path)
    pair = _steps(step, "pair", specials, path)
    if [one.sequence for one in single if one.sequence is not None] != [0]:
        raise unsupported(f"{path}.single", "a template for one text that has not just that text")
    if sorted(one.sequence for one in pair if one.sequence is not None) != [0, 1]:
        raise unsupported(f"{path}.pair", "a template for two texts that has not just these")
    return Template(single, pair)


def _specials(step: Json, path: str) -> dict[str, list[int]]:
    specials: dict[str, list[int]] = {}
    where = f"{path}.special_tokens"
    value: Any = step.get("special_tokens")
    tokens = cast("dict[str, object]", need(value, dict, where))
    for name, token in tokens.items():
        part = cast("Json", need(token, dict, f"{where}.{name}"))
        ids = cast("list[object]", member(part, "ids", list, f"{where}.{name}"))
        specials[name] = [need(number, int, f"{where}.{name}.ids") for number in ids]
    return specials


def _steps(step: Json, name: str, specials: Mapping[str, list[int]], path: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    for i, value in enumerate(cast("list[object]", member(step, name, list, path))):
        where = f"{path}.{name}[{i}]"
        part = cast("Json", need(value, dict, where))
        if len(part) != 1 or next(iter(part)) not in ("SpecialToken", "Sequence"):
            raise broken(where, f"{shorten(value)} is neither a SpecialToken nor a Sequence")
        kind, inner = next(iter(part.items()))
        piece = cast("Json", need(inner, dict, f"{where}.{kind}"))
        type_id = member(piece, "type_id", int, f"{where}.{kind}")
        if not 0 <= type_id <= _MOST_TYPES:
            raise unsupported(f"{where}.{kind}.type_id", shorten(type_id))
        label = member(piece, "id", str, f"{where}.{kind}")
        if kind == "Sequence":
            if label not in ("A", "B"):
                raise broken(f"{where}.Sequence.id", f"{label!r} is neither A nor B")
            steps.append(Step(type_id, sequence=int(label == "B")))
            continue
        if label not in specials:
            raise broken(where, f"{label!r} is not among special_tokens")
        steps += [Step(type_id, token=number) for number in specials[label]]
    return tuple(steps)


def _ends(step: Json, path: str) -> tuple[int, int]:
    """Ids of `cls` and `sep`, which are pairs of a text and an id."""
    ids: list[int] = []
    for name in ("cls", "sep"):
        pair = cast("list[object]", member(step, name, list, path))
        if len(pair) != 2:
            raise broken(f"{path}.{name}", f"{shorten(pair)} is no pair of a text and an id")
        ids.append(need(pair[1], int, f"{path}.{name}[1]"))
    return ids[0], ids[1]


def _bert(step: Json, path: str) -> Template:
    cls, sep = _ends(step, path)
    single = (Step(0, token=cls), Step(0, sequence=0), Step(0, token=sep))
    return Template(single, (*single, Step(1, sequence=1), Step(1, token=sep)))


def _roberta(step: Json, path: str) -> Template:
    cls, sep = _ends(step, path)
    single = (Step(0, token=cls), Step(0, sequence=0), Step(0, token=sep))
    second = (Step(0, token=sep), Step(0, sequence=1), Step(0, token=sep))
    return Template(single, (*single, *second))


_TEMPLATES: Final[Mapping[str, Callable[[Json, str], Template]]] = {
    "TemplateProcessing": _template_processing,
    "BertProcessing": _bert,
    "RobertaProcessing": _roberta,
}


# ---- Decoders -------------------------------------------------------------------------


@dataclass
class _Decoder:
    flags: int = 0
    argument: int = 0
    prefix: bytes = b""
    fused: bool = False
    texts: Texts = lambda: iter(())


def decoder_fields(
    decoder: Json | None, texts: Texts, *, byte_level: bool, unk_special: bool = False
) -> list[Field]:
    """Return the fields of a decoder; refuse by name what is not supported.

    `texts`: those of all tokens. `unk_special`: the unknown token is among the special ones.
    """
    steps = flat(decoder, "decoder", "decoders")
    if byte_level:
        kinds = [step["type"] for _, step in steps]
        if kinds != ["ByteLevel"]:
            raise unsupported("decoder", f"{kinds or None} of a model of ByteLevel")
        return []
    found = _Decoder(abi.DECODE_UNK_SPECIAL if unk_special else 0, texts=texts)
    if decoder is None:  # the tokens, with spaces between them
        found.flags |= abi.DECODE_WORDS
        found.prefix = _NEVER
    for i, (path, step) in enumerate(steps):
        if step["type"] not in _DECODERS:
            raise unsupported(path, f"the decoder {step['type']}")
        _DECODERS[step["type"]](found, step, path, i == 0)
    return [
        (abi.FIELD_DECODER, array("I", (found.flags, found.argument))),
        (abi.FIELD_DECODER_PREFIX, found.prefix),
    ]


def _replace(found: _Decoder, step: Json, path: str, first: bool) -> None:
    pattern: Any = step.get("pattern")
    known = isinstance(pattern, Mapping) and cast("Json", pattern).get("String") == "▁"
    if not (first and known and step.get("content") == " "):
        raise unsupported(path, "Replace of anything but ▁ by a space, first of all")
    found.flags |= abi.DECODE_SPACES


def _byte_fallback(found: _Decoder, step: Json, path: str, first: bool) -> None:
    if found.fused or found.flags & _PIECEWISE:
        raise unsupported(path, "ByteFallback behind other decoders than Replace")
    found.flags |= abi.DECODE_RUNS


def _fuse(found: _Decoder, step: Json, path: str, first: bool) -> None:
    found.fused = True


def _strip(found: _Decoder, step: Json, path: str, first: bool) -> None:
    content = member(step, "content", str, path)
    start, stop = member(step, "start", int, path), member(step, "stop", int, path)
    if not found.fused or found.flags & abi.DECODE_CTC or content != " " or stop != 0 or start < 0:
        raise unsupported(path, "Strip of anything but spaces in front, behind Fuse")
    found.flags |= abi.DECODE_STRIP
    found.argument = min(start, 0xFFFFFFFF)


def _metaspace(found: _Decoder, step: Json, path: str, first: bool) -> None:
    if not first or maybe(step, "replacement", str, path) not in ("▁", None):
        raise unsupported(path, "Metaspace with another symbol than ▁, or behind other decoders")
    scheme = optional(step, "prepend_scheme", str, "always", path)
    prefixed = optional(step, "add_prefix_space", bool, True, path)
    found.flags |= abi.DECODE_SPACES
    if scheme != "never" and prefixed:
        found.flags |= abi.DECODE_FIRST


def _word_piece(found: _Decoder, step: Json, path: str, first: bool) -> None:
    if not first:
        raise unsupported(path, "WordPiece behind other decoders")
    found.flags |= abi.DECODE_WORDS
    if optional(step, "cleanup", bool, True, path):
        found.flags |= abi.DECODE_CLEANUP
    found.prefix = optional(step, "prefix", str, "##", path).encode()


def _bpe(found: _Decoder, step: Json, path: str, first: bool) -> None:
    suffix = member(step, "suffix", str, path)
    if not first:
        raise unsupported(path, "BPEDecoder behind other decoders")
    check_suffix(suffix, found.texts, path)
    found.flags |= abi.DECODE_SUFFIX
    found.prefix = suffix.encode()


def _ctc(found: _Decoder, step: Json, path: str, first: bool) -> None:
    pad = member(step, "pad_token", str, path)
    delimiter = member(step, "word_delimiter_token", str, path)
    cleanup = member(step, "cleanup", bool, path)
    if not first:
        raise unsupported(path, "CTC behind other decoders")
    found.argument = find_delimiter(pad, delimiter, found.texts, path, cleanup=cleanup)
    found.flags |= abi.DECODE_CTC
    found.prefix = pad.encode()


_DECODERS: Final[Mapping[str, Callable[[_Decoder, Json, str, bool], None]]] = {
    "Replace": _replace,
    "ByteFallback": _byte_fallback,
    "Fuse": _fuse,
    "Strip": _strip,
    "Metaspace": _metaspace,
    "WordPiece": _word_piece,
    "BPEDecoder": _bpe,
    "CTC": _ctc,
}
