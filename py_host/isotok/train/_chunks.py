"""Places to cut a file at."""

from __future__ import annotations

import mmap
import os
from collections.abc import Generator
from contextlib import contextmanager

Path = str | os.PathLike[str]


@contextmanager
def _mapped(path: Path) -> Generator[mmap.mmap | bytes]:
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def occurs(path: Path, mark: bytes) -> bool:
    """Tell whether bytes are in a file."""
    with _mapped(path) as data:
        return data.find(mark) >= 0


def find_chunks(path: Path, size: int, mark: bytes | None) -> list[tuple[int, int]]:
    """Return (offset, length) of parts that end behind a mark; without one, at a character."""
    found: list[tuple[int, int]] = []
    with _mapped(path) as data:
        begin = 0
        while begin < len(data):
            end = min(begin + size, len(data))
            if end < len(data):
                end = _behind(data, end, mark)
            found.append((begin, end - begin))
            begin = end
    return found


def _behind(data: mmap.mmap | bytes, at: int, mark: bytes | None) -> int:
    if mark is not None:
        place = data.find(mark, max(at - len(mark), 0))
        return len(data) if place < 0 else max(place + len(mark), at)
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at
