r"""Counts of words or pairs as bytes: sorted, in blocks, each with a checksum.

FORMAT: the 8 bytes ``ISTCNT1\\n``, the size of the header (u32, little-endian), the header
(JSON: kind, fingerprint), then blocks. A block is: how many words n and how many bytes p they
have (u32 each), CRC-32 of the rest (u32), n sizes (u32), n counts (i64), the words end to end.
The last block has n = 0. Words ascend over all blocks, so equal counts give equal bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO, Final

import numpy as np

from isotok.errors import TokenizerError

MAGIC: Final = b"ISTCNT1\n"
_BLOCK: Final = 1 << 16
Item = tuple[bytes, int]


def header(kind: str, fingerprint: str) -> bytes:
    """Return what a file begins with."""
    text = json.dumps({"kind": kind, "fingerprint": fingerprint}, sort_keys=True).encode()
    return MAGIC + len(text).to_bytes(4, "little") + text


def blocks(items: Iterable[Item]) -> Iterator[bytes]:
    """Return the blocks of sorted words."""
    every = iter(items)
    while part := list(islice(every, _BLOCK)):
        words, counts = zip(*part, strict=True)
        yield _block(words, counts)
    yield bytes(12)


def _block(words: Sequence[bytes], counts: Sequence[int]) -> bytes:
    pool = b"".join(words)
    sizes = np.fromiter(map(len, words), "<u4", len(words)).tobytes()
    body = sizes + np.array(counts, "<i8").tobytes() + pool
    head = len(words), len(pool), zlib.crc32(body)
    return b"".join(number.to_bytes(4, "little") for number in head) + body


def pack_counts(
    kind: str, fingerprint: str, words: Iterable[bytes], counts: Iterable[int]
) -> bytes:
    """Return all as one buffer; the words ascend."""
    items = zip(words, counts, strict=True)
    return b"".join([header(kind, fingerprint), *blocks(items)])


def unpack_counts(data: bytes, kind: str, where: str) -> tuple[str, list[bytes], list[int]]:
    """Return fingerprint, words and counts."""
    import io

    file = io.BytesIO(data)
    fingerprint = read_header(file, kind, where)
    items = list(read_blocks(file, where))
    return fingerprint, [word for word, _ in items], [count for _, count in items]


def read_header(file: BinaryIO, kind: str, where: str) -> str:
    """Return the fingerprint."""
    if file.read(len(MAGIC)) != MAGIC:
        raise TokenizerError(f"{where}: these are no saved counts")
    size = int.from_bytes(file.read(4), "little")
    try:
        members = json.loads(file.read(min(size, 1 << 16)))
        found, fingerprint = members["kind"], members["fingerprint"]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(where) from error
    if found != kind:
        raise TokenizerError(f"{where}: these are counts of {found}, not of {kind}")
    return str(fingerprint)


def read_blocks(file: BinaryIO, where: str) -> Iterator[Item]:
    """Return words with their counts; a damaged block is an error."""
    while True:
        head = file.read(12)
        if len(head) != 12:
            raise _damaged(where)
        count, extent, check = (int.from_bytes(head[i : i + 4], "little") for i in (0, 4, 8))
        if not count:
            return
        body = file.read(12 * count + extent)
        if len(body) != 12 * count + extent or zlib.crc32(body) != check:
            raise _damaged(where)
        yield from _items(body, count)


def _items(body: bytes, count: int) -> Iterator[Item]:
    ends = np.cumsum(np.frombuffer(body, "<u4", count), dtype=np.int64) + 12 * count
    counts = np.frombuffer(body, "<i8", count, 4 * count)
    begin = 12 * count
    for end, number in zip(ends.tolist(), counts.tolist(), strict=True):
        yield body[begin:end], number
        begin = end


def _damaged(where: str) -> TokenizerError:
    return TokenizerError(f"{where}: the counts are damaged or cut off; count again")
