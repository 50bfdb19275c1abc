"""`isotok.load`: from a file or bytes to a Tokenizer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from io import FileIO
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from isotok import _files
from isotok import _layout_gen as abi
from isotok._added import AddedToken, Given, added_blob, added_tokens_of, check_added
from isotok._backend import Backend, BackendName, Limits, choose, limits_of, need_engine
from isotok._info import Compat, need_compat
from isotok._tokenizer import Tokenizer
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

DEFAULT_MODEL: Final = os.path.join(os.path.dirname(__file__), "data", "default.isotok-packed")

CACHE_BYTES: Final = {"native": 32 << 20, "wasm": 8 << 20}
"""Of a session's token cache, by default, at most."""
LEAST_CACHE: Final = 1 << 12
MOST_CACHE: Final = 1 << 30

_LEVELS: Final = {"safe": abi.VERIFY_SAFE, "full": abi.VERIFY_FULL}


class _Options(NamedTuple):
    engine: Literal["native", "wasm"]
    verify: int
    keep: dict[str, Any]  # what a pickled tokenizer is loaded with
    map_file: bool | None
    limits: Limits | None
    cache_bytes: int
    compat: Compat | None
    added: tuple[AddedToken, ...]


def load(
    source: str | os.PathLike[str] | bytes | None = None,
    *,
    backend: BackendName = "auto",
    verify: Literal["safe", "full"] = "safe",
    map: bool | None = None,
    trusted: bool = False,
    limits: Limits | Mapping[str, int | None] | None = None,
    cache_bytes: int | None = None,
    compat: Compat | None = None,
    added_tokens: Iterable[Given] | None = None,
) -> Tokenizer:
    """Open a model.

    Parameters
    ----------
    source : path or bytes, optional
        A blob (`.isotok`), a packed model, a SentencePiece `.model`, a `.spm.fb` of
        SentencePiece Lite, a `tokenizer.json`, a `tekken.json` or the rank file
        `NAME.tiktoken` of a known encoding; all but the first are compiled in memory. Without
        it: the model that comes with the package.
    backend : {"auto", "native", "wasm"}
        What runs the core. "auto" is what the environment variable ISOTOK_BACKEND says,
        else native where it is installed.
    verify : {"safe", "full"}
        "safe" checks everything that memory and time depend on, "full" also the checksum
        and that every piece is found under its text.
    map : bool, optional
        Map the file (True) or read it (False). None maps it where only this user can
        write the file and its folder. Native only; wasm always reads.
    trusted : bool
        Check the header only. As dangerous as loading a library of that file.
    limits : Limits or dict, optional
        What the model may use, see `Limits`. Takes the wasm back end.
    cache_bytes : int, optional
        Memory of each session, one for each call at a time, in which it remembers how words
        were segmented: from 4 KiB to 1 GiB, of which the largest power of two is used. It
        changes no id. The native back end begins with at most 8 MiB and takes more when texts
        have more different words than that holds. None: 32 MiB natively, 8 MiB in wasm, with
        limits at most 1/64 of their memory. 0: no cache. See `Tokenizer.cache_info`.
    compat : {"0.2.1"}, optional
        Give the ids and texts of sentencepiece up to 0.2.1, from a `.model` or `.spm.fb`. A
        blob and a packed model are what they were compiled as; it is an error if that is not
        this. `info.compat` tells it.
    added_tokens : iterable of str, AddedToken or dict, optional
        Tokens beside those of the model, which must be from a tokenizer.json or a rank file: texts
        (no special tokens), or the members of `AddedToken`. A text of the vocabulary keeps its
        id, the others follow the vocabulary in order. The blob stays as it is, mapped and
        shared; what is new takes memory for the texts of all tokens.

    Returns
    -------
    Tokenizer
        Ready for any number of threads. Close it or let it go.

    Raises
    ------
    TokenizerError
        The file cannot be read, is no model, is damaged or needs a newer version; or the
        arguments contradict each other.

    Examples
    --------
    >>> tok = isotok.load()
    >>> tok.decode(tok.encode("Hello world"))
    'Hello world'
    """
    need_compat(compat)
    options = _options(backend, verify, map, trusted, limits, cache_bytes, compat, added_tokens)
    if source is None:
        source = _default_model()
    if isinstance(source, bytes):
        return _wrap(_open_bytes(source, options), options)
    if not isinstance(source, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"source must be a path or bytes, not {type(source)!r}")
    try:
        return _wrap(_open_path(source, options), options)
    except TokenizerError as error:
        error.name_source(os.fsdecode(source))
        raise


def load_bytes(
    data: Buffer,
    *,
    backend: BackendName = "auto",
    limits: Limits | Mapping[str, int | None] | None = None,
    cache_bytes: int | None = None,
    added_tokens: Iterable[Given] | None = None,
) -> Tokenizer:
    """Open a model in any memory, as unpickling does."""
    options = _options(backend, "safe", None, False, limits, cache_bytes, None, added_tokens)
    return _wrap(_open_bytes(data, options), options)


def _wrap(backend: Backend, options: _Options) -> Tokenizer:
    check_added(backend, options.added)
    opened = Tokenizer._of(backend, options.engine, options.keep)  # pyright: ignore[reportPrivateUsage]
    if options.compat is not None and opened.info.compat != options.compat:
        raise TokenizerError(
            f"compat: the blob was not compiled for sentencepiece {options.compat}; give the "
            "`.model`, or leave compat out"
        )
    return opened


def _options(
    backend: BackendName,
    verify: str,
    map_file: bool | None,
    trusted: bool,
    limits: Limits | Mapping[str, int | None] | None,
    cache_bytes: int | None,
    compat: Compat | None,
    added_tokens: Iterable[Given] | None,
) -> _Options:
    checked = limits_of(limits)
    added = added_tokens_of(added_tokens)
    engine = choose(backend, checked)
    return _Options(
        engine=engine,
        verify=_verify_level(verify, trusted, checked),
        keep={
            "backend": backend,
            "limits": checked,
            "cache_bytes": cache_bytes,
            **({"added_tokens": added} if added else {}),
        },
        map_file=map_file,
        limits=checked,
        cache_bytes=_cache_bytes(cache_bytes, engine, checked),
        compat=compat,
        added=added,
    )


def _cache_bytes(cache_bytes: int | None, engine: str, limits: Limits | None) -> int:
    if cache_bytes is None:
        size = CACHE_BYTES[engine]
        size = size if limits is None else min(size, limits.memory // 64)
        return size if size >= LEAST_CACHE else 0
    if type(cache_bytes) is int and (cache_bytes == 0 or LEAST_CACHE <= cache_bytes <= MOST_CACHE):
        return cache_bytes
    raise TokenizerError(
        f"cache_bytes: {cache_bytes!r} is neither 0 nor a whole number from "
        f"{LEAST_CACHE} to {MOST_CACHE}"
    )


def _default_model() -> str:
    if not os.path.exists(DEFAULT_MODEL):
        raise TokenizerError(
            "the default model is not in this installation "
            f"({os.path.basename(DEFAULT_MODEL)} is missing in the package); give load() a path"
        )
    return DEFAULT_MODEL


def _verify_level(verify: str, trusted: bool, limits: Limits | None) -> int:
    if verify not in _LEVELS:
        raise TokenizerError(f'verify: {verify!r} is unknown; use "safe" or "full"')
    if not trusted:
        return _LEVELS[verify]
    if verify != "safe" or limits is not None:
        raise TokenizerError("trusted=True contradicts verify= and limits=; leave it out")
    return abi.VERIFY_TRUSTED


def _open_path(path: str | os.PathLike[str], options: _Options) -> Backend:
    file = _files.open_file(path)
    try:
        head = bytearray(64)
        size = _files.file_size(file)
        if size == 0:
            raise TokenizerError(
                f"{os.fspath(path)}: the file is empty or no regular file; "
                "give a model file, or its bytes"
            )
        _files.read_into(file, memoryview(head)[: min(64, size)], os.fspath(path))
        if _files.kind_of(bytes(head)) != "blob":
            data = _files.read_aligned(file, os.fspath(path))
            return _open_foreign(data, options, os.fsdecode(path))
        if options.engine == "wasm":
            return _open_wasm(_files.FileSource(file, os.fspath(path)), options)
        return _open_native(_blob_memory(file, path, options.map_file), options)
    finally:
        file.close()


def _blob_memory(file: FileIO, path: str | os.PathLike[str], map_file: bool | None) -> Buffer:
    if map_file is None:
        map_file = _files.only_we_write(file, path)
    return _files.map_file(file) if map_file else _files.read_aligned(file, os.fspath(path))


def _open_bytes(data: Buffer, options: _Options) -> Backend:
    if _files.kind_of(bytes(memoryview(data)[:64])) != "blob":
        return _open_foreign(data, options)
    if options.engine == "wasm":
        return _open_wasm(_files.BytesSource(data), options)
    return _open_native(_files.aligned_copy(data), options)


def _open_foreign(data: Buffer, options: _Options, name: str = "") -> Backend:
    from isotok.compile import compile_buffer

    blob = compile_buffer(
        data,
        "blob",
        backend=options.engine,
        limits=options.limits,
        compat=options.compat,
        name=name,
    )
    if options.engine == "wasm":
        return _open_wasm(_files.BytesSource(blob), options)
    return _open_native(blob, options)


def _open_native(blob: Buffer, options: _Options) -> Backend:
    from isotok import _native

    added = added_blob(blob, options.added, "native", None)
    return _native.open(blob, options.verify, options.cache_bytes, added)


def _open_wasm(blob: _files.BytesSource | _files.FileSource, options: _Options) -> Backend:
    limits = options.limits
    need_engine(limits)
    from isotok._machine import new_machine
    from isotok._wasm_backend import WasmBackend

    added = b""
    if options.added:
        base = bytearray(blob.size)
        blob.fill(memoryview(base))
        added = bytes(added_blob(base, options.added, "wasm", limits) or b"")
    return WasmBackend(
        lambda: new_machine("isotok.wasm", limits),
        blob,
        options.verify,
        options.cache_bytes,
        added,
    )
