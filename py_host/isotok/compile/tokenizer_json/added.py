"""Added tokens as the blob's search for them: one automaton over the raw text.

tokenizers searches twice: for the tokens that are not `normalized` in the text, then for the
others in what the normalizer made of the rest. One search in the text finds the same where the
normalizer leaves the texts of these alone, or works on single characters (`spellings`), and none of
one kind can overlap one of the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from isotok import _layout_gen as abi
from isotok._added import flags_of
from isotok.compile.normalizers.reader import read_normalizer
from isotok.compile.normalizers.steps import SELF, Literal, Map, Run, Step
from isotok.compile.pretok.properties import need
from isotok.compile.tokenizer_json.checked import Json
from isotok.compile.tokenizer_json.document import AddedToken, Document, resolve_added
from isotok.compile.tokenizer_json.errors import shorten, unsupported
from isotok.compile.tokenizer_json.joined import Joined
from isotok.compile.tokenizer_json.nodes import make_nodes
from isotok.compile.tokenizer_json.spellings import (
    Images,
    Spellings,
    images_of,
    too_many,
    why_not,
)

Field = tuple[int, "array[int] | array[float] | bytes"]
_MOST_PAIRS: Final = 1_000_000


def numbered(
    document: Document, find: Callable[[str], int | None], vocab_size: int
) -> tuple[AddedToken, ...]:
    """Return added tokens with their ids and the texts that they decode to.

    Parameters
    ----------
    document : Document
    find, vocab_size
        As for `resolve_added`.

    Raises
    ------
    TokenizerError
        A token is in the vocabulary, or another's text, and not what it decodes to.
    """
    found = resolve_added(document.added_tokens, find, vocab_size)
    images = spelled_by(found, document.normalizer)
    if images is None:
        return found
    ids = {token.content: token.id for token in found}
    made: list[AddedToken] = []
    for token in found:
        content = images.of(token.content) if token.normalized else token.content
        if content != token.content:
            known = ids.get(content, find(content))
            if token.id < vocab_size or known is not None:
                what = f"{shorten(token.content)}, which decodes to {shorten(content)}"
                raise unsupported("added_tokens", f"{what}, and one of them is in the vocabulary")
            ids[content] = token.id
        made.append(replace(token, content=content))
    return tuple(made)


def spelled_by(tokens: Iterable[AddedToken], normalizer: Json | None) -> Images | None:
    """Return what a normalizer makes of characters, if tokens are to be found by spellings."""
    late = [token for token in tokens if token.normalized]
    steps = read_normalizer(normalizer) if late else []
    return None if all(_is_inert(token, steps) for token in late) else images_of(normalizer)


def added_fields(tokens: Iterable[AddedToken], normalizer: Json | None) -> list[Field]:
    """Return the fields of added tokens.

    Parameters
    ----------
    tokens : iterable of AddedToken
        As `numbered` returns them.
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
    images: Images | None = None
    if not all(_is_inert(token, steps) for token in late):
        images = images_of(normalizer)
        for token in late:
            _check_spelled(token, images)
    for token, other, why in _conflicts([_seen(token, images) for token in every], images):
        both = f"{shorten(token.content)} and {shorten(other.content)}"
        raise unsupported("added_tokens", f"{both}: {why}")
    numbers = array("I")
    for token in every:
        numbers.extend((token.id, flags_of(token)))
    fields: list[Field] = [(abi.FIELD_ADDED_TOKENS, numbers)] if numbers else []
    if images is not None:
        fields.append((abi.FIELD_ADDED_TRIE, _spellings(every, images)))
    if any(token.single_word for token in every):
        words = array("I", need("tokenizers fixed", "word").toggles)
        fields.append((abi.FIELD_WORD_RANGES, words))
    return fields


def _check_spelled(token: AddedToken, images: Images | None) -> None:
    """Refuse what is not in the normalized text just where its spellings are in the raw text."""
    strips = token.lstrip or token.rstrip
    if images is None:
        why = ""
    elif not (why := why_not(token.content, images)):
        if images.joined is not None and token.single_word:
            why = "that composes what stands beside it"
        elif (strips and not images.keep("space")) or (
            token.single_word and not images.keep("word")
        ):
            why = "that changes what can stand beside it"
        else:
            return
    what = (
        f'{shorten(token.content)} with "normalized": true behind a normalizer{why and ", "}{why}'
    )
    raise unsupported(
        "added_tokens", f'{what} (with "normalized": false it is found in the text as it is)'
    )


def _seen(token: AddedToken, images: Images | None) -> AddedToken:
    """Return a token with its text as it is normalized, for comparing it with others."""
    if images is None or token.normalized:
        return token
    content = images.of(token.content)
    if any(char in images.deleted for char in token.content) or not content:
        raise unsupported("added_tokens", f"{shorten(token.content)}, of which characters vanish")
    return replace(token, content=content)


def _spellings(tokens: Sequence[AddedToken], images: Images) -> array[int]:
    early: dict[str, int] = {}
    late: dict[str, int] = {}
    for token in tokens:
        where = late if token.normalized else early
        where[token.content] = token.id + 1 | flags_of(token)
    if too_many([*late], images):
        raise unsupported("added_tokens", "so many spellings of tokens that are normalized")
    return make_nodes(Spellings(early, late, images))


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
    if isinstance(step, (Literal, Run)) and step.content and set(text).isdisjoint(step.content):
        if isinstance(step, Literal):
            return set(text).isdisjoint(step.pattern)
        return not any(ord(char) in step.points for char in text)
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


def _conflicts(
    tokens: Sequence[AddedToken], images: Images | None
) -> Iterator[tuple[AddedToken, AddedToken, str]]:
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
    if images is not None and images.joined is not None:
        yield from _joined_conflicts(late, early, images.joined)
    if len(late) * len(early) > _MOST_PAIRS:
        yield late[0], early[0], 'too many of which only some are "normalized"'
    for token in late:
        for other in early:
            if why := _conflict(token, other):
                yield token, other, why


def _joined_conflicts(
    late: Sequence[AddedToken], early: Sequence[AddedToken], joined: Joined
) -> Iterator[tuple[AddedToken, AddedToken, str]]:
    """Yield pairs of which one is there if the other is not, because of what stands behind it."""
    contents = {token.content: token for token in late}
    for token in late:
        for size in range(1, len(token.content)):
            if token.content[:size] in contents:
                other = contents[token.content[:size]]
                yield token, other, "one begins as the other, and marks can compose with its end"
    for token in early:
        if late and joined.can_join(token.content[0]):
            yield late[0], token, "one begins with a mark, which is not part of the other"


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
