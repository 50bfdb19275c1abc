"""Records from files: text, JSON lines, Parquet, Arrow; compressed with gzip or zstd or not."""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, Literal, cast

from isotok.errors import TokenizerError
from isotok.train._options import one_of

Errors = Literal["strict", "replace", "skip"]
Documents = Literal["line", "file"]
_BLOCK: Final = 1 << 20
_TABLES: Final = (".parquet", ".arrow", ".feather", ".ipc")
_COMPRESSED: Final = (".gz", ".zst")


def files(
    *paths: str | os.PathLike[str],
    column: str = "text",
    documents: Documents = "line",
    separator: str | None = None,
    errors: Errors = "strict",
) -> FileSource:
    """Return the documents of files as a source that can be gone through again and again.

    Parameters
    ----------
    *paths : path
        ``.jsonl`` (or ``.json``, ``.ndjson``), ``.parquet``, ``.arrow`` (or ``.feather``,
        ``.ipc``); any other is text. All but tables may end in ``.gz`` or ``.zst`` as well.
    column : str
        Which column of a table, or member of a line of JSON, holds the text.
    documents : {"line", "file"}
        What one document of a text file is. A line keeps its line end.
    separator : str, optional
        What stands between two documents of a text file instead, for example
        ``<|endoftext|>``; it is part of none.
    errors : {"strict", "replace", "skip"}
        What becomes of a document that is not UTF-8 or is missing (null): an error that names
        file and line, U+FFFD for what is wrong, or nothing.

    Returns
    -------
    FileSource
        A `Source`; it reads when it is scanned, one document (of a table: one batch) at a time.

    Raises
    ------
    TokenizerError
        There is no such file.
    """
    one_of(errors, Errors, "errors")
    one_of(documents, Documents, "documents")
    for path in paths:
        if not os.path.isfile(path):
            raise TokenizerError(f"{os.fspath(path)}: there is no such file")
    if not paths:
        raise TokenizerError("files: no file is given")
    return FileSource([os.fspath(path) for path in paths], column, documents, separator, errors)


class FileSource:
    """Documents of files; `files` makes it. It can be pickled."""

    def __init__(
        self,
        paths: list[str],
        column: str,
        documents: Documents,
        separator: str | None,
        errors: Errors,
    ) -> None:
        self.paths = paths
        self.column = column
        self.documents: Documents = documents
        self.separator = separator
        self.errors: Errors = errors

    def scan(self) -> Iterator[str]:
        """Go through the documents of all files, in order."""
        for path in self.paths:
            yield from self._scan_file(path)

    def _scan_file(self, path: str) -> Iterator[str]:
        name = path.lower()
        for ending in _COMPRESSED:
            name = name.removesuffix(ending)
        if name.endswith(_TABLES):
            yield from self._texts(read_column(path, self.column), f"{path}, row")
            return
        with _opened(path) as file:
            if name.endswith((".jsonl", ".ndjson", ".json")):
                yield from self._texts(self._json_lines(file, path), f"{path}, line")
            elif self.separator is not None:
                mark = self.separator.encode()
                yield from self._texts(_separated(file, path, mark), f"{path}, document")
            elif self.documents == "file":
                yield from self._texts(iter([b"".join(_blocks(file, path))]), f"{path}, document")
            elif name != path.lower():  # what comes before a break in it is read, line by line
                yield from self._texts(_lines(file, path), f"{path}, line")
            else:
                yield from self._lines(file, path)

    def _lines(self, file: BinaryIO, path: str) -> Iterator[str]:
        """Go through the lines of a text: many are decoded at a time, unless one is wrong."""
        number = 0
        for block in _blocks_of_lines(file, path):
            try:
                text = block.decode()
            except UnicodeDecodeError:
                yield from self._texts(iter(io.BytesIO(block)), f"{path}, line", number + 1)
                number += block.count(b"\n")
                continue
            number += text.count("\n")
            yield from io.StringIO(text, newline="\n")

    def _texts(
        self, parts: Iterator[str | bytes | None], where: str, first: int = 1
    ) -> Iterator[str]:
        for number, part in enumerate(parts, first):
            if isinstance(part, str):
                yield part
            elif part is None:
                if self.errors == "strict":
                    raise TokenizerError(f'{where} {number}: no text; use errors="skip" to go on')
            else:
                yield from self._decoded(part, f"{where} {number}")

    def _decoded(self, part: bytes, where: str) -> Iterator[str]:
        try:
            yield part.decode()
        except UnicodeDecodeError as error:
            if self.errors == "strict":
                raise TokenizerError(
                    f"{where}: byte {error.start} (0x{part[error.start]:02x}) is not UTF-8; "
                    'convert the file, or use errors="replace" or "skip"'
                ) from None
            if self.errors == "replace":
                yield part.decode(errors="replace")

    def _json_lines(self, file: BinaryIO, path: str) -> Iterator[str | bytes | None]:
        for number, line in enumerate(_lines(file, path), 1):
            if not line.strip():
                continue
            where = f"{path}, line {number}"
            try:
                entry: Any = json.loads(line)
            except UnicodeDecodeError:
                yield line  # said, replaced or skipped as in any text
                continue
            except json.JSONDecodeError as error:
                raise TokenizerError(
                    f"{where}: it is not JSON ({error.msg}, character {error.pos}); "
                    "each line must be one object"
                ) from None
            yield _member(entry, self.column, where)


def _member(entry: object, column: str, where: str) -> str | None:
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, dict) or column not in entry:
        raise TokenizerError(f"{where}: it has no member {column!r}; say which with column=")
    text = cast("dict[str, object]", entry)[column]
    if text is not None and not isinstance(text, str):
        raise TokenizerError(f"{where}: {column!r} is {type(text).__name__}, not a text")
    return text


# ---- Bytes ----------------------------------------------------------------------------


@contextmanager
def _opened(path: str) -> Generator[BinaryIO]:
    try:
        if path.lower().endswith(".gz"):
            file = cast("BinaryIO", gzip.open(path, "rb"))  # noqa: SIM115
        elif path.lower().endswith(".zst"):
            file = _open_zstd(path)
        else:
            file = open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise TokenizerError(f"{path}: cannot be read ({error.strerror or error})") from error
    with file:
        yield file


def _open_zstd(path: str) -> BinaryIO:
    arrow = need_pyarrow(path)
    return cast("BinaryIO", io.BufferedReader(_Readable(arrow.input_stream(path, "zstd")), _BLOCK))


class _Readable(io.RawIOBase):
    """A stream of pyarrow as Python's readers want it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read as much as there is, up to the buffer's size."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the stream below."""
        self._stream.close()
        super().close()


@contextmanager
def _reading(path: str, done: Callable[[], str]) -> Generator[None]:
    """Name the file and place in errors of what decompresses and reads."""
    try:
        yield
    except (EOFError, OSError, zlib.error) as error:
        raise TokenizerError(
            f"{path}: the file is broken or cut off after {done()} ({error}); get it again; "
            "what came before it is read"
        ) from error


def _lines(file: BinaryIO, path: str) -> Iterator[bytes]:
    number = 0
    with _reading(path, lambda: f"line {number}"):
        for line in file:
            yield line
            number += 1


def _blocks(file: BinaryIO, path: str) -> Iterator[bytes]:
    size = 0
    with _reading(path, lambda: f"byte {size}"):
        while block := file.read(_BLOCK):
            size += len(block)
            yield block


def _blocks_of_lines(file: BinaryIO, path: str) -> Iterator[bytes]:
    """Blocks that end with a line end, but for the last."""
    rest: list[bytes] = []
    for block in _blocks(file, path):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, block[:end]])
            rest = []
        if end < len(block):
            rest.append(block[end:])
    if rest:
        yield b"".join(rest)


def _separated(file: BinaryIO, path: str, mark: bytes) -> Iterator[bytes]:
    if not mark:
        raise TokenizerError("separator: it is empty")
    rest = b""
    for block in _blocks(file, path):
        *documents, rest = (rest + block).split(mark)
        yield from filter(None, documents)
    if rest:
        yield rest


# ---- Tables ---------------------------------------------------------------------------


def need_pyarrow(path: str) -> Any:
    """Return pyarrow; else an error that says what needs it."""
    try:
        import pyarrow  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise ImportError(f"{path} needs pyarrow: pip install 'isotok[train]'") from error
    return pyarrow


def read_column(path: str, column: str) -> Iterator[str | bytes | None]:
    """Go through a column of texts of a Parquet or Arrow file, batch by batch."""
    for chunk in _columns(path, [column]):
        yield from _values(chunk[0], path, column)


def read_table(path: str, names: tuple[str, str]) -> Iterator[tuple[Any, Any]]:
    """Go through two columns of a Parquet or Arrow file together."""
    for first, second in _columns(path, list(names)):
        yield from zip(first.to_pylist(), second.to_pylist(), strict=True)


def _columns(path: str, names: list[str]) -> Iterator[list[Any]]:
    arrow = need_pyarrow(path)
    try:
        schema, chunks = _open_table(arrow, path, names)
        missing = [name for name in names if name not in schema.names]
        if missing:
            raise TokenizerError(
                f"{path}: there is no column {missing[0]!r} (there are {', '.join(schema.names)}); "
                "say which with column="
            )
        for chunk in chunks:
            yield [chunk.column(name) for name in names]
    except (arrow.ArrowException, OSError) as error:
        raise TokenizerError(
            f"{path}: the table is broken or cut off ({str(error).splitlines()[0]}); get it again; "
            "what came before it is read"
        ) from error


def _open_table(arrow: Any, path: str, names: list[str]) -> tuple[Any, Iterable[Any]]:
    if path.lower().endswith(".parquet"):
        from pyarrow import parquet  # pyright: ignore[reportMissingTypeStubs]

        file: Any = parquet.ParquetFile(path)  # pyright: ignore[reportUnknownVariableType]
        schema = file.schema_arrow
        known = [name for name in names if name in schema.names]
        return schema, file.iter_batches(batch_size=4096, columns=known)
    with open(path, "rb") as file:
        head = file.read(6)
    if head == b"ARROW1":
        reader = arrow.ipc.open_file(path)
        return reader.schema, (reader.get_batch(i) for i in range(reader.num_record_batches))
    stream = arrow.ipc.open_stream(path)
    return stream.schema, stream


def _values(array: Any, path: str, column: str) -> Iterator[str | bytes | None]:
    arrow = need_pyarrow(path)
    kind = array.type
    if arrow.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    texts = (arrow.types.is_string, arrow.types.is_large_string, arrow.types.is_string_view)
    blobs = (arrow.types.is_binary, arrow.types.is_large_binary)
    if not any(test(kind) for test in (*texts, *blobs)):
        raise TokenizerError(f"{path}: column {column!r} holds {kind}, not texts")
    if any(test(kind) for test in texts):  # as bytes, so that bad UTF-8 is named
        array = array.cast(arrow.large_binary())
    yield from array.to_pylist()
