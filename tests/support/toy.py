"""A small model whose ids the tests of the Python package can spell out."""

from __future__ import annotations

from support.models import BYTES, CONTROL, NORMAL, SPECIALS, USER_DEFINED, Piece, charsmap, model

WORDS: list[Piece] = [("▁hello", -1.0, NORMAL), ("▁world", -1.0, NORMAL), ("▁", -2.0, NORMAL)]
LETTERS: list[Piece] = [("ld", -3.0, NORMAL), *((letter, -4.0, NORMAL) for letter in "helowrd")]

HELLO, WORLD = 3, 4


def toy_model() -> bytes:
    """<unk>, <s>, </s>, ▁hello (3), ▁world (4), ▁, ld and some letters."""
    return model([*SPECIALS, *WORDS, *LETTERS])


def byte_model() -> bytes:
    """The toy with byte fallback, a user-defined piece, a pad piece and a charsmap."""
    more: list[Piece] = [("<pad>", 0.0, CONTROL), ("<tag>", 0.0, USER_DEFINED)]
    pieces = [*SPECIALS, *WORDS, *LETTERS, *more, *BYTES]
    rules = charsmap({"Ａ": "a", "ﬁ": "fi", "\t": " ", "\u0007": ""})
    return model(pieces, {"byte_fallback": True}, {"precompiled_charsmap": rules})


def bare_model() -> bytes:
    """No unknown piece, no control pieces: ids that a model need not have."""
    pieces = [*BYTES, *WORDS, *LETTERS]
    return model(pieces, {"byte_fallback": True})
