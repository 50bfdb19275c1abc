"""Which special tokens a call looks for: the option `special` and its sets of tokens."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from operator import index
from typing import TYPE_CHECKING, Final, Literal, SupportsIndex

from isotok import _layout_gen as abi
from isotok._arguments import id_of
from isotok._backend import UNIT_NORMALIZED
from isotok.errors import TokenIdError, TokenizerError

if TYPE_CHECKING:
    from isotok._backend import Backend, Flags

Special = Literal["none", "all"] | Collection[str | SupportsIndex] | None
"""Which special tokens are looked for in a text: their texts or ids. None: as the source library
does by default."""

_WORDS: Final = {"none": abi.NO_SPECIAL | abi.NO_CONTROL, "all": abi.SPECIAL}
_MOST_SETS: Final = 64
"""Sets whose ids are remembered."""
_ALONE: Final = abi.SPECIAL | abi.NO_TEMPLATE

Members = frozenset[str | SupportsIndex]


class Specials:
    """The part of `Tokenizer` that knows special tokens."""

    __slots__ = ()

    _backend: Backend
    _sets: dict[Members, bytes]

    def _flags(
        self, bos: bool, eos: bool, special: Special = None, add_special_tokens: bool | None = None
    ) -> Flags:
        """Flags of a call, with the ids of the special tokens it is for."""
        flags = (abi.BOS if bos else 0) | (abi.EOS if eos else 0)
        if add_special_tokens is not None:
            flags |= abi.TEMPLATE if add_special_tokens else abi.NO_TEMPLATE
        if special is None:
            return flags
        if isinstance(special, str):
            if special not in _WORDS:
                raise _unknown(special)
            return flags | _WORDS[special]
        return flags | abi.SPECIAL, self._allowed(special)

    def _allowed(self, special: Collection[str | SupportsIndex]) -> bytes:
        """`isotok_encode_options.allowed` for a set of tokens."""
        try:
            members = frozenset(special)
        except TypeError:
            raise _unknown(special) from None
        found = self._sets.get(members)
        if found is None:
            found = _ranges({_special_id(self._backend, member) for member in members})
            if len(self._sets) >= _MOST_SETS:
                self._sets.clear()
            self._sets[members] = found
        return found


def _unknown(special: object) -> TokenizerError:
    return TokenizerError(
        f'special: {special!r} is unknown; use "none", "all", a set of special tokens or None'
    )


def _special_id(backend: Backend, member: str | SupportsIndex) -> int:
    """Id of a special token: the text alone is this token, of no normalized text."""
    try:
        text = member if isinstance(member, str) else backend.piece(id_of(_number(member)))[0]
        ids, spans, _ = backend.encode_spans(text, _ALONE, UNIT_NORMALIZED)
        wanted = isinstance(member, str) or ids == [index(member)]
        if wanted and len(ids) == 1 and spans[0][0] == spans[0][1]:
            return ids[0]
    except TokenIdError:
        pass
    raise TokenizerError(
        f"special: {member!r} is no special token of the model, or it is not found in texts; "
        "leave it out"
    )


def _number(member: SupportsIndex) -> int:
    try:
        return index(member)
    except TypeError:
        raise TokenizerError(
            f"special: {member!r} is neither a text nor an id; give tokens by one of them"
        ) from None


def _ranges(ids: set[int]) -> bytes:
    """Where ranges of the ids begin and end, in turn."""
    edges = ids ^ {token_id + 1 for token_id in ids}
    return array("I", sorted(edges)).tobytes()
