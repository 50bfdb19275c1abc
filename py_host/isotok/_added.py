"""Tokens that `load` adds to a model."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

from isotok import _layout_gen as abi
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from isotok._backend import Backend


class AddedToken(NamedTuple):
    """A token to be added to a model: the members of tokenizers' class of this name.

    Examples
    --------
    >>> AddedToken("<user>", special=True).rstrip
    False
    """

    content: str
    """The text that becomes the token, wherever it is."""
    special: bool = False
    """Found only where `special` of the call says so; decoding may leave it out."""
    lstrip: bool = False
    """Takes the white space in front of it along."""
    rstrip: bool = False
    """Takes the white space behind it along."""
    single_word: bool = False
    """Not found next to a character of a word."""
    normalized: bool = False
    """Looked for in normalized text; refused where the model has a normalizer."""
    id: int | None = None
    """The id that it must get; None: whichever it gets."""


_BOOLS: Final = AddedToken._fields[1:6]
Given = str | AddedToken | Mapping[str, Any] | object


def added_tokens_of(tokens: Iterable[Given] | None) -> tuple[AddedToken, ...]:
    """Check the argument `added_tokens` of `load`."""
    if tokens is None:
        return ()
    if isinstance(tokens, (str, bytes, Mapping)):
        raise TypeError("added_tokens must be several tokens, not one")
    return tuple(_token_of(token, f"added_tokens[{i}]") for i, token in enumerate(tokens))


def _token_of(token: Given, where: str) -> AddedToken:
    if isinstance(token, str):
        return AddedToken(_text_of(token, where))
    names = AddedToken._fields
    if isinstance(token, Mapping):
        members = cast("Mapping[str, Any]", token)
        unknown = next((name for name in members if name not in names), None)
        if unknown is not None:
            raise TokenizerError(f"{where}: {unknown!r} is unknown; known are {', '.join(names)}")
    elif hasattr(token, "content"):
        members = {name: getattr(token, name) for name in names if hasattr(token, name)}
    else:
        raise TypeError(f"{where}: {token!r} is no text, AddedToken or dict with a content")
    every: dict[str, Any] = {"content": None, **members}
    made = AddedToken(**every)
    _text_of(made.content, where)
    for name in _BOOLS:
        if not isinstance(getattr(made, name), bool):
            raise TypeError(f"{where}: {name} must be True or False")
    if made.id is not None and type(made.id) is not int:
        raise TypeError(f"{where}: id must be a whole number or None")
    return made


def _text_of(content: object, where: str) -> str:
    if not isinstance(content, str):
        raise TypeError(f"{where}: content must be a str, not {type(content)!r}")
    try:
        content.encode()
    except UnicodeEncodeError:
        raise TokenizerError(f"{where}: {content!r} holds a lone surrogate") from None
    return content


def source_of(tokens: tuple[AddedToken, ...]) -> bytes:
    """Tokens as `isotok_build_added` takes them."""
    texts = [token.content.encode() for token in tokens]
    ranges: Iterable[int] = ()
    if any(token.single_word for token in tokens):
        from isotok.compile.pretok.properties import need

        ranges = need("tokenizers fixed", "word").toggles
    numbers = array("I", ranges)
    head = array("I", (len(tokens), len(numbers)))
    for token, text in zip(tokens, texts, strict=True):
        head.extend((len(text), flags_of(token)))
    return b"".join((head, numbers, *texts))


class Flagged(Protocol):
    """An added token, whichever class it has."""

    @property
    def special(self) -> bool: ...
    @property
    def lstrip(self) -> bool: ...
    @property
    def rstrip(self) -> bool: ...
    @property
    def single_word(self) -> bool: ...


def flags_of(token: Flagged) -> int:
    """ISOTOK_ADDED_… of a token."""
    return (
        (0 if token.special else abi.ADDED_PLAIN)
        | (abi.ADDED_LSTRIP if token.lstrip else 0)
        | (abi.ADDED_RSTRIP if token.rstrip else 0)
        | (abi.ADDED_SINGLE_WORD if token.single_word else 0)
    )


def added_blob(
    base: Buffer, tokens: tuple[AddedToken, ...], engine: str, limits: Any
) -> Buffer | None:
    """Return the blob of what tokens change in a base; None without tokens."""
    if not tokens:
        return None
    try:
        if engine == "native":
            from isotok import _native

            kind, form = abi.SOURCE_PACKED, abi.FORM_ADDED
            return _native.compile(base, kind, form, source_of(tokens))
        from isotok.compile._wasm import compile_in_wasm

        return compile_in_wasm(
            lambda: base, abi.SOURCE_PACKED, abi.FORM_ADDED, limits, source_of(tokens)
        )
    except TokenizerError as error:
        if (error.what or 0) >= abi.WHAT_ADDED_TEXT:
            known = 0 <= error.index < len(tokens)
            which = f"[{error.index}] ({tokens[error.index].content!r})" if known else ""
            error.args = (f"added_tokens{which}: {error}",)
        raise


def check_added(backend: Backend, tokens: tuple[AddedToken, ...]) -> None:
    """Refuse tokens that the opened model cannot have as they were given."""
    for i, token in enumerate(tokens):
        if token.normalized and _has_normalizer(backend):
            raise TokenizerError(
                f"added_tokens[{i}]: {token.content!r} with normalized=True behind a normalizer; "
                "isotok looks for added tokens in the text itself: use normalized=False"
            )
        found = backend.find(token.content)
        if token.id is not None and token.id != found:
            raise TokenizerError(
                f"added_tokens[{i}]: {token.content!r} has the id {found}, not {token.id}: a text "
                "of the vocabulary keeps its id, others follow the vocabulary in order"
            )


def _has_normalizer(backend: Backend) -> bool:
    from isotok._blob_gen import FEATURES  # here: who has no such token needs no layout

    return bool(backend.info()[3] >> FEATURES["unicode"] & 1)
