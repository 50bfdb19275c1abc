"""The seam between the Tokenizer and the engines that run the core, and the choice of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, overload

from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

BackendName = Literal["auto", "native", "wasm"]
BACKENDS: Final = ("auto", "native", "wasm")
ENVIRONMENT: Final = "ISOTOK_BACKEND"
UNIT_NORMALIZED: Final = 3
"""Of `Backend.encode_spans`, beside ``UNIT_…`` of the core."""


Flags = int | tuple[int, bytes]
"""Flags of `isotok_encode_options`, alone or with its `allowed`."""


class Limits(NamedTuple):
    """What a model that nobody trusts may use. Limits need the wasm back end.

    Examples
    --------
    >>> Limits(memory=64 << 20)
    Limits(memory=67108864, fuel=2000000000)
    """

    memory: int = 1 << 28
    """Bytes of linear memory of one instance: the model, its session, text and ids."""
    fuel: int | None = 2_000_000_000
    """Instructions of one call, about: opening the model is a call, and so is each window
    of 256 KiB of text. Two thousand million take a second or so. None: no limit of time,
    all that Pyodide has."""


class EncoderStream(Protocol):
    """A text that comes in parts; used by one thread at a time."""

    def push(self, part: str | bytes, last: bool, /) -> list[int]:
        """Token ids that are final by now. After the last part another text begins."""
        ...

    def close(self) -> None:
        """Give its session back; it is not used again."""
        ...


class DecoderStream(Protocol):
    """Ids that come in parts; used by one thread at a time."""

    def push(self, part: list[int] | Buffer, last: bool, /) -> bytes:
        """Text that is certain by now. ``error.index`` is the position in this part."""
        ...

    def close(self) -> None:
        """Give its session back; it is not used again."""
        ...


class LongText(Protocol):
    """One text that several threads encode; each part is joined to those before it."""

    def cuts(self, size: int, /) -> list[int]:
        """Ends of parts of about `size` bytes; the last is that of the text."""
        ...

    def encode(self, begin: int, end: int, /) -> object:
        """Encode a part, in any thread."""
        ...

    def join(self, part: Any, /) -> None:
        """Join the next part to those before it; one thread at a time."""
        ...

    def ids(self) -> Buffer:
        """Return the ids of all parts that were joined, as uint32; they are gone then."""
        ...


class Backend(Protocol):
    """An opened model on some engine. Immutable; every method may be called by any thread.

    Texts are str or bytes. `flags` are those of `isotok_encode_options`, `unit` is
    ``UNIT_…``, a `limit` of 0 means none. Buffers hold native uint32 or uint64 numbers.
    A back end has no `close`: it goes with the last reference, so never during a call.
    """

    def encode(self, text: str | bytes, flags: Flags, limit: int, /) -> list[int]:
        """Token ids."""
        ...

    def encode_ids(self, text: str | bytes, flags: Flags, limit: int, /) -> Buffer:
        """Token ids as uint32."""
        ...

    def encode_into(self, text: str | bytes, flags: Flags, buffer: Buffer, /) -> int:
        """Write ids to `buffer` and return their number."""
        ...

    def encode_spans(
        self, text: str | bytes, flags: Flags, unit: int, alpha: float = 0.0, seed: int = 0, /
    ) -> tuple[list[int], list[tuple[int, int]], list[tuple[int, int, int]]]:
        """Return ids, their ranges, and of each unknown (position, begin, end).

        With `UNIT_NORMALIZED` the ranges are those of the normalized text, in bytes; those of
        unknowns always are. `alpha` and `seed` are for flags
        that ask for a sample.
        """
        ...

    def sample(self, text: str | bytes, flags: int, alpha: float, seed: int, /) -> list[int]:
        """Token ids of a sample; `flags` say of what kind."""
        ...

    def nbest(
        self, text: str | bytes, flags: int, n: int, alpha: float, seed: int, /
    ) -> tuple[list[list[int]], list[float]]:
        """Token ids and score of each of the `n` best segmentations."""
        ...

    @overload
    def encode_batch(
        self, texts: tuple[str | bytes, ...], flags: Flags, limit: int, as_lists: Literal[True], /
    ) -> list[list[int]]: ...
    @overload
    def encode_batch(
        self, texts: tuple[str | bytes, ...], flags: Flags, limit: int, as_lists: Literal[False], /
    ) -> tuple[Buffer, Buffer]: ...

    # Of an error in a batch of texts, ``error.offset`` is the number of the text.

    def lists(self, ids: Buffer, ends: Buffer, /) -> list[list[int]]:
        """Make lists of what `encode_batch` has returned."""
        ...

    def count_batch(self, texts: tuple[str | bytes, ...], flags: Flags, /) -> Buffer:
        """Count the tokens of the texts 0..i for each i, as uint64."""
        ...

    def count(self, text: str | bytes, flags: Flags, limit: int, /) -> int:
        """Count tokens; -1 if there are more than `limit`."""
        ...

    def normalize(
        self, text: str | bytes, flags: int, unit: int, with_map: bool, /
    ) -> tuple[bytes, Buffer | None]:
        """Return normalized text, and the offset of each of its bytes and of its end."""
        ...

    def boundaries(self, text: str | bytes, /) -> Buffer:
        """Ends of the chunks of a normalized text, in bytes, as uint32."""
        ...

    @overload
    def decode(self, ids: Sequence[int] | Buffer, raw: Literal[True], flags: int, /) -> bytes: ...
    @overload
    def decode(self, ids: Sequence[int] | Buffer, raw: Literal[False], flags: int, /) -> str: ...

    def decode_batch(self, ids: tuple[list[int] | memoryview, ...], flags: int, /) -> list[str]:
        """Text of each of many ids."""
        ...

    def decode_pieces(self, pieces: tuple[str | bytes, ...], /) -> str:
        """Text of a sequence of piece texts."""
        ...

    def encoder(self, flags: Flags, /) -> EncoderStream:
        """Begin to encode texts that come in parts."""
        ...

    def decoder(self, flags: int, /) -> DecoderStream:
        """Begin to decode ids that come in parts."""
        ...

    def long_text(self, text: bytes, /) -> LongText | None:
        """Begin to encode a text in several threads; None: not here."""
        ...

    def info(self) -> tuple[int, ...]:
        """Members of `isotok_info`, without size and reserved."""
        ...

    def cache_info(self) -> tuple[int, int, int, int, int]:
        """Members of `isotok_cache_info`, summed over the idle sessions."""
        ...

    def piece(self, token_id: int, /) -> tuple[bytes, int, float]:
        """Text, type and score of a piece."""
        ...

    def find(self, piece: str | bytes, /) -> int:
        """Id of a piece text, -1 if there is none."""
        ...

    def blob(self) -> memoryview:
        """Bytes of the model."""
        ...


def limits_of(limits: Limits | Mapping[str, int | None] | None) -> Limits | None:
    """Check the `limits` argument of `isotok.load`."""
    if limits is None:
        return None
    if isinstance(limits, Limits):
        checked = map(_limit_of, Limits._fields, limits)
        return Limits(*checked)  # pyright: ignore[reportArgumentType]  # only fuel may be None
    if not isinstance(limits, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("limits must be Limits or a dict with memory and fuel")
    unknown = sorted(set(map(str, limits)) - set(Limits._fields))
    if unknown:
        raise TokenizerError(f"limits: unknown key {unknown[0]!r}; known are memory and fuel")
    return limits_of(Limits(**limits))  # pyright: ignore[reportArgumentType]


def _limit_of(name: str, value: object) -> int | None:
    """One limit: a positive 63-bit number; only fuel may be None (no limit)."""
    if value is None and name == "fuel":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise TokenizerError(f"limits: {name} is {value!r}; use a whole number from 1 to 2**63 - 1")
    return value


def native_reason() -> str | None:
    """Why the native back end cannot be used; None if it can."""
    try:
        import_module("isotok._native")
    except ImportError as error:
        return str(error)
    return None


def need_engine(limits: Limits | None) -> None:
    """Say what is missing for the wasm back end on this platform."""
    if sys.platform == "emscripten":
        _need_pyodide(limits)
        return
    try:
        import_module("wasmtime")
    except ImportError as error:
        native = native_reason()
        also = f" (native is not installed either: {native})" if native else ""
        raise TokenizerError(
            f"backend: wasm needs wasmtime ({error}); pip install 'wasmtime>=50,<51'{also}"
        ) from error


def _need_pyodide(limits: Limits | None) -> None:
    try:
        import_module("js")
    except ImportError as error:
        raise TokenizerError(
            f"backend: wasm needs Pyodide here, for its access to JavaScript ({error})"
        ) from error
    if limits is not None and limits.fuel is not None:
        raise TokenizerError(
            f"limits: fuel is {limits.fuel}, but JavaScript cannot limit the time of a call; "
            "pass fuel=None, and run Pyodide in a worker that can be terminated"
        )


def choose(backend: str, limits: Limits | None) -> Literal["native", "wasm"]:
    """Decide on an engine.

    Parameters
    ----------
    backend : str
        "native", "wasm" or "auto". For "auto" the environment variable ISOTOK_BACKEND
        decides, else native is taken where the extension module is installed.
    limits : Limits or None
        Limits are possible in wasm only.

    Returns
    -------
    str
        "native" or "wasm".
    """
    if backend not in BACKENDS:
        raise TokenizerError(f'backend: {backend!r} is unknown; use "auto", "native" or "wasm"')
    if limits is not None:
        if backend == "native":
            raise TokenizerError(
                "limits: the native back end cannot limit memory or time; "
                'use backend="wasm" or leave limits out'
            )
        return "wasm"
    if backend == "auto":
        backend = _from_environment()
    if backend == "wasm":
        return "wasm"
    reason = native_reason()
    if reason is None:
        return "native"
    if backend == "auto":
        return "wasm"
    raise TokenizerError(
        f"backend: native is not installed ({reason}); install a wheel for this platform, "
        'or use backend="wasm"'
    )


def _from_environment() -> str:
    name = os.environ.get(ENVIRONMENT, "auto") or "auto"
    if name not in BACKENDS:
        raise TokenizerError(
            f'{ENVIRONMENT}={name}: unknown back end; set it to "native", "wasm" or "auto"'
        )
    return name
