"""A stage: one pattern and what becomes of its matches, as a Split of tokenizers is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.fuse import Behavior
from isotok.compile.pretok.nodes import Node, is_nullable, takes_characters
from isotok.compile.pretok.tokens import GAP, MATCH

BehaviorName = Literal["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]

_BESIDE: Final[dict[BehaviorName, frozenset[tuple[int, int]]]] = {
    "Isolated": frozenset(),
    "Removed": frozenset(),
    "MergedWithPrevious": frozenset({(GAP, MATCH)}),
    "MergedWithNext": frozenset({(MATCH, GAP)}),
    "Contiguous": frozenset({(MATCH, MATCH), (GAP, GAP)}),
}


@dataclass(frozen=True)
class Stage:
    """One pass over the pieces of the stages before it.

    Parameters
    ----------
    node : Node
        The parsed pattern.
    behavior : Behavior
        What becomes of matches and gaps.
    pattern : str
        As it was given, for error messages.
    many_folds : frozenset of str
        Pairs of letters that its engine also finds in one character, case ignored.
    on_bytes : bool
        It comes after ByteLevel, so it sees each byte as a character of its own.
    """

    node: Node
    behavior: Behavior
    pattern: str
    many_folds: frozenset[str] = frozenset()
    on_bytes: bool = False

    def __post_init__(self) -> None:
        if not is_nullable(self.node):
            return
        if takes_characters(self.node):
            raise PatternError("a pattern that can match nothing", self.pattern)
        if self.behavior != behavior_of("Isolated"):
            raise PatternError("matches without characters that are not Isolated", self.pattern)

    @property
    def is_cut(self) -> bool:
        """Whether the matches take no characters, so that they only cut."""
        return is_nullable(self.node)


def behavior_of(name: BehaviorName, *, invert: bool = False) -> Behavior:
    """Return the behavior of a Split of tokenizers.

    `invert` exchanges matches and gaps. Neighbouring gaps are one gap in any case.
    """
    match, gap = (GAP, MATCH) if invert else (MATCH, GAP)
    real = {MATCH: match, GAP: gap}
    joins = frozenset((real[a], real[b]) for a, b in _BESIDE[name])
    return Behavior(joins | {(GAP, GAP)}, frozenset({match}) if name == "Removed" else frozenset())


def byte_letters() -> list[int]:
    """Return the code points that stand for the bytes after ByteLevel, as in GPT-2."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in visible]
    return [byte if byte in visible else 0x100 + others.index(byte) for byte in range(256)]


DROP_GAPS: Final = Behavior(frozenset(), frozenset({GAP}))
"""The behavior of tiktoken: what no match covers is lost."""
