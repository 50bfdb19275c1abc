"""What happens to text in front of the model, as far as the blob's operations can say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from isotok.compile.pretok.huggingface import PreTokenizer, read_pre_tokenizer
from isotok.compile.tokenizer_json.checked import Json, flat, member
from isotok.compile.tokenizer_json.errors import unsupported

SPACE: Final = "▁"
DUMMY_PREFIX: Final = 1
ESCAPE_SPACES: Final = 4


@dataclass(frozen=True)
class Pipeline:
    """How text becomes what the model sees.

    Parameters
    ----------
    normalizer_flags : int
        Of the SentencePiece normalizer.
    pre_tokenizer : PreTokenizer
        What cuts the text.
    """

    normalizer_flags: int
    pre_tokenizer: PreTokenizer


def normalizer_fields(normalizer: Json | None, pre_tokenizer: Json | None) -> Pipeline:
    """Return what normalizer and pre-tokenizer do; refuse by name what is not supported."""
    steps = flat(normalizer, "normalizer", "normalizers")
    cuts = read_pre_tokenizer(pre_tokenizer)
    if cuts.byte_level:
        for path, step in steps:
            raise unsupported(path, f"the normalizer {step['type']} in front of ByteLevel")
        if cuts.prefix:
            raise unsupported("pre_tokenizer", "ByteLevel with add_prefix_space")
        return Pipeline(0, cuts)
    flags = _flags(steps)
    if cuts.stages and not (flags & ESCAPE_SPACES and _cuts_spaces(pre_tokenizer)):
        raise unsupported("pre_tokenizer", "one that cuts text without ByteLevel")
    if cuts.prefix or cuts.space:
        raise unsupported("pre_tokenizer", "Metaspace")
    return Pipeline(flags, PreTokenizer())


def _flags(steps: list[tuple[str, Json]]) -> int:
    """Flags of SentencePiece's normalizer for Prepend and Replace, as Llama and Gemma have them."""
    flags = 0
    rest = list(steps)
    if len(rest) == 2 and _is_prepend(*rest[0]):
        del rest[0]
        flags |= DUMMY_PREFIX
    if rest and _is_escape(rest[0][1]):
        del rest[0]
        flags |= ESCAPE_SPACES
    if rest or flags == DUMMY_PREFIX:
        path, step = (rest or steps)[0]
        raise unsupported(path, f"the normalizer {step['type']}")
    return flags


def _is_prepend(path: str, step: Json) -> bool:
    return step["type"] == "Prepend" and member(step, "prepend", str, path) == SPACE


def _is_escape(step: Json) -> bool:
    return step["type"] == "Replace" and _pattern(step) == " " and step.get("content") == SPACE


def _cuts_spaces(pre_tokenizer: Json | None) -> bool:
    """Whether it only cuts at U+0020, which is not there any more."""
    steps = flat(pre_tokenizer, "pre_tokenizer", "pretokenizers")
    return all(step["type"] == "Split" and _pattern(step) == " " for _, step in steps)


def _pattern(step: Json) -> str | None:
    """The String of a pattern, None for a Regex."""
    pattern = step.get("pattern")
    return cast("Json", pattern).get("String") if isinstance(pattern, Mapping) else None
