"""Rank files here and in tiktoken: what is compared. The same names as in `hf`, so that a test
can take either; `add`: special tokens in the text are found (`allowed_special="all"`)."""

from __future__ import annotations

import atexit
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain, pairwise
from typing import Any

import isotok
import pytest
from isotok.compat import tiktoken as drop_in
from isotok.compile import compile_model
from isotok.compile._tiktoken import SPECIAL_TOKENS, read_ranks
from isotok.compile.pretok.tiktoken import PATTERNS

from support import answers, data, hf
from support.answers import Decoded, Offsets
from support.arrays import np

FILES = {"cl100k_base": "cl100k_base", "o200k_base": "o200k_base", "o200k_harmony": "o200k_base"}
NAMES = tuple(FILES)
SECOND_TEXTS = {"o200k_harmony": "<|reserved_200018|>"}
"""Texts of an id that has another text: in a model an id has one. The drop-ins find both."""


# ---- Models ---------------------------------------------------------------------------


@cache
def source(name: str) -> bytes:
    path = data.models_dir() / f"{FILES[name]}.tiktoken"
    if not path.exists():
        pytest.skip(data.absence(path))
    return path.read_bytes()


@cache
def _definition(name: str) -> dict[str, Any]:
    return {
        "pat_str": PATTERNS[name],
        "mergeable_ranks": read_ranks(source(name)),
        "special_tokens": dict(SPECIAL_TOKENS[name]),
    }


@cache
def reference(name: str) -> Any:
    import tiktoken

    return tiktoken.Encoding(name, **_definition(name))


@cache
def opened(name: str, backend: str, cache_bytes: int | None = None) -> isotok.Tokenizer:
    blob = compile_model(source(name), name=f"{name}.tiktoken")
    tok = isotok.load(blob, backend=backend, cache_bytes=cache_bytes)  # type: ignore[arg-type]
    _open.append(tok)
    return tok


_open: list[isotok.Tokenizer] = []


@atexit.register
def forget() -> None:
    """Close the models, and let go of all that was made of them."""
    while _open:
        _open.pop().close()
    for made in (source, _definition, reference, opened, compatible, names, token_sizes):
        made.cache_clear()


@cache
def compatible(name: str, backend: str) -> drop_in.Encoding:
    """The drop-in."""
    with data.environment(ISOTOK_BACKEND=backend):
        return drop_in.Encoding(name, **_definition(name))


class Texts(hf.Texts):
    """Random texts of a rank file."""

    def __init__(self, name: str) -> None:
        self.reference = reference(name)
        self.tokens = sorted({*SPECIAL_TOKENS[name]} - {SECOND_TEXTS.get(name)})
        self.known = sorted(
            {*_definition(name)["mergeable_ranks"].values(), *SPECIAL_TOKENS[name].values()}
        )

    def pieces(self, rng: random.Random, count: int) -> str:
        return str(self.reference.decode(rng.choices(self.known, k=count)))

    def ids(self, rng: random.Random) -> list[int]:
        return rng.choices(self.known, k=rng.randrange(10))


# ---- What is compared -----------------------------------------------------------------


def ids_of(ref: Any, text: str, *, add: bool) -> list[int]:
    """What tiktoken gives; where its engine runs out of stack, what it gives for the pre-token.

    That happens for about a million characters of white space, which are one.
    """
    found: list[int]
    try:
        found = ref.encode(text, allowed_special="all") if add else ref.encode_ordinary(text)
    except BaseException as error:
        if type(error).__name__ not in ("PanicException", "ValueError") or not text.isspace():
            raise
        found = ref._encode_single_piece(text)
    return found


def _special(add: bool) -> Any:
    return "all" if add else "none"


class Answers:
    """What tiktoken says of texts, asked once for all that is compared with it."""

    def __init__(self, ref: Any, texts: Sequence[str], *, add: bool) -> None:
        self.ref, self.texts, self.add = ref, list(texts), add
        self.ids = [ids_of(ref, text, add=add) for text in self.texts]
        self.options = {"special": _special(add)}

    @cached_property
    def offsets(self) -> list[Offsets]:
        """Characters of each token: one that it shares is all its."""
        sizes = token_sizes(self.ref.name)
        counts = [len(ids) for ids in self.ids]
        flat = np.fromiter(chain.from_iterable(self.ids), np.int64, sum(counts))
        ends = np.cumsum(sizes[flat])
        raw = np.frombuffer("".join(self.texts).encode(), np.uint8)
        assert (ends[-1] if len(ends) else 0) == len(raw), self.texts
        characters = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])
        begins = np.concatenate([[0], np.cumsum([len(text) for text in self.texts])])
        base = np.repeat(begins[:-1], counts)
        first = characters[ends - sizes[flat] + 1] - 1 - base
        every = list(zip(first.tolist(), (characters[ends] - base).tolist(), strict=True))
        return [every[a:b] for a, b in pairwise(accumulate(counts, initial=0))]

    @cached_property
    def decoded(self) -> list[Decoded]:
        return list(self.decoded_of(range(len(self.ids))))

    def decoded_of(self, numbers: Sequence[int]) -> Iterator[Decoded]:
        """Yield the texts of some of the ids."""
        yield {}, [self.ref.decode(self.ids[i]) for i in numbers]


@cache
def names(name: str) -> dict[int, bytes]:
    """Bytes of each token, by its id."""
    ref = reference(name)
    return {number: ref.decode_single_token_bytes(number) for number in Texts(name).known}


def same_names(name: str, backend: str) -> None:
    """Bytes of every token, of the model and the drop-in."""
    theirs, ours, tok = names(name), compatible(name, backend), opened(name, backend)
    assert {number: ours.decode_single_token_bytes(number) for number in theirs} == theirs
    assert {number: tok.id_to_bytes(number) for number in theirs} == theirs


@cache
def token_sizes(name: str) -> Any:
    """Bytes of each token as an array."""
    every = names(name)
    return np.array([len(every.get(number, b"")) for number in range(max(every) + 1)])


def odd_texts(name: str, found: Answers) -> list[int]:
    """None: the bytes of a token depend on nothing but its id."""
    return []


def same_ids(tok: isotok.Tokenizer, ref: Any, texts: Sequence[str], *, add: bool) -> None:
    """Ids as a batch, and their number."""
    answers.same_ids(tok, Answers(ref, texts, add=add))


def same_encodings(tok: isotok.Tokenizer, ref: Any, texts: Sequence[str], *, add: bool) -> None:
    """Ids as a batch and one by one, tokens, and offsets in code points."""
    found = Answers(ref, texts, add=add)
    answers.same_ids(tok, found)
    answers.same_offsets(tok, found)


DECODED = 20
"""Texts of a batch whose ids the drop-in decodes, which takes no more than a table of tokens."""


def same_columns(ours: Any, found: Answers, numbers: Sequence[int]) -> None:
    """All that the drop-in does with texts, of those with these numbers."""
    texts, wanted = [found.texts[i] for i in numbers], [found.ids[i] for i in numbers]
    if found.add:
        assert ours.encode_batch(texts, num_threads=1, allowed_special="all") == wanted
    else:
        assert ours.encode_ordinary_batch(texts, num_threads=1) == wanted
    for text, ids in zip(texts, wanted, strict=True):
        assert ids_of(ours, text, add=found.add) == ids, text
    for ids in wanted[:: len(wanted) // DECODED + 1]:
        assert ours.decode_tokens_bytes(ids) == found.ref.decode_tokens_bytes(ids), ids
        assert ours.decode_with_offsets(ids) == found.ref.decode_with_offsets(ids), ids


def _begins(text: str, codec: str, width: int) -> list[int]:
    """Where each character begins, in units of `width` bytes of an encoding; and the end."""
    return [0, *accumulate(len(char.encode(codec)) // width for char in text)]


def _spans(
    ref: Any, text: str, ids: list[int], begins: list[int]
) -> list[tuple[int, int, int, int]]:
    """For each token: its characters, and its bytes; a character that it shares is all its."""
    found: list[tuple[int, int, int, int]] = []
    at = 0
    for part in ref.decode_tokens_bytes(ids):
        end = at + len(part)
        first, last = bisect_right(begins, at) - 1, bisect_right(begins, end - 1)
        found.append((first, last, at, end))
        at = end
    assert at == begins[-1], text
    return found


def same_in_units(tok: isotok.Tokenizer, ref: Any, text: str) -> None:
    """Offsets in bytes and UTF-16 units, of whole characters."""
    ids = ids_of(ref, text, add=True)
    spans = _spans(ref, text, ids, _begins(text, "utf-8", 1))
    for unit, codec, width in (("byte", "utf-8", 1), ("utf16", "utf-16-le", 2)):
        at = _begins(text, codec, width)
        found = tok.encode_with_offsets(text, unit=unit, special="all")  # type: ignore[arg-type]
        assert found.offsets == [(at[begin], at[end]) for begin, end, *_ in spans], (text, unit)


def same_limits(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """`truncate`, `fits`."""
    for add in (True, False):
        ids = ids_of(ref, text, add=add)
        answers.same_limit(tok, text, ids, rng, special=_special(add))


def same_streams(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """Bytes that come in parts."""
    for add in (True, False):
        ids = ids_of(ref, text, add=add)
        answers.same_stream(tok, text, ids, rng, special=_special(add))


def same_texts(tok: isotok.Tokenizer, ref: Any, ids: list[int], rng: random.Random) -> None:
    """Decoded at once and as they come."""
    answers.same_text(tok, ids, ref.decode(ids), rng)
    assert tok.decode_bytes(ids) == ref.decode_bytes(ids), ids
