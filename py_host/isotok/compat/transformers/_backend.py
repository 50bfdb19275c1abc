"""`Backend`: a tokenizer of the package tokenizers whose texts and ids isotok works on."""

from __future__ import annotations

import copy
from typing import Any, Final

from isotok.compat.tokenizers import Tokenizer

_WORK: Final = frozenset(
    (
        "encode",
        "encode_batch",
        "encode_batch_fast",
        "decode",
        "decode_batch",
        "async_encode",
        "async_encode_batch",
        "async_encode_batch_fast",
        "async_decode_batch",
    )
)
"""What isotok does."""
_SETTINGS: Final = frozenset(
    ("enable_truncation", "no_truncation", "enable_padding", "no_padding", "encode_special_tokens")
)
"""What both must know."""
_TOKENS: Final = frozenset(("add_tokens", "add_special_tokens", "train", "train_from_iterator"))
"""After these the model is another."""
_COMPONENTS: Final = frozenset(
    ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder")
)
_OF_MODEL: Final = (
    "alpha",
    "byte_fallback",
    "continuing_subword_prefix",
    "dropout",
    "end_of_word_suffix",
    "fuse_unk",
    "ignore_merges",
    "max_input_chars_per_word",
    "nbest_size",
    "unk_token",
)
"""Members of models that can be set."""


class Backend:
    """What `transformers` takes for a `tokenizers.Tokenizer`.

    It has everything that this class has. Encoding and decoding are isotok's, all the rest is
    asked of the original.

    Parameters
    ----------
    original : tokenizers.Tokenizer
        Not a copy: components are its own, and can be changed in place.

    Raises
    ------
    TokenizerError
        isotok does not do something that is in its tokenizer.json; the message names it.
    """

    original: Any
    _ours: Tokenizer | None
    _given: dict[str, object]

    def __init__(self, original: Any) -> None:
        # past __setattr__
        self.__dict__ |= original.__dict__  # methods that were replaced in this one object
        vars(self).update(original=original, _ours=None, _given={})
        self._opened()

    def _opened(self) -> Tokenizer:
        """The model as it is now, compiled."""
        ours = self._ours
        if ours is None or self._components_changed():
            ours = _compile(self.original)
            vars(self)["_ours"] = ours
        return ours

    def _components_changed(self) -> bool:
        """Whether a component that was given away is not what it was."""
        changed = False
        for name, before in self._given.items():
            now = _state(getattr(self.original, name))
            changed |= now != before
            self._given[name] = now
        return changed

    def __getattr__(self, name: str) -> Any:
        """Find what isotok does, or what the original has."""
        if name.startswith("__") or "original" not in vars(self):  # of an unfinished copy
            raise AttributeError(name)
        if name in _WORK:
            return getattr(self._opened(), name)
        found = getattr(self.original, name)
        if name in _SETTINGS and callable(found):
            return self._with_both(name)
        if name in _TOKENS:
            return self._with_new_model(name)
        if name in _COMPONENTS:
            self._given.setdefault(name, _state(found))
        return found

    def __setattr__(self, name: str, value: object) -> None:
        """Set a component, a setting or, for this object, anything else."""
        if name in _COMPONENTS:
            setattr(self.original, name, value)
            self._given.pop(name, None)
            vars(self)["_ours"] = None
        elif name in _SETTINGS:
            setattr(self.original, name, value)
            setattr(self._opened(), name, value)
        else:
            vars(self)[name] = value

    def _with_both(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> None:
            getattr(self.original, name)(*args, **kwargs)
            if self._ours is not None:  # else read when it is compiled
                getattr(self._ours, name)(*args, **kwargs)

        return call

    def _with_new_model(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = getattr(self.original, name)(*args, **kwargs)
            if result != 0:
                vars(self)["_ours"] = None
            return result

        return call

    def __dir__(self) -> list[str]:
        """Names of the original, and of this object."""
        return sorted({*dir(self.original), *vars(self)})

    def __repr__(self) -> str:
        """Return what the original says of itself."""
        return f"Backend({self.original!r})"

    def __reduce__(self) -> tuple[type[Backend], tuple[object]]:
        """Pickle the original; the model is compiled anew."""
        return type(self), (self.original,)

    def __deepcopy__(self, memo: dict[int, object]) -> Backend:
        """Return one for a copy of the original."""
        return type(self)(copy.deepcopy(self.original, memo))


def _compile(original: Any) -> Tokenizer:
    ours = Tokenizer.from_str(original.to_str())
    added = {k: token.content for k, token in original.get_added_tokens_decoder().items()}
    if added != {k: token.content for k, token in ours.get_added_tokens_decoder().items()}:
        raise NotImplementedError(
            "added tokens would get other ids in a tokenizer.json: the vocabulary has holes behind "
            "which tokens were added"
        )
    ours.encode_special_tokens = original.encode_special_tokens
    return ours


def _state(component: Any) -> object:
    """Return something that tells whether a component was changed."""
    if component is None:
        return None
    kind: str = type(component).__name__
    members = [getattr(component, name, None) for name in _OF_MODEL]
    if any(hasattr(component, name) for name in ("tokenize", "get_trainer")):  # a vocabulary
        return kind, members
    return kind, component.__getstate__()
