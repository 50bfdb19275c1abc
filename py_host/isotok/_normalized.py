"""What a Tokenizer does with text that is normalized already."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from isotok import _layout_gen as abi
from isotok._text import PairPositions, has_pairs, to_utf8

if TYPE_CHECKING:
    from isotok._backend import Backend


class OfNormalized:
    """The part of `Tokenizer` that takes what `Tokenizer.normalize` returned."""

    __slots__ = ()

    _backend: Backend

    def encode_normalized(
        self, text: str | bytes, *, bos: bool = False, eos: bool = False
    ) -> list[int]:
        """Encode a text that is normalized already.

        Parameters
        ----------
        text : str or bytes
            What `normalize` returned, or a part of it between two boundaries. It is taken
            as it is: nothing is put in front, no space becomes ``▁``.
        bos, eos : bool
            As in `encode`.

        Returns
        -------
        list of int
            ``encode_normalized(normalize(text))`` are the ids of ``encode(text)``. (With
            pieces that are not well-formed UTF-8 only for bytes: a str cannot hold them.)

        Raises
        ------
        TokenizerError
            The text is no normalized text of the model: ill-formed UTF-8, or a space where
            the model has ``▁``. ``error.offset`` is its byte.

        Examples
        --------
        >>> tok.encode_normalized(tok.normalize("hello world"))
        [3, 4]
        """
        flags = abi.NORMALIZED | (abi.BOS if bos else 0) | (abi.EOS if eos else 0)
        ids = self._backend.encode_ids(text, flags, 0)
        return memoryview(ids).cast("B").cast("I").tolist()

    def safe_boundaries(self, normalized: str | bytes) -> list[int]:
        """Find where a normalized text may be cut: no piece spans such a place.

        Parameters
        ----------
        normalized : str or bytes
            What `normalize` returned.

        Returns
        -------
        list of int
            Ends of the chunks, ascending; the last is the end of the text, and an empty
            text has none. They count bytes for bytes, code points for str: they are what
            slices take.

        Raises
        ------
        TokenizerError
            As `encode_normalized`.

        Notes
        -----
        The chunks' ids from `encode_normalized` are those of the whole, apart from runs of
        unknown characters, which are one token in the whole. For unigram models float32
        rounding may also decide a near tie differently.

        Examples
        --------
        >>> text = tok.normalize("hello world")
        >>> tok.safe_boundaries(text)
        [6, 12]
        >>> [tok.encode_normalized(text[a:b]) for a, b in ((0, 6), (6, 12))]
        [[3], [4]]
        """
        found = memoryview(self._backend.boundaries(normalized)).cast("B").cast("I").tolist()
        if isinstance(normalized, bytes) or normalized.isascii():
            return found
        positions = list(_code_points(to_utf8(normalized), found))
        if not has_pairs(normalized):
            return positions
        original = PairPositions(normalized).original
        return [original(position) for position in positions]


def _code_points(data: bytes, ends: list[int]) -> Iterator[int]:
    """Turn byte positions at characters, ascending, into code points."""
    position = 0
    for begin, end in pairwise([0, *ends]):
        position += len(data[begin:end].decode())
        yield position
