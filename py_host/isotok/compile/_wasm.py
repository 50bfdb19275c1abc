"""The compiler as `isotok-build.wasm`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from isotok import _layout_gen as abi
from isotok._backend import Limits
from isotok._machine import new_machine
from isotok.errors import make_error

if TYPE_CHECKING:
    from typing_extensions import Buffer

_STRUCTS: Final = 64
_SIZE_OUT: Final = 32
_POINTER: Final = 36
_IN_PARTS: Final = (abi.FORM_BLOB, abi.FORM_PACKED, abi.FORM_ADDED)
"""Forms that are copied out of the arena: a large blob need not be in linear memory once more."""


class _Job:
    """One compilation: [structs | source | arena | output] from heap_base on.

    `written` is the result.
    """

    written: bytes

    def __init__(
        self, take: Callable[[], Buffer], kind: int, limits: Limits | None, added: bytes
    ) -> None:
        self.kind = kind
        self.added_size = len(added)
        source = memoryview(take()).cast("B")  # which goes when it is copied
        self.size = len(source)
        self.machine = new_machine("isotok-build.wasm", limits)
        function = self.machine.function
        self.structs = -(-function("isotok_heap_base")() // 64) * 64
        self.text = self.structs + _STRUCTS
        self.added = -(-(self.text + self.size) // 64) * 64
        self.arena = -(-(self.added + len(added)) // 64) * 64
        self.machine.reserve(self.arena)
        self.machine.view[self.text : self.text + self.size] = source
        if added:
            self.machine.view[self.added : self.added + len(added)] = added

    def call(self, name: str, *values: int) -> int:
        """Call with a fresh error struct as the last argument."""
        machine = self.machine
        machine.words[self.structs // 4] = abi.SIZEOF_ERROR
        return machine.function(name)(*values, self.structs)

    def need(self) -> int:
        """Read `isotok_error.need`."""
        at = self.structs + abi.ERROR_NEED
        return struct.unpack("<Q", self.machine.view[at : at + 8])[0]

    def raise_error(self, status: int) -> None:
        """Raise the exception for the error struct."""
        view = self.machine.view[self.structs : self.structs + abi.SIZEOF_ERROR]
        _, _, what, index, offset, need = struct.unpack(abi.ERROR_FORMAT, view)
        texts = (self._name(abi.NAME_STATUS, status), self._name(abi.NAME_WHAT, what))
        raise make_error(status, texts[0], what, texts[1], index, offset, need, "source")

    def _name(self, kind: int, number: int) -> str:
        at = self.machine.function("isotok_build_name")(kind, number & 0xFFFFFFFF)
        view = self.machine.view
        end = at
        while view[end]:
            end += 1
        return bytes(view[at:end]).decode()

    def read(self, arena_size: int) -> int:
        """Start over with an arena of this size and read the source."""
        machine = self.machine
        machine.reserve(self.arena + arena_size)
        pointer = self.structs + _POINTER
        status = self.call("isotok_build_init", self.arena, arena_size, pointer)
        if status != abi.OK:
            return status
        self.build = machine.words[pointer // 4]
        status = self.call("isotok_build_source", self.build, self.kind, self.text, self.size)
        if status != abi.OK or not self.added_size:
            return status
        return self.call("isotok_build_added", self.build, self.added, self.added_size)

    def gather(self, form: int) -> int:
        """Join the parts of a blob, which lie in the arena and in the source."""
        machine, at = self.machine, self.structs
        pointers = at + _POINTER, at + _SIZE_OUT
        status = self.call("isotok_build_parts", self.build, form, *pointers)
        if status == abi.OK:
            first, count = (machine.words[pointer // 4] for pointer in pointers)
            view = machine.view
            listed = bytes(view[first : first + abi.SIZEOF_BUILD_PART * count])
            parts = struct.iter_unpack(abi.BUILD_PART_FORMAT, listed)
            self.written = b"".join([view[begin : begin + size] for begin, size in parts])
        return status

    def write(self, form: int, arena_size: int) -> int:
        """Write a file of another library behind the arena and copy it."""
        machine = self.machine
        if form in _IN_PARTS:
            return self.gather(form)
        out = -(-(self.arena + arena_size) // 64) * 64
        capacity = 3 * self.size + 65536
        size_out = self.structs + _SIZE_OUT
        status = abi.NEED_OUTPUT
        while status == abi.NEED_OUTPUT:
            machine.reserve(out + capacity)
            status = self.call("isotok_build_finish", self.build, form, out, capacity, size_out)
            capacity = machine.words[size_out // 4]
        if status == abi.OK:
            self.written = bytes(machine.view[out : out + capacity])
        return status


def compile_in_wasm(
    take: Callable[[], Buffer], kind: int, form: int, limits: Limits | None, added: bytes = b""
) -> bytes:
    """Compile what `take` returns; see `compile_model`. `added`: for `isotok_build_added`.

    It is called once, and what it returns is not kept: fields of a large file need not be there
    twice.
    """
    job = _Job(take, kind, limits, added)
    arena_size = 8 * job.size + (1 << 20)
    status = abi.NEED_SCRATCH
    while status == abi.NEED_SCRATCH:
        job.machine.refuel(1 + job.size // (1 << 20))
        status = job.read(arena_size)
        if status == abi.OK:
            status = job.write(form, arena_size)
        if status == abi.NEED_SCRATCH:
            arena_size = -(-max(job.need(), 2 * arena_size) // 64) * 64
    if status != abi.OK:
        job.raise_error(status)
    return job.written
