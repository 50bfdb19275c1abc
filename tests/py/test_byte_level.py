"""Byte-level BPE from rank files: ids, offsets and texts against tiktoken itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import isotok
import pytest
from isotok.compile import compile_model
from isotok.compile._tiktoken import read_ranks, tiktoken_fields
from isotok.compile.pretok.tiktoken import PATTERNS
from isotok.errors import TokenizerError

tiktoken = pytest.importorskip("tiktoken", reason="the reference library is not installed")

SPECIAL = {"<|end|>": 400, "<|end|>x": 402, "<|": 405}
WORDS = ["the", "cat", "and", "a", "dog", "", "'ll", "'S", "123", "4567", "\n\n", "\r\n", "x=y;"]
WORDS += ["é", "ee\u0301", "中文字", "日本語", "\u0e01\u0e33", "🙂", "½", "ʰAB", "_"]
PARTS = [*WORDS, " ", "  ", "\n", "\x00", "\ufffd", *SPECIAL, "<|en", "d|>", "\u3000", "١٢"]


def _ranks() -> dict[bytes, int]:
    """All bytes in an order that is not theirs, then merges learned from a few words."""
    order = list(range(256))
    random.Random(7).shuffle(order)
    ranks = {bytes([byte]): rank for rank, byte in enumerate(order)}
    more = ("there cathedral andes 中文 日本 eée", "  \n\n", "12 123")
    texts = [word.encode() for word in (*WORDS, *more)]
    words = [[bytes([b]) for b in text] for text in texts]
    while len(ranks) < 330:
        pairs: dict[bytes, int] = {}
        for word in words:
            for a, b in pairwise(word):
                if a + b not in ranks:
                    pairs[a + b] = pairs.get(a + b, 0) + 1
        if not pairs:
            break
        best = max(sorted(pairs), key=lambda pair: pairs[pair])
        ranks[best] = len(ranks)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if word[i] + word[i + 1] == best:
                    word[i : i + 2] = [best]
                i += 1
    return ranks


RANKS = _ranks()


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base", "r50k_base", "kimi"])
def pair(request: pytest.FixtureRequest) -> tuple[bytes, tiktoken.Encoding]:
    """A blob, and the same model in tiktoken."""
    pattern = PATTERNS[request.param]
    blob = compile_model(tiktoken_fields(RANKS, pattern, SPECIAL))
    reference = tiktoken.Encoding(
        request.param, pat_str=pattern, mergeable_ranks=RANKS, special_tokens=SPECIAL
    )
    return blob, reference


def _texts(count: int) -> Iterator[str]:
    rng = random.Random(20261130)
    for _ in range(count):
        yield "".join(rng.choice(PARTS) for _ in range(rng.randrange(12)))


def _find(text: str) -> list[str]:
    """Leftmost special tokens, the longest first: tiktoken's own order is that of a dict."""
    out, i = [""], 0
    longest = sorted(SPECIAL, key=len, reverse=True)
    while i < len(text):
        found = next((s for s in longest if text.startswith(s, i)), None)
        if found is None:
            out[-1] += text[i]
            i += 1
        else:
            out += [found, ""]
            i += len(found)
    return out


def _with_special(reference: tiktoken.Encoding, text: str) -> list[int]:
    parts = _find(text)
    ids: list[int] = []
    for i, part in enumerate(parts):
        ids += [SPECIAL[part]] if i % 2 else reference.encode_ordinary(part)
    return ids


@pytest.mark.parametrize("cache", [None, 0], ids=["cached", "uncached"])
def test_same_as_tiktoken(
    pair: tuple[bytes, tiktoken.Encoding], backend: str, cache: int | None
) -> None:
    """Ids, number, text and where each token begins, with special tokens and without."""
    blob, reference = pair
    tok = isotok.load(blob, backend=backend, cache_bytes=cache)
    for text in _texts(1500):
        plain, ids = reference.encode_ordinary(text), _with_special(reference, text)
        assert tok.encode(text) == tok.encode(text, special="none") == plain, text
        assert tok.encode(text, special="all") == ids, text
        assert tok.count(text, special="all") == len(ids)
        assert tok.decode(ids) == text
        encoding = tok.encode_with_offsets(text, special="all")
        assert list(encoding.ids) == ids
        assert [begin for begin, _ in encoding.offsets] == reference.decode_with_offsets(ids)[1]


def test_streams(pair: tuple[bytes, tiktoken.Encoding], backend: str) -> None:
    """Chunks of any size give the ids of the whole text."""
    blob, reference = pair
    tok = isotok.load(blob, backend=backend)
    rng = random.Random(5)
    for text in _texts(400):
        data = text.encode()
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(6)))
        chunks = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        got = [i for ids in tok.encode_stream(chunks, special="all") for i in ids]
        assert got == _with_special(reference, text), chunks


def test_long_texts(pair: tuple[bytes, tiktoken.Encoding], backend: str) -> None:
    """Texts without a cut, and pre-tokens longer than any window."""
    blob, reference = pair
    tok = isotok.load(blob, backend=backend)
    for text in ("a" * 30_000, "1" * 30_001, "a" + " " * 30_000 + "x", "\n" * 20_000, "中" * 9_000):
        assert tok.encode(text) == reference.encode_ordinary(text)


def test_packed(pair: tuple[bytes, tiktoken.Encoding]) -> None:
    """The packed form, and a blob compiled again, give the same blob."""
    blob, _ = pair
    packed = compile_model(blob, "packed")
    assert len(packed) < len(blob)
    assert compile_model(packed) == compile_model(blob) == blob


def test_ill_formed_bytes(pair: tuple[bytes, tiktoken.Encoding], backend: str) -> None:
    """Bytes that are no UTF-8 are read as U+FFFD, one for each."""
    blob, _ = pair
    tok = isotok.load(blob, backend=backend)
    assert tok.encode(b"a\xff\xfeb") == tok.encode("a\ufffd\ufffdb")
    assert tok.encode(b"\xe4\xb8") == tok.encode("\ufffd\ufffd")


def test_decode_parts_of_characters(pair: tuple[bytes, tiktoken.Encoding], backend: str) -> None:
    """Incomplete characters become one U+FFFD for each maximal part, as in tiktoken."""
    blob, reference = pair
    tok = isotok.load(blob, backend=backend)
    rng = random.Random(3)
    for _ in range(500):
        ids = [rng.randrange(len(RANKS)) for _ in range(rng.randrange(8))]
        assert tok.decode_bytes(ids) == reference.decode_bytes(ids)
        assert tok.decode(ids) == reference.decode(ids)


@pytest.mark.parametrize(
    ("ranks", "special", "reason"),
    [
        ({b"a": 0}, {}, "a byte has no piece"),
        (RANKS | {b"": 340}, {}, "empty"),
        (RANKS | {b"zz": 3}, {}, "another's"),
        (RANKS, {"<s>": 5}, "another's"),
        (RANKS, {"<s>": -1}, "negative"),
        (RANKS, {"<s>": 0xFFFF00}, "ids must be below 16,776,960"),
    ],
)
def test_refused(ranks: dict[bytes, int], special: dict[str, int], reason: str) -> None:
    """What cannot be a model is refused, with the reason."""
    with pytest.raises(TokenizerError, match=reason):
        compile_model(tiktoken_fields(ranks, PATTERNS["r50k_base"], special))


@pytest.mark.parametrize("line", [b"YQ==", b"YQ== x", b"Y! 3", b"YQ== 1 2"])
def test_bad_rank_file(line: bytes) -> None:
    """The line is named."""
    with pytest.raises(TokenizerError, match="line 2"):
        read_ranks(b"YQ== 0\n" + line + b"\n")


def test_damaged(pair: tuple[bytes, tiktoken.Encoding], backend: str) -> None:
    """A damaged blob is refused, or gives ids of the vocabulary."""
    blob, _ = pair
    rng = random.Random(11)
    opened = 0
    for _ in range(60):
        bad = bytearray(blob)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(64, len(bad))] ^= 1 << rng.randrange(8)
        try:
            tok = isotok.load(bytes(bad), backend=backend)
        except TokenizerError:
            continue
        opened += 1
        for text in _texts(5):
            ids = tok.encode(text, special="all")
            assert all(0 <= i < tok.vocab_size for i in ids)
            tok.decode_bytes(ids)
    assert opened > 5


def test_two_special_texts_of_one_id() -> None:
    """o200k_harmony has such a pair: the first text counts."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    source = tiktoken_fields(ranks, r"\w+|\W+", {"<first>": 256, "<second>": 256})
    tok = isotok.load(compile_model(source))
    assert tok.encode("<first>", special="all") == [256]
    assert tok.encode("<second>", special="all") == list(b"<second>")
    assert tok.decode([256]) == "<first>"
