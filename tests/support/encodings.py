"""The same calls on tokenizers and on isotok.compat.tokenizers, compared."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

COLUMNS = (
    "ids",
    "tokens",
    "offsets",
    "type_ids",
    "attention_mask",
    "special_tokens_mask",
    "word_ids",
    "sequence_ids",
    "n_sequences",
)
LOOKUPS = {
    "char_to_token": 2,
    "char_to_word": 2,
    "word_to_tokens": 2,
    "word_to_chars": 2,
    "token_to_chars": 1,
    "token_to_word": 1,
    "token_to_sequence": 1,
}


def same(theirs: Any, ours: Any, where: str = "") -> None:
    """Assert that two encodings are equal, their overflowing parts included."""
    for name in COLUMNS:
        assert getattr(ours, name) == getattr(theirs, name), f"{where}{name}"
    assert (len(ours), repr(ours)) == (len(theirs), repr(theirs)), where
    parts = theirs.overflowing, ours.overflowing
    assert len(parts[0]) == len(parts[1]), f"{where}overflowing"
    for i, (one, other) in enumerate(zip(*parts, strict=True)):
        same(one, other, f"{where}overflowing[{i}].")


def same_lookups(theirs: Any, ours: Any, rng: random.Random, skip: Sequence[str] = ()) -> None:
    """Assert that questions about random places have equal answers."""
    for _ in range(8):
        arguments = rng.randrange(len(theirs) + 3), rng.randrange(3)
        for name, count in LOOKUPS.items():
            if name not in skip:
                wanted = getattr(theirs, name)(*arguments[:count])
                assert getattr(ours, name)(*arguments[:count]) == wanted, (name, arguments)


def attempt(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Return what a call returns, and what it raises: their panics are no Exception."""
    try:
        return call(), None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return None, error


def both(theirs: Any, ours: Any, call: Callable[[Any], Any]) -> tuple[Any, Any] | None:
    """Return what a call gives on both; None if it is an error on both, of one kind."""
    wanted, expected = attempt(lambda: call(theirs))
    found, error = attempt(lambda: call(ours))
    assert (expected is None) == (error is None), (expected, error)
    if expected is None:
        return wanted, found
    if type(expected).__name__ == "PanicException":
        assert type(error) is ValueError
    else:
        assert isinstance(error, type(expected)), (expected, error)
    return None


def settle(theirs: Any, ours: Any, rng: random.Random) -> None:
    """Give both the same random truncation and padding, or none."""
    for one in (theirs, ours):
        one.no_truncation()
        one.no_padding()
    if rng.random() < 0.7:
        truncation = {
            "max_length": rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 10, 16]),
            "stride": rng.choice([0, 0, 1, 2, 3]),
            "strategy": rng.choice(["longest_first", "only_first", "only_second"]),
            "direction": rng.choice(["left", "right"]),
        }
        both(theirs, ours, lambda one: one.enable_truncation(**truncation))
    if rng.random() < 0.5:
        padding = {
            "direction": rng.choice(["left", "right"]),
            "pad_id": rng.randrange(4),
            "pad_type_id": rng.randrange(3),
            "pad_token": "[P]",
            "length": rng.choice([None, None, 5, 20]),
            "pad_to_multiple_of": rng.choice([None, 4, 7]),
        }
        both(theirs, ours, lambda one: one.enable_padding(**padding))
    assert ours.truncation == theirs.truncation
    assert ours.padding == theirs.padding


def same_calls(
    theirs: Any,
    ours: Any,
    rng: random.Random,
    text: Callable[[], str],
    count: int,
    skip: Sequence[str] = (),
) -> None:
    """Encode random texts, pairs, words and batches with random settings on both."""
    for i in range(count):
        if i % 4 == 0:
            settle(theirs, ours, rng)
            theirs.encode_special_tokens = ours.encode_special_tokens = rng.random() < 0.2
        words, add = rng.random() < 0.25, rng.random() < 0.7

        def one(words: bool = words) -> Any:
            return [text()[:12] for _ in range(rng.randrange(5))] if words else text()

        first, second = one(), one() if rng.random() < 0.5 else None
        made = both(theirs, ours, lambda t, a=(first, second, words, add): t.encode(*a))
        if made is not None:
            same(*made)
            same_lookups(*made, rng, skip)
        if i % 5 == 0:
            pairs = [rng.choice([one, lambda: (one(), one())])() for _ in range(rng.randrange(4))]
            batch = [each for each in pairs if each]
            for name in ("encode_batch", "encode_batch_fast"):
                every = both(
                    theirs, ours, lambda t, n=name, a=(batch, words, add): getattr(t, n)(*a)
                )
                for wanted, found in zip(*(every or ([], [])), strict=True):
                    same(wanted, found)
    for tokenizer in (theirs, ours):
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = False
