"""str -> UTF-8, and positions in texts with surrogates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from isotok._text import PairPositions, has_pairs, join_surrogates, to_utf8

# Surrogates are rare in what hypothesis draws from all characters.
PIECES = st.sampled_from(["a", "é", "日", "😀", "\ud83d", "\ude00", "\udc80", "\ud800"])
TEXTS = st.lists(PIECES | st.characters(), max_size=12).map("".join)


def joined_by_hand(text: str) -> list[tuple[str, int]]:
    """Characters of the joined text, each with its position in `text`."""
    out: list[tuple[str, int]] = []
    at = 0
    while at < len(text):
        code = ord(text[at])
        low = ord(text[at + 1]) if at + 1 < len(text) else 0
        if 0xD800 <= code < 0xDC00 <= low < 0xE000:
            out.append((chr(0x10000 + (code - 0xD800 << 10) + low - 0xDC00), at))
            at += 2
            continue
        out.append(("\ufffd" if 0xD800 <= code < 0xE000 else text[at], at))
        at += 1
    return out


@given(TEXTS)
def test_surrogates(text: str) -> None:
    expected = joined_by_hand(text)
    joined = "".join(character for character, _ in expected)
    assert to_utf8(text).decode() == joined
    assert join_surrogates(text) == joined
    assert has_pairs(text) == (len(joined) < len(text))
    original = PairPositions(text).original
    assert [original(i) for i in range(len(joined))] == [at for _, at in expected]
    assert original(len(joined)) == len(text)


def test_plain_text_is_unchanged() -> None:
    for text in ("", "abc", "é日😀", "\ufffd", "\x00"):
        assert to_utf8(text) == text.encode()
        assert not has_pairs(text)
