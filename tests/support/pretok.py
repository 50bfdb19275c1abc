"""The driver of core/src/pretokenize.c by ctypes, and compiled pre-tokenizers for it."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

from isotok import _layout_gen as abi
from isotok._blob_gen import BlobView
from isotok.compile import compile_model
from isotok.compile._fields import byte_level_fields
from isotok.compile.pretok.arrays import (
    ENTERS,
    HEADER_WORDS,
    PASS_WORDS,
    PretokArrays,
    make_arrays,
)
from isotok.compile.pretok.chain import make_chain
from isotok.compile.pretok.huggingface import read_pre_tokenizer
from isotok.compile.pretok.stages import Stage
from isotok.compile.pretok.tiktoken import tiktoken_stage

from support import data

U32, POINTER = ctypes.c_uint32, ctypes.c_void_p
MAX_PASSES, PIECES, ROOM = 6, 64, 4
DROPPED = 1 << 31


class Arrays(ctypes.Structure):
    _fields_ = [("header", POINTER), ("tables", POINTER), ("classes", POINTER)]
    _fields_ += [(name, U32) for name in ("header_count", "tables_count", "classes_count")]
    _fields_ += [("windows", POINTER)]


class Run(ctypes.Structure):
    _fields_ = [
        (name, U32)
        for name in (
            "at", "before", "noted", "held", "seen", "entered_at", "failed_from", "failed_to",
            "entered", "failed_symbol", "row", "done",
        )
    ]  # fmt: skip


class Pieces(ctypes.Structure):
    _fields_ = [("ends", U32 * PIECES), ("count", U32), ("next", U32)]


class Cutter(ctypes.Structure):
    _fields_ = [("done", U32), ("runs", Run * MAX_PASSES), ("pieces", Pieces * MAX_PASSES)]


SOURCES = (
    "pretokenize.c", "pretokenize_check.c", "pretokenize_passes.c", "pretokenize_windows.c",
)  # fmt: skip


@cache
def library(flags: tuple[str, ...] = ()) -> ctypes.CDLL:
    """Compile the driver alone: its functions are not exported by the library."""
    core = data.ROOT / "core/src"
    sources = [*(core / name for name in SOURCES), data.ROOT / "tests/support/pretok_many.c"]
    found = data.BUILD / f"pretok/libpretok{'_'.join(['', *flags])}.so"
    inputs = [*sources, core / "pretokenize.h", core / "base.h", core / "vector.h"]
    if not found.exists() or found.stat().st_mtime < max(i.stat().st_mtime for i in inputs):
        found.parent.mkdir(parents=True, exist_ok=True)
        new = found.with_suffix(f".{os.getpid()}")
        vectors = ["-mssse3"] if platform.machine() == "x86_64" else []
        common = [
            "-std=c11",
            *vectors,
            "-O3",
            "-DISOTOK_DEBUG",
            "-shared",
            "-fPIC",
            "-Icore/include",
        ]
        compiler = os.environ.get("CC", "cc")
        command = [compiler, *common, *flags, "-Icore/src", *map(str, sources), "-o", str(new)]
        subprocess.run(command, check=True, cwd=data.ROOT)
        new.replace(found)
    return declared(found)


def declared(path: Path) -> ctypes.CDLL:
    """Open a library that has the driver."""
    core = ctypes.CDLL(str(path))
    core.isotok__pretokenize.restype = U32
    core.isotok__pretokenize.argtypes = [
        POINTER, POINTER, POINTER, U32, ctypes.c_bool, POINTER, POINTER, U32,
    ]  # fmt: skip
    core.isotok__pretok_open.restype = ctypes.c_bool
    core.isotok__pretok_open.argtypes = [POINTER, POINTER]
    core.isotok__pretok_check.restype = ctypes.c_bool
    core.isotok__pretok_check.argtypes = [POINTER]
    core.pretok_reverses.restype = U32
    core.pretok_reverses.argtypes = [POINTER]
    core.pretok_cut_many.restype = U32
    core.pretok_cut_many.argtypes = [
        POINTER, POINTER, POINTER, U32, POINTER, POINTER, U32, POINTER,
    ]  # fmt: skip
    core.isotok__pretok_move.restype = None
    core.isotok__pretok_move.argtypes = [POINTER, POINTER, U32]
    return core


def opened(
    core: ctypes.CDLL, arrays: PretokArrays, windows: ctypes.Array[ctypes.c_ubyte] | None = None
) -> ctypes.Array[ctypes.c_char] | None:
    """Check arrays and return the driver's structure, or None if they are refused."""
    parts = (arrays.header, arrays.tables, arrays.classes)
    at = ctypes.addressof(windows) if windows is not None else None
    view = Arrays(*(part.buffer_info()[0] for part in parts), *map(len, parts), at)
    if not core.isotok__pretok_check(ctypes.addressof(view)):
        return None
    space = ctypes.create_string_buffer(core.pretok_struct_size())
    assert core.isotok__pretok_open(ctypes.addressof(space), ctypes.addressof(view))
    return space


def windows_of(arrays: PretokArrays) -> bytes:
    """Return the windows that the model compiler derives; empty if there are none."""
    fields = byte_level_fields(
        [bytes([byte]) for byte in range(256)],
        bytes([abi.NORMAL]) * 256,
        array("f", range(256)),
        arrays.to_bytes(),
        parity=abi.PARITY_TIKTOKEN,
        whole=True,
    )
    return bytes(BlobView(compile_model(fields)).pretok_windows)


class Driver:
    """A compiled pre-tokenizer, ready to cut: by its automaton, and windows if they are given."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._open(make_arrays(make_chain(stages)))

    @classmethod
    def of_arrays(cls, arrays: PretokArrays, windows: bytes = b"") -> Driver:
        """Return the driver of arrays that pass the check."""
        driver = cls.__new__(cls)
        driver._open(arrays, windows)
        return driver

    def _open(self, arrays: PretokArrays, windows: bytes = b"") -> None:
        self.arrays = arrays
        self.core = library()
        self.windows = (ctypes.c_ubyte * len(windows))(*windows) if windows else None
        self.struct = opened(self.core, self.arrays, self.windows)
        assert self.struct is not None, "the compiler makes what the driver checks"
        self.address = ctypes.addressof(self.struct)
        self.reverses = bool(self.core.pretok_reverses(self.address))

    @property
    def passes(self) -> int:
        """How many passes there are."""
        return self.arrays.header[0]

    @property
    def remembers(self) -> bool:
        """Whether a pass notes where it failed, to keep its time linear."""
        at = self.arrays.header[1]
        for word in range(HEADER_WORDS, len(self.arrays.header), PASS_WORDS):
            rows, stride, _, reverse_rows = self.arrays.header[word : word + 4]
            cells = rows * stride
            if any(cell & ENTERS for cell in self.arrays.tables[at + cells : at + 2 * cells]):
                return True
            at += 2 * cells + rows + 2 * reverse_rows * self.arrays.header[3]
        return False

    def ends(self, text: bytes, capacity: int = 0) -> list[int]:
        """Return the ends of all segments, with the bit DROPPED, of a text in one part."""
        capacity = capacity or max(2 * len(text), 16)
        out = (U32 * capacity)()
        cutter = Cutter()
        symbols = (ctypes.c_uint8 * max(len(text), 1))() if self.reverses else None
        found: list[int] = []
        while not cutter.done:
            count = self.core.isotok__pretokenize(
                self.address, ctypes.addressof(cutter), text, len(text), True, symbols, out,
                capacity,
            )  # fmt: skip
            if not count and not cutter.done:
                raise AssertionError(f"no progress at {cutter.runs[0].at}")
            found += out[:count]
        return found

    def count(self, text: bytes) -> int:
        """Return how many ends there are, in windows of constant size: for timing."""
        out = (U32 * 4096)()
        cutter, total = Cutter(), 0
        symbols = (ctypes.c_uint8 * max(len(text), 1))() if self.reverses else None
        while not cutter.done:
            count = self.core.isotok__pretokenize(
                self.address, ctypes.addressof(cutter), text, len(text), True, symbols, out, 4096
            )
            assert count or cutter.done, "no progress"
            total += count
        return total

    def spans_of_many(self, texts: Sequence[bytes]) -> list[list[tuple[int, int]]]:
        """Return the spans of each text, with one call."""
        sizes = [len(text) for text in texts]
        total = sum(sizes)
        text_ends = (U32 * len(texts))(*accumulate(sizes))
        capacity = 2 * total + 16 * len(texts) + 16
        out, counts = (U32 * capacity)(), (U32 * len(texts))()
        symbols = (ctypes.c_uint8 * max(*sizes, 1, 1))() if self.reverses else None
        done = self.core.pretok_cut_many(
            self.address, b"".join(texts), text_ends, len(texts), symbols, out, capacity, counts
        )
        if done != len(texts):
            raise AssertionError(f"no progress in {texts[done]!r}")
        found, at, ends = [], 0, list(out[: sum(counts)])
        for count in counts:
            found.append(spans_of(ends[at : at + count]))
            at += count
        return found

    def ends_in_parts(self, text: bytes, parts: Iterable[int], capacity: int) -> list[int]:
        """Do the same with text that comes in parts of these sizes, and is moved to the front
        of a window as soon as its ends are known.
        """
        window, at, gone = bytearray(), 0, 0
        symbols = bytearray()
        out = (U32 * capacity)()
        cutter = Cutter()
        found: list[int] = []
        sizes = iter(parts)
        while not cutter.done:
            size = next(sizes, len(text))
            window += text[at : at + size]
            symbols += bytes(len(window) - len(symbols))
            at = min(at + size, len(text))
            is_end = at == len(text)
            count = -1
            while count:
                # Exactly as long as the text: a sanitizer sees reads behind it.
                space = ctypes.create_string_buffer(bytes(window), max(len(window), 1))
                marks = (ctypes.c_uint8 * max(len(window), 1)).from_buffer_copy(symbols or b"\0")
                count = self.core.isotok__pretokenize(
                    self.address, ctypes.addressof(cutter), space, len(window), is_end,
                    marks if self.reverses else None, out, capacity,
                )  # fmt: skip
                symbols[:] = bytes(marks)[: len(window)]
                ends = out[:count]
                found += [end + gone for end in ends]
                if ends:
                    last = ends[-1] & ~DROPPED
                    self.core.isotok__pretok_move(self.address, ctypes.addressof(cutter), last)
                    del window[:last], symbols[:last]
                    gone += last
                if cutter.done:
                    break
            if is_end and not count and not cutter.done:
                raise AssertionError(f"no progress at {gone}")
        return found

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Return begin and end, in bytes, of all pre-tokens."""
        return spans_of(self.ends(text))

    def pieces(self, text: str) -> list[str]:
        """Return the pre-tokens of a text."""
        raw = text.encode()
        return [raw[begin:end].decode() for begin, end in self.spans(raw)]


def spans_of(ends: Iterable[int]) -> list[tuple[int, int]]:
    """Return the segments that are not dropped."""
    spans, begin = [], 0
    for end in ends:
        position = end & ~DROPPED
        if not end & DROPPED:
            spans.append((begin, position))
        begin = position
    return spans


def of_json(pre_tokenizer: object) -> Driver:
    """Compile a `pre_tokenizer` of a tokenizer.json."""
    return Driver(read_pre_tokenizer(pre_tokenizer).stages)


def of_tiktoken(pattern: str) -> Driver:
    """Compile a pattern of tiktoken."""
    return Driver([tiktoken_stage(pattern)])


def pre_tokenizer_of(path: Path) -> object:
    """Return the member of a tokenizer.json (or .json.gz)."""
    import gzip
    import json

    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)["pre_tokenizer"]
