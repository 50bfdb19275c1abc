"""The wasm back end: a free list of instances with the same model, one per running call."""

from __future__ import annotations

import os
import sys
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Final, Literal, overload

from isotok import _layout_gen as abi
from isotok._backend import UNIT_NORMALIZED, Flags
from isotok._machine import BlobSource, Machine
from isotok._wasm import WINDOW, ModelInstance, is_set, with_flags
from isotok._wasm_stream import StreamingInstance, WasmDecoder, WasmEncoder
from isotok._wasm_text import numbers, utf8
from isotok.errors import Status, TokenizerError, make_error

if TYPE_CHECKING:
    from typing_extensions import Buffer

KEPT: Final = max(4, os.cpu_count() or 1)
"""Instances kept for later calls: each holds a copy of the model."""
SEARCH: Final = 4 * WINDOW
"""A search for the n best may take as long as encoding so many bytes."""

if sys.byteorder != "little":
    raise ImportError("isotok needs a little-endian machine")


class WasmBackend:
    """A model in wasm; see `isotok._backend.Backend` for what the methods do.

    Parameters
    ----------
    new_machine : callable
        Makes an instance of `isotok.wasm`.
    blob : BlobSource
        The model; it is read once for every instance.
    verify : int
        ``VERIFY_…``
    cache_size : int
        Bytes of each instance's token cache; 0 for none.
    added : bytes
        What added tokens change, as a blob of its own; empty without any.
    """

    def __init__(
        self,
        new_machine: Callable[[], Machine],
        blob: BlobSource,
        verify: int,
        cache_size: int,
        added: bytes = b"",
    ) -> None:
        self._new_machine = new_machine
        self._source = blob
        self._verify = verify
        self._cache_size = cache_size
        self._added = added
        # A deque's append and pop are atomic: no lock that a fork could leave locked.
        self._free: deque[StreamingInstance] = deque()
        first = self._new_instance()
        self._info = first.info
        self._free.append(first)

    def _new_instance(self) -> StreamingInstance:
        return StreamingInstance(
            self._new_machine(), self._source, self._verify, self._cache_size, self._added
        )

    def _take(self, size: int) -> StreamingInstance:
        """Take an instance for a call on `size` bytes."""
        try:
            instance = self._free.pop()
        except IndexError:
            instance = self._new_instance()
        instance.machine.refuel(1 + size // WINDOW)
        return instance

    def _give(self, instance: StreamingInstance) -> None:
        if instance.trim() and len(self._free) < KEPT:
            self._free.append(instance)

    @contextmanager
    def _lease(self, size: int) -> Generator[StreamingInstance]:
        instance = self._take(size)
        try:
            yield instance
        finally:
            self._give(instance)

    # -- encode -------------------------------------------------------------------

    def encode(self, text: str | bytes, flags: Flags, limit: int, /) -> list[int]:
        data = utf8(text)
        # Not `with`: this is the short path, and a context manager costs as much as a call.
        instance = self._take(len(data))
        try:
            if len(data) <= WINDOW:
                count = instance.encode_short(data, flags, limit)
                if count >= 0:
                    return instance.results(count).tolist()
            ids: list[int] = []
            for count in instance.steps(data, flags, limit):
                ids += instance.results(count).tolist()
            return ids
        finally:
            self._give(instance)

    def encode_ids(self, text: str | bytes, flags: Flags, limit: int, /) -> bytearray:
        data = utf8(text)
        with self._lease(len(data)) as instance:
            return self._ids(instance, data, flags, limit)

    def _ids(self, instance: ModelInstance, data: bytes, flags: Flags, limit: int) -> bytearray:
        if len(data) <= WINDOW:
            count = instance.encode_short(data, flags, limit)
            if count >= 0:
                return bytearray(instance.results(count))
        ids = bytearray()
        for count in instance.steps(data, flags, limit):
            ids += instance.results(count)
        return ids

    def encode_into(self, text: str | bytes, flags: Flags, buffer: Buffer, /) -> int:
        target = memoryview(buffer).cast("B")
        if target.readonly:
            raise BufferError("the buffer is read-only")
        capacity = len(target) // 4
        done = 0
        data = utf8(text)
        with self._lease(len(data)) as instance:
            for count in instance.steps(data, flags, 0):
                if done + count <= capacity:
                    part = instance.results(count).cast("B")
                    target[4 * done : 4 * (done + count)] = part
                done += count
        if done > capacity:
            number = Status.NEED_OUTPUT
            raise make_error(number, "", 0, "", 0, 0, done, "buffer")
        return done

    def encode_spans(
        self, text: str | bytes, flags: Flags, unit: int, alpha: float = 0.0, seed: int = 0, /
    ) -> tuple[list[int], list[tuple[int, int]], list[tuple[int, int, int]]]:
        data = utf8(text)
        unk = self._info[4]
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        unknown: list[tuple[int, int, int]] = []
        normalized = unit == UNIT_NORMALIZED
        unit = abi.UNIT_BYTE if normalized else unit
        with self._lease(len(data)) as instance:
            for step in instance.span_steps(data, flags, unit, alpha, seed):
                if unk in step.ids:
                    ranges = zip(step.ids, step.norm_begin, step.norm_end, strict=True)
                    unknown += (
                        (len(ids) + i, begin, end)
                        for i, (token, begin, end) in enumerate(ranges)
                        if token == unk
                    )
                ids += step.ids
                if normalized:
                    offsets += zip(step.norm_begin, step.norm_end, strict=True)
                else:
                    offsets += zip(step.begin, step.end, strict=True)
        return ids, offsets, unknown

    @overload
    def encode_batch(
        self, texts: tuple[str | bytes, ...], flags: Flags, limit: int, as_lists: Literal[True], /
    ) -> list[list[int]]: ...
    @overload
    def encode_batch(
        self, texts: tuple[str | bytes, ...], flags: Flags, limit: int, as_lists: Literal[False], /
    ) -> tuple[bytearray, array[int]]: ...
    def encode_batch(
        self, texts: tuple[str | bytes, ...], flags: Flags, limit: int, as_lists: bool, /
    ) -> list[list[int]] | tuple[bytearray, array[int]]:
        ids, ends = self._encode_texts(texts, flags, limit)
        return self.lists(ids, ends) if as_lists else (ids, ends)

    def lists(self, ids: Buffer, ends: Buffer, /) -> list[list[int]]:
        words = memoryview(ids).cast("B").cast("I")
        bounds = memoryview(ends).cast("B").cast("Q").tolist()
        return [words[a:b].tolist() for a, b in pairwise([0, *bounds])]

    def _encode_texts(
        self, texts: tuple[str | bytes, ...], flags: Flags, limit: int
    ) -> tuple[bytearray, array[int]]:
        ids = bytearray()
        ends = array("Q")
        datas = [utf8(text) for text in texts]
        instance = self._take(sum(map(len, datas)) + WINDOW * (1 + len(datas) // 64))
        try:
            for group in _groups(datas):
                self._encode_group(instance, group, (flags, limit), ids, ends)
        except TokenizerError as error:
            error.offset += len(ends)
            raise
        finally:
            self._give(instance)
        return ids, ends

    def _encode_group(
        self,
        instance: ModelInstance,
        group: list[bytes],
        options: tuple[Flags, int],
        ids: bytearray,
        ends: array[int],
    ) -> None:
        """Append the ids of some texts, and the ends of each; only the ends, if counting."""
        begin = ends[-1] if ends else 0
        counting = is_set(options[0], abi.COUNT_ONLY)
        together = instance.encode_texts(group, *options) if len(group) > 1 else None
        if together is not None:
            count, group_ends = together
            if not counting:
                ids += instance.results(count)
            ends.extend(begin + end for end in group_ends)
            return
        try:
            for data in group:
                if counting:
                    begin += self._count(instance, data, *options)
                else:
                    part = self._ids(instance, data, *options)
                    ids += part
                    begin += len(part) // 4
                ends.append(begin)
        except TokenizerError as error:
            error.offset = 0
            raise

    def count_batch(self, texts: tuple[str | bytes, ...], flags: Flags, /) -> array[int]:
        return self._encode_texts(texts, with_flags(flags, abi.COUNT_ONLY), 0)[1]

    def count(self, text: str | bytes, flags: Flags, limit: int, /) -> int:
        data = utf8(text)
        flags = with_flags(flags, abi.COUNT_ONLY)
        # One more than the limit tells whether there are more.
        stop = limit + 1 if limit else 0
        with self._lease(len(data)) as instance:
            total = self._count(instance, data, flags, stop)
        return -1 if limit and total > limit else total

    def _count(self, instance: ModelInstance, data: bytes, flags: Flags, stop: int) -> int:
        total = instance.encode_short(data, flags, stop) if len(data) <= WINDOW else -1
        return sum(instance.steps(data, flags, stop)) if total < 0 else total

    # -- samples ------------------------------------------------------------------

    def sample(self, text: str | bytes, flags: int, alpha: float, seed: int, /) -> list[int]:
        data = utf8(text)
        ids: list[int] = []
        with self._lease(len(data)) as instance:
            for count in instance.steps(data, flags, 0, alpha, seed):
                ids += instance.results(count).tolist()
        return ids

    def nbest(
        self, text: str | bytes, flags: int, n: int, alpha: float, seed: int, /
    ) -> tuple[list[list[int]], list[float]]:
        data = utf8(text)
        with self._lease(len(data) + SEARCH) as instance:
            return instance.nbest(data, flags, n, alpha, seed)

    # -- normalize, decode --------------------------------------------------------

    def normalize(
        self, text: str | bytes, flags: int, unit: int, with_map: bool, /
    ) -> tuple[bytes, bytearray | None]:
        data = utf8(text)
        result = bytearray()
        offsets = bytearray()
        with self._lease(len(data)) as instance:
            for part, part_map in instance.normalize_steps(data, flags, unit, with_map):
                result += part
                offsets += part_map
        return bytes(result), offsets if with_map else None

    def boundaries(self, text: str | bytes, /) -> array[int]:
        data = utf8(text)
        ends = array("I")
        with self._lease(len(data)) as instance:
            for found in instance.boundary_steps(data):
                ends += found
        return ends

    @overload
    def decode(self, ids: Sequence[int] | Buffer, raw: Literal[True], flags: int, /) -> bytes: ...
    @overload
    def decode(self, ids: Sequence[int] | Buffer, raw: Literal[False], flags: int, /) -> str: ...
    def decode(self, ids: Sequence[int] | Buffer, raw: bool, flags: int, /) -> str | bytes:
        words = memoryview(numbers(ids)).cast("B").cast("I")
        with self._lease(len(words)) as instance:
            data = b"".join(instance.decode_steps(words, flags | abi.RAW_BYTES * raw))
        return data if raw else data.decode(errors="replace")

    def decode_batch(self, ids: tuple[list[int] | memoryview, ...], flags: int, /) -> list[str]:
        return [self.decode(each, False, flags) for each in ids]

    def decode_pieces(self, pieces: tuple[str | bytes, ...], /) -> str:
        with self._lease(WINDOW * len(pieces)) as instance:
            data = b"".join(instance.piece_steps(map(utf8, pieces)))
        return data.decode(errors="replace")

    # -- streams ------------------------------------------------------------------

    def encoder(self, flags: Flags, /) -> WasmEncoder:
        return WasmEncoder(self._take, self._give, flags)

    def decoder(self, flags: int, /) -> WasmDecoder:
        return WasmDecoder(self._take, self._give, flags)

    def long_text(self, text: bytes, /) -> None:
        """Return None: instances share no memory, and a text would be normalized in one of them."""

    # -- the model ----------------------------------------------------------------

    def info(self) -> tuple[int, ...]:
        return self._info

    def cache_info(self) -> tuple[int, int, int, int, int]:
        sums = [0] * 5
        idle: list[StreamingInstance] = []
        try:
            while self._free:
                idle.append(self._free.pop())
                idle[-1].machine.refuel(1)
                sums = [*map(add, sums, idle[-1].cache_info())]
        except IndexError:
            pass  # another call took the last one
        finally:
            for instance in reversed(idle):
                self._give(instance)
        entries, probes, hits, uncertified, bypassed = sums
        return entries, probes, hits, uncertified, bypassed

    def piece(self, token_id: int, /) -> tuple[bytes, int, float]:
        with self._lease(0) as instance:
            return instance.piece(token_id)

    def find(self, piece: str | bytes, /) -> int:
        with self._lease(0) as instance:
            return instance.find(utf8(piece))

    def blob(self) -> memoryview:
        with self._lease(0) as instance:
            # A copy: linear memory goes with the instance.
            return memoryview(bytes(instance.blob()))


def _groups(datas: list[bytes]) -> Iterator[list[bytes]]:
    """Split texts into runs that fit a window together, with two numbers for each."""
    group: list[bytes] = []
    room = WINDOW - 128
    for data in datas:
        size = len(data) + 8
        if group and size > room:
            yield group
            group, room = [], WINDOW - 128
        group.append(data)
        room -= size
    if group:
        yield group
