"""Text that is normalized already: encoding it, and where it may be cut.

tests/c/test_vectors.c checks the same on every golden vector, in the smallest parts.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import isotok
import isotok_reference
import pytest
from conftest import Opener, need
from hypothesis import given, settings
from hypothesis import strategies as st
from isotok.compile import compile_model
from isotok.errors import Status
from support import core, data
from support.random_models import random_model, random_text

PIECE = 1 << 16
"""Bytes of each corpus that are taken."""
WINDOW = 1 << 18
"""What the wasm back end holds of a text at a time."""

SPACES = "trained_unigram"  # writes U+2581 as one byte inside
VERBATIM = "uni_ill_formed"  # has pieces that are not well-formed


def own(name: str) -> Path:
    return data.VECTOR_MODELS / f"{name}.model"


def samples() -> list[Path]:
    folder = data.corpora_dir()
    return sorted([*folder.glob("*.txt"), *folder.glob("stress/*")])


def sample_of(path: Path) -> bytes:
    """Take a piece from the middle of a file; it may begin and end inside a character."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size // 2 - PIECE // 2))
        return file.read(PIECE)


def fused(chunks: list[list[int]], unk: int | None) -> list[int]:
    """Ids of the chunks end to end; a run of unknowns is one token."""
    ids: list[int] = []
    for chunk in chunks:
        again = unk is not None and ids[-1:] == chunk[:1] == [unk]
        ids += chunk[1:] if again else chunk
    return ids


def check_cuts(tok: isotok.Tokenizer, text: bytes | str, ids: list[int], exact: bool) -> None:
    """Chunks give the ids of the whole; of a unigram model at least the tokens fit."""
    ends = tok.safe_boundaries(text)
    assert ends == sorted(set(ends))
    assert ends[-1:] == ([len(text)] if text else [])
    chunks = [tok.encode_normalized(text[a:b]) for a, b in pairwise([0, *ends])]
    if exact:
        assert fused(chunks, tok.unk_id) == ids
    else:
        assert abs(len(fused(chunks, tok.unk_id)) - len(ids)) <= len(ids) // 1000 + 1


# ---- Real models ----------------------------------------------------------------------


@pytest.mark.parametrize("path", data.real_models(), ids=lambda path: path.stem)
def test_real_models(path: Path, backend: str, opened: Opener) -> None:
    need(data.corpora_dir())
    tok, other = opened(path, backend), opened(path, "native")
    for corpus in samples():
        raw = sample_of(corpus)
        text, ids = tok.normalize(raw), tok.encode(raw)
        assert tok.encode_normalized(text) == ids, corpus.name
        assert tok.safe_boundaries(text) == other.safe_boundaries(text), corpus.name
        if backend == "native":
            check_cuts(tok, text, ids, tok.info.algorithm != "unigram")


@pytest.mark.parametrize("path", data.real_models(), ids=lambda path: path.stem)
def test_no_token_spans_a_boundary(path: Path) -> None:
    """By the spans in the normalized text, for every algorithm."""
    need(data.corpora_dir())
    model = core.Model(bytes(compile_model(path.read_bytes())))
    with isotok.load(path) as tok:
        for corpus in samples():
            text = tok.normalize(sample_of(corpus))
            found = core.encode(model, text, core.Plan(), flags=core.NORMALIZED)
            ends = set(tok.safe_boundaries(text))
            for index, begin, end in zip(
                found["ids"], found["norm_begin"], found["norm_end"], strict=True
            ):
                assert index == tok.unk_id or ends.isdisjoint(range(begin + 1, end))


# ---- Random models, plans -------------------------------------------------------------


PLANS = st.builds(
    core.Plan,
    capacity=st.integers(1, 40),
    parts=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    more_memory=st.one_of(st.none(), st.integers(0, 4096)),
)


@given(seed=st.integers(0, 2**32), plan=PLANS, unit=st.sampled_from(sorted(core.UNITS)))
def test_plans(seed: int, plan: core.Plan, unit: str) -> None:
    """Ids and spans do not depend on capacity, memory and parts; nor on being normalized."""
    made = random_model(seed)
    generator = random.Random(f"text {seed}")
    blob = bytes(compile_model(made.source))
    model = core.Model(blob)
    with isotok.load(blob) as tok:
        for size in (5, 30, 400):
            raw = random_text(generator, made.letters, size)
            text, ids = tok.normalize(raw), tok.encode(raw)
            expected = core.encode(model, text, core.Plan(), unit, flags=core.NORMALIZED)
            assert expected["ids"] == ids
            places = isotok_reference.unit_positions(text, unit)
            in_bytes = core.encode(model, text, core.Plan(), flags=core.NORMALIZED)
            for side in ("begin", "end"):
                assert expected[side] == [places[byte] for byte in in_bytes[side]]
            assert core.encode(model, text, plan, unit, flags=core.NORMALIZED) == expected
            check_cuts(tok, text, ids, tok.info.algorithm != "unigram")


# ---- str --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [SPACES, "bpe_user", "word_plain", "char_bytes"])
@settings(max_examples=60)
@given(text=st.text(alphabet="ab ▁é日😀\ufdfahello wor", max_size=80))
def test_str(name: str, backend: str, opened: Opener, text: str) -> None:
    """The same as for bytes, with places in code points."""
    tok = opened(own(name), backend)
    normalized = tok.normalize(text)
    ids = tok.encode(text)
    assert tok.encode_normalized(normalized) == ids
    assert tok.encode_normalized(normalized.encode()) == ids
    ends = tok.safe_boundaries(normalized)
    assert [len(normalized[:end].encode()) for end in ends] == tok.safe_boundaries(
        normalized.encode()
    )
    check_cuts(tok, normalized, ids, tok.info.algorithm != "unigram")


def test_surrogates(backend: str, opened: Opener) -> None:
    """Pairs that are joined count two, as in the str that was given."""
    tok = opened(own("char_bytes"), backend)
    text = "▁a\ud83d\ude00b\udc80c"
    assert tok.encode_normalized(text) == tok.encode_normalized("▁a😀b\ufffdc")
    assert tok.safe_boundaries(text) == [1, 2, 4, 5, 6, 7]


def test_bos_and_eos(backend: str, opened: Opener) -> None:
    tok = opened(own(SPACES), backend)
    ids = tok.encode_normalized("▁hello", bos=True, eos=True)
    assert ids == [tok.bos_id, *tok.encode_normalized("▁hello"), tok.eos_id]
    assert tok.encode_normalized("") == tok.safe_boundaries("") == tok.safe_boundaries(b"") == []


# ---- Text that no normalizer writes ----------------------------------------------------


BAD = [b" ", b"\xff", b"\x80", b"\xe2\x96", b"\xe2\x96a", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5"]


@pytest.mark.parametrize("bad", BAD, ids=bytes.hex)
@pytest.mark.parametrize("at", [0, 3, 1000, WINDOW - 2, WINDOW + 5])
def test_refused(bad: bytes, at: int, backend: str, opened: Opener) -> None:
    """Both operations say which byte it is, wherever windows end."""
    tok = opened(own(SPACES), backend)
    for after in (b"", b"a", "▁word".encode()):
        text = b"a" * at + bad + after
        for call in (tok.encode_normalized, tok.safe_boundaries):
            with pytest.raises(isotok.TokenizerError, match="normalize it first") as caught:
                call(text)
            assert (caught.value.status, caught.value.offset) == (Status.E_TEXT, at)
            assert f"byte {at}" in str(caught.value)
    assert tok.encode_normalized("▁hello") == tok.encode("hello")  # it goes on


@settings(max_examples=200)
@given(text=st.binary(max_size=40))
def test_any_bytes(opened: Opener, text: bytes) -> None:
    """Native and wasm, encoding and cutting agree on what is refused and where."""
    found: list[object] = []
    for backend in ("native", "wasm"):
        tok = opened(own(SPACES), backend)
        for call in (tok.encode_normalized, tok.safe_boundaries):
            try:
                call(text)
                found.append(None)
            except isotok.TokenizerError as error:
                found.append(error.offset)
    assert len(set(found)) == 1
    try:
        readable = " " not in text.decode()
    except UnicodeDecodeError:
        readable = False
    assert (found[0] is None) == readable


@settings(max_examples=60)
@given(text=st.binary(max_size=40))
def test_verbatim(backend: str, opened: Opener, text: bytes) -> None:
    """A model with ill-formed pieces takes any bytes, and is never cut."""
    tok = opened(own(VERBATIM), backend)
    assert tok.safe_boundaries(text) == ([len(text)] if text else [])
    assert len(tok.encode_normalized(text)) <= len(text)
    normalized = tok.normalize(text)
    assert tok.encode_normalized(normalized) == tok.encode(text)


# ---- Long texts --------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["a", "日本", "▁é😀", "▁the", "日"])
@pytest.mark.parametrize("name", [SPACES, "word_plain", "bpe_runs"])
def test_windows(name: str, unit: str, opened: Opener) -> None:
    """In wasm a text passes through a window; boundaries do not depend on where it ends."""
    size = len(unit.encode())
    text = unit * ((2 * WINDOW + WINDOW // 3) // size)
    for shift in ("", "x", "xx", "xxx"):
        found = [
            opened(own(name), backend).safe_boundaries(shift + text)
            for backend in ("native", "wasm")
        ]
        assert found[0] == found[1]
        assert found[0][-1] == len(shift + text)
