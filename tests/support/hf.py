"""Whole models of tokenizer.json here and in tokenizers: what is compared, and on which texts."""

from __future__ import annotations

import atexit
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate
from typing import Any

import isotok
import pytest
from isotok.compat import tokenizers as drop_in
from isotok.compile import compile_model

from support import answers, data
from support.answers import Decoded, Offsets, cut

NAMES = (
    "gpt2", "qwen3", "llama3", "deepseek_v3", "llama2", "gemma3", "bert_base_cased", "xlmr",
    "xlnet_base_cased",
)  # fmt: skip
CORPORA = ("en", "ja", "zh", "code", "multi")
SPACES = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2003\u2028\u202f\u3000\u200b"
SCRIPTS = (
    "aZ éß٣ηЖ中あｱ한ไทย\u0301\u0323\u200d🙂👩🏽‍🚀\x00\x7f\ufffd\ufeff▁Ġﬁ①ﷺK\u1100\u1161\u3099か"
)
BITS = ("'s", "'LL", "Hello", " world", "1", "23", "456 7", "٣٤", "\r\n", "#", "##", "<|", "|>")


# ---- Models ---------------------------------------------------------------------------


@cache
def source(name: str) -> bytes:
    """The file, unpacked."""
    for path in data.models_dir().glob(f"{name}.tokenizer.json*"):
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix == ".gz" else raw
    pytest.skip(f"no {name}.tokenizer.json")


@cache
def reference(name: str) -> Any:
    import tokenizers

    return tokenizers.Tokenizer.from_str(source(name).decode())


@cache
def blob(name: str) -> bytes:
    return compile_model(source(name))


@cache
def opened(name: str, backend: str, cache_bytes: int | None = None) -> isotok.Tokenizer:
    tok = isotok.load(blob(name), backend=backend, cache_bytes=cache_bytes)  # type: ignore[arg-type]
    _open.append(tok)
    return tok


_open: list[isotok.Tokenizer] = []


@atexit.register
def forget() -> None:
    """Close the models, and let go of all that was made of them."""
    while _open:
        _open.pop().close()
    for made in (source, reference, blob, opened, compatible, member, added, names):
        made.cache_clear()


@cache
def compatible(name: str, backend: str) -> drop_in.Tokenizer:
    """The drop-in."""
    with data.environment(ISOTOK_BACKEND=backend):
        return drop_in.Tokenizer.from_buffer(source(name))


@cache
def member(name: str, key: str) -> Any:
    """Of the JSON."""
    return json.loads(source(name))[key]


@cache
def added(name: str) -> list[dict[str, Any]]:
    """The member `added_tokens`."""
    found: list[dict[str, Any]] = member(name, "added_tokens")
    return found


# ---- Texts ----------------------------------------------------------------------------


@cache
def corpus(name: str, size: int, begin: int = 0) -> str:
    path = data.corpora_dir() / f"{name}.txt"
    if not path.exists():
        pytest.skip(data.absence(path))
    with path.open("rb") as file:
        file.seek(begin)
        return file.read(size).decode(errors="ignore")


@cache
def stress(size: int) -> dict[str, str]:
    """Beginnings of the hostile corpora; bytes that are ill-formed as Python replaces them."""
    paths = sorted((data.corpora_dir() / "stress").glob("*"))
    return {path.name: path.read_bytes()[:size].decode(errors="replace") for path in paths}


def documents(text: str, size: int = 2000) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


class Texts:
    """Random texts of a model: its pieces and added tokens, spaces, digits, marks, scripts."""

    def __init__(self, name: str) -> None:
        self.reference = reference(name)
        self.size = self.reference.get_vocab_size()
        self.tokens = [token["content"] for token in added(name)] or ["<s>"]

    def part(self, rng: random.Random) -> str:
        kind = rng.randrange(9)
        if kind < 3:
            return self.pieces(rng, rng.randrange(1, 3)).replace("\ufffd", "")
        if kind == 3:
            return rng.choice(SPACES) * rng.choice((1, 1, 2, 3, 17))
        if kind == 4:
            return "".join(rng.choices("0123456789", k=rng.randrange(1, 6)))
        if kind == 5:
            return self._token(rng)
        if kind == 6:
            return rng.choice(BITS)
        if kind == 7 and rng.random() < 0.3:
            return _character(rng)
        return "".join(rng.choices(SCRIPTS, k=rng.randrange(1, 4)))

    def pieces(self, rng: random.Random, count: int) -> str:
        """Text of random ids."""
        ids = [rng.randrange(self.size) for _ in range(count)]
        return str(self.reference.decode(ids, skip_special_tokens=False))

    def _token(self, rng: random.Random) -> str:
        token: str = rng.choice(self.tokens[:60] if rng.random() < 0.7 else self.tokens)
        if rng.random() < 0.25:  # a part of one
            at = rng.randrange(len(token) + 1)
            return rng.choice((token[:at], token[at:]))
        return token

    def text(self, rng: random.Random) -> str:
        return "".join(self.part(rng) for _ in range(rng.randrange(9)))

    def ids(self, rng: random.Random) -> list[int]:
        return [rng.randrange(self.size) for _ in range(rng.randrange(10))]


def _character(rng: random.Random) -> str:
    point = rng.randrange(0x20000 if rng.random() < 0.9 else 0x110000)
    return "" if 0xD800 <= point < 0xE000 else chr(point)


def random_texts(name: str, seed: str, count: int) -> Iterator[str]:
    texts, rng = Texts(name), random.Random(f"{name} {seed}")
    return (texts.text(rng) for _ in range(count))


# ---- What is compared -----------------------------------------------------------------


class Answers:
    """What tokenizers says of texts, asked once for all that is compared with it."""

    def __init__(self, ref: Any, texts: Sequence[str], *, add: bool) -> None:
        self.ref, self.texts, self.add = ref, list(texts), add
        self.encodings = ref.encode_batch(self.texts, add_special_tokens=add)
        self.ids: list[list[int]] = [each.ids for each in self.encodings]
        self.options = {"add_special_tokens": add}

    @cached_property
    def offsets(self) -> list[Offsets]:
        return [each.offsets for each in self.encodings]

    @cached_property
    def decoded(self) -> list[Decoded]:
        return list(self.decoded_of(range(len(self.ids))))

    def decoded_of(self, numbers: Sequence[int]) -> Iterator[Decoded]:
        """Yield the texts of some of the ids, with special tokens and without."""
        for skip in (True, False):
            options = {"skip_special_tokens": skip}
            yield options, self.ref.decode_batch([self.ids[i] for i in numbers], **options)


def same_encodings(tok: isotok.Tokenizer, ref: Any, texts: Sequence[str], *, add: bool) -> None:
    """Ids one by one and as a batch, their number, and offsets."""
    found = Answers(ref, texts, add=add)
    answers.same_ids(tok, found)
    answers.same_offsets(tok, found)


def ids_of(ref: Any, text: str, *, add: bool) -> list[int]:
    found: list[int] = ref.encode(text, add_special_tokens=add).ids
    return found


COLUMNS = ("ids", "tokens", "offsets", "special_tokens_mask", "word_ids", "type_ids")


def same_columns(ours: Any, found: Answers, numbers: Sequence[int]) -> None:
    """All columns of the drop-in's encodings, of texts with these numbers."""
    texts = [found.texts[number] for number in numbers]
    every = ours.encode_batch(texts, add_special_tokens=found.add)
    for number, here in zip(numbers, every, strict=True):
        there = found.encodings[number]
        for column in COLUMNS:
            same = getattr(here, column) == getattr(there, column)
            assert same, (column, found.texts[number])


@cache
def names(name: str) -> list[str | None]:
    """Text of each token, by its id."""
    ref = reference(name)
    return [ref.id_to_token(number) for number in range(ref.get_vocab_size() + 1000)]


def same_names(name: str, backend: str) -> None:
    """Text of every token."""
    theirs, ours = names(name), compatible(name, backend)
    assert [ours.id_to_token(number) for number in range(len(theirs))] == theirs


def odd_texts(name: str, found: Answers) -> list[int]:
    """Numbers of the texts with a token whose text its id does not tell: unknown text of Unigram,
    added tokens with the white space around them. Elsewhere equal ids are equal tokens."""
    texts = names(name)
    return [
        number
        for number, each in enumerate(found.encodings)
        if each.tokens != [texts[index] for index in found.ids[number]]
    ]


def controls(tok: isotok.Tokenizer, ref: Any) -> frozenset[int]:
    """Ids that `special="none"` gives for no text: special tokens of more than a byte."""
    every = ref.get_added_tokens_decoder().items()
    some = (i for i, token in every if token.special and len(token.content.encode()) > 1)
    return frozenset(i for i in some if i != tok.unk_id)


def same_by_special(
    tok: isotok.Tokenizer, ref: Any, text: str, more: frozenset[int] = frozenset()
) -> Iterator[tuple[str, list[int]]]:
    """Ids, their number and offsets with all special tokens and none; yields which, and the ids.
    `more` are special, although they were added again as if they were not.
    """
    barred = controls(tok, ref) | more
    for special in ("all", "none"):
        ref.encode_special_tokens = special == "none"
        want = ref.encode(text)
        found = tok.encode_with_offsets(text, special=special)  # type: ignore[arg-type]
        if special == "none" and _gives(want, barred):
            yield special, strict(tok, ref, text, found, barred)
            continue
        assert found.ids == want.ids, (text, special)
        assert found.offsets == want.offsets, (text, special)
        assert tok.count(text, special=special) == len(want.ids)  # type: ignore[arg-type]
        yield special, want.ids
    ref.encode_special_tokens = False


def _gives(want: Any, barred: frozenset[int]) -> bool:
    """Whether tokenizers itself makes special tokens of the text, apart from the template."""
    rows = zip(want.ids, want.special_tokens_mask, strict=True)
    return any(number in barred and not mask for number, mask in rows)


def strict(
    tok: isotok.Tokenizer, ref: Any, text: str, found: Any, barred: frozenset[int]
) -> list[int]:
    """Ids with `special="none"` where tokenizers gives special tokens: their letters instead."""
    want = ref.encode(text, add_special_tokens=False)
    ours = tok.encode_with_offsets(text, special="none", add_special_tokens=False)
    assert tok.count(text, special="none") == len(found.ids)
    assert barred.isdisjoint(ours.ids), (text, ours.ids)
    left_out = {*barred, tok.unk_id}  # unknown letters and what was unknown may be one token
    rest = iter([*zip(ours.ids, ours.offsets, strict=True)])
    for token in zip(want.ids, want.offsets, strict=True):
        assert token[0] in left_out or token in rest, (text, token)
    return list(found.ids)


def same_special(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """Ids without special tokens of the text, at once and in parts; `ref` is set so."""
    want, barred = ref.encode(text), controls(tok, ref)
    found = tok.encode_with_offsets(text, special="none")
    ids = want.ids
    if _gives(want, barred):
        ids = strict(tok, ref, text, found, barred)
    else:
        assert (found.ids, found.offsets) == (want.ids, want.offsets), text
    parts = cut(text.encode(), rng)
    assert [i for part in tok.encode_stream(parts, special="none") for i in part] == ids, parts


def same_in_units(tok: isotok.Tokenizer, ref: Any, text: str) -> None:
    """Offsets in bytes and UTF-16 units are those of tokenizers, converted."""
    spans = ref.encode(text).offsets
    for unit, codec, width in (("byte", "utf-8", 1), ("utf16", "utf-16-le", 2)):
        sizes = (len(char.encode(codec)) // width for char in text)
        at = [0, *accumulate(sizes)]
        found = tok.encode_with_offsets(text, unit=unit).offsets  # type: ignore[arg-type]
        assert found == [(at[begin], at[end]) for begin, end in spans], (text, unit)


def same_limits(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """`truncate`, `fits`."""
    for add in (True, False):
        ids = ids_of(ref, text, add=add)
        answers.same_limit(tok, text, ids, rng, add_special_tokens=add)


def same_streams(tok: isotok.Tokenizer, ref: Any, text: str, rng: random.Random) -> None:
    """Bytes that come in parts."""
    for add in (True, False):
        ids = ids_of(ref, text, add=add)
        answers.same_stream(tok, text, ids, rng, add_special_tokens=add)


def same_texts(tok: isotok.Tokenizer, ref: Any, ids: list[int], rng: random.Random) -> None:
    """Decoded at once and as they come."""
    for skip in (True, False):
        want = ref.decode(ids, skip_special_tokens=skip)
        answers.same_text(tok, ids, want, rng, skip_special_tokens=skip)
