"""ModelSpec arrays in one buffer: what the model compiler takes instead of a foreign file."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from isotok import _layout_gen as abi
from isotok.compile._texts import Texts

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAGIC: Final = b"ISTF\0\0\0\0"
MOST_IDS: Final = 0xFFFF00
"""All ids are below: three bytes hold one, and a few numbers that are none."""
_FOURS: Final = (
    "ALGORITHM", "PARITY", "NORMALIZER_FLAGS", "BYTE_FALLBACK", "BYTE_LEVEL", "PRETOKENS", "SCORES",
    "PRETOK_HEADER", "UNICODE_HEADER", "MERGE_SPLITS",
)  # fmt: skip
_ELEMENTS: Final[dict[int, int]] = {
    abi.FIELD_PIECE_SIZES: 2,
    abi.FIELD_PRETOK_TABLES: 2,
    abi.FIELD_UNICODE_TABLES: 2,
    abi.FIELD_EXACT_SCORES: 8,
    **{getattr(abi, f"FIELD_{name}"): 4 for name in _FOURS},
}
"""Bytes of an element, of the fields of models where these are not single bytes."""
_SIZES: Final = {"B": 1, "H": 2, "I": 4, "f": 4, "d": 8}


def pack_fields(fields: Iterable[tuple[int, array[int] | array[float] | bytes]]) -> bytes:
    """Join fields (`abi.FIELD_…`, elements) to what the compiler reads.

    Parameters
    ----------
    fields : iterable of (int, array or bytes)
        Arrays of typecode B, H, I, f or d, which have the element size of the field.

    Returns
    -------
    bytes
        A source for `compile_model`.
    """
    out: list[Buffer] = [MAGIC]
    for number, data in fields:
        raw = memoryview(data if isinstance(data, bytes) else _little(data)).cast("B")
        head = number.to_bytes(4, "little") + len(data).to_bytes(4, "little")
        out += head, raw, bytes(-len(raw) % 8)
    return b"".join(out)


def append_fields(
    source: bytes, fields: Iterable[tuple[int, array[int] | array[float] | bytes]]
) -> bytes:
    """Return what `pack_fields` made, with more fields."""
    return source + pack_fields(fields)[len(MAGIC) :]


def unpack_field(source: bytes, number: int) -> bytes:
    """Return the bytes of a field of what `pack_fields` made."""
    at = len(MAGIC)
    while at < len(source):
        head, count = (int.from_bytes(source[i : i + 4], "little") for i in (at, at + 4))
        at += 8
        size = count * _ELEMENTS.get(head, 1)
        if head == number:
            return source[at : at + size]
        at += size + -size % 8
    return b""


def scalar(value: int) -> array[int]:
    """Return a field of one number."""
    return array("I", [value])


def _little(data: array[int] | array[float]) -> array[int] | array[float]:
    assert data.itemsize == _SIZES[data.typecode]
    if sys.byteorder == "big":
        data = data[:]
        data.byteswap()
    return data


def byte_level_fields(
    pieces: Sequence[bytes] | Texts,
    types: bytes,
    scores: array[float],
    pretokenizer: tuple[bytes, bytes, bytes],
    *,
    parity: int,
    whole: bool,
    splits: tuple[bytes, array[int]] | None = None,
    affixes: bytes = b"",
) -> bytes:
    """Return the fields of a byte-level BPE model.

    `pretokenizer` as `PretokArrays.to_bytes`, `splits`: of a list of merges, how many each piece
    has and what they are; `affixes`: FIELD_CONTINUATION, if there is one.
    """
    counts, merges_list = splits or (b"", array("I"))
    texts = pieces if isinstance(pieces, Texts) else Texts(pieces)
    merges = abi.BYTE_LEVEL_MERGES | (abi.BYTE_LEVEL_WHOLE if whole else 0)
    return pack_fields(
        [
            (abi.FIELD_ALGORITHM, scalar(abi.BPE)),
            (abi.FIELD_PARITY, scalar(parity)),
            (abi.FIELD_NORMALIZER_FLAGS, scalar(0)),
            (abi.FIELD_BYTE_LEVEL, scalar(merges)),
            (abi.FIELD_PIECE_TEXT, texts.pool()),
            (abi.FIELD_PIECE_SIZES, texts.sizes()),
            (abi.FIELD_SCORES, scores),
            (abi.FIELD_TYPES, types),
            *pretokenizer_fields(pretokenizer),
            (abi.FIELD_MERGE_COUNTS, counts),
            (abi.FIELD_MERGE_SPLITS, merges_list),
            *([(abi.FIELD_CONTINUATION, affixes)] if affixes else []),
        ]
    )


def pretokenizer_fields(
    arrays: tuple[bytes, bytes, bytes] | None,
) -> list[tuple[int, array[int] | bytes]]:
    """Return the fields of a pre-tokenizer, `arrays` as `PretokArrays.to_bytes`; None: none."""
    if arrays is None:
        return []
    header, tables, classes = arrays
    return [
        (abi.FIELD_PRETOK_HEADER, _array("I", header)),
        (abi.FIELD_PRETOK_TABLES, _array("H", tables)),
        (abi.FIELD_PRETOK_CLASSES, classes),
    ]


def _array(code: str, little: bytes) -> array[int]:
    result: array[int] = array(code, little)
    if sys.byteorder == "big":
        result.byteswap()
    return result
