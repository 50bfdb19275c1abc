"""Arguments as sentencepiece takes them: which types pass, and which error the others get."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from typing import Any, Final, cast

INT_MIN: Final = -(2**31)
INT_MAX: Final = 2**31 - 1
MOST_THREADS: Final = 1024

RETURN_TYPES: Final = (int, str, bytes, "proto", "serialized_proto", "numpy", "offset_mapping")

NOT_IDS: Final = "Input must be an integer buffer, list of integers, or a sequence of integers."
NOT_TEXT: Final = "Input must be str or bytes"
NOT_TEXTS: Final = "List elements must be str or bytes"


def flag(name: str, value: object) -> bool:
    """Take what has a truth value of its own: bool, None, numbers; no texts, lists, types."""
    if value is True or value is False:
        return value
    if value is None or hasattr(type(value), "__bool__"):
        return bool(value)
    hint = ""
    if name == "add_bos":
        hint = "; the second argument was out_type up to sentencepiece 0.2.1: write out_type=…"
    raise TypeError(f"{name} must be a bool, not {value!r}{hint}")


def whole(name: str, value: object) -> int:
    """Take an integer of 32 bits; no float."""
    number: int | None = None
    if not isinstance(value, float):
        try:
            number = int(cast("int", value)) if hasattr(type(value), "__int__") else None
            if number is None and hasattr(type(value), "__index__"):
                number = cast("Any", value).__index__()
        except (TypeError, ValueError):
            number = None
    if number is None or not INT_MIN <= number <= INT_MAX:
        raise TypeError(f"{name} must be a whole number of 32 bits, not {value!r}")
    return number


def real(name: str, value: object) -> float:
    """Take a number, rounded to float32 as there; what is too large becomes infinite."""
    kind = type(value)
    if not hasattr(kind, "__float__") and not hasattr(kind, "__index__"):
        raise TypeError(f"{name} must be a number, not {value!r}")
    number = float(cast("float", value))
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def text_bytes(text: object) -> bytes:
    """UTF-8 of one text. A lone surrogate has none."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError(NOT_TEXT)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise RuntimeError(
            f"the text has a lone surrogate at position {error.start}, which has no UTF-8; "
            'replace it, for example by text.encode("utf-8", "replace")'
        ) from error


def each_bytes(texts: Iterable[object]) -> list[bytes]:
    """UTF-8 of every text of a list."""
    found: list[bytes] = []
    for text in texts:
        if isinstance(text, str):
            try:
                found.append(text.encode())
            except UnicodeEncodeError:
                raise TypeError(NOT_TEXTS) from None
        elif isinstance(text, (bytes, bytearray)):
            found.append(bytes(text))
        else:
            raise TypeError(NOT_TEXTS)
    return found


def is_sequence(value: object) -> bool:
    """Whether it has a length and is no text."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def whole_numbers(values: object) -> list[int]:
    """Ids as a list: a sequence of integers of 32 bits, or one-dimensional memory of integers.

    A number in memory that does not fit becomes the nearest that does, which no
    vocabulary has either.
    """
    if not isinstance(values, _NO_MEMORY):
        try:
            view = memoryview(cast("bytes", values))
        except TypeError:
            pass
        else:
            return _from_memory(view)
    return _each_whole(values)


_NO_MEMORY: Final = (list, tuple, range, str, bytes)


def _each_whole(values: Any) -> list[int]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TypeError(NOT_IDS)
    try:
        return [whole("id", value) for value in values]
    except TypeError:
        raise TypeError(NOT_IDS) from None


def _from_memory(view: memoryview) -> list[int]:
    if view.format[-1:] not in tuple("bhilqnBHILQN"):
        raise TypeError("Buffer must be of integer type")
    if view.ndim != 1:
        raise TypeError("Buffer must be 1-dimensional")
    return [min(max(number, INT_MIN), INT_MAX) for number in view.tolist()]


def return_type_of(return_type: object, out_type: object, default: object) -> Any:
    """Decide on the type of a result; `out_type` is the older name of `return_type`."""
    if out_type is not None and return_type is not None:
        raise ValueError("Cannot specify both out_type and return_type. Use return_type instead.")
    if out_type == "immutable_proto":  # the name of 0.2.1, where there was no return_type
        return out_type
    chosen = return_type if out_type is None else out_type
    if chosen is None:
        return default
    if chosen == "immutable_proto":
        raise ValueError(
            "immutable_proto is deprecated and no longer supported. "
            "Use return_type='proto' instead."
        )
    if chosen not in RETURN_TYPES:
        raise ValueError(f"Invalid return_type: {chosen}. Must be one of {RETURN_TYPES}")
    return chosen


def need_thread_number(num_threads: object) -> None:
    """Refuse a number of threads that is no int."""
    if not isinstance(num_threads, int):
        raise TypeError("num_threads must be int")


def thread_count(number: int) -> int:
    """Resolve a number of threads: negative means as many as there are processors."""
    if number < 0:
        number = os.cpu_count() or 1
    return max(1, min(number, MOST_THREADS))


def path_of(name: str, value: object) -> str:
    """Path of a file: str, bytes or an object that has one."""
    try:
        return os.fsdecode(cast("str", value))
    except TypeError:
        raise TypeError(f"{name} must be a path, not {value!r}") from None


def proto_bytes(name: str, value: object) -> bytes:
    """Bytes of a protobuf message: bytes, or a message."""
    serialize = getattr(value, "SerializeToString", None)
    if serialize is not None:
        value = serialize()
    if not isinstance(value, bytes):
        raise TypeError(f"{name} must be bytes or a protobuf message, not {type(value)!r}")
    return value
