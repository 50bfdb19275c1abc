"""sentencepiece 0.2.3 as the oracle: everything in bytes, as our reference has it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from wire import Message

VERSION = "0.2.3"


def available() -> bool:
    try:
        return version("sentencepiece") == VERSION
    except PackageNotFoundError:
        return False


@dataclass(frozen=True)
class Encoding:
    ids: list[int]
    pieces: list[bytes]
    begin: list[int]
    end: list[int]


class Oracle:
    """One model in sentencepiece."""

    def __init__(self, data: bytes) -> None:
        import sentencepiece

        self.sp: Any = sentencepiece.SentencePieceProcessor(model_proto=data)

    def encode_ids(self, text: bytes) -> list[int]:
        return list(self.sp.encode(text))

    def encode(self, text: bytes) -> Encoding:
        found = self.sp.encode(text, out_type="offset_mapping")
        begin = [first for first, _ in found["offsets"]]
        end = [last for _, last in found["offsets"]]
        return Encoding(list(found["ids"]), list(found["pieces"]), begin, end)

    def codepoint_offsets(self, text: str) -> list[tuple[int, int]]:
        found = self.sp.encode(text, out_type="offset_mapping")
        return [tuple(each) for each in found["offsets"]]

    def normalize(self, text: bytes) -> tuple[bytes, list[int]]:
        normalized, offsets = self.sp.normalize(text, with_offsets=True)
        return normalized, list(offsets)

    def nbest(self, text: bytes, n: int) -> list[tuple[list[int], float]]:
        """Ids and score of each path. Its clock is switched off."""
        import sentencepiece

        sentencepiece.SetNBestTimeout(0)
        found = self.sp.NBestEncodeAsProto(text, n)
        data = found if isinstance(found, bytes) else found.SerializeToString()
        paths: list[tuple[list[int], float]] = []
        for path in Message(data).repeated.get(1, []):
            fields = Message(path)
            pieces = [Message(piece).numbers.get(2, 0) for piece in fields.repeated.get(2, [])]
            paths.append((pieces, struct.unpack("<f", fields.words.get(3, bytes(4)))[0]))
        return paths

    def decode(self, ids: Sequence[int]) -> bytes:
        return self.sp.decode(list(ids), out_type=bytes) if ids else b""

    def decode_pieces(self, pieces: Sequence[bytes]) -> bytes:
        return self.sp.decode(list(pieces), out_type=bytes) if pieces else b""
