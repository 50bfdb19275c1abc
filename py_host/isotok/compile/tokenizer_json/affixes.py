"""What BPE spells behind the first symbol of a word, and at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile.tokenizer_json.bytes_of_letters import bytes_of, is_spelled
from isotok.compile.tokenizer_json.errors import shorten, unsupported

_PREFIX: Final = "model.continuing_subword_prefix"
_SUFFIX: Final = "model.end_of_word_suffix"
_LONGEST: Final = 255
_END: Final = 0xFF
"""Stands for the suffix in the blob's trie; UTF-8 never has it."""
_LAST: Final = range(0xC0)
"""Bytes that a character ends with."""
_ALL: Final = (*_LAST, *range(0xC2, 0xF5))
"""Bytes of UTF-8."""


@dataclass(frozen=True)
class Affixes:
    """Of a symbol behind the first one of a pre-token, and of the last one; empty: none."""

    prefix: str = ""
    suffix: str = ""

    def __bool__(self) -> bool:
        return bool(self.prefix or self.suffix)

    def is_last(self, text: str) -> bool:
        """Whether a token stands only at the end of a pre-token."""
        return bool(self.suffix) and len(text) > len(self.suffix) and text.endswith(self.suffix)

    def is_symbol(self, text: str) -> bool:
        """Whether a token is one character where some pre-token has it."""
        stems = {text, text.removesuffix(self.suffix) if self.suffix else text}
        stems |= {stem.removeprefix(self.prefix) for stem in stems}
        return any(len(stem) == 1 for stem in stems)

    def join(self, left: str, right: str) -> str | None:
        """Return what two tokens give; None: no text."""
        if not self.prefix:
            return left + right
        if right.startswith(self.prefix):
            return left + right[len(self.prefix) :]
        size, whole = len(self.prefix.encode()), right.encode()
        try:  # as many bytes, whatever they are
            return left + whole[size:].decode() if len(whole) >= size else None
        except UnicodeDecodeError:
            return None

    def never_meet(self, left: str, right: str) -> bool:
        """Whether no text has the two tokens side by side."""
        continues = len(right) > len(self.prefix) and right.startswith(self.prefix)
        return self.is_last(left) or not continues

    def check_merge(self, left: str, right: str, where: str) -> None:
        """Refuse a merge by which text spells the suffix, so that a token is at an end or not."""
        merged = self.join(left, right)
        if merged and self.is_last(merged) and not self.is_last(right) and not self.is_last(left):
            what = f"a merge of {left!r} and {right!r}, which spells the suffix {self.suffix!r}"
            raise unsupported(where, what)

    def field(self, *, unknown: bool, fused: bool, byte_level: bool) -> bytes:
        """Return the elements of FIELD_CONTINUATION."""
        prefix, suffix = (
            bytes_of(text) if byte_level else text.encode() for text in (self.prefix, self.suffix)
        )
        flags = abi.AFFIX_SUFFIX if suffix else 0
        if unknown:
            flags |= abi.AFFIX_UNKNOWN | (abi.AFFIX_FUSED if fused else 0)
        return (flags | len(prefix) << 8).to_bytes(4, "little") + prefix + suffix


def check_affixes(
    affixes: Affixes, vocabulary: Mapping[str, int], *, byte_level: bool, ignore_merges: bool
) -> None:
    """Refuse by name what cannot be reproduced."""
    for where, text in ((_PREFIX, affixes.prefix), (_SUFFIX, affixes.suffix)):
        if len(text.encode()) > _LONGEST:
            raise unsupported(where, f"a text of more than {_LONGEST} bytes")
        if byte_level and not is_spelled(text or "a"):
            raise unsupported(where, f"{shorten(text)}, which is not in letters of ByteLevel")
    prefix, suffix = affixes.prefix, affixes.suffix
    if prefix and not any(map(prefix.__eq__, (text[: len(prefix)] for text in vocabulary))):
        raise unsupported(_PREFIX, f"{shorten(prefix)}, which no token begins with")
    if prefix and suffix and (prefix + suffix[-1]).endswith(suffix):
        raise unsupported(_SUFFIX, f"{shorten(suffix)} behind the prefix {shorten(prefix)}")
    if suffix and ignore_merges:
        raise unsupported(_SUFFIX, f"{shorten(suffix)} with ignore_merges")


def is_end_of_bytes(affixes: Affixes, text: bytes) -> bool:
    """Whether a token of bytes holds what stands for the suffix, so that no text gives it."""
    return bool(affixes.suffix) and len(text) > 1 and _END in text


def needed_bytes(affixes: Affixes) -> Iterator[tuple[str, int, bytes]]:
    """Yield what a byte-level vocabulary has to have: where, the byte, and the symbol."""
    prefix, suffix = bytes_of(affixes.prefix), bytes_of(affixes.suffix)
    yield from (("", byte, bytes([byte])) for byte in range(256))
    if prefix:
        yield from ((" inside a word", byte, prefix + bytes([byte])) for byte in _ALL)
    if suffix:
        end = " at the end of a word"
        yield from ((end, byte, bytes([byte]) + suffix) for byte in _LAST[:128])
        yield from ((end, byte, prefix + bytes([byte]) + suffix) for byte in _LAST)
