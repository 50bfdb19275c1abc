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
from typing import Any, Final

import wasmtime

SLOTS: Final = 16
"""Arguments that a call can have."""
ENVIRONMENT: Final = "ISOTOK_WASM_CALL"

Unchecked = Callable[[int, int, int, int, int], int | None]


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


def _raise_trap(pointer: int) -> None:
    ffi: Any = importlib.import_module("wasmtime._ffi")
    kind = ctypes.POINTER(ffi.wasm_trap_t)
    raise wasmtime.Trap._from_ptr(ctypes.cast(pointer, kind))


def _raise_error(pointer: int) -> None:
    ffi: Any = importlib.import_module("wasmtime._ffi")
    kind = ctypes.POINTER(ffi.wasmtime_error_t)
    raise wasmtime.WasmtimeError._from_ptr(ctypes.cast(pointer, kind))


class FastCalls:
    """Fast calls into the functions of one store."""

    def __init__(self, store: wasmtime.Store, unchecked: Unchecked) -> None:
        self._unchecked = unchecked
        self._store = store
        context = store._context()
        self._context = ctypes.addressof(context.contents)
        self._memory = (ctypes.c_uint64 * (2 * SLOTS))()
        self._slots = memoryview(self._memory).cast("B")
        self._result = self._slots.cast("i")
        self._trap = ctypes.c_void_p()

    def function(self, function: wasmtime.Func, arguments: int) -> Callable[..., int]:
        """Make a callable for an export with so many i32 arguments and one i32 result."""
        if arguments > SLOTS:
            raise ValueError("too many arguments")
        unchecked, context = self._unchecked, self._context
        target = ctypes.addressof(function._func)
        slots, trap = ctypes.addressof(self._memory), self._trap
        out_trap = ctypes.addressof(trap)
        pack = struct.Struct("<" + "I12x" * arguments).pack_into
        view, result, count = self._slots, self._result, max(arguments, 1)

        def call(*values: int, _keep: object = function) -> int:
            pack(view, 0, *values)
            error = unchecked(context, target, slots, count, out_trap)
            if error:
                _raise_error(error)
            if trap.value:
                pointer, trap.value = trap.value, None
                _raise_trap(pointer)
            return result[0]

        return call


def public_function(store: wasmtime.Store, function: wasmtime.Func) -> Callable[..., int]:
    """Make a callable on wasmtime's public interface."""

    def call(*values: int) -> int:
        # The public call wants i32 as signed numbers.
        return function(store, *(v - (1 << 32) if v > 0x7FFFFFFF else v for v in values))

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
