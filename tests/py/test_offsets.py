"""Offsets in code points are sentencepiece's; in other units, what Python makes of those."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache

import pytest
from conftest import Opener
from support import oracle
from support.offsets import TEXTS, labelled_texts, model_paths, utf16

Spans = list[tuple[int, int]]


def bidi(text: str) -> set[str]:
    return {unicodedata.bidirectional(each) for each in text}


def has_combining(text: str) -> bool:
    return any(unicodedata.combining(each) for each in text)


def expands(text: str) -> bool:
    return any(len(unicodedata.normalize("NFKC", each)) > 1 for each in text)


def expands_beyond_bmp(text: str) -> bool:
    return any(each > "\uffff" and expands(each) for each in text)


def is_right_to_left(text: str) -> bool:
    return bool(bidi(text) & {"R", "AL"})


CLAIMS: dict[str, Callable[[str], bool]] = {
    "emoji": lambda text: max(text) > "\uffff",
    "ZWJ": lambda text: "\u200d" in text,
    "combining": has_combining,
    "NFKC": expands,
    "right to left": is_right_to_left,
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_that_the_texts_are_what_they_are_called(claim: str) -> None:
    """Each class is there more than once, and beside characters of two UTF-16 units."""
    found = [text for label, text in TEXTS.items() if claim in label]
    assert len(found) > 1
    assert all(map(CLAIMS[claim], found))
    assert any(max(text) > "\uffff" for text in found)
    assert any(map(expands_beyond_bmp, TEXTS.values()))


@cache
def expected(name: str) -> list[tuple[str, str, list[int], Spans]]:
    """Label, text, ids and code-point offsets, by sentencepiece."""
    reference = oracle.Oracle(model_paths()[name].read_bytes())
    return [
        (label, text, reference.encode_ids(text.encode()), reference.codepoint_offsets(text))
        for label, text in labelled_texts()
    ]


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", model_paths())
def test_offsets(name: str, backend: str, opened: Opener) -> None:
    tok = opened(model_paths()[name], backend)
    for label, text, ids, codepoints in expected(name):
        by_codepoint = tok.encode_with_offsets(text)
        assert (by_codepoint.ids, by_codepoint.offsets) == (ids, codepoints), label
        units = [(utf16(text, begin), utf16(text, end)) for begin, end in codepoints]
        found = tok.encode_with_offsets(text, unit="utf16")
        assert (found.ids, found.offsets) == (ids, units), label
        sizes = [
            (len(text[:begin].encode()), len(text[:end].encode())) for begin, end in codepoints
        ]
        assert tok.encode_with_offsets(text, unit="byte").offsets == sizes, label
        assert tok.encode_with_offsets(text.encode(), unit="utf16") == found, label


@pytest.mark.parametrize("name", model_paths())
def test_map_of_normalize(name: str, backend: str, opened: Opener) -> None:
    """The same place in every unit, for each character of the normalized text."""
    tok = opened(model_paths()[name], backend)
    for label, text in labelled_texts():
        normalized, codepoints = tok.normalize(text, with_offsets=True)
        assert len(codepoints) == len(normalized) + 1, label
        units = tok.normalize(text, with_offsets=True, unit="utf16")
        assert units == (normalized, [utf16(text, at) for at in codepoints]), label
