"""What a BPE training run is told, and what it has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, cast, get_args

from isotok.errors import TokenizerError

Unit = Literal["byte", "unicode"]
FileFormat = Literal["unitoken", "gpt2"]
InitialAlphabet = Literal["raw", "byte_level"]
TieBreak = Literal["smallest_pair_id", "largest_content"]
UnicodeBigramMixedBoundary = Literal["keep", "split"]
BoundaryMode = Literal["auto", "eot", "line", "utf8"]
Place = Literal["first", "last"]
Pair = tuple[bytes, bytes]

GPT2_PATTERN: Final = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MOST_COUNT: Final = (1 << 63) - 1


def one_of(value: object, kind: object, name: str) -> None:
    """Refuse a value that is not among those of a Literal."""
    known = get_args(kind)
    if value not in known:
        raise TokenizerError(f"{name}: {value!r} is unknown; use one of {', '.join(known)}")


def whole(value: object, name: str, least: int = 0) -> int:
    """Return a whole number of at least `least`; else an error."""
    if type(value) is not int or value < least:
        raise TokenizerError(f"{name}: {value!r} is not a whole number from {least}")
    return value


@dataclass(frozen=True, slots=True)
class Options:
    """How merges are chosen.

    Parameters
    ----------
    unit : {"byte", "unicode"}
        What words are made of at first.
    initial_alphabet : {"raw", "byte_level"}
        Order of the 256 bytes: by value, or as Hugging Face numbers them.
    tie_break : {"smallest_pair_id", "largest_content"}
        Which of two pairs of one count comes first.
    cutoff : int
        No pair with a lower count is merged.
    max_token_length : int, optional
        Most bytes of a token that a merge makes.
    limit_alphabet : int, optional
        Unicode units only: most characters beyond ASCII that get a token of their own.
    required : tuple of str
        Unicode units only: characters that get a token first, whatever they count.
    forbidden : frozenset of (bytes, bytes)
        Pairs that are never merged.
    hot_pair_window_size : int, optional
        How many pairs keep the list of where they are; bounds memory, changes no result.
    """

    unit: Unit = "byte"
    initial_alphabet: InitialAlphabet = "raw"
    tie_break: TieBreak = "smallest_pair_id"
    cutoff: int = 1
    max_token_length: int | None = None
    limit_alphabet: int | None = None
    required: tuple[str, ...] = ()
    forbidden: frozenset[Pair] = frozenset()
    hot_pair_window_size: int | None = None

    def __post_init__(self) -> None:
        """Check each of them."""
        one_of(self.unit, Unit, "unit")
        one_of(self.initial_alphabet, InitialAlphabet, "initial_alphabet")
        one_of(self.tie_break, TieBreak, "tie_break")
        whole(self.cutoff, "min_frequency")
        for name in ("max_token_length", "hot_pair_window_size"):
            if getattr(self, name) is not None:
                whole(getattr(self, name), name, 1)
        if self.limit_alphabet is not None:
            whole(self.limit_alphabet, "limit_alphabet")
        if self.unit == "byte" and (self.limit_alphabet is not None or self.required):
            raise TokenizerError(
                "limit_alphabet and required characters are for unit='unicode': byte units "
                "always hold all 256 bytes"
            )
        for text in self.required:
            if len(text) != 1:
                raise TokenizerError(f"initial_alphabet: {text!r} is not one character")


Merge = tuple[int, int, int, int]
"""Left and right token, the token that they become, and how often it was when merged."""


@dataclass(slots=True)
class Learned:
    """Tokens in the order of their ids, without special tokens, and merges by rank."""

    tokens: list[bytes] = field(default_factory=list[bytes])
    merges: list[Merge] = field(default_factory=list[Merge])
    finished: bool = False
    """Nothing can be added: trained with fallback."""
    exhausted: bool = False
    """No pair is left, or none that the cutoff allows."""


Progress = Callable[[str, int, int | None], object]
"""Called with the stage, what is done of it, and of how much (None: not known)."""


Tick = Callable[[int, int], bool]
"""Called with what is done, and of how much; true: stop here."""


def forbidden_pairs(pairs: Iterable[tuple[str | bytes, str | bytes]] | None) -> frozenset[Pair]:
    """Return pairs of bytes; else an error that names the one."""
    found: set[Pair] = set()
    for pair in pairs or ():
        parts = cast("tuple[object, ...]", pair)
        if not isinstance(pair, tuple) or len(parts) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TokenizerError(f"forbidden_merges: {pair!r} is not a pair of texts")
        found.add((_bytes_of(pair[0]), _bytes_of(pair[1])))
    return frozenset(found)


def _bytes_of(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)
