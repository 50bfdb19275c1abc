"""A text in parts, each with special tokens of its own: template text and what a user wrote."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from isotok import _layout_gen as abi
from isotok._arguments import Unit, unit_of
from isotok._results import Encoding
from isotok._special import Special, Specials
from isotok._text import PairPositions, has_pairs, length_in
from isotok._vocabulary import Vocabulary
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from isotok._backend import Flags

Part = tuple[str | bytes, Special]
"""A text, and which special tokens are looked for in it."""


class Parted(Vocabulary, Specials):
    """The part of `Tokenizer` that encodes texts in parts."""

    __slots__ = ()

    def _encoding(self, text: str | bytes, flags: Flags, unit: Unit) -> Encoding:
        """Tokens of a text with their places."""
        ids, offsets, unknown = self._backend.encode_spans(text, flags, unit_of(unit))
        if unit == "codepoint" and isinstance(text, str) and has_pairs(text):
            original = PairPositions(text).original
            offsets = [(original(begin), original(end)) for begin, end in offsets]
        pieces = self._pieces_of(ids)
        if unknown:
            normalized, _ = self._backend.normalize(text, 0, abi.UNIT_BYTE, False)
            for position, begin, end in unknown:
                pieces[position] = normalized[begin:end].decode(errors="replace")
        return Encoding(ids, pieces, offsets)

    def encode_parts(
        self,
        parts: Iterable[Part],
        *,
        bos: bool = False,
        eos: bool = False,
        add_special_tokens: bool | None = None,
    ) -> list[int]:
        """Encode a text of parts, for each of which is said what special tokens it may hold.

        So the special tokens of a chat template are told apart from what looks like them in
        the messages.

        Parameters
        ----------
        parts : iterable of (str or bytes, special)
            Texts, each with what `encode` takes as `special`.
        bos, eos, add_special_tokens
            As in `encode`, once, around all parts.

        Returns
        -------
        list of int
            The ids of each part as `encode` gives them for it alone, end to end: the end of a
            part is a boundary as a special token is, so no token and no pre-token spans it, and
            the normalizer begins anew behind it.

        Raises
        ------
        TokenizerError
            As `encode`. Where it is about one part the message names it.

        Examples
        --------
        >>> tok.encode_parts([("hello", None), (" world", "none")], eos=True)
        [3, 4, 2]
        """
        front, back = self._around(bos, eos, add_special_tokens)
        ids = [*front]
        for number, (text, special) in enumerate(_pairs(parts)):
            with _naming(number):
                flags = self._flags(False, False, special, False)
                ids += self._backend.encode(text, flags, 0)
        return ids + back

    def encode_parts_with_offsets(
        self,
        parts: Iterable[Part],
        *,
        unit: Unit = "codepoint",
        bos: bool = False,
        eos: bool = False,
        add_special_tokens: bool | None = None,
    ) -> Encoding:
        """Encode a text of parts, with the place of each token in the whole text.

        Parameters
        ----------
        parts, bos, eos, add_special_tokens
            As in `encode_parts`.
        unit : {"codepoint", "byte", "utf16"}
            As in `encode_with_offsets`. The offsets are those in the texts of all parts, end
            to end.

        Examples
        --------
        >>> tok.encode_parts_with_offsets([("hello", None), (" world", "none")]).offsets
        [(0, 5), (6, 11)]
        """
        unit_of(unit)
        front, back = self._around(bos, eos, add_special_tokens)
        ids, offsets, begin = [*front], [(0, 0)] * len(front), 0
        pieces = self._pieces_of(ids)
        for number, (text, special) in enumerate(_pairs(parts)):
            with _naming(number):
                flags = self._flags(False, False, special, False)
                found = self._encoding(text, flags, unit)
            ids += found.ids
            pieces += found.pieces
            offsets += [(begin + a, begin + b) for a, b in found.offsets]
            begin += length_in(text, unit)
        tokens = len(back) - eos  # of the template: they are nowhere
        offsets += [(0, 0)] * tokens + [(begin, begin)] * eos
        return Encoding(ids + back, pieces + self._pieces_of(back), offsets)

    def _around(
        self, bos: bool, eos: bool, add_special_tokens: bool | None
    ) -> tuple[list[int], list[int]]:
        """Ids in front of a text and behind it."""
        stream = self._backend.encoder(self._flags(bos, eos, None, add_special_tokens))
        try:
            return stream.push("", False), stream.push("", True)
        finally:
            stream.close()


@contextmanager
def _naming(number: int) -> Generator[None]:
    """Say in an error which part it is about."""
    try:
        yield
    except TokenizerError as error:
        error.args = (f"parts[{number}]: {error}",)
        raise


def _pairs(parts: Iterable[Part]) -> Iterator[Part]:
    if isinstance(parts, (str, bytes)):
        raise TypeError("parts must be pairs of a text and its special tokens, not one text")
    for number, part in enumerate(cast("Iterable[object]", parts)):
        match part:
            case (str() | bytes() as text, special):  # pyright: ignore[reportUnknownVariableType]
                yield text, cast("Special", special)
            case _:
                raise TypeError(
                    f"parts[{number}]: {part!r} is no pair of a text (str or bytes) and its "
                    "special tokens"
                )
