"""Added tokens that are found in normalized text, as an automaton over the raw text.

tokenizers looks for these where the normalizer has been. Where that makes something of each
character by itself, a token is in the normalized text just where one of its *spellings* is in the
raw text: `hello` behind a normalizer that makes letters small also as `hELLo`, with accents that
are stripped, with characters between its own that are deleted.

ALGORITHM   The trie of the normalized texts; from a node, each character leads where its image
            does, and one that is deleted leads to a copy of the node at which no token ends. With
            the trie of the tokens that are found as they are, this is deterministic.
COMPLEXITY  Nodes of the trie x (characters with an image there + 1000).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile.normalizers import data
from isotok.compile.normalizers.reader import read_normalizer
from isotok.compile.normalizers.steps import Form, Map, Run, Step, normal_form
from isotok.compile.normalizers.steps import Images as Pictures
from isotok.compile.pretok.properties import need
from isotok.compile.tokenizer_json.checked import Json
from isotok.compile.tokenizer_json.joined import BROKEN, Joined, Tail, joined_of
from isotok.compile.tokenizer_json.nodes import Bytes, bytes_of_characters

_NOWHERE: Final = -1
State = tuple[int, int, bool, "Tail | str | None"]
"""Nodes of the two tries, whether what came last was deleted, and what stands behind a token."""


# ---- What a normalizer makes of a character -------------------------------------------


@dataclass(frozen=True)
class Images:
    """What a normalizer makes of single characters: of those that it changes.

    Parameters
    ----------
    kept : mapping of str to str
        Images that are not empty.
    deleted : frozenset of str
    joined : Joined, optional
        What marks behind a character compose with it, if they do.
    runs : frozenset of str
        Characters of what is one text instead of many.
    """

    kept: Mapping[str, str]
    deleted: frozenset[str]
    joined: Joined | None = None
    runs: frozenset[str] = frozenset()

    def of(self, text: str) -> str:
        """Return the image of a text."""
        return "".join(self.of_character(char) for char in text)

    def of_character(self, char: str) -> str:
        """Return the image of a character."""
        return "" if char in self.deleted else self.kept.get(char, char)

    @cached_property
    def by_first(self) -> Mapping[str, list[tuple[str, str]]]:
        """Characters and their images by how these begin."""
        found: dict[str, list[tuple[str, str]]] = {}
        for char, image in self.kept.items():
            found.setdefault(image[0], []).append((char, image))
        return found

    @cached_property
    def parts(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Beginnings, ends and insides of images: all that are not whole."""
        long = [image for image in self.kept.values() if len(image) > 1]
        return (
            frozenset(image[:k] for image in long for k in range(1, len(image))),
            frozenset(image[k:] for image in long for k in range(1, len(image))),
            frozenset(
                image[i:k]
                for image in long
                for i in range(len(image))
                for k in range(i + 1, len(image) + 1)
                if k - i < len(image)
            ),
        )

    @cached_property
    def loop(self) -> Bytes:
        """The bytes of what is deleted."""
        return bytes_of_characters(self.deleted)

    def keep(self, kind: str) -> bool:
        """Whether a kind of character is one behind the normalizer just if it was in front."""
        points = need("tokenizers fixed", kind)
        return not self.deleted and all(
            {ord(part) in points for part in image} == {ord(char) in points}
            for char, image in self.kept.items()
        )


def images_of(normalizer: Json | None) -> Images | None:
    """Return what a normalizer does, if it does it to each character by itself."""
    return _images(json.dumps(normalizer, sort_keys=True))


@lru_cache(maxsize=8)
def _images(normalizer: str) -> Images | None:
    read = read_normalizer(json.loads(normalizer))
    steps = [_each(step) for step in read]
    joined = joined_of(steps)
    if not all(
        isinstance(step, Map) or (isinstance(step, Form) and (joined or not step.composes))
        for step in steps
    ):
        return None
    kept: dict[str, str] = {}
    deleted: set[str] = set()
    for char in sorted(_changed(steps)):
        image = _image(char, steps)
        if not image:
            deleted.add(char)
        elif image != char:
            kept[char] = image
    runs = {
        letter
        for place, step in enumerate(read)
        if step != steps[place] and isinstance(step, Run)
        for char in step.content
        for letter in _image(char, steps[place + 1 :])
    }
    return Images(kept, frozenset(deleted), joined, frozenset(runs))


def _each(step: Step) -> Step:
    """Return a step that makes of each character what this one makes of a run of them.

    A text that has nothing of that is in what one makes just where it is in what the other does.
    """
    if isinstance(step, Run) and step.least == 1 and step.content:
        return Map((Pictures({}, ((step.points, step.content),)),))
    return step


def _changed(steps: Iterable[Step]) -> set[str]:
    found: set[str] = set()
    for step in steps:
        if isinstance(step, Form):
            found |= step.table.keys() | set(map(chr, data.HANGUL))
        elif isinstance(step, Map):
            for part in step.parts:
                found |= part.table.keys()
                for points, _ in part.sets:
                    for first, last in points.ranges():
                        found.update(map(chr, range(first, last + 1)))
    return {char for char in found if not 0xD800 <= ord(char) < 0xE000}


def _image(char: str, steps: Iterable[Step]) -> str:
    text = char
    for step in steps:
        if not text:
            break
        if isinstance(step, Map):
            text = step.of(text, char)
        elif isinstance(step, Form):
            text = normal_form(text, step, char)
    return text


def why_not(content: str, images: Images) -> str:
    """Return why a text cannot be found by its spellings, or nothing.

    Parameters
    ----------
    content : str
        Normalized.
    images : Images
    """
    if images.joined is not None:
        if any(images.joined.letters(char) for char in images.deleted):
            return "that deletes characters behind a composing form"
        if why := images.joined.why_not(content):
            return why
    if not content:
        return "of which nothing is left"
    if not images.runs.isdisjoint(content):
        return "with characters that runs of others become"
    if any(data.combining_class(char) for char in content):
        return "with combining characters"
    begins, ends, insides = images.parts
    sizes = range(1, len(content) + 1)
    if content in insides or any(
        content[:size] in ends or content[-size:] in begins for size in sizes
    ):
        return "which can be a part of what the normalizer makes of one character"
    return ""


# ---- The automaton --------------------------------------------------------------------


class Trie:
    """Texts by their characters.

    Parameters
    ----------
    texts : mapping of str to int
        With their values, which are not 0.
    """

    def __init__(self, texts: Mapping[str, int]) -> None:
        self.children: list[dict[str, int]] = [{}]
        self.values = [0]
        for text, value in texts.items():
            node = 0
            for char in text:
                if char not in self.children[node]:
                    self.children[node][char] = len(self.children)
                    self.children.append({})
                    self.values.append(0)
                node = self.children[node][char]
            self.values[node] = value

    def walk(self, node: int, text: str) -> int:
        """Return where a text leads, or -1."""
        for char in text:
            if node == _NOWHERE:
                break
            node = self.children[node].get(char, _NOWHERE)
        return node


class Spellings:
    """Tokens that are found as they are, and tokens that are found by their spellings.

    Parameters
    ----------
    early, late : mapping of str to int
        Values by text; those of late ones are normalized.
    images : Images
    """

    @property
    def start(self) -> State:
        """Both tries at their roots."""
        return 0, 0, False, None

    def __init__(self, early: Mapping[str, int], late: Mapping[str, int], images: Images) -> None:
        self._early = Trie(early)
        self._late = Trie(late)
        self._images = images
        self._broken = next(iter(late.values()), 0) | abi.ADDED_NOT

    def value(self, state: State) -> int:
        """Value of the token that ends at a state, or 0."""
        early, late, deleted, tail = state
        if tail == BROKEN:
            return self._broken
        found = 0 if early == _NOWHERE else self._early.values[early]
        return found or (0 if late == _NOWHERE or deleted else self._late.values[late])

    def loop(self, state: State) -> tuple[Bytes, State] | None:
        """Bytes that lead to a state, but for those of `step`: what is deleted."""
        _, late, _, tail = state
        late = late or _NOWHERE
        if tail == BROKEN or (late == _NOWHERE and tail is None) or not self._images.deleted:
            return None
        return self._images.loop, (_NOWHERE, late, True, tail)

    def step(self, state: State) -> dict[str, State]:
        """States that single characters lead to."""
        early, late, _, tail = state
        chars = list(self._early.children[early]) if early != _NOWHERE else []
        if late != _NOWHERE:
            for first in self._late.children[late]:
                chars.append(first)
                chars += [char for char, _ in self._images.by_first.get(first, ())]
        found = {
            char: (self._next_early(early, char), *self._next_late(late, char)) for char in chars
        }
        found |= self._behind(tail)
        return {char: to for char, to in found.items() if to[:2] != (_NOWHERE, _NOWHERE) or to[3]}

    def _next_early(self, node: int, char: str) -> int:
        return _NOWHERE if node == _NOWHERE else self._early.children[node].get(char, _NOWHERE)

    def _next_late(self, node: int, char: str) -> tuple[int, bool, Tail | None]:
        image = self._images.of_character(char)
        if not image:
            return (_NOWHERE if node == 0 else node), True, None
        to = self._late.walk(node, image)
        joined = self._images.joined
        ends = joined is not None and to != _NOWHERE and self._late.values[to] != 0
        return to, False, joined.begin(char) if joined is not None and ends else None

    def _behind(self, tail: Tail | str | None) -> dict[str, State]:
        """States that marks behind a token lead to."""
        joined = self._images.joined
        if joined is None or tail is None or isinstance(tail, str):
            return {}
        every = ((char, joined.next(tail, letters)) for char, letters in joined.followers)
        return {char: (_NOWHERE, _NOWHERE, True, to) for char, to in every if to is not None}


def too_many(tokens: Sequence[str], images: Images) -> bool:
    """Whether the automaton would be larger than is sensible."""
    found = sum(len(images.by_first.get(char, ())) + 2 for text in tokens for char in text)
    return found > 200_000
