"""Decoding with the place of every piece in the text, and of bytes that are no UTF-8.

The core decodes to text; this is for what it does not tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from isotok.compat.sentencepiece._model import CONTROL, SPACE, Model
from isotok.compat.sentencepiece._tokens import Tokens, character_size

REPLACEMENT = "\ufffd".encode()


def decode_tokens(model: Model, pieces: Sequence[bytes]) -> Tokens:
    """Decode pieces, each with the id that its text has."""
    return decode(model, pieces, [model.find(piece) for piece in pieces])


def decode(model: Model, pieces: Sequence[bytes], ids: Sequence[int]) -> Tokens:
    """Decode pieces that have these ids."""
    return _Decoder(model).run(pieces, ids)


class _Decoder:
    """The text so far, and whether spaces in front of it are still dropped."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.settings = model.settings
        self.text = bytearray()
        self.spans: list[tuple[int, int]] = []
        self.surfaces: list[bytes | None] = []
        self.at_begin = True
        self.dropped_one = False

    def run(self, pieces: Sequence[bytes], ids: Sequence[int]) -> Tokens:
        plain, of_bytes = self.model.plain, self.model.byte_ids
        held: list[bytes] = []
        for piece, token_id in zip(pieces, ids, strict=True):
            found = plain[token_id]
            if found is not None and not self.at_begin and not held:
                self.add(found)
                continue
            if token_id in of_bytes:
                held.append(piece)
                continue
            if held:
                self.add_bytes(held)
                held.clear()
            if self.at_begin:
                self.at_begin = not self.dropped_one and not self.text
            self.add(self.surface(piece, token_id))
        self.add_bytes(held)
        text = bytes(self.text)
        if self.model.denormalizer is not None:
            text = self.model.denormalizer.normalize(text)
        # As there, an id is a number without a sign: no piece has 2**32 - 1.
        numbers = [token_id & 0xFFFFFFFF for token_id in ids]
        return Tokens(text, numbers, list(pieces), self.spans, self.surfaces)

    def add(self, surface: bytes) -> None:
        begin = len(self.text)
        self.text += surface
        self.spans.append((begin, begin + len(surface)))
        self.surfaces.append(surface)

    def surface(self, piece: bytes, token_id: int) -> bytes:
        """Text of a piece that is no byte."""
        if token_id == self.model.unk_id:
            named = token_id >= 0 and piece == self.model.piece(token_id)
            return self.settings.unk_surface if named else piece
        if self.model.type(token_id) == CONTROL:
            return b""
        if self.at_begin and self.settings.strip_one and piece.startswith(SPACE):
            piece = piece[len(SPACE) :]
            self.dropped_one = not self.settings.strip_all
        return piece.replace(SPACE, b" ")

    def add_bytes(self, held: Sequence[bytes]) -> None:
        """Bytes in a row: the last one of a character has it, one of no character U+FFFD."""
        data = bytes(int(piece[3:5], 16) for piece in held)
        at = 0
        while at < len(data):
            size = character_size(data[at])
            character = data[at : at + size]
            if not is_utf8(character):
                size, character = 1, REPLACEMENT
            for _ in range(size - 1):
                self.add(b"")
            self.add(character)
            at += size


def is_utf8(character: bytes) -> bool:
    """Whether bytes are one well-formed character."""
    try:
        return len(character.decode()) == 1
    except UnicodeDecodeError:
        return False
