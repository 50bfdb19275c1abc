"""The vocabulary of a model: texts and their ids.

A map of 100,000 texts takes 15 MB; where only a few of them are looked up later, they are kept as
a list by id.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from typing import Any, cast

from isotok.compile._fields import MOST_IDS
from isotok.compile._models import Words
from isotok.compile._texts import Texts
from isotok.compile.tokenizer_json.checked import well_formed
from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.parts import Span, entries
from isotok.errors import TokenizerError

MOST_ENTRIES = 1 << 21
_GAPS = 1 << 16


def read_vocabulary(document: Document) -> dict[str, int]:
    """Read `model.vocab` of BPE: an object of texts and ids.

    Raises
    ------
    TokenizerError
        It is missing, an id is none, or texts or ids come twice.
    """
    span = _span(document)
    vocabulary: dict[str, int] = {}
    count = 0
    for pairs in entries(document.data, span):
        vocabulary.update(cast("list[tuple[str, int]]", pairs))
        count += len(pairs)
        _check_some(cast("list[tuple[str, Any]]", pairs))
        if count > MOST_ENTRIES:
            raise unsupported(span.path, f"more than {MOST_ENTRIES:,} entries")
    if len(vocabulary) != count:
        raise broken(span.path, "a text is there twice")
    _check_ids(vocabulary)
    return vocabulary


def read_words(document: Document, wanted: Collection[str]) -> tuple[Words, int]:
    """Read `model.vocab` of WordPiece and WordLevel, with the ids of some texts; errors as above.

    Parameters
    ----------
    document : Document
    wanted : collection of str
        Texts whose ids matter.

    Returns
    -------
    words : Words
    count : int
        How many there are.
    """
    span = _span(document)
    texts, numbers, ids = Texts(), array("I"), dict[str, int]()
    for some in entries(document.data, span):
        pairs = cast("list[tuple[str, int]]", some)
        _check_some(cast("list[tuple[str, Any]]", pairs))
        texts.extend(text.encode() for text, _ in pairs)
        numbers.extend(number for _, number in pairs)
        ids.update(pair for pair in pairs if pair[0] in wanted)
        if len(texts) > MOST_ENTRIES:
            raise unsupported(span.path, f"more than {MOST_ENTRIES:,} entries")
    largest = max(numbers, default=-1)
    _check_gaps(largest, len(texts))
    if next(texts.earlier(), None) is not None:
        raise broken(span.path, "a text is there twice")
    seen = bytearray(largest + 1)
    for place, number in enumerate(numbers):
        if seen[number]:
            first = texts[numbers.index(number)].decode()
            raise _same_id(first, texts[place].decode(), number)
        seen[number] = 1
    return Words(texts.by_number(numbers, largest + 1), ids), len(texts)


def _same_id(first: str, second: str, number: int) -> TokenizerError:
    both = f"{shorten(first)} and {shorten(second)}"
    return broken("model.vocab", f"{both} have the same id {number}")


def _span(document: Document) -> Span:
    span = document.large.get("model.vocab")
    if span is None or not span.is_object:
        raise broken("model.vocab", "an object of texts and ids should be here")
    return span


def _check_gaps(largest: int, count: int) -> None:
    if largest > 4 * count + _GAPS:
        raise unsupported("model.vocab", f"an id of {largest} among {count} entries")


def _check_some(pairs: list[tuple[str, Any]]) -> None:
    for text, number in pairs:
        if type(number) is not int or not 0 <= number < MOST_IDS:
            raise broken(
                f"model.vocab[{shorten(text)}]",
                f"{shorten(number)} is not an id: 0 to {MOST_IDS - 1}",
            )
        if not text.isascii():
            well_formed(text, "model.vocab")


def _check_ids(vocabulary: dict[str, int]) -> None:
    largest = max(vocabulary.values(), default=0)
    _check_gaps(largest, len(vocabulary))
    seen = bytearray(largest + 1)
    for text, number in vocabulary.items():
        if seen[number]:
            first = next(other for other, its in vocabulary.items() if its == number)
            raise _same_id(first, text, number)
        seen[number] = 1
