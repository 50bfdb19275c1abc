"""Combining marks in a row, as many as a text of 1 MB has: one unit of the normalizer."""

from __future__ import annotations

import pytest
from support import hf

TEXTS = {
    "one mark": "a" + "\u0301" * 500_000,
    "behind what is removed": "\x01\u200b" + "\u0301" * 500_000,
    "out of order": "\u200b a\u0323\u0301" + "\u0323\u0301" * 250_000 + "b",
    "in front of what becomes long": "\x01\x02 b" + "\u0327\u0301" * 100_000 + "\ufdfa",
}


@pytest.mark.parametrize("name", ["xlmr", "xlnet_base_cased"])
@pytest.mark.parametrize("text", TEXTS)
def test_many_marks(name: str, text: str, backend: str) -> None:
    want = hf.reference(name).encode(TEXTS[text])
    found = hf.opened(name, backend).encode_with_offsets(TEXTS[text])
    assert found.ids == want.ids
    assert found.offsets == want.offsets
