"""Added tokens as the blob's search for them: one automaton over the raw text.

tokenizers searches twice: for the tokens that are not `normalized` in the text, then for the
others in what the normalizer made of the rest. One search in the text finds the same where the
normalizer leaves the texts of these alone, and none of one kind can overlap one of the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile.normalizers.reader import read_normalizer
from isotok.compile.normalizers.steps import SELF, Map, Step
from isotok.compile.pretok.properties import need
from isotok.compile.tokenizer_json.checked import Json
from isotok.compile.tokenizer_json.document import AddedToken
from isotok.compile.tokenizer_json.errors import shorten, unsupported

Field = tuple[int, "array[int] | array[float] | bytes"]
_MOST_PAIRS: Final = 1_000_000


def added_fields(tokens: Iterable[AddedToken], normalizer: Json | None) -> list[Field]:
    """Return the fields of added tokens.

    Parameters
    ----------
    tokens : iterable of AddedToken
        With the ids that tokenizers gives them (`resolve_added`).
    normalizer : mapping or None
        The member of the file; the pre-tokenizer comes behind both searches.

    Raises
    ------
    TokenizerError
        One automaton cannot do what tokenizers does; the error names the token.
    """
    every = sorted(tokens, key=lambda token: token.id)
    late = [token for token in every if token.normalized]
    steps = read_normalizer(normalizer) if late else []
    for token in late:
        if not _is_inert(token, steps):
            what = f'{shorten(token.content)} with "normalized": true behind a normalizer'
            raise unsupported("added_tokens", what)
    for token, other, why in _conflicts(every):
        both = f"{shorten(token.content)} and {shorten(other.content)}"
        raise unsupported("added_tokens", f"{both}: {why}")
    numbers = array("I")
    for token in every:
        numbers.extend((token.id, _flags(token)))
    fields: list[Field] = [(abi.FIELD_ADDED_TOKENS, numbers)] if numbers else []
    if any(token.single_word for token in every):
        words = array("I", need("tokenizers fixed", "word").toggles)
        fields.append((abi.FIELD_WORD_RANGES, words))
    return fields


def _flags(token: AddedToken) -> int:
    return (
        (0 if token.special else abi.ADDED_PLAIN)
        | (abi.ADDED_LSTRIP if token.lstrip else 0)
        | (abi.ADDED_RSTRIP if token.rstrip else 0)
        | (abi.ADDED_SINGLE_WORD if token.single_word else 0)
    )


def _is_inert(token: AddedToken, normalizer: Sequence[Step]) -> bool:
    """Whether the token is in the normalized text just where it is in the raw text.

    So it is if each character becomes something by itself, those of the token themselves and no
    other any of them; and what stands beside the token does not matter.
    """
    beside = token.lstrip or token.rstrip or token.single_word
    return not normalizer or (
        not beside and all(_leaves_alone(token.content, step) for step in normalizer)
    )


def _leaves_alone(text: str, step: Step) -> bool:
    if not isinstance(step, Map):
        return False
    images = [
        image
        for part in step.parts
        for image in (*part.table.values(), *(image for _, image in part.sets))
    ]
    if not all(images) or any(char in image for image in images for char in text):
        return False
    return all(SELF not in char and step.of(char, char) == char for char in text)


# ---- Two tokens -----------------------------------------------------------------------


def _conflicts(tokens: Sequence[AddedToken]) -> Iterator[tuple[AddedToken, AddedToken, str]]:
    """Yield pairs that one search would find elsewhere, and why."""
    spaces = need("tokenizers fixed", "space")
    begins = [token for token in tokens if ord(token.content[0]) in spaces]
    for token in tokens:
        if token.rstrip and begins:
            yield token, begins[0], "the white space that one takes along begins the other"
    passed = (token for token in tokens if token.special or token.single_word)
    ends = next((token for token in passed if ord(token.content[-1]) in spaces), None)
    if ends is not None and begins and any(token.lstrip for token in tokens):
        yield ends, begins[0], "they can overlap in white space that a third takes along"
    late = [token for token in tokens if token.normalized]
    early = [token for token in tokens if not token.normalized]
    if len(late) * len(early) > _MOST_PAIRS:
        yield late[0], early[0], 'too many of which only some are "normalized"'
    for token in late:
        for other in early:
            if why := _conflict(token, other):
                yield token, other, why


def _conflict(late: AddedToken, early: AddedToken) -> str:
    """Why one search would not do, for tokens of which only `late` is "normalized"."""
    a, b = early.content, late.content
    if a in b or b in a or _joined(a, b) or _joined(b, a):
        return 'they can overlap, and only one is "normalized"'
    if early.lstrip and (late.rstrip or _is_in("space", b[-1])):
        return 'both can take the same white space, and only one is "normalized"'
    if late.single_word and (_is_in("word", a[0]) or _is_in("word", a[-1])):
        return 'only one is "normalized", and "single_word", and may stand beside the other'
    return ""


def _joined(left: str, right: str) -> bool:
    return any(left.endswith(right[:size]) for size in range(1, min(len(left), len(right))))


def _is_in(name: str, char: str) -> bool:
    return ord(char) in need("tokenizers fixed", name)
