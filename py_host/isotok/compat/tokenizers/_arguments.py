"""Arguments, checked as the binding of tokenizers checks them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import index
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_MOST_32 = 0xFFFFFFFF
_MOST_64 = 0xFFFFFFFFFFFFFFFF


def shown_as(*names: str, **defaults: object) -> Callable[[F], F]:
    """Let a method that takes ``**kwargs`` show its parameters by name, as there."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("self", *names)]
    parameters += [
        inspect.Parameter(name, kind, default=default) for name, default in defaults.items()
    ]

    def show(function: F) -> F:
        function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return function

    return show


def ignored(name: str) -> None:
    """Say that there is no such option; tokenizers does the same."""
    print(f"Ignored unknown kwarg option {name}")


def need_str(argument: object, name: str) -> str:
    """Return a str that UTF-8 can hold; else TypeError."""
    if not isinstance(argument, str):
        raise TypeError(f"argument '{name}': '{type(argument).__name__}' object is not a 'str'")
    if not argument.isascii():
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise TypeError(f"argument '{name}': {error}") from None
    return argument


def need_bool(argument: object, name: str) -> bool:
    """Return a bool, of Python or numpy; else TypeError."""
    if isinstance(argument, bool):
        return argument
    if type(argument).__name__ in ("bool", "bool_") and type(argument).__module__ == "numpy":
        return bool(argument)
    raise TypeError(f"argument '{name}': '{type(argument).__name__}' object is not a 'bool'")


def u32(argument: object, name: str) -> int:
    """Return a number of 32 bits; TypeError for what is none, OverflowError for others."""
    return _number(argument, name, _MOST_32)


def usize(argument: object, name: str) -> int:
    """Return a number of 64 bits; errors as `u32`."""
    return _number(argument, name, _MOST_64)


def _number(argument: object, name: str, most: int) -> int:
    try:
        number = index(cast("Any", argument))
    except TypeError as error:
        raise TypeError(f"argument '{name}': {error}") from None
    if not 0 <= number <= most:
        raise OverflowError(f"argument '{name}': {number} is not in 0 to {most}")
    return number


def u32_list(argument: object, name: str) -> list[int]:
    """Return a sequence as a list of numbers of 32 bits; errors as `u32`."""
    every = need_sequence(argument, name)
    if all(type(one) is int and 0 <= one <= _MOST_32 for one in every):
        return cast("list[int]", every)
    return [u32(one, name) for one in every]


def need_sequence(argument: Any, name: str) -> list[object]:
    """Return the elements of a sequence that is no str; else TypeError."""
    is_sequence = hasattr(argument, "__getitem__") and hasattr(argument, "__len__")
    if isinstance(argument, (str, dict)) or not is_sequence:
        kind = type(cast("object", argument)).__name__
        raise TypeError(f"argument '{name}': '{kind}' object is not a sequence that is no str")
    return list(argument)


# ---- Texts ----------------------------------------------------------------------------


def is_text(argument: object) -> bool:
    """Whether it is a str that UTF-8 can hold."""
    try:
        need_str(argument, "")
    except TypeError:
        return False
    return True


def text_input(argument: object) -> str:
    """Return one text; else TypeError."""
    if not is_text(argument):
        raise TypeError("TextInputSequence must be str")
    return cast("str", argument)


def words_input(argument: object) -> list[str]:
    """Return one text that is words: a list, a tuple or an array of str; else TypeError."""
    if isinstance(argument, (list, tuple)):
        words = list(cast("list[object]", argument))
    elif _is_array_of_str(argument):
        words = cast("list[object]", cast("Any", argument).tolist())
    else:
        words = [None]
    if not all(map(is_text, words)):
        raise TypeError("PreTokenizedInputSequence must be Union[List[str], Tuple[str]]")
    return cast("list[str]", words)


def _is_array_of_str(argument: object) -> bool:
    dtype = getattr(argument, "dtype", None)
    return getattr(dtype, "kind", None) in ("U", "O") and getattr(argument, "ndim", 0) == 1


Input = str | list[str]


def one_input(argument: object, is_pretokenized: bool) -> Input:
    """Return a text, or its words; else TypeError."""
    return words_input(argument) if is_pretokenized else text_input(argument)


def batch_input(argument: object, is_pretokenized: bool) -> tuple[Input, Input | None]:
    """Return an element of a batch: a text, or a pair of two; else TypeError."""
    try:
        return one_input(argument, is_pretokenized), None
    except TypeError:
        pass
    try:
        both = need_sequence(argument, "input")
    except TypeError:
        both = []
    if len(both) != 2:
        kind = "PreTokenizedEncodeInput" if is_pretokenized else "TextEncodeInput"
        part = "PreTokenizedInputSequence" if is_pretokenized else "TextInputSequence"
        raise TypeError(f"{kind} must be Union[{part}, Tuple[{part}, {part}]]")
    return one_input(both[0], is_pretokenized), one_input(both[1], is_pretokenized)
