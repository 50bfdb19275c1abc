"""Added tokens as the blob's search for them: one automaton over the raw text.

tokenizers searches twice: for the tokens that are not `normalized` in the text, then for the
others in what the normalizer made of the rest. Without a normalizer both are searches in the same
text, and one search finds the same wherever no token of one kind can overlap one of the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from isotok import _layout_gen as abi
from isotok.compile.pretok.properties import need
from isotok.compile.tokenizer_json.document import AddedToken
from isotok.compile.tokenizer_json.errors import shorten, unsupported

Field = tuple[int, "array[int] | array[float] | bytes"]


def added_fields(tokens: Iterable[AddedToken], *, is_normalized: bool) -> list[Field]:
    """Return the fields of added tokens.

    Parameters
    ----------
    tokens : iterable of AddedToken
        With the ids that tokenizers gives them (`resolve_added`).
    is_normalized : bool
        Whether the model has a normalizer that changes text.

    Raises
    ------
    TokenizerError
        One automaton cannot do what tokenizers does; the error names the token.
    """
    every = sorted(tokens, key=lambda token: token.id)
    _check_kinds(every, is_normalized)
    numbers = array("I")
    for token in every:
        numbers.extend((token.id, _flags(token)))
    fields: list[Field] = [(abi.FIELD_ADDED_TOKENS, numbers)] if numbers else []
    if any(token.single_word for token in every):
        words = array("I", need("tokenizers fixed", "word").toggles)
        fields.append((abi.FIELD_WORD_RANGES, words))
    return fields


def _flags(token: AddedToken) -> int:
    return (
        (0 if token.special else abi.ADDED_PLAIN)
        | (abi.ADDED_LSTRIP if token.lstrip else 0)
        | (abi.ADDED_RSTRIP if token.rstrip else 0)
        | (abi.ADDED_SINGLE_WORD if token.single_word else 0)
    )


def _check_kinds(tokens: Sequence[AddedToken], is_normalized: bool) -> None:
    late = [token for token in tokens if token.normalized]
    if not late:
        return
    if is_normalized:
        raise unsupported(
            "added_tokens",
            f'{shorten(late[0].content)} with "normalized": true behind a normalizer',
        )
    early = [token for token in tokens if not token.normalized]
    for token, other in _overlaps(early, late):
        raise unsupported(
            "added_tokens",
            f"{shorten(token.content)} and {shorten(other.content)}, which can overlap, of which "
            'only one is "normalized"',
        )


def _overlaps(
    early: Sequence[AddedToken], late: Sequence[AddedToken]
) -> Iterable[tuple[AddedToken, AddedToken]]:
    """Pairs of which one holds the other, or begins with what the other ends with.

    Two that take white space beside them overlap as well: either may get what is between them.
    """
    for token in early:
        for other in late:
            a, b = token.content, other.content
            strips = (token.lstrip or token.rstrip) and (other.lstrip or other.rstrip)
            if strips or a in b or b in a or _joined(a, b) or _joined(b, a):
                yield token, other


def _joined(left: str, right: str) -> bool:
    return any(left.endswith(right[:size]) for size in range(1, min(len(left), len(right))))
