"""A model in one instance of `isotok.wasm`: its linear memory and the calls into it.

The engine is behind the protocol `Machine`; this file knows the C interface only.

Linear memory is laid out once, and the addresses stay:

    [stack | data | heap_base: blob | added tokens | model view | structs | session | text | results
     | cache]

A text of at most `WINDOW` bytes is encoded in one crossing. Longer texts pass through the
same memory window by window, so memory does not grow with them. What does grow is the
session of a difficult text: it moves behind everything else, and goes back afterwards.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterator
from itertools import accumulate
from operator import add
from typing import Any, Final, NamedTuple

from isotok import _layout_gen as abi
from isotok._backend import Flags
from isotok._machine import BlobSource, Machine
from isotok.errors import TokenizerError, make_error

WINDOW: Final = 1 << 18
"""Bytes of text in memory at a time."""
RESULT_WORDS: Final = 5 << 16
"""uint32 numbers of room for results: ids alone, or five columns of spans."""
SPARE: Final = 1 << 24
"""An instance that has grown by more than this is dropped after the call."""

# Offsets in the block of structs. The output and the words behind it are reset by one write.
_ERROR: Final = 0
_OPTIONS: Final = 32
_INPUT: Final = 80
_OUTPUT: Final = 96
_TEXT_END: Final = _OUTPUT + abi.SIZEOF_OUTPUT
_TEXTS_DONE: Final = _TEXT_END + 4
_ID_END: Final = _TEXT_END + 8
_POINTER: Final = _TEXT_END + 12
_CONSUMED: Final = _TEXT_END + 16
_COUNT: Final = _TEXT_END + 20
_END: Final = _TEXT_END + 24
_STRUCTS_SIZE: Final = 192
# For the other files of the instance.
ERROR, OPTIONS, OUTPUT, COUNT, CONSUMED = _ERROR, _OPTIONS, _OUTPUT, _COUNT, _CONSUMED

_pack_reset: Final = struct.Struct("<I20xII").pack  # count, bases, text end, texts done
_RESET_SIZE: Final = 32

IDS_CAPACITY: Final = RESULT_WORDS
SPANS_CAPACITY: Final = RESULT_WORDS // 5
NORM_CAPACITY: Final = RESULT_WORDS // 5 * 4  # as many bytes as words: 5 bytes each


class Spans(NamedTuple):
    """Tokens of one step with their ranges."""

    ids: list[int]
    begin: list[int]
    end: list[int]
    norm_begin: list[int]
    norm_end: list[int]


def with_flags(flags: Flags, more: int) -> Flags:
    """Set flags beside those that are set."""
    return (flags[0] | more, flags[1]) if isinstance(flags, tuple) else flags | more


def is_set(flags: Flags, flag: int) -> bool:
    """Whether a flag is set."""
    return ((flags[0] if isinstance(flags, tuple) else flags) & flag) != 0


def _align(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment


class ModelInstance:
    """One opened model in one machine."""

    def __init__(
        self,
        machine: Machine,
        blob: BlobSource,
        verify: int,
        cache_size: int,
        added: bytes = b"",
    ) -> None:
        self.machine = machine
        self._cache_size = cache_size
        self._counted = (0, 0, 0, 0)  # by the caches of sessions that were there before
        function = machine.function
        machine.refuel(1)
        self._step = function("isotok_encode_step")
        self._begin = function("isotok_encode_begin")
        self._session_init = function("isotok_session_init")
        self._session_cache = function("isotok_session_cache")
        self._blob = _align(function("isotok_heap_base")(), 64)
        self._blob_size = blob.size
        self._added = _align(self._blob + blob.size, 64)
        self._memory = _align(self._added + len(added), 64)
        self._structs = _align(self._memory + function("isotok_model_size")(), 64)
        self._home = self._structs + _STRUCTS_SIZE
        count = self._structs + _OUTPUT + abi.OUTPUT_COUNT
        self._count_word = count // 4
        self._resets = slice(count, count + _RESET_SIZE)
        machine.reserve(self._home)
        machine.fill(self._blob, blob)
        self._open(self._blob, self._blob_size, verify)
        if added:
            machine.view[self._added : self._added + len(added)] = added
            self._open(self._added, len(added), verify | abi.VERIFY_ADDED)
        self._place(self._info_fields())
        self._options: tuple[Flags, int, int] | None = None

    # -- opening ------------------------------------------------------------------

    def _open(self, blob: int, size: int, verify: int) -> None:
        self._reset_error()
        status = self.machine.function("isotok_model_open")(
            blob,
            size,
            verify,
            self._memory,
            self._structs - self._memory,
            self._structs + _POINTER,
            self._structs + _ERROR,
        )
        if status != abi.OK:
            raise self.error(status, "model")
        self._model = self._word(_POINTER)

    def _info_fields(self) -> tuple[int, ...]:
        """Read `isotok_info`, where the session will be."""
        machine, at = self.machine, self._home
        machine.reserve(at + abi.SIZEOF_INFO)
        machine.words[at // 4] = abi.SIZEOF_INFO
        status = machine.function("isotok_model_info")(self._model, at)
        if status != abi.OK:
            raise self.error(status, "model")
        fields: tuple[int, ...] = self._unpack(abi.INFO_FORMAT, at)
        self.info = fields[1:14]
        return self.info

    def _place(self, info: tuple[int, ...]) -> None:
        """Lay out session, text and results, and start the session."""
        self._session_size = info[12]
        # A text part keeps up to max_key_bytes unconsumed: a window holds several.
        self.window = max(WINDOW, 4 * info[10])
        self._text = _align(self._home + self._session_size, 64)
        self._results = _align(self._text + self.window, 64)
        self._cache = _align(self._results + 4 * RESULT_WORDS, 64)
        self._end = self._cache + _align(self._cache_size, 64)
        self._allowed, self._allowed_size = self._end, 0
        self.machine.reserve(self._end)
        self._start_session()

    def _start_session(self) -> None:
        status = self._session_init(
            self._model,
            self._home,
            self._session_size,
            self._structs + _POINTER,
            self._structs + _ERROR,
        )
        if status != abi.OK:
            raise self.error(status, "session")
        self._session = self._word(_POINTER)
        structs = self._structs
        status = self._session_cache(self._session, self._cache, self._cache_size, structs + _ERROR)
        if status != abi.OK:
            raise self.error(status, "session")
        self._encode_one = self.machine.prepared(
            "isotok_encode_batch",
            *self._batch_arguments(structs + _TEXT_END, 1, structs + _ID_END),
        )
        self._held = self._session_size
        self._top = self._end

    def _batch_arguments(self, ends: int, count: int, id_ends: int) -> tuple[int, ...]:
        """Arguments of isotok_encode_batch on the text area."""
        structs = self._structs
        return (
            self._session,
            structs + _OPTIONS,
            self._text,
            ends,
            count,
            structs + _TEXTS_DONE,
            structs + _OUTPUT,
            id_ends,
            structs + _ERROR,
        )

    # -- structs ------------------------------------------------------------------

    def _word(self, offset: int) -> int:
        return self.machine.words[(self._structs + offset) // 4]

    def _pack(self, form: str, at: int, *values: float) -> None:
        data = struct.pack(form, *values)
        self.machine.view[at : at + len(data)] = data

    def _unpack(self, form: str, at: int) -> tuple[Any, ...]:
        return struct.unpack(form, self.machine.view[at : at + struct.calcsize(form)])

    def _reset_error(self) -> None:
        self.machine.words[(self._structs + _ERROR) // 4] = abi.SIZEOF_ERROR

    def error(self, status: int, subject: str) -> TokenizerError:
        """Make the exception for the struct `isotok_error` in memory."""
        fields = self._unpack(abi.ERROR_FORMAT, self._structs + _ERROR)
        _, _, what, index, offset, need = fields
        status_text = abi.STATUS_TEXTS.get(status, "")
        what_text = abi.WHAT_TEXTS.get(what, "")
        return make_error(status, status_text, what, what_text, index, offset, need, subject)

    def _write_options(
        self, flags: Flags, limit: int, unit: int, alpha: float = 0.0, seed: int = 0
    ) -> None:
        """Write the options and all that calls in one crossing do not change."""
        at = self._structs + _OPTIONS
        number, allowed = flags if isinstance(flags, tuple) else (flags, None)
        where, count = (0, 0) if allowed is None else self._write_allowed(allowed)
        values = (abi.SIZEOF_ENCODE_OPTIONS, number, limit, unit, count, seed, alpha, where)
        self._pack(abi.ENCODE_OPTIONS_FORMAT, at, *values)
        self._write_output()
        self._options = (flags, limit, unit)
        self._reset_error()

    def _write_allowed(self, allowed: bytes) -> tuple[int, int]:
        """Write a set of special tokens behind the cache; it stays until there is another one."""
        if (size := len(allowed)) > self._allowed_size:
            self._allowed_size = max(size, 2 * self._allowed_size)
            self._allowed = self._take(self._allowed_size)
            self._end = self._top
        self.machine.view[self._allowed : self._allowed + size] = allowed
        return self._allowed, size // 4

    def _write_output(self) -> None:
        at = self._structs + _OUTPUT
        self._pack("<7I", at, self._results, 0, 0, 0, 0, IDS_CAPACITY, 0)

    # -- one crossing -------------------------------------------------------------

    def encode_short(self, data: bytes, flags: Flags, limit: int) -> int:
        """Encode at most a window; the ids are in `results`.

        Returns
        -------
        int
            Number of ids, at most `limit`; -1 if there was too little room: use `steps`.
        """
        if self._options != (flags, limit, 0):
            self._write_options(flags, limit, 0)
        machine, text = self.machine, self._text
        size = len(data)
        machine.view[text : text + size] = data
        machine.view[self._resets] = _pack_reset(0, size, 0)
        status = self._encode_one()
        if status == abi.OK:
            return machine.words[self._count_word]
        if status < 0:
            raise self.error(status, "text")
        return -1

    def encode_texts(
        self, texts: list[bytes], flags: Flags, limit: int
    ) -> tuple[int, memoryview] | None:
        """Encode texts that fit a window together, numbers of ends included.

        Of an error, ``offset`` is the number of the text.

        Returns
        -------
        tuple or None
            The number of ids in `results`, and the end of each text in them; None if
            there was too little room.
        """
        machine, count = self.machine, len(texts)
        if self._options != (flags, limit, 0):
            self._write_options(flags, limit, 0)
        data = b"".join(texts)
        ends = self._text + _align(len(data), 64)
        machine.view[self._text : self._text + len(data)] = data
        machine.words[ends // 4 : ends // 4 + count] = array("I", accumulate(map(len, texts)))
        machine.view[self._resets] = _pack_reset(0, 0, 0)
        id_ends = ends + 4 * count
        arguments = self._batch_arguments(ends, count, id_ends)
        try:
            status = machine.function("isotok_encode_batch")(*arguments)
            if status < 0:
                raise self.error(status, "text")
        except TokenizerError as error:
            error.offset = self._word(_TEXTS_DONE)
            raise
        if status != abi.OK:
            return None
        word = id_ends // 4
        return machine.words[self._count_word], machine.words[word : word + count]

    def results(self, count: int) -> memoryview:
        """First `count` words of the results."""
        at = self._results // 4
        return self.machine.words[at : at + count]

    # -- windows ------------------------------------------------------------------

    def steps(
        self, data: bytes, flags: Flags, limit: int, alpha: float = 0.0, seed: int = 0
    ) -> Iterator[int]:
        """Encode any text; yields the number of ids in `results` after each step.

        It stops where there are `limit` of them.
        """
        self._start(self._begin, flags, limit, 0, alpha, seed)
        self._write_output()
        for _ in self._windows(data, self._step_ids):
            yield self.machine.words[self._count_word]

    def span_steps(
        self, data: bytes, flags: Flags, unit: int, alpha: float = 0.0, seed: int = 0
    ) -> Iterator[Spans]:
        """Encode with offsets in `unit`; yields the tokens of each step."""
        flags = with_flags(flags, abi.OFFSETS | abi.NORM_SPANS)
        self._start(self._begin, flags, 0, unit, alpha, seed)
        columns = [self._results + 4 * SPANS_CAPACITY * i for i in range(5)]
        at = self._structs + _OUTPUT
        self._pack("<7I", at, *columns, SPANS_CAPACITY, 0)
        for _ in self._windows(data, self._step_ids):
            yield self._spans(columns)

    def _spans(self, columns: list[int]) -> Spans:
        count = self.machine.words[self._count_word]
        words = self.machine.words
        ids, begin, end, norm_begin, norm_end = (
            words[at // 4 : at // 4 + count].tolist() for at in columns
        )
        at = self._structs + _OUTPUT + abi.OUTPUT_BASE
        base, norm_base = self._unpack("<2Q", at)
        if base or norm_base:
            begin, end = [base + x for x in begin], [base + x for x in end]
            norm_begin = [norm_base + x for x in norm_begin]
            norm_end = [norm_base + x for x in norm_end]
        return Spans(ids, begin, end, norm_begin, norm_end)

    def normalize_steps(
        self, data: bytes, flags: int, unit: int, with_map: bool
    ) -> Iterator[tuple[bytes, bytes]]:
        """Normalize; yields text and map of each step, and at last the end as a map."""
        self._start(self.machine.function("isotok_normalize_begin"), flags, 0, unit)
        step = self.machine.function("isotok_normalize_step")
        texts = self._results + 4 * NORM_CAPACITY
        maps = self._results if with_map else 0

        def call() -> int:
            return step(
                self._session,
                self._structs + _INPUT,
                texts,
                maps,
                NORM_CAPACITY,
                self._structs + _COUNT,
                self._structs + _END,
                self._structs + _ERROR,
            )

        for _ in self._windows(data, call):
            count = self._word(_COUNT)
            view = self.machine.view
            text = bytes(view[texts : texts + count])
            yield text, bytes(view[maps : maps + 4 * count]) if with_map else b""
        yield b"", struct.pack("=I", self._word(_END))

    def _step_ids(self) -> int:
        structs = self._structs
        return self._step(self._session, structs + _INPUT, structs + _OUTPUT, structs + _ERROR)

    def _start(
        self,
        begin: Callable[..., int],
        flags: Flags,
        limit: int,
        unit: int,
        alpha: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._write_options(flags, limit, unit, alpha, seed)
        self._options = None  # what follows changes the output struct
        structs = self._structs
        status = begin(self._session, structs + _OPTIONS, structs + _ERROR)
        if status != abi.OK:
            raise self.error(status, "text")

    def _windows(self, data: bytes, call: Callable[[], int]) -> Iterator[int]:
        """Pass `data` through the window; yields the status of each step that has output."""
        source = memoryview(data)
        position, room = 0, self.window
        last = False
        status = abi.OK
        while not last and status != abi.AT_LIMIT:
            part = source[position : position + room]
            last = position + len(part) == len(source)
            for status in self._window(part, last, call):
                yield status
            position += (taken := self._consumed())
            room = self._next_room(room, taken)

    def _next_room(self, room: int, taken: int) -> int:
        """Bytes of the next part; more than this one, if the core has taken nothing of it.

        So it is in white space of any length, in front of a token that may take it along.
        """
        return self.window if taken else 2 * room

    def _window(self, part: memoryview, last: bool, call: Callable[[], int]) -> Iterator[int]:
        """Pass a part of a text through the window, or through memory behind everything else."""
        text = self._text if len(part) <= self.window else self._take(len(part))
        self.machine.view[text : text + len(part)] = part
        flags = abi.PART_LAST if last else 0
        at = self._structs + _INPUT
        self._pack(abi.INPUT_FORMAT, at, text, len(part), 0, flags)
        status = abi.NEED_OUTPUT
        while status not in (abi.OK, abi.AT_LIMIT):
            status = call()
            if status < 0:
                raise self.error(status, "text")
            yield status
            if status == abi.NEED_SCRATCH:
                self._move_session()

    def _consumed(self) -> int:
        """Bytes of the part that the core has taken."""
        return self._word(_INPUT + abi.INPUT_CONSUMED)

    def _move_session(self) -> None:
        """Give the session at least twice its memory, behind everything else."""
        need = self._unpack(abi.ERROR_FORMAT, self._structs + _ERROR)[5]
        at = self._take(size := max(need, 2 * self._held))
        status = self.machine.function("isotok_session_move")(
            self._session, at, size, self._structs + _POINTER, self._structs + _ERROR
        )
        if status != abi.OK:
            raise self.error(status, "session")
        self._session = self._word(_POINTER)
        self._held = size

    def _take(self, size: int) -> int:
        """Address of `size` bytes behind everything else, until `trim`."""
        at = self._top
        self._top = _align(at + size, 64)
        self.machine.reserve(self._top)
        return at

    def trim(self) -> bool:
        """Bring the instance back to normal size; False if it is too large to keep."""
        if not self.machine.alive or len(self.machine.view) > self._end + SPARE:
            return False
        if self._held != self._session_size:
            self._counted = self.cache_info()[1:]
            self._start_session()
        self._top = self._end
        return True

    def cache_info(self) -> tuple[int, int, int, int, int]:
        """Entries of the token cache, and what it has done since the instance was made."""
        at = self._results
        self.machine.words[at // 4] = abi.SIZEOF_CACHE_INFO
        status = self.machine.function("isotok_session_cache_info")(self._session, at)
        if status != abi.OK:
            raise self.error(status, "cache")
        _, entries, *counts = self._unpack(abi.CACHE_INFO_FORMAT, at)
        probes, hits, uncertified, bypassed = map(add, counts, self._counted)
        return entries, probes, hits, uncertified, bypassed

    # -- decode -------------------------------------------------------------------

    def decode_steps(self, ids: memoryview, flags: int) -> Iterator[bytes]:
        """Decode uint32 ids; yields the text of each step."""
        self._decode_begin(flags)
        yield from self._decode_ids(ids, True)

    def _decode_ids(self, ids: memoryview, end: bool) -> Iterator[bytes]:
        """Decode the next ids of a text, which ends with them or goes on."""
        step = self.machine.function("isotok_decode_step")
        per_window = self.window // 4
        done = 0
        last = False
        while not last:
            part = ids[done : done + per_window]
            last = done + len(part) == len(ids)
            word = self._text // 4
            self.machine.words[word : word + len(part)] = part
            yield from self._decode_calls(
                lambda session, part=part, last=last: step(
                    session,
                    self._text,
                    len(part),
                    self._structs + _CONSUMED,
                    int(last and end),
                    self._results,
                    4 * RESULT_WORDS,
                    self._structs + _COUNT,
                    self._structs + _ERROR,
                ),
                done,
            )
            done += len(part)

    def piece_steps(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Decode piece texts; yields the text of each step."""
        self._decode_begin(0)
        for piece in pieces:
            yield from self._decode_piece(piece, 0)
        yield from self._decode_piece(b"", 1)

    def _decode_piece(self, piece: bytes, last: int) -> Iterator[bytes]:
        step = self.machine.function("isotok_decode_piece")
        at = self._write_bytes(piece)
        yield from self._decode_calls(
            lambda session: step(
                session,
                at,
                len(piece),
                self._structs + _CONSUMED,
                last,
                self._results,
                4 * RESULT_WORDS,
                self._structs + _COUNT,
                self._structs + _ERROR,
            ),
            0,
        )

    def _decode_begin(self, flags: int) -> None:
        self._reset_error()
        begin = self.machine.function("isotok_decode_begin")
        status = begin(self._session, flags, self._structs + _ERROR)
        if status != abi.OK:
            raise self.error(status, "ids")

    def _decode_calls(self, call: Callable[[int], int], done: int) -> Iterator[bytes]:
        """Call until the part is taken. `done`: ids of earlier parts, for errors."""
        self._pack("<2I", self._structs + _CONSUMED, 0, 0)
        status = abi.NEED_OUTPUT
        while status != abi.OK:
            status = call(self._session)
            if status < 0:
                word = (self._structs + _ERROR + abi.ERROR_INDEX) // 4
                self.machine.words[word] += done
                raise self.error(status, "ids")
            at = self._results
            yield bytes(self.machine.view[at : at + self._word(_COUNT)])
            if status == abi.NEED_SCRATCH:
                self._move_session()

    # -- pieces -------------------------------------------------------------------

    def _write_bytes(self, data: bytes) -> int:
        """Write `data` to the text area, or behind everything if it is longer."""
        at = self._text if len(data) <= self.window else self._take(len(data))
        self.machine.view[at : at + len(data)] = data
        return at

    def piece(self, token_id: int) -> tuple[bytes, int, float]:
        """Text, type and score of a piece."""
        at = self._structs + _INPUT
        status = abi.E_ID_RANGE
        if 0 <= token_id < abi.NO_TOKEN:
            status = self.machine.function("isotok_piece_get")(self._model, token_id, at)
        if status != abi.OK:
            name = abi.STATUS_TEXTS.get(status, "")
            raise make_error(status, name, abi.WHAT_TOKEN_ID, "", 0, 0, 0, "id")
        text, size, kind, score = self._unpack(abi.PIECE_FORMAT, at)
        return bytes(self.machine.view[text : text + size]), kind, score

    def find(self, piece: bytes) -> int:
        """Id of a piece text, -1 if there is none."""
        if len(piece) > self.window:
            return -1
        at = self._write_bytes(piece)
        found = self.machine.function("isotok_piece_find")(self._model, at, len(piece))
        return found  # NO_TOKEN is -1 as an int32

    def blob(self) -> memoryview:
        """Bytes of the model, in memory or copied."""
        return self.machine.view[self._blob : self._blob + self._blob_size]
