"""The C interface by ctypes, driven the way a difficult caller would.

Outputs of any capacity, sessions of any size, texts in any parts: for the property that
none of that changes a result. Structs as in core/include/isotok.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from support import data

U32, U64, SIZE, POINTER = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
OK, NEED_OUTPUT, NEED_SCRATCH, AT_LIMIT = range(4)
OFFSETS, NORM_SPANS, COUNT_ONLY = 4, 8, 16
NORMALIZED = 64
PART_LAST = 1
UNITS = {"byte": 0, "codepoint": 1, "utf16": 2}


class Error(ctypes.Structure):
    _fields_ = [("size", U32), ("status", ctypes.c_int32), ("what", U32), ("index", U32),
                ("offset", U64), ("need", U64)]  # fmt: skip


class Info(ctypes.Structure):
    _fields_ = [(name, U32) for name in ("size", "parity", "vocab_size", "algorithm")]
    _fields_ += [("features", U64)]
    _fields_ += [(name, U32) for name in ("unk", "bos", "eos", "pad")]
    _fields_ += [(name, U32) for name in ("max_piece_bytes", "max_expansion", "max_key_bytes")]
    _fields_ += [(name, U32) for name in ("session_min", "session_size", "reserved")]


class Options(ctypes.Structure):
    _fields_ = [("size", U32), ("flags", U32), ("limit", U64), ("offset_unit", U32),
                ("reserved", U32)]  # fmt: skip


class Input(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("size", SIZE), ("consumed", SIZE), ("part", U32)]


class Output(ctypes.Structure):
    _fields_ = [(name, POINTER) for name in ("ids", "begin", "end", "norm_begin", "norm_end")]
    _fields_ += [("capacity", SIZE), ("count", SIZE), ("base", U64), ("norm_base", U64)]


@cache
def library() -> ctypes.CDLL:
    found = ctypes.CDLL(str(data.BUILD / "native/libisotok.so"))
    found.isotok_model_size.restype = SIZE
    return found


def aligned(size: int) -> tuple[ctypes.Array[ctypes.c_char], int]:
    """Return memory of at least `size` bytes, and a 64-aligned address in it."""
    memory = ctypes.create_string_buffer(size + 64)
    return memory, (ctypes.addressof(memory) + 63) & ~63


@dataclass(frozen=True)
class Plan:
    """How a text is put through: elements of each output, bytes of the parts in turn, bytes
    of the session beyond the least (None: the usual size), bytes of a token cache, and whether
    spans are asked for beside ids.
    """

    capacity: int = 4096
    parts: Sequence[int] = ()
    more_memory: int | None = None
    cache: int = 0
    spans: bool = True


class Model:
    """An opened blob."""

    def __init__(self, blob: bytes) -> None:
        self.core = library()
        self.blob, address = aligned(len(blob))
        ctypes.memmove(address, blob, len(blob))
        self.view, view = aligned(self.core.isotok_model_size())
        self.model = POINTER()
        error = Error(size=ctypes.sizeof(Error))
        status = self.core.isotok_model_open(
            POINTER(address), SIZE(len(blob)), U32(1), POINTER(view),
            SIZE(self.core.isotok_model_size()), ctypes.byref(self.model), ctypes.byref(error),
        )  # fmt: skip
        assert status == OK, (status, error.what, error.index)
        self.info = Info(size=ctypes.sizeof(Info))
        assert self.core.isotok_model_info(self.model, ctypes.byref(self.info)) == OK


class Session:
    """A session that is moved when it asks for it."""

    def __init__(self, model: Model, plan: Plan) -> None:
        self.core = model.core
        least = model.info.session_min
        usual = max(least, model.info.session_size)
        self.size = usual if plan.more_memory is None else least + plan.more_memory
        self.memory, address = aligned(self.size)
        self.pointer = POINTER()
        self.error = Error(size=ctypes.sizeof(Error))
        status = self.core.isotok_session_init(
            model.model, POINTER(address), SIZE(self.size), ctypes.byref(self.pointer),
            ctypes.byref(self.error),
        )  # fmt: skip
        assert status == OK
        self.cache, address = aligned(plan.cache)
        status = self.core.isotok_session_cache(
            self.pointer, POINTER(address), SIZE(plan.cache), ctypes.byref(self.error)
        )
        assert status == OK

    def grow(self) -> None:
        assert self.error.need > self.size
        size = self.error.need
        memory, address = aligned(size)
        status = self.core.isotok_session_move(
            self.pointer, POINTER(address), SIZE(size), ctypes.byref(self.pointer),
            ctypes.byref(self.error),
        )  # fmt: skip
        assert status == OK
        self.memory, self.size = memory, size


def cut_text(text: bytes, parts: Sequence[int]) -> list[bytes]:
    """Pieces of the sizes in `parts`, over and over; the last is what remains."""
    result: list[bytes] = []
    at = number = 0
    while parts and at < len(text):
        size = parts[number % len(parts)]
        result.append(text[at : at + size])
        at += size
        number += 1
    return [*result, text[at:]] if at < len(text) or not result else result


Numbers = dict[str, list[int]]


def encode(
    model: Model, text: bytes, plan: Plan, unit: str = "byte", limit: int = 0, flags: int = 0
) -> Numbers:
    """Ids, raw and normalized spans of all tokens (spans only if they are asked for)."""
    session = Session(model, plan)
    flags |= OFFSETS | NORM_SPANS if plan.spans else 0
    options = Options(ctypes.sizeof(Options), flags, limit, UNITS[unit], 0)
    core, error = model.core, ctypes.byref(session.error)
    assert core.isotok_encode_begin(session.pointer, ctypes.byref(options), error) == OK
    names = ("ids", "begin", "end", "norm_begin", "norm_end")[: 5 if plan.spans else 1]
    arrays = {name: (U32 * plan.capacity)() for name in names}
    found: Numbers = {name: [] for name in names}
    output = Output(capacity=plan.capacity)
    for name, array in arrays.items():
        setattr(output, name, ctypes.addressof(array))
    parts = cut_text(text, plan.parts)
    kept = b""
    for number, part in enumerate(parts):
        window = kept + part
        last = PART_LAST if number + 1 == len(parts) else 0
        source = Input(window, len(window), 0, last)
        while True:
            status = core.isotok_encode_step(
                session.pointer, ctypes.byref(source), ctypes.byref(output), error
            )
            assert status >= 0, session.error.what
            for name, array in arrays.items():
                found[name] += array[: output.count]
            if status in (OK, AT_LIMIT):
                break
            if status == NEED_SCRATCH:
                session.grow()
        if status == AT_LIMIT:
            break
        kept = window[source.consumed :]
        assert len(kept) <= (0 if last else model.info.max_key_bytes)
    return found
