"""Putting isotok behind a fast tokenizer of transformers, and taking it out again."""

from __future__ import annotations

from typing import Any, TypeVar

from isotok.compat.transformers._backend import Backend

T = TypeVar("T")


def accelerate(tokenizer: T) -> T:
    """Let isotok encode and decode for a fast tokenizer of transformers.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerFast, or of a class that is made of it
        It is changed, and returned.

    Returns
    -------
    The same object.

    Raises
    ------
    TypeError
        It is no fast tokenizer.
    TokenizerError
        Its tokenizer.json has something that isotok does not do; the message names it. The
        tokenizer is as it was.

    Notes
    -----
    Everything but encoding and decoding is still asked of the tokenizer of the package
    tokenizers that transformers has opened: components, vocabulary, files that are written. When
    one of its components is changed, or tokens are added, the model is compiled again at the next
    text. What a class of transformers has put in the place of `encode` or `decode` (CLIP's do
    that) goes on to use the package tokenizers.
    """
    backend = _backend_of(tokenizer)
    if not isinstance(backend, Backend):
        _set(tokenizer, Backend(backend))
    return tokenizer


def restore(tokenizer: T) -> T:
    """Undo `accelerate`; returns the same object."""
    backend = _backend_of(tokenizer)
    if isinstance(backend, Backend):
        _set(tokenizer, backend.original)
    return tokenizer


def _backend_of(tokenizer: Any) -> Any:
    backend = getattr(tokenizer, "_tokenizer", None)
    if backend is None or not getattr(tokenizer, "is_fast", False):
        raise TypeError(
            f"{type(tokenizer).__name__} is no fast tokenizer of transformers; isotok runs those "
            "that have a tokenizer.json: PreTrainedTokenizerFast and classes made of it"
        )
    return backend


def _set(tokenizer: Any, backend: object) -> None:
    tokenizer._tokenizer = backend
