"""What a BPE model is: tokens by id, special tokens, merges by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from isotok.errors import TokenizerError
from isotok.train._options import Learned, Merge, Place, Unit, one_of


@dataclass(frozen=True)
class ModelData:
    """A BPE model, checked when it is made.

    Parameters
    ----------
    unit : {"byte", "unicode"}
    tokens : tuple of bytes
        By id, special tokens among them.
    special : tuple of (str, int)
        Special tokens with their ids.
    merges : tuple of (int, int, int, int)
        Ids of the left, the right and the new token, and its count, by rank.
    pat_str : str, optional
        Pattern of the pre-tokenizer; None: GPT-2's.
    """

    unit: Unit
    tokens: tuple[bytes, ...]
    special: tuple[tuple[str, int], ...]
    merges: tuple[Merge, ...]
    pat_str: str | None = None

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if len(self.ids) != len(self.tokens):
            seen: set[bytes] = set()
            twice = next(token for token in self.tokens if token in seen or seen.add(token))
            raise TokenizerError(
                f"token {twice!r} is in the vocabulary twice; a special token must not be the "
                "text of another token: choose another text for it"
            )
        for byte in range(256):
            if bytes([byte]) not in self.ids:
                raise TokenizerError(f"vocabulary: the byte {byte:#04x} has no token")
        for rank, (left, right, made, _) in enumerate(self.merges):
            if self.tokens[left] + self.tokens[right] != self.tokens[made]:
                raise TokenizerError(
                    f"merge {rank}: {self.tokens[left]!r} and {self.tokens[right]!r} do not make "
                    f"{self.tokens[made]!r}"
                )

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """Id by token."""
        return {token: number for number, token in enumerate(self.tokens)}

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids of special tokens."""
        return frozenset(number for _, number in self.special)

    @cached_property
    def bytes_built(self) -> frozenset[int]:
        """Unicode units: tokens that merges make of parts that are bytes in the core, not text.

        Those are bytes beyond ASCII, and the byte 0, which no text of a trie can hold.
        """
        if self.unit == "byte":
            return frozenset()
        parts = {number for number, token in enumerate(self.tokens) if is_lone_byte(token)}
        whole: set[int] = set()
        for left, right, made, _ in self.merges:
            if left in parts or right in parts:
                whole.add(made)
                parts.add(made)
        return frozenset(whole)


def is_lone_byte(token: bytes) -> bool:
    return len(token) == 1 and (token[0] >= 128 or token[0] == 0)


@dataclass(frozen=True, slots=True)
class Shape:
    """How words are cut further before merges: see `PreTokenizer`."""

    bigrams: tuple[str, ...] | None = None
    mixed: str = "keep"
    split_on_vocab: bool = True


@dataclass(slots=True)
class SpecialTokens:
    """Special tokens in order, and where their ids are."""

    texts: tuple[str, ...] = ()
    place: Place = "first"
    offset: int = field(init=False)

    def __post_init__(self) -> None:
        """Check the texts."""
        one_of(self.place, Place, "special_tokens_position")
        for text in self.texts:
            if not isinstance(text, str) or not text:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TokenizerError(
                    f"special_tokens: {text!r} is not a text of one character or more"
                )
        if len(set(self.texts)) != len(self.texts):
            raise TokenizerError("special_tokens: a text is there twice")
        self.offset = len(self.texts) if self.place == "first" else 0


def special_tokens(texts: Sequence[str], place: Place = "first") -> SpecialTokens:
    """Return special tokens; a text alone is an error, not its letters."""
    if isinstance(texts, str):
        raise TokenizerError("special_tokens: give a list of texts, not one text")
    return SpecialTokens(tuple(texts), place)


def assemble(
    learned: Learned, special: SpecialTokens, unit: Unit, pat_str: str | None
) -> ModelData:
    """Make a model of what was learned."""
    by = special.offset
    tokens = [*learned.tokens]
    texts = [text.encode() for text in special.texts]
    first = 0 if special.place == "first" else len(tokens)
    tokens[first:first] = texts
    merges = [(a + by, b + by, made + by, count) for a, b, made, count in learned.merges]
    named = tuple((text, first + i) for i, text in enumerate(special.texts))
    return ModelData(unit, tuple(tokens), named, tuple(merges), pat_str)


def data_of(
    vocabulary: Mapping[bytes, int],
    pairs: Sequence[tuple[bytes, bytes, int]],
    special: Sequence[str],
    unit: Unit,
    pat_str: str | None,
    where: str,
) -> ModelData:
    """Make a model of a vocabulary and merges as files have them."""
    tokens: list[bytes | None] = [None] * (1 + max(vocabulary.values(), default=-1))
    for token, number in vocabulary.items():
        tokens[number] = token
    missing = next((number for number, token in enumerate(tokens) if token is None), None)
    if missing is not None:
        raise TokenizerError(f"{where}: no token has the id {missing}")
    merges: list[Merge] = []
    for number, (left, right, count) in enumerate(pairs, 1):
        try:
            merges.append((vocabulary[left], vocabulary[right], vocabulary[left + right], count))
        except KeyError as error:
            raise TokenizerError(
                f"{where}: merge {number}: {error.args[0]!r} is not in the vocabulary"
            ) from None
    lost = next((text for text in special if text.encode() not in vocabulary), None)
    if lost is not None:
        raise TokenizerError(f"{where}: special token {lost!r} is not in the vocabulary")
    named = tuple((text, vocabulary[text.encode()]) for text in special)
    every = tuple(token for token in tokens if token is not None)
    return ModelData(unit, every, named, tuple(merges), pat_str)


def learned_of(data: ModelData) -> tuple[Learned, SpecialTokens]:
    """Return what to train on from; special tokens must be first or last."""
    numbers = sorted(data.special_ids)
    count = len(numbers)
    if numbers == list(range(count)):
        special = SpecialTokens(tuple(text for text, _ in sorted(data.special, key=_id)), "first")
    elif numbers == list(range(len(data.tokens) - count, len(data.tokens))):
        special = SpecialTokens(tuple(text for text, _ in sorted(data.special, key=_id)), "last")
    else:
        raise TokenizerError(
            "the model's special tokens are among the others; training can go on from models "
            "that have them first or last"
        )
    by = special.offset
    tokens = [token for number, token in enumerate(data.tokens) if number not in data.special_ids]
    merges = [(a - by, b - by, made - by, count) for a, b, made, count in data.merges]
    return Learned(tokens, merges, finished=bool(data.bytes_built)), special


def _id(item: tuple[str, int]) -> int:
    return item[1]
