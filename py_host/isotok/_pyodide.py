"""The engine of Pyodide: the WebAssembly of the browser or of Node, through `js`.

Only objects that JavaScript brings are used, no program text: a page may forbid that. What
costs is crossing to JavaScript (0.2 to 0.5 µs) and every object that comes back from there
(3 µs). So the objects are kept: exports bound to their arguments, and one typed array for
each place in memory that is read or written often. `assign` and `to_bytes` of such an
array are a memcpy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn, overload

from isotok._backend import Limits
from isotok._machine import PAGE, BlobSource, check_abi, memory_error, read_module, trap_error
from isotok.errors import Status, TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

# Neither module has types outside of Pyodide.
_js: Any = import_module("js")
_ffi: Any = import_module("pyodide.ffi")

LARGEST_WRITER: Final = 512
"""Bytes of the largest place to write whose array is kept: texts have any size."""
LARGEST_READER: Final = 1 << 20
"""Bytes of the largest place to read whose array is kept."""
KEPT: Final = 512
"""Arrays kept, of each kind."""
CHUNK: Final = 1 << 20
"""Bytes of a model that pass through Python's memory at a time."""


class Bytes:
    """Linear memory as bytes; see `isotok._machine.Memory`. Slices are copies."""

    def __init__(self, buffer: Any) -> None:
        self._array = _js.Uint8Array.new(buffer)
        self._part = self._array.subarray
        self._size: int = self._array.length
        self._readers: dict[tuple[int, int], Callable[[], bytes]] = {}
        self._writers: dict[tuple[int, int], Callable[[Any], None]] = {}

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, key: int, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> memoryview: ...
    def __getitem__(self, key: int | slice, /) -> int | memoryview:
        if not isinstance(key, slice):
            return self._array[key]
        begin: int = key.start
        size: int = key.stop - begin
        # Rounded up, so that few arrays serve all sizes.
        room = 1 << max(size - 1, 63).bit_length()
        reader = self._readers.get((begin, room)) or self._new_reader(begin, size, room)
        return memoryview(reader())[:size]

    @overload
    def __setitem__(self, key: int, value: int, /) -> None: ...
    @overload
    def __setitem__(self, key: slice, value: Buffer, /) -> None: ...
    def __setitem__(self, key: int | slice, value: int | Buffer, /) -> None:
        if not isinstance(key, slice):
            self._array[key] = value
            return
        place = (key.start, key.stop)
        writer = self._writers.get(place) or self._new_writer(place)
        writer(value)

    def _new_reader(self, begin: int, size: int, room: int) -> Callable[[], bytes]:
        if size > LARGEST_READER or begin + room > self._size:
            return self._part(begin, begin + size).to_bytes
        reader = self._part(begin, begin + room).to_bytes
        _keep(self._readers, (begin, room), reader)
        return reader

    def _new_writer(self, place: tuple[int, int]) -> Callable[[Any], None]:
        writer = self._part(*place).assign
        if place[1] - place[0] <= LARGEST_WRITER:
            _keep(self._writers, place, writer)
        return writer


class Words:
    """The same memory as uint32."""

    def __init__(self, buffer: Any, data: Bytes) -> None:
        self._array = _js.Uint32Array.new(buffer)
        self._bytes = data

    def __len__(self) -> int:
        return len(self._bytes) // 4

    @overload
    def __getitem__(self, key: int, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> memoryview: ...
    def __getitem__(self, key: int | slice, /) -> int | memoryview:
        if isinstance(key, slice):
            return self._bytes[4 * key.start : 4 * key.stop].cast("I")
        return self._array[key]

    @overload
    def __setitem__(self, key: int, value: int, /) -> None: ...
    @overload
    def __setitem__(self, key: slice, value: Buffer, /) -> None: ...
    def __setitem__(self, key: int | slice, value: int | Buffer, /) -> None:
        if isinstance(key, slice):
            data = memoryview(value).cast("B")  # type: ignore[arg-type]  # as overloaded
            self._bytes[4 * key.start : 4 * key.stop] = data
        else:
            self._array[key] = value


def _keep(kept: dict[tuple[int, int], Any], key: tuple[int, int], method: Any) -> None:
    if len(kept) >= KEPT:
        kept.clear()
    kept[key] = method


# Compiled once per process.
_modules: dict[str, Any] = {}


def _module(name: str) -> Any:
    found = _modules.get(name)
    if found is None:
        data = _ffi.to_js(read_module(name))
        try:
            found = _modules[name] = _js.WebAssembly.Module.new(data)
        except _ffi.JsException as error:
            raise TokenizerError(
                f"wasm: JavaScript does not compile {name} here ({error}); "
                "let the page's security policy allow wasm-unsafe-eval, or use a worker"
            ) from error
    return found


class _Fate:
    """What a trap changes. Not in the machine: its functions would refer back to it."""

    def __init__(self) -> None:
        self.alive = True

    def fail(self, error: Exception) -> NoReturn:
        """Turn a trap into an exception of ours."""
        self.alive = False
        raise trap_error(str(error)) from error


class PyodideMachine:
    """One instance of a module of ours in JavaScript; a `Machine`.

    Parameters
    ----------
    name : str
        File of the module in the package's data folder.
    limits : Limits or None
        Memory that it may use; there is no fuel here.
    """

    def __init__(self, name: str, limits: Limits | None) -> None:
        self._limit = limits.memory if limits else None
        self._fate = _Fate()
        self._functions: dict[str, Callable[..., int]] = {}
        try:
            self._exports = _js.WebAssembly.Instance.new(_module(name)).exports
        except _ffi.JsException as error:
            raise TokenizerError(
                f"wasm: JavaScript makes no further instance ({error}); close tokenizers that "
                "are not needed, each has a memory of its own",
                status=Status.E_TOO_LARGE,
            ) from error
        self._linear = self._exports.memory
        self._look()
        if self._limit is not None and len(self.view) > self._limit:
            raise memory_error(len(self.view), self._limit)
        if hasattr(self._exports, "isotok_abi"):
            check_abi(self.function("isotok_abi")())

    @property
    def alive(self) -> bool:
        """False after a trap: memory may be torn, and the instance is not used again."""
        return self._fate.alive

    # -- memory -------------------------------------------------------------------

    def _look(self) -> None:
        """Make the arrays on linear memory anew: growing has detached the old ones."""
        buffer = self._linear.buffer
        self.view = Bytes(buffer)
        self.words = Words(buffer, self.view)

    def reserve(self, size: int) -> None:
        """Make linear memory at least `size` bytes large."""
        if size <= len(self.view):
            return
        pages = -(-(size - len(self.view)) // PAGE)
        if self._limit is not None and len(self.view) + pages * PAGE > self._limit:
            raise memory_error(size, self._limit)
        try:
            self._linear.grow(pages)
        except _ffi.JsException as error:
            raise memory_error(size, None) from error
        self._look()

    def fill(self, at: int, source: BlobSource) -> None:
        """Write a whole source to memory."""
        chunk = memoryview(bytearray(min(CHUNK, source.size)))
        for offset in range(0, source.size, CHUNK):
            part = chunk[: min(CHUNK, source.size - offset)]
            source.fill(part, offset)
            self.view[at + offset : at + offset + len(part)] = part

    def refuel(self, units: int) -> None:
        """Do nothing: `need_engine` has refused a limit of time."""

    # -- calls --------------------------------------------------------------------

    def function(self, name: str) -> Callable[..., int]:
        """Return an export: uint32 in, int32 out. Raises TokenizerError on a trap."""
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = _checked(getattr(self._exports, name), self._fate)
        return found

    def prepared(self, name: str, *values: int) -> Callable[[], int]:
        """Return an export that is called with the same arguments every time."""
        return _checked(getattr(self._exports, name).bind(None, *values), self._fate)


def _checked(function: Any, fate: _Fate) -> Callable[..., int]:
    trap = _ffi.JsException

    def call(*values: int) -> int:
        try:
            return function(*values)
        except trap as error:
            fate.fail(error)

    return call
