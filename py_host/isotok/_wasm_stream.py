"""Texts and ids that come in parts, in an instance of `isotok.wasm`; see `isotok._wasm`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from isotok._backend import Flags
from isotok._wasm import WINDOW
from isotok._wasm_sample import SamplingInstance
from isotok._wasm_text import numbers, utf8

if TYPE_CHECKING:
    from typing_extensions import Buffer


F = TypeVar("F", int, Flags)

_LONG: Final = 1024
"""A longer tail is not shown to the core with each part, but each time it has doubled."""


class StreamingInstance(SamplingInstance):
    """One opened model in one machine, that takes texts and ids in parts too."""

    def begin_text(self, flags: Flags) -> None:
        """Begin to encode a text."""
        self._start(self._begin, flags, 0, 0)
        self._write_output()

    def encode_part(self, data: bytes, last: bool) -> tuple[list[int], bytes]:
        """Encode the next bytes of a text; also returns those at the end that were not taken.

        They belong in front of the next part.
        """
        source = memoryview(data)
        ids: list[int] = []
        position, room = 0, self.window
        while True:
            part = source[position : position + room]
            at_end = position + len(part) == len(source)
            for _ in self._window(part, last and at_end, self._step_ids):
                ids += self.results(self.machine.words[self._count_word]).tolist()
            position += (taken := self._consumed())
            if at_end:
                return ids, data[position:]
            room = self._next_room(room, taken)

    def begin_ids(self, flags: int) -> None:
        """Begin to decode ids."""
        self._decode_begin(flags)

    def decode_part(self, ids: memoryview, last: bool) -> bytes:
        """Decode the next ids."""
        return b"".join(self._decode_ids(ids, last))


class _Stream(Generic[F]):
    """Holds an instance from its making to `close`, or to the last reference."""

    def __init__(
        self,
        take: Callable[[int], StreamingInstance],
        give: Callable[[StreamingInstance], None],
        flags: F,
    ) -> None:
        self._take = take
        self._give = give
        self._flags = flags
        self._instance: StreamingInstance | None = take(0)
        self._begun = False

    def _opened(self, size: int) -> StreamingInstance:
        assert self._instance is not None
        if not self._instance.machine.alive:  # a trap ended the text before
            self._instance = self._take(0)
        self._instance.machine.refuel(1 + size // WINDOW)
        return self._instance

    def close(self) -> None:
        """Give the instance back; it is not used again."""
        instance, self._instance = self._instance, None
        if instance is not None:
            self._give(instance)


class WasmEncoder(_Stream[Flags]):
    """An `isotok._backend.EncoderStream`."""

    _tail: list[bytes]
    _size = 0  # of the tail
    _least = 0  # bytes of tail and part together that are worth another step

    def push(self, part: str | bytes, last: bool, /) -> list[int]:
        tail = self._tail if self._size else []
        tail.append(utf8(part))
        self._tail, self._size = tail, self._size + len(tail[-1])
        if not last and self._size < self._least:
            return []
        data = b"".join(tail)
        begun, self._begun, self._size = self._begun, False, 0  # stays so if the step fails
        self._least = 0
        instance = self._opened(len(data))
        if not begun:
            instance.begin_text(self._flags)
        ids, rest = instance.encode_part(data, last)
        if not last:
            self._begun, self._tail, self._size = True, [rest], len(rest)
            if len(rest) > _LONG:
                self._least = 2 * len(rest)
        return ids


class WasmDecoder(_Stream[int]):
    """An `isotok._backend.DecoderStream`."""

    def push(self, part: list[int] | Buffer, last: bool, /) -> bytes:
        begun, self._begun = self._begun, False
        ids = memoryview(numbers(part)).cast("B").cast("I")
        instance = self._opened(len(ids))
        if not begun:
            instance.begin_ids(self._flags)
        data = instance.decode_part(ids, last)
        self._begun = not last
        return data
