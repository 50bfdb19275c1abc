"""The members of a tokenizer.json apart from its model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from isotok.compile._fields import MOST_IDS
from isotok.compile.tokenizer_json.checked import Json, flat, maybe, member, need, optional
from isotok.compile.tokenizer_json.errors import broken
from isotok.compile.tokenizer_json.parts import Span, split_document

if TYPE_CHECKING:
    from typing_extensions import Buffer


@dataclass(frozen=True)
class AddedToken:
    """A token that is found in the text before anything else is done to it.

    Parameters
    ----------
    id : int
    content : str
        Its text.
    special : bool
        It is no text: `skip_special_tokens` leaves it out.
    lstrip, rstrip : bool
        It takes the white space beside it along.
    single_word : bool
        It is not found inside a word.
    normalized : bool
        It is looked for in normalized text.
    """

    id: int
    content: str
    special: bool
    lstrip: bool
    rstrip: bool
    single_word: bool
    normalized: bool


@dataclass(frozen=True)
class Document:
    """A tokenizer.json whose shape has been checked.

    Parameters
    ----------
    data : bytes-like
        The file, in which the large members of the model are.
    model : mapping
        The model's small members.
    large : mapping of str to Span
        Its large ones by path: `model.vocab`, `model.merges`.
    added_tokens : tuple of AddedToken
        In the order of the file.
    normalizer, pre_tokenizer, post_processor, decoder : mapping or None
        As JSON; steps have a `type`.
    truncation, padding : mapping or None
    scores : sequence of float, or None
        Of a Unigram, in place of those of the file.
    """

    data: Buffer
    model: Json
    large: Mapping[str, Span]
    added_tokens: tuple[AddedToken, ...] = ()
    normalizer: Json | None = None
    pre_tokenizer: Json | None = None
    post_processor: Json | None = None
    decoder: Json | None = None
    truncation: Json | None = field(default=None, repr=False)
    padding: Json | None = field(default=None, repr=False)
    scores: Sequence[float] | None = field(default=None, repr=False)


_LISTS = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}


def read_document(data: Buffer) -> Document:
    """Read a tokenizer.json, without its vocabulary and merges.

    Raises
    ------
    TokenizerError
        It is not JSON, or not of the shape of a tokenizer.json.
    """
    return make_document(data, *split_document(data))


def make_document(data: Buffer, document: Mapping[str, Any], large: Mapping[str, Span]) -> Document:
    """Check the members of a file that `split_document` has read."""
    version = optional(document, "version", str, "1.0", "")
    if version != "1.0":
        raise broken("version", f"{version!r} is not 1.0")
    for name, steps in _LISTS.items():
        flat(document.get(name), name, steps)
    return Document(
        data,
        cast("Json", member(document, "model", dict, "")),
        large,
        _added_tokens(document),
        *(cast("Json | None", maybe(document, name, dict, "")) for name in _LISTS),
        truncation=cast("Json | None", maybe(document, "truncation", dict, "")),
        padding=cast("Json | None", maybe(document, "padding", dict, "")),
    )


def _added_tokens(document: Mapping[str, Any]) -> tuple[AddedToken, ...]:
    values = cast("list[object]", optional(document, "added_tokens", list, [], ""))
    return tuple(_added_token(value, f"added_tokens[{i}]") for i, value in enumerate(values))


def resolve_added(
    tokens: Iterable[AddedToken], find: Callable[[str], int | None], vocab_size: int
) -> tuple[AddedToken, ...]:
    """Return added tokens with the ids that tokenizers gives them.

    The ids of the file count for nothing there: a token that the vocabulary has keeps that id,
    others are numbered on from the number of its entries. What comes again replaces the one
    before.

    Parameters
    ----------
    tokens : iterable of AddedToken
        In the order of the file.
    find : callable
        Id of a text in the model's vocabulary, or None.
    vocab_size : int
        Entries of the vocabulary.
    """
    found: dict[str, AddedToken] = {}
    next_id = vocab_size
    for token in tokens:
        if not token.content:
            continue
        before = found.pop(token.content, None)
        number = before.id if before is not None else find(token.content)
        if number is None:
            number, next_id = next_id, next_id + 1
        found[token.content] = replace(token, id=number)
    return tuple(found.values())


def _added_token(value: object, path: str) -> AddedToken:
    part = cast("Json", need(value, dict, path))
    number = member(part, "id", int, path)
    if not 0 <= number < MOST_IDS:
        raise broken(f"{path}.id", f"{number} is not an id: 0 to {MOST_IDS - 1}")
    flags = {
        name: member(part, name, bool, path)
        for name in ("special", "lstrip", "rstrip", "single_word", "normalized")
    }
    return AddedToken(number, member(part, "content", str, path), **flags)
