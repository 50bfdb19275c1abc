"""What a Tokenizer knows about its model and the pieces of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotok._arguments import id_of
from isotok._info import CacheInfo, Info, PieceType, info_of

if TYPE_CHECKING:
    from isotok._backend import Backend
    from isotok._special import Members


class Vocabulary:
    """The part of `Tokenizer` that looks things up: pieces by id, ids by piece, properties."""

    __slots__ = ("_backend", "_pieces", "_sets")

    _backend: Backend
    _pieces: dict[int, str]  # texts of the pieces that were asked for
    _sets: dict[Members, bytes]  # sets of special tokens that were asked for

    def id_to_bytes(self, token_id: int) -> bytes:
        """Bytes of a piece as the model has them."""
        return self._backend.piece(id_of(token_id))[0]

    def id_to_piece(self, token_id: int) -> str:
        """Text of a piece; ill-formed bytes become U+FFFD.

        Examples
        --------
        >>> tok.id_to_piece(3)
        '▁hello'
        """
        return self._backend.piece(id_of(token_id))[0].decode(errors="replace")

    def piece_to_id(self, piece: str | bytes) -> int | None:
        """Id of a piece text; of an unknown one the unknown id, or None without one.

        Examples
        --------
        >>> tok.piece_to_id("▁world"), tok.piece_to_id("?!") == tok.unk_id
        (4, True)
        """
        found = self._backend.find(piece)
        return found if found >= 0 else self.unk_id

    def __contains__(self, piece: str | bytes) -> bool:
        """Whether there is a piece with this text."""
        return self._backend.find(piece) >= 0

    def score(self, token_id: int) -> float:
        """Score of a piece as in the source model."""
        return self._backend.piece(id_of(token_id))[2]

    def piece_type(self, token_id: int) -> PieceType:
        """Type of a piece.

        Examples
        --------
        >>> tok.piece_type(0).name
        'UNKNOWN'
        """
        return PieceType(self._backend.piece(id_of(token_id))[1])

    def is_unknown(self, token_id: int) -> bool:
        """Whether the piece is the unknown one."""
        return self.piece_type(token_id) is PieceType.UNKNOWN

    def is_control(self, token_id: int) -> bool:
        """Whether the piece is a control piece such as BOS."""
        return self.piece_type(token_id) is PieceType.CONTROL

    def is_user_defined(self, token_id: int) -> bool:
        """Whether the piece is user-defined."""
        return self.piece_type(token_id) is PieceType.USER_DEFINED

    def is_unused(self, token_id: int) -> bool:
        """Whether the piece is unused."""
        return self.piece_type(token_id) is PieceType.UNUSED

    def is_byte(self, token_id: int) -> bool:
        """Whether the piece stands for one byte."""
        return self.piece_type(token_id) is PieceType.BYTE

    def _pieces_of(self, ids: list[int]) -> list[str]:
        known = self._pieces
        for token_id in set(ids).difference(known):
            known[token_id] = self.id_to_piece(token_id)
        return [known[token_id] for token_id in ids]

    @property
    def info(self) -> Info:
        """Properties of the model."""
        return info_of(self._backend.info())

    def cache_info(self) -> CacheInfo:
        """Return what the token caches have done, to see whether they pay.

        Each call at a time has a session with a cache of its own. These are the sums over the
        sessions that are idle at the moment.

        Examples
        --------
        >>> tok.cache_info().hits <= tok.cache_info().probes
        True
        """
        return CacheInfo(*self._backend.cache_info())

    @property
    def vocab_size(self) -> int:
        """Number of pieces."""
        return self.info.vocab_size

    def __len__(self) -> int:
        return self.info.vocab_size

    def __bool__(self) -> bool:
        return True

    @property
    def unk_id(self) -> int | None:
        """Id of the unknown piece."""
        return self.info.unk_id

    @property
    def bos_id(self) -> int | None:
        """Id of the beginning-of-sentence piece."""
        return self.info.bos_id

    @property
    def eos_id(self) -> int | None:
        """Id of the end-of-sentence piece."""
        return self.info.eos_id

    @property
    def pad_id(self) -> int | None:
        """Id of the padding piece."""
        return self.info.pad_id
