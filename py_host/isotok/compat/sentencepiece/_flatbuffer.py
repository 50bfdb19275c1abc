"""`convert_to_flatbuffer`: the `.spm.fb` file of SentencePiece Lite for a model."""

from __future__ import annotations

import os
import struct
from typing import Any, Final, cast

from isotok.compat.sentencepiece import _arguments as arguments
from isotok.compat.sentencepiece._errors import file_error, invalid
from isotok.compat.sentencepiece._model import is_proto, read_file
from isotok.compat.sentencepiece._model_file import model_type_of, with_model_type
from isotok.compat.sentencepiece._wire import WireError

UNIGRAM: Final = 1
BPE: Final = 2
WORD: Final = 3
CHAR: Final = 4

# Fields of the root table, as docs/spm_fb.md and core/build/spm_fb.h number them.
TYPE_FIELD: Final = 6
BIGRAMS_FIELD: Final = 10
SCALARS: Final = (4, TYPE_FIELD, 11, 13, 14, 15)
FIELDS: Final = 16


def ConvertToFlatbuffer(
    model_file: Any = None,
    model_proto: Any = None,
    serialized_model_proto: Any = None,
    output_file: Any = None,
    skip_char_bigrams: bool = False,
    treat_null_byte_as_unused: bool = False,
    allow_unsupported_model_type: bool = False,
) -> bytes | None:
    """Convert a model to a `.spm.fb` file.

    Parameters
    ----------
    model_file, model_proto, serialized_model_proto : optional
        Exactly one of them: a path, bytes or a ModelProto, bytes.
    output_file : path, optional
        Where to write it.
    skip_char_bigrams : bool
        Leave out the pairs of characters, of unigram models only.
    treat_null_byte_as_unused : bool
        No effect: it is always done.
    allow_unsupported_model_type : bool
        Convert word and char models, which SentencePiece Lite runs as unigram ones.

    Returns
    -------
    bytes or None
        The file; None if it was written.
    """
    given = (model_file, model_proto, serialized_model_proto)
    if sum(each is not None for each in given) != 1:
        raise ValueError(
            "Exactly one of model_file, model_proto, or serialized_model_proto must be specified."
        )
    target = None if output_file is None else _path("output_file", output_file)
    result = _convert(_source(*given), bool(skip_char_bigrams), bool(allow_unsupported_model_type))
    if target is None:
        return result
    try:
        with open(target, "wb") as file:
            file.write(result)
    except OSError as error:
        raise file_error(target, error) from error
    return None


def _path(name: str, value: Any) -> str:
    path = os.fsdecode(cast("str", os.fspath(value)))
    if not path:
        raise ValueError(f"{name} must not be empty.")
    return path


def _source(model_file: Any, model_proto: Any, serialized_model_proto: Any) -> bytes:
    if model_file is not None:
        return read_file(_path("model_file", model_file))
    if serialized_model_proto is not None:
        if not isinstance(serialized_model_proto, bytes):
            raise TypeError("serialized_model_proto must be bytes.")
        return serialized_model_proto
    try:
        return arguments.proto_bytes("model_proto", model_proto)
    except TypeError:
        raise TypeError("model_proto must be a ModelProto object or bytes.") from None


def _convert(data: bytes, skip_bigrams: bool, allow_unsupported: bool) -> bytes:
    from isotok.compile import compile_model
    from isotok.errors import TokenizerError

    try:
        if not is_proto(data):
            data = compile_model(data, "model")
        kind = model_type_of(data)
        if kind in (WORD, CHAR):
            if not allow_unsupported:
                raise invalid("SentencePiece Lite has no word and char models.")
            data = with_model_type(data, UNIGRAM)
        result = compile_model(data, "spm.fb")
    except (TokenizerError, WireError) as error:
        raise invalid(str(error)) from error
    if kind in (WORD, CHAR):
        result = _with_type(result, kind)
    return _without_bigrams(result) if skip_bigrams and kind != BPE else result


def _field_place(data: bytes, number: int) -> int:
    """Place of a field of the root table in the file; 0 if it has none."""
    (table,) = struct.unpack_from("<I", data)
    (back,) = struct.unpack_from("<i", data, table)
    size, *_ = struct.unpack_from("<H", data, table - back)
    if 4 + 2 * number >= size:
        return 0
    (inside,) = struct.unpack_from("<H", data, table - back + 4 + 2 * number)
    return table + inside if inside else 0


def _with_type(data: bytes, kind: int) -> bytes:
    place = _field_place(data, TYPE_FIELD)
    return data[:place] + bytes((kind,)) + data[place + 1 :]


def _without_bigrams(data: bytes) -> bytes:
    """Cut the trie of pairs out; its size is a multiple of 8, so all else stays aligned."""
    place = _field_place(data, BIGRAMS_FIELD)
    if not place:
        return data
    begin = place + struct.unpack_from("<I", data, place)[0] + 4
    size = struct.unpack_from("<I", data, begin - 4)[0]
    end = begin + size
    # The count of the vector and the zeros in front of it stay where they are: 8 bytes.
    changed = bytearray(data)
    for number in range(FIELDS):
        at = _field_place(data, number)
        if not at or number in SCALARS:
            continue
        (distance,) = struct.unpack_from("<I", data, at)
        if at + distance >= end:
            struct.pack_into("<I", changed, at, distance - size)
    (table,) = struct.unpack_from("<I", data)
    (back,) = struct.unpack_from("<i", data, table)
    struct.pack_into("<H", changed, table - back + 4 + 2 * BIGRAMS_FIELD, 0)
    struct.pack_into("<I", changed, begin - 4, 0)
    return bytes(changed[:begin] + changed[end:])


convert_to_flatbuffer = ConvertToFlatbuffer
