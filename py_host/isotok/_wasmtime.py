"""The engine wasmtime: modules shared by the process, one store and instance per machine."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

import wasmtime

from isotok import _cwasm
from isotok import _layout_gen as abi
from isotok._backend import Limits
from isotok._machine import PAGE, BlobSource, check_abi, memory_error, read_module, trap_error
from isotok._wasmtime_call import FastCalls, Unchecked, choose_unchecked, public_function
from isotok.errors import LimitError, Status, TokenizerError


class _Loaded(NamedTuple):
    engine: wasmtime.Engine
    module: wasmtime.Module


def _least(loaded: _Loaded) -> int:
    """Bytes of linear memory that an instance begins with."""
    types = [export.type for export in loaded.module.exports]
    return PAGE * sum(t.limits.min for t in types if isinstance(t, wasmtime.MemoryType))


# Compiled once per process and configuration. A race compiles twice, which is harmless.
_loaded: dict[tuple[str, bool], _Loaded] = {}


def _load(name: str, with_fuel: bool) -> _Loaded:
    found = _loaded.get((name, with_fuel))
    if found is None:
        found = _loaded.setdefault((name, with_fuel), _compile(name, with_fuel))
    return found


def _compile(name: str, with_fuel: bool) -> _Loaded:
    wasm = read_module(name)
    config = wasmtime.Config()
    # Compiling in threads would leave a thread pool behind, which no fork survives.
    config.parallel_compilation = False
    config.consume_fuel = with_fuel
    engine = wasmtime.Engine(config)
    digest = hashlib.sha256(wasm).hexdigest()[:32]
    key = f"{digest}-{_wasmtime_version()}-{'fuel' if with_fuel else 'plain'}.cwasm"
    stored = _cwasm.read(key)
    if stored is not None:
        try:
            return _Loaded(engine, wasmtime.Module.deserialize(engine, stored))
        except wasmtime.WasmtimeError:
            pass  # another processor or another build of wasmtime
    module = wasmtime.Module(engine, wasm)
    _cwasm.write(key, module.serialize())
    return _Loaded(engine, module)


def _wasmtime_version() -> str:
    """Find the installed version: importlib.metadata would take 30 ms to say it."""
    folder = Path(wasmtime.__file__).parent.parent
    for info in folder.glob("wasmtime-*.dist-info"):
        return info.name.removeprefix("wasmtime-").removesuffix(".dist-info")
    return "unknown"


class _Fate:
    """What a trap changes. Not in the machine: its functions would refer back to it, and
    the memory of a dropped machine would wait for the garbage collector.
    """

    def __init__(self, limits: Limits | None) -> None:
        self.alive = True
        self._limits = limits

    def fail(self, error: Exception) -> NoReturn:
        """Turn a trap into an exception of ours."""
        self.alive = False
        raise _trap_error(error, self._limits) from error


class WasmtimeMachine:
    """One store with one instance of a module of ours; a `Machine`.

    Parameters
    ----------
    name : str
        File of the module in the package's data folder.
    limits : Limits or None
        Memory and fuel that it may use.
    """

    def __init__(self, name: str, limits: Limits | None) -> None:
        loaded = _load(name, limits is not None and limits.fuel is not None)
        self._limits = limits
        self._fate = _Fate(limits)
        self._store = wasmtime.Store(loaded.engine)
        self._functions: dict[str, Callable[..., int]] = {}
        if limits is not None:
            self._store.set_limits(memory_size=limits.memory)
        self.refuel(1)
        try:
            instance = wasmtime.Instance(self._store, loaded.module, [])
        except wasmtime.WasmtimeError as error:
            raise memory_error(_least(loaded), limits.memory if limits else None) from error
        self._exports = instance.exports(self._store)
        memory = self._exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._linear = memory
        self._look()
        self._fast = self._choose_fast()
        self._check_abi()

    def _check_abi(self) -> None:
        if "isotok_abi" in list(self._exports):
            check_abi(self.function("isotok_abi")())

    @property
    def alive(self) -> bool:
        """False after a trap: memory may be torn, and the instance is not used again."""
        return self._fate.alive

    # -- memory -------------------------------------------------------------------

    def _look(self) -> None:
        """Make the views of linear memory anew: it may have another size and address."""
        address = ctypes.addressof(self._linear.data_ptr(self._store).contents)
        self._size = self._linear.data_len(self._store)
        # The address stays valid as long as the store, which lives as long as this object.
        array = (ctypes.c_ubyte * self._size).from_address(address)
        self.view = memoryview(array).cast("B")
        self.words = self.view.cast("I")

    def reserve(self, size: int) -> None:
        """Make linear memory at least `size` bytes large."""
        if size <= self._size:
            return
        pages = -(-(size - self._size) // PAGE)
        try:
            self._linear.grow(self._store, pages)
        except (wasmtime.WasmtimeError, ctypes.ArgumentError) as error:
            raise memory_error(size, self._limits.memory if self._limits else None) from error
        self._look()

    def fill(self, at: int, source: BlobSource) -> None:
        """Write a whole source to memory."""
        source.fill(self.view[at : at + source.size])

    def refuel(self, units: int) -> None:
        """Allow one call `units` portions of work, where there is a limit."""
        if self._limits is not None and self._limits.fuel is not None:
            self._store.set_fuel(self._limits.fuel * units)

    # -- calls --------------------------------------------------------------------

    def function(self, name: str) -> Callable[..., int]:
        """Return an export: uint32 in, int32 out. Raises TokenizerError on a trap."""
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = self._bind(name, self._fast)
        return found

    def prepared(self, name: str, *values: int) -> Callable[[], int]:
        """Return an export that is called with the same arguments every time."""
        if self._fast is not None:
            return self._fast.prepared(self._export(name)[0], values, self._fate.fail)
        function = self.function(name)
        return lambda: function(*values)

    def _export(self, name: str) -> tuple[wasmtime.Func, int]:
        function = self._exports[name]
        assert isinstance(function, wasmtime.Func)
        return function, len(function.type(self._store).params)

    def _bind(self, name: str, fast: FastCalls | None) -> Callable[..., int]:
        function, arguments = self._export(name)
        if fast is None:
            return public_function(self._store, function, self._fate.fail)
        return fast.function(function, arguments, self._fate.fail)

    def _choose_fast(self) -> FastCalls | None:
        unchecked = choose_unchecked(self._agrees)
        return None if unchecked is None else FastCalls(self._store, unchecked)

    def _agrees(self, unchecked: Unchecked) -> bool:
        """Whether fast calls give what public ones do: without arguments, and with any of them."""
        fast = FastCalls(self._store, unchecked)
        cases: list[tuple[str, tuple[int, ...]]] = [("isotok_heap_base", ())]
        if "isotok_piece_get" in list(self._exports):
            # no pointer may be NULL, and memory that is still zero has no piece
            free = self._bind("isotok_heap_base", None)()
            cases += [
                ("isotok_piece_get", case) for case in ((free, 7, 8), (0, 7, 8), (free, 7, 0))
            ]
        else:
            names = (1, 9, 23, 10**6)
            cases += [("isotok_build_name", (abi.NAME_WHAT, number)) for number in names]
        return all(
            self._bind(name, fast)(*values) == self._bind(name, None)(*values)
            for name, values in cases
        )


def _trap_error(error: Exception, limits: Limits | None) -> TokenizerError:
    code = getattr(error, "trap_code", None)
    if limits is not None and code is wasmtime.TrapCode.OUT_OF_FUEL:
        return LimitError(
            f"wasm: the call ran longer than limits.fuel ({limits.fuel}) allows; "
            "refuse the model, or raise the limit",
            status=Status.E_TOO_LARGE,
        )
    reason = str(error).strip().splitlines()
    return trap_error(reason[-1].strip() if reason else "")
