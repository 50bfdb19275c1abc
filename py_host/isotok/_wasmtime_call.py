"""Calls into wasmtime without its per-call type checks: 0.5 µs instead of 20.

wasmtime's Python package bundles the C interface, whose `wasmtime_func_call_unchecked`
takes the arguments as an array of 16-byte slots. The package does not promise these names,
so the path is compared with the public one when it is first used, and not used if
anything differs. ISOTOK_WASM_CALL=fast or public forces one of them.
"""

# The private names below have no types; this module is the only one that uses them.
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import ctypes
import importlib
import os
import struct
from collections.abc import Callable
from typing import Any, Final, NoReturn

import wasmtime

ENVIRONMENT: Final = "ISOTOK_WASM_CALL"

Unchecked = Callable[[int, int, int, int, int], int | None]
Fail = Callable[[Exception], NoReturn]


def load_unchecked() -> Unchecked:
    """Find the C function in the library that the package has loaded.

    Returns
    -------
    callable
        (context, function, slots, number of slots, out trap) -> error; all are addresses.
    """
    ffi: Any = importlib.import_module("wasmtime._ffi")
    # A second handle of the same library: prototypes set on the package's would clash.
    library = ctypes.CDLL(ffi.dll._name)
    call = library.wasmtime_func_call_unchecked
    address = ctypes.c_void_p
    call.argtypes = [address, address, address, ctypes.c_size_t, address]
    call.restype = address
    return call


def _trap_at(pointer: int) -> Exception:
    ffi: Any = importlib.import_module("wasmtime._ffi")
    return wasmtime.Trap._from_ptr(ctypes.cast(pointer, ctypes.POINTER(ffi.wasm_trap_t)))


def _error_at(pointer: int) -> Exception:
    ffi: Any = importlib.import_module("wasmtime._ffi")
    kind = ctypes.POINTER(ffi.wasmtime_error_t)
    return wasmtime.WasmtimeError._from_ptr(ctypes.cast(pointer, kind))


class FastCalls:
    """Fast calls into the functions of one store."""

    def __init__(self, store: wasmtime.Store, unchecked: Unchecked) -> None:
        self._unchecked = unchecked
        self._store = store
        context = store._context()
        self._context = ctypes.addressof(context.contents)

    def function(self, function: wasmtime.Func, arguments: int, fail: Fail) -> Callable[..., int]:
        """Make a callable for an export with so many i32 arguments and one i32 result."""
        run, slots = self._runner(function, arguments, fail)
        pack = struct.Struct("<" + "I12x" * arguments).pack_into

        def call(*values: int) -> int:
            pack(slots, 0, *values)
            return run()

        return call

    def prepared(
        self, function: wasmtime.Func, values: tuple[int, ...], fail: Fail
    ) -> Callable[[], int]:
        """Make a callable that always passes the same arguments."""
        run, slots = self._runner(function, len(values), fail)
        struct.pack_into("<" + "I12x" * len(values), slots, 0, *values)
        words, first = slots.cast("I"), values[0]

        def call() -> int:
            words[0] = first  # where the last call has left its result
            return run()

        return call

    def _runner(
        self, function: wasmtime.Func, arguments: int, fail: Fail
    ) -> tuple[Callable[[], int], memoryview]:
        """Return a call with the arguments in its slots, and the slots."""
        memory = (ctypes.c_uint64 * (2 * max(arguments, 1)))()
        slots = memoryview(memory).cast("B")
        result, trap = slots.cast("i"), ctypes.c_void_p()
        unchecked = self._unchecked
        # The C function's arguments. `keep` holds what the addresses point into.
        keep = (self._store, function, memory, trap)
        context, target = self._context, ctypes.addressof(function._func)
        address, count, out_trap = (
            ctypes.addressof(memory),
            len(memory) // 2,
            ctypes.addressof(trap),
        )

        def run(_keep: object = keep) -> int:
            error = unchecked(context, target, address, count, out_trap)
            if error:
                fail(_error_at(error))
            if trap.value:
                pointer, trap.value = trap.value, None
                fail(_trap_at(pointer))
            return result[0]

        return run, slots


def public_function(
    store: wasmtime.Store, function: wasmtime.Func, fail: Fail
) -> Callable[..., int]:
    """Make a callable on wasmtime's public interface."""

    def call(*values: int) -> int:
        try:
            # The public call wants i32 as signed numbers.
            return function(store, *(v - (1 << 32) if v > 0x7FFFFFFF else v for v in values))
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            fail(error)

    return call


class _Choice:
    """The unchecked call, None, or not decided yet; decided once per process."""

    decided = False
    unchecked: Unchecked | None = None


def choose_unchecked(check: Callable[[Unchecked], bool]) -> Unchecked | None:
    """Decide on the way to call.

    Parameters
    ----------
    check : callable
        Whether results through the given function equal those of the public interface.

    Returns
    -------
    callable or None
        None: use the public interface.
    """
    forced = os.environ.get(ENVIRONMENT, "")
    if forced == "public":
        return None
    if forced == "fast":
        return load_unchecked()
    if not _Choice.decided:
        _Choice.unchecked = _checked(check)
        _Choice.decided = True
    return _Choice.unchecked


def _checked(check: Callable[[Unchecked], bool]) -> Unchecked | None:
    try:
        unchecked = load_unchecked()
        return unchecked if check(unchecked) else None
    except Exception:  # whatever a changed private interface does, there is the public one
        return None
