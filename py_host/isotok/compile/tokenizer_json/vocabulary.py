"""The vocabulary of a model: texts and their ids."""

from __future__ import annotations

from typing import Any, cast

from isotok.compile.tokenizer_json.checked import well_formed
from isotok.compile.tokenizer_json.document import MOST_IDS, Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.parts import entries

_MOST_ENTRIES = 1 << 21
_GAPS = 1 << 16


def read_vocabulary(document: Document) -> dict[str, int]:
    """Read `model.vocab` of BPE, WordPiece and WordLevel: an object of texts and ids.

    Raises
    ------
    TokenizerError
        It is missing, an id is none, or texts or ids come twice.
    """
    span = document.large.get("model.vocab")
    if span is None or not span.is_object:
        raise broken("model.vocab", "an object of texts and ids should be here")
    vocabulary: dict[str, int] = {}
    count = 0
    for pairs in entries(document.data, span):
        vocabulary.update(cast("list[tuple[str, int]]", pairs))
        count += len(pairs)
        _check_some(cast("list[tuple[str, Any]]", pairs))
        if count > _MOST_ENTRIES:
            raise unsupported(span.path, f"more than {_MOST_ENTRIES:,} entries")
    if len(vocabulary) != count:
        raise broken(span.path, "a text is there twice")
    _check_ids(vocabulary, span.path)
    return vocabulary


def _check_some(pairs: list[tuple[str, Any]]) -> None:
    for text, number in pairs:
        if type(number) is not int or not 0 <= number < MOST_IDS:
            raise broken(
                f"model.vocab[{shorten(text)}]",
                f"{shorten(number)} is not an id: 0 to {MOST_IDS - 1}",
            )
        if not text.isascii():
            well_formed(text, "model.vocab")


def _check_ids(vocabulary: dict[str, int], path: str) -> None:
    largest = max(vocabulary.values(), default=0)
    if largest > 4 * len(vocabulary) + _GAPS:
        raise unsupported(path, f"an id of {largest} among {len(vocabulary)} entries")
    seen = bytearray(largest + 1)
    for text, number in vocabulary.items():
        if seen[number]:
            first = next(other for other, its in vocabulary.items() if its == number)
            both = f"{shorten(first)} and {shorten(text)}"
            raise broken(path, f"{both} have the same id {number}")
        seen[number] = 1
