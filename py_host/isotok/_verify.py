"""What `isotok verify` does: compare with sentencepiece on a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from isotok._tokenizer import Tokenizer
from isotok.errors import TokenizerError


class Difference(NamedTuple):
    """The first place where two tokenizers disagree on a text."""

    text: bytes
    position: int
    """Index of the first differing id."""
    ours: list[int]
    theirs: list[int]


class Outcome(NamedTuple):
    """Result of a comparison."""

    texts: int
    tokens: int
    differing: int
    first: Difference | None
    number: int
    """Number of the first differing text, counted from 1."""


Encode = Callable[[bytes], list[int]]


def sentencepiece_encoder(model: bytes) -> Encode:
    """Make the reference's encoder.

    Raises
    ------
    ImportError
        sentencepiece is not installed.
    TokenizerError
        sentencepiece refuses the model.
    """
    try:
        import sentencepiece  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise ImportError(
            "verify compares with sentencepiece; pip install sentencepiece"
        ) from error
    try:
        processor: Any = sentencepiece.SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise TokenizerError(
            f"sentencepiece refuses it ({error}); MODEL must be a .model file, "
            "a blob goes to --blob"
        ) from error
    return processor.encode


def compare(tokenizer: Tokenizer, reference: Encode, texts: Iterable[bytes]) -> Outcome:
    """Encode every text with both and compare the ids."""
    count = tokens = differing = number = 0
    first = None
    for text in texts:
        count += 1
        ours, theirs = tokenizer.encode(text), list(reference(text))
        tokens += len(theirs)
        if ours == theirs:
            continue
        differing += 1
        if first is None:
            first = Difference(text, first_difference(ours, theirs), ours, theirs)
            number = count
    return Outcome(count, tokens, differing, first, number)


def first_difference(ours: list[int], theirs: list[int]) -> int:
    """Index of the first id that differs, or the length of the shorter list."""
    for index, (our, their) in enumerate(zip(ours, theirs, strict=False)):
        if our != their:
            return index
    return min(len(ours), len(theirs))


def explain(tokenizer: Tokenizer, difference: Difference) -> str:
    """Say where a difference is, in some lines."""
    at = difference.position
    offsets = tokenizer.encode_with_offsets(difference.text, unit="byte").offsets
    byte = offsets[at][0] if at < len(offsets) else len(difference.text)
    around = difference.text[max(0, byte - 20) : byte + 40].decode(errors="replace")

    def some(ids: list[int]) -> str:
        part = ids[at : at + 5]
        return ", ".join(f"{token} {tokenizer.id_to_piece(token)!r}" for token in part) or "(end)"

    return (
        f"  token {at}, byte {byte}: …{around!r}…\n"
        f"  isotok:        {some(difference.ours)}\n"
        f"  sentencepiece: {some(difference.theirs)}"
    )
