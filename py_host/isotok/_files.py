"""Model files: what kind they are, and their bytes by reading or mapping."""

from __future__ import annotations

import mmap
import os
import stat
from io import FileIO
from typing import TYPE_CHECKING, Final, Literal

from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

Kind = Literal["blob", "packed", "source"]

# As in _blob_gen.py, which takes too long to import for these; a test compares them.
MAGIC: Final = b"ISTK"
HEADER_SIZE: Final = 64
FEATURES_OFFSET: Final = 24
PACKED_BIT: Final = 63


def kind_of(head: bytes) -> Kind:
    r"""Tell what a file is from its first 64 bytes.

    Parameters
    ----------
    head : bytes
        The beginning of the file; fewer than 64 bytes if it is shorter.

    Returns
    -------
    str
        "blob", "packed" (both begin with ``ISTK``), or "source": anything else, which
        the compiler looks at.

    Examples
    --------
    >>> kind_of(b"ISTK" + bytes(60))
    'blob'
    >>> kind_of(b"\n\x0e\n")
    'source'
    """
    if head[:4] != MAGIC:
        return "source"
    features = int.from_bytes(head[FEATURES_OFFSET : FEATURES_OFFSET + 8], "little")
    return "packed" if features >> PACKED_BIT & 1 else "blob"


def open_file(path: str | os.PathLike[str]) -> FileIO:
    """Open a model file for reading; the error says which."""
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        reason = error.strerror or error
        raise TokenizerError(
            f"{os.fspath(path)}: cannot be opened ({reason}); check the path"
        ) from error


def file_size(file: FileIO) -> int:
    """Size of an open file in bytes."""
    return os.fstat(file.fileno()).st_size


def only_we_write(file: FileIO, path: str | os.PathLike[str]) -> bool:
    """Whether nobody but this user (and root) can change the file or its folder.

    A mapped file that changes under the reader breaks the promise that a verified model
    stays verified, and a file that becomes shorter kills the process.
    """
    if not hasattr(os, "getuid"):
        return False
    folder = os.path.dirname(os.path.realpath(path)) or "."
    try:
        found = [os.fstat(file.fileno()), os.stat(folder)]
    except OSError:
        return False
    return all(_is_private(status) for status in found) and stat.S_ISREG(found[0].st_mode)


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid in (0, os.getuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def map_file(file: FileIO) -> mmap.mmap:
    """Map a whole file read-only; its memory is shared by all processes that do."""
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def aligned_memory(size: int) -> mmap.mmap:
    """Memory of our own at a page boundary, private to this process even after a fork."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, max(size, 1))


def aligned_copy(data: Buffer) -> memoryview:
    """Copy bytes to aligned memory."""
    source = memoryview(data).cast("B")
    view = memoryview(aligned_memory(len(source)))[: len(source)]
    view[:] = source
    return view


def read_into(file: FileIO, target: memoryview, path: object, offset: int = 0) -> None:
    """Fill `target` with what is at `offset` in the file, wherever its position is.

    Positions are shared with forked processes, so they are not used where possible.
    """
    done = 0
    if not hasattr(os, "preadv"):
        file.seek(offset)
    while done < len(target):
        part = target[done:]
        if hasattr(os, "preadv"):
            count = os.preadv(file.fileno(), [part], offset + done)
        else:
            count = file.readinto(part) or 0
        if count == 0:
            raise TokenizerError(
                f"{path}: the file became shorter while it was read; load it again"
            )
        done += count


def read_aligned(file: FileIO, path: object) -> memoryview:
    """Read a whole file into aligned memory."""
    size = file_size(file)
    view = memoryview(aligned_memory(size))[:size]
    read_into(file, view, path)
    return view


class BytesSource:
    """A blob in memory, for instances of a back end that copy it."""

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data).cast("B")
        self.size = len(self._data)

    def fill(self, target: memoryview, offset: int = 0) -> None:
        """Write the blob's bytes from `offset` on to `target`."""
        target[:] = self._data[offset : offset + len(target)]


class FileSource:
    """A blob in a file, which stays open so that every instance gets the same one."""

    def __init__(self, file: FileIO, path: object) -> None:
        self._file = open(os.dup(file.fileno()), "rb", buffering=0)  # noqa: SIM115  (see __del__)
        self._path = path
        self.size = file_size(file)
        self._header: bytes | None = None

    def fill(self, target: memoryview, offset: int = 0) -> None:
        """Write the blob's bytes from `offset` on to `target`."""
        read_into(self._file, target, self._path, offset)
        if offset:
            return
        header = bytes(target[:HEADER_SIZE])
        if self._header is None:
            self._header = header
        elif header != self._header:
            raise TokenizerError(f"{self._path}: the file has changed; load it again")

    def __del__(self) -> None:
        self._file.close()
