"""Parts of pre-tokens that byte-level BPE segments on their own (isotok__bpe_first_part), by the
token cache: random tables with torn pieces over scripts of many bytes, against tiktoken and
tokenizers; bytes that are no UTF-8 as well.
"""

from __future__ import annotations

import codecs
import json
import random
from collections.abc import Callable

import isotok
import pytest
from isotok import _blob_gen
from isotok.compile import compile_model
from isotok.compile._tiktoken import tiktoken_fields
from support import core

tiktoken = pytest.importorskip("tiktoken", reason="the reference library is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

SCRIPTS = {
    "cjk": "中丁三文字漢語、。日",
    "thai": "กขคงจฉชเแโำิีึ่้๊",
    "arabic": "ابتثجحخدذرمنهويَُِ",
    "hindi": "अआकखगघचािीुू्ंः",
    "hangul": "가각한글말을이다",
    "mixed": "aé中กب😀क한 b'1\u0301ß—",
}
PATTERN = r"[^|]+|\|"  # all of a text is one pre-token
WORDS = r"[^\s|]+|\s+|\|"


def sample(rng: random.Random, script: str, longest: int) -> str:
    """Return a text with repeats: the cache is to answer."""
    some = rng.sample(SCRIPTS[script], k=min(6, len(SCRIPTS[script])))
    return "".join(rng.choices([*some, *some, " ", "a"], k=rng.randint(1, longest)))


def random_ranks(rng: random.Random, script: str) -> dict[bytes, int]:
    """All bytes, most characters, words of whole characters, and torn pieces."""
    letters = [letter.encode() for letter in SCRIPTS[script]]
    tokens = dict.fromkeys(bytes([byte]) for byte in range(256))
    made: dict[bytes, None] = {}
    for letter in letters:
        if rng.random() < 0.8:
            made.update(dict.fromkeys(letter[:end] for end in range(2, len(letter) + 1)))
    for _ in range(rng.randrange(25)):
        word = b"".join(rng.choices(letters, k=rng.randrange(2, 5)))
        made[word] = None
    for _ in range(rng.choice((0, 0, 3, 12))):
        word = b"".join(rng.choices(letters, k=3))
        begin = rng.randrange(len(word) - 1)
        made[word[begin : begin + rng.randrange(2, 7)]] = None
    pieces = [piece for piece in made if piece not in tokens and len(piece) > 1]
    if rng.random() < 0.7:
        pieces.sort(key=len)
    else:
        rng.shuffle(pieces)
    return {token: rank for rank, token in enumerate([*tokens, *pieces])}


def parts_of(blob: bytes) -> bool:
    view = _blob_gen.BlobView(blob)
    return len(view.char_joints) != 0 and len(view.pair_set) != 0


@pytest.mark.parametrize("backend", ["native", "wasm"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_ranks(script: str, backend: str) -> None:
    rng, used, hits = random.Random(f"parts {script}"), 0, 0
    for _ in range(25 if backend == "native" else 4):
        ranks = random_ranks(rng, script)
        pattern = rng.choice((PATTERN, WORDS))
        peer = tiktoken.Encoding("toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        blob = compile_model(tiktoken_fields(ranks, pattern, {}))
        used += parts_of(blob)
        tok = isotok.load(blob, backend=backend, cache_bytes=4096)  # type: ignore[arg-type]
        for _ in range(30):
            text = sample(rng, script, 60)
            want = peer.encode_ordinary(text)
            for _ in range(3):  # missed, kept, answered
                assert tok.encode(text) == want, (ranks, text)
        hits += tok.cache_info().hits
    assert used > 0 and hits > 0, (used, hits)


@pytest.mark.parametrize("script", SCRIPTS)
def test_ill_formed(script: str) -> None:
    """Normalized text is taken as it is: a lead byte need not be followed by its rest."""
    rng = random.Random(f"ill-formed {script}")
    for _ in range(30):
        ranks = random_ranks(rng, script)
        peer = tiktoken.Encoding("toy", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
        blob = compile_model(tiktoken_fields(ranks, PATTERN, {}))
        tok = isotok.load(blob, backend="native", cache_bytes=4096)
        for _ in range(60):
            raw = bytearray(sample(rng, script, 12).encode())
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(raw))
                kind = rng.random()
                if kind < 0.4 and len(raw) > 1:
                    del raw[at]
                elif kind < 0.8:
                    raw.insert(at, rng.choice((0xC3, 0xE4, 0xF0, 0xFF, 0x80, 0xB8)))
                else:
                    raw[at] = rng.choice((0xC3, 0xE0, 0xF0, 0x41, 0x80))
            want = peer._core_bpe.encode_single_piece(bytes(raw))
            for _ in range(3):
                assert tok.encode_normalized(bytes(raw)) == want, (ranks, bytes(raw))


def damaged(rng: random.Random, text: str) -> bytes:
    """Return text with a few bytes gone, added or changed; none at times."""
    raw = bytearray(text.encode())
    for _ in range(rng.choice((0, 1, 1, 4))):
        at = rng.randrange(len(raw))
        raw[at : at + rng.randint(0, 2)] = rng.choice((b"\xe4", b"\xf0\x9f", b"\xff", b"\x80", b""))
        raw += b"a"  # not empty
    return bytes(raw)


@pytest.mark.parametrize("script", SCRIPTS)
def test_little_room(script: str) -> None:
    """Outputs of a few tokens, raw text in parts that end inside characters, little memory; each
    byte of ill-formed text is U+FFFD.
    """
    codecs.register_error("isotok.byte", lambda error: ("\ufffd", error.start + 1))  # type: ignore[attr-defined]
    rng = random.Random(f"room {script}")
    for _ in range(25):
        ranks = random_ranks(rng, script)
        pattern = rng.choice((PATTERN, WORDS))
        peer = tiktoken.Encoding("toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        model = core.Model(compile_model(tiktoken_fields(ranks, pattern, {})))
        for _ in range(12):
            raw = damaged(rng, "".join(sample(rng, script, 60) for _ in range(rng.choice((1, 5)))))
            want = peer.encode_ordinary(raw.decode(errors="isotok.byte"))
            plan = core.Plan(
                rng.choice((1, 2, 3, 5, 8, 33, 4096)),
                rng.choice(((), (1,), (7, 2), (3,), (16, 17, 40), (100, 300))),
                rng.choice((None, 0, 100)),
                rng.choice((0, 4096, 4096)),
                rng.random() < 0.3,
            )
            assert core.encode(model, raw, plan)["ids"] == want, (ranks, raw, plan)


# ---- Lists of merges ----------------------------------------------------------------------


def merges_of(rng: random.Random, ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """One or two ways to make each piece."""
    merges: list[tuple[bytes, bytes]] = []
    for piece in ranks:
        ways = [
            (piece[:at], piece[at:])
            for at in range(1, len(piece))
            if piece[:at] in ranks and piece[at:] in ranks
        ]
        rng.shuffle(ways)
        merges += ways[: rng.choice((1, 1, 2))]
    return merges


def file_of(rng: random.Random, ranks: dict[bytes, int], *, ignore_merges: bool) -> str:
    letters = byte_letters_by_byte()
    spell: Callable[[bytes], str] = lambda piece: "".join(letters[byte] for byte in piece)  # noqa: E731
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
        "ignore_merges": ignore_merges,
        "vocab": {spell(piece): rank for piece, rank in ranks.items()},
        "merges": [f"{spell(a)} {spell(b)}" for a, b in merges_of(rng, ranks)],
    }  # fmt: skip
    byte_level = {
        "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
        "use_regex": rng.random() < 0.5,
    }  # fmt: skip
    whole = {
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": byte_level,
        "post_processor": None, "decoder": byte_level, "model": model,
    }  # fmt: skip
    return json.dumps(whole)


def byte_letters_by_byte() -> list[str]:
    """The letter of each byte, as ByteLevel spells it."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(b) if b in plain else chr(256 + others.index(b)) for b in range(256)]


@pytest.mark.parametrize("script", SCRIPTS)
def test_merges(script: str) -> None:
    rng, used = random.Random(f"merges {script}"), 0
    for _ in range(30):
        ranks = random_ranks(rng, script)
        source = file_of(rng, ranks, ignore_merges=rng.random() < 0.4)
        peer = tokenizers.Tokenizer.from_str(source)
        blob = compile_model(source.encode())
        used += parts_of(blob)
        tok = isotok.load(blob, backend="native", cache_bytes=4096)
        for _ in range(25):
            text = sample(rng, script, 60)
            want = peer.encode(text)
            for _ in range(3):
                assert tok.encode(text) == want.ids, (source, text)
            found = tok.encode_with_offsets(text)
            assert list(found.offsets) == want.offsets, (source, text)
            assert tok.count(text) == len(want.ids)
    assert used > 0
