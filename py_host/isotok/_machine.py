"""One instance of a wasm module of ours, whatever engine runs it.

Two engines exist: wasmtime, and in Pyodide the WebAssembly of the browser or of Node.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, overload

from isotok import _layout_gen as abi
from isotok.errors import LimitError, Status, TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from isotok._backend import Limits

PAGE: Final = 65536
DATA = Path(__file__).parent / "data"
"""Where the modules are. Tests of another build change it."""


class Memory(Protocol):
    """Linear memory as bytes or as uint32; a memoryview is one.

    A slice is read at once or copied: it may be a view that the next call changes, and a
    copy that writing does not reach. Slices have both ends, and no step.
    """

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> memoryview: ...
    @overload
    def __setitem__(self, key: int, value: int, /) -> None: ...
    @overload
    def __setitem__(self, key: slice, value: Buffer, /) -> None: ...


class BlobSource(Protocol):
    """Where an instance gets its model from."""

    size: int

    def fill(self, target: memoryview, offset: int = 0) -> None:
        """Write the blob's bytes from `offset` on to `target`."""
        ...


class Machine(Protocol):
    """One instance of a wasm module on some engine; used by one call at a time."""

    @property
    def view(self) -> Memory:
        """All of linear memory as bytes. `reserve` may replace it."""
        ...

    @property
    def words(self) -> Memory:
        """The same as uint32."""
        ...

    @property
    def alive(self) -> bool:
        """False after a trap: memory may be torn, and the instance is not used again."""
        ...

    def function(self, name: str) -> Callable[..., int]:
        """Return an export: uint32 in, int32 out. Raises TokenizerError on a trap."""
        ...

    def prepared(self, name: str, *values: int) -> Callable[[], int]:
        """Return an export that is called with the same arguments every time."""
        ...

    def reserve(self, size: int) -> None:
        """Make linear memory at least `size` bytes large."""
        ...

    def fill(self, at: int, source: BlobSource) -> None:
        """Write a whole source to memory."""
        ...

    def refuel(self, units: int) -> None:
        """Allow one call `units` portions of work, where there is a limit."""
        ...


def new_machine(name: str, limits: Limits | None) -> Machine:
    """Make an instance on the engine of this platform.

    Parameters
    ----------
    name : str
        File of the module in the package's data folder.
    limits : Limits or None
        Memory and fuel that it may use.
    """
    if sys.platform == "emscripten":
        from isotok._pyodide import PyodideMachine

        return PyodideMachine(name, limits)
    from isotok._wasmtime import WasmtimeMachine

    return WasmtimeMachine(name, limits)


def read_module(name: str) -> bytes:
    """Bytes of a module in the package."""
    try:
        return (DATA / name).read_bytes()
    except OSError as error:
        raise TokenizerError(
            f"wasm: {name} is missing in the installed package ({error}); install isotok again"
        ) from error


def check_abi(version: int) -> None:
    """Compare what `isotok_abi` returns with what this package was written for."""
    if version >> 16 != abi.ABI_MAJOR:
        raise TokenizerError(
            f"wasm: interface version {version >> 16} is not {abi.ABI_MAJOR}; "
            "install one version of isotok only",
            status=Status.E_ABI,
        )


def memory_error(size: int, limit: int | None) -> TokenizerError:
    """Make the exception for linear memory that cannot grow to `size` bytes."""
    if limit is not None:
        return LimitError(
            f"wasm: {size} bytes of memory are needed, limits.memory is {limit}; "
            "refuse the model, or raise the limit",
            status=Status.E_TOO_LARGE,
            need=size,
        )
    return TokenizerError(
        f"wasm: no memory for {size} bytes in all; use a smaller model or the native back end",
        status=Status.E_TOO_LARGE,
        need=size,
    )


def trap_error(reason: str) -> TokenizerError:
    """Make the exception for a trap, of which `reason` is what the engine says."""
    return TokenizerError(
        f"wasm: the core stopped with a trap ({reason or 'unknown'}); "
        "the next call starts a new instance. Please report the model and the text",
        status=Status.E_STATE,
    )
