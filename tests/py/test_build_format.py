"""The compiler's blobs against FORMAT.md, read with the official flatbuffers package.

Nothing here shares code with the core's reader or the compiler: what the source and the
rules say must be in the file, in the right place, and nothing else.
"""

from __future__ import annotations

import importlib.util
import random
import struct
import subprocess
import sys
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import isotok_reference as reference
import numpy as np
import pytest
from isotok.compile import compile_model
from numpy.typing import NDArray
from support import data
from support.blobs import ALGORITHMS, FIELDS, SCHEMA, STRUCTS, TYPES, Blob, xxh64
from support.zoo import MODELS
from wire import Message

NONE = 0xFFFFFFFF
MINUS_INFINITY = 0xFF800000
REAL = {path.stem: path for path in data.real_models()}
# A few thousand pieces of a real model show the same as all of them.
SAMPLE = 3000


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The class Model that flatc generates, under a name of its own."""
    folder = tmp_path_factory.mktemp("flatc")
    flatc = Path(sys.executable).parent / "flatc"
    subprocess.run([flatc, "--python", "-o", folder, SCHEMA], check=True)
    spec = importlib.util.spec_from_file_location("flatc_model", folder / "isotok/Model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Model


class Source:
    """What the reference reads in a source, without what it would encode with."""

    def __init__(self, source: bytes) -> None:
        model = Message(source)
        trainer, normalizer, denormalizer = (Message(model.merged.get(n, b"")) for n in (2, 3, 5))
        none = reference.Trie([])
        self.algorithm = trainer.choice(3, reference.UNIGRAM, range(1, 5))
        self.byte_fallback = trainer.flag(35, False)
        self.unk_surface = trainer.bytes.get(44, " \u2047 ".encode())
        self.vocabulary = reference.read_vocabulary(
            model.repeated.get(1, []), self.algorithm, self.byte_fallback
        )
        self.bos, self.eos, self.pad = (
            self.vocabulary.special(trainer.bytes.get(number) or default, reference.CONTROL)
            for number, default in ((46, b"<s>"), (47, b"</s>"), (48, b"<pad>"))
        )
        self.normalizer = reference.read_normalizer(normalizer, trainer.flag(24, False), none)
        self.denormalizer = None
        if denormalizer.bytes.get(2):
            self.denormalizer = reference.read_normalizer(denormalizer, False, none)


class Case:
    """A source, what the reference reads in it, and its blob."""

    def __init__(self, source: bytes, model_class: Any) -> None:
        self.source = source
        self.packed = compile_model(source, "packed", backend="native")
        self.raw = compile_model(source, backend="native")
        self.blob = Blob(self.raw, model_class)
        self.oracle = Source(source)
        self.pieces = self.oracle.vocabulary.pieces
        matched = {reference.NORMAL, reference.USER_DEFINED}
        if self.oracle.algorithm == reference.BPE:
            matched.add(reference.UNUSED)
        self.matched = [
            index
            for index, piece in enumerate(self.pieces)
            if piece.kind in matched and piece.text != b"\0"
        ]

    @property
    def sample(self) -> list[int]:
        picked = random.Random(1).sample(self.matched, min(SAMPLE, len(self.matched)))
        return sorted(picked)


@pytest.fixture(scope="module", params=[*MODELS, *REAL])
def case(request: pytest.FixtureRequest, generated: Any) -> Case:
    name = request.param
    source = REAL[name].read_bytes() if name in REAL else MODELS[name][1]()
    return Case(source, generated)


# ---- The file -----------------------------------------------------------------------


def test_xxh64_of_the_test() -> None:
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"abc") == 0x44BC2CF5AD770999
    assert xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1


def test_header(case: Case) -> None:
    raw = case.raw
    magic, version, total, checksum, features, parity = case.blob.header
    assert (magic, version, total, parity) == (b"ISTK", 1, len(raw), 1)
    assert raw[36:64] == bytes(28)
    assert features >> 12 == 0
    assert case.blob.model.ModelBufferHasIdentifier(raw, 64)
    if len(raw) < 1 << 20:
        assert checksum == xxh64(raw[24:])


def test_vectors_are_aligned_and_apart(case: Case) -> None:
    spans = []
    for name, (kind, number, is_vector) in FIELDS.items():
        at = case.blob.table.Offset(4 + 2 * number)
        if is_vector and at != 0:
            dtype, columns = STRUCTS.get(kind) or (TYPES[kind], 1)
            begin = case.blob.position(name)
            size = case.blob.table.VectorLen(at) * columns * np.dtype(dtype).itemsize
            assert begin % 64 == 0, name
            assert size > 0, name
            spans.append((begin, begin + size))
    spans.sort()
    for (_, end), (begin, _) in pairwise(spans):
        assert end <= begin - 4
        assert not any(case.raw[end : begin - 4])  # nothing but the next length in between
    assert not any(case.raw[spans[-1][1] :])
    assert len(case.raw) % 64 == 0


def test_nothing_of_the_packed_form(case: Case) -> None:
    assert case.blob.vector("piece_sizes") is None
    assert case.blob.vector("pretokenizer") is None
    assert case.blob.vector("template_ops") is None


@pytest.mark.parametrize("back", ["native", "wasm"])
def test_same_bytes_from_the_packed_form_and_everywhere(case: Case, back: Any) -> None:
    assert compile_model(case.packed, backend=back) == case.raw
    assert compile_model(case.source, backend=back) == case.raw
    assert compile_model(case.source, "packed", backend=back) == case.packed
    assert compile_model(case.packed, "packed", backend=back) == case.packed


def test_packed_form_is_small(case: Case) -> None:
    assert len(case.packed) < len(case.raw)
    if len(case.source) > 1 << 18:
        assert len(case.packed) <= len(case.source)


# ---- Pieces and scalars -------------------------------------------------------------


def test_pieces(case: Case) -> None:
    blob = case.blob
    assert blob.scalar("vocab_size") == len(case.pieces)
    assert blob.pieces == [piece.text for piece in case.pieces]
    assert blob.need("scores").tobytes() == b"".join(piece.score_bytes for piece in case.pieces)
    assert blob.need("types").tolist() == [piece.kind for piece in case.pieces]
    assert blob.scalar("max_piece_bytes") == max(len(piece.text) for piece in case.pieces)


def test_scalars(case: Case) -> None:
    blob, oracle = case.blob, case.oracle
    assert blob.scalar("algorithm") == oracle.algorithm
    ids = [oracle.vocabulary.unk, oracle.bos, oracle.eos, oracle.pad]
    names = ("unk_id", "bos_id", "eos_id", "pad_id")
    assert [blob.scalar(name) for name in names] == [NONE if each < 0 else each for each in ids]
    surface = blob.vector("unk_surface")
    assert (b"" if surface is None else surface.tobytes()) == oracle.unk_surface
    flags = normalizer_flags(oracle.normalizer)
    charsmap = oracle.normalizer.charsmap is not None
    assert blob.need("normalizer").tolist() == [[1, flags, int(charsmap), 0]]
    decoder = [[1, flags & 3, 0, 0]]
    if oracle.denormalizer:
        decoder.append([2, normalizer_flags(oracle.denormalizer), 1, 0])
    assert blob.need("decoder").tolist() == decoder


def normalizer_flags(normalizer: Any) -> int:
    return (
        normalizer.add_dummy_prefix
        | normalizer.remove_extra_whitespaces << 1
        | normalizer.escape_whitespaces << 2
        | normalizer.space_as_suffix << 3
    )


def test_features(case: Case) -> None:
    oracle, pieces = case.oracle, case.pieces
    texts = [pieces[index].text for index in case.matched]
    well_formed = all(is_well_formed(text) for text in texts)
    charsmap = oracle.normalizer.charsmap
    replacements = rules_of(charsmap).values() if charsmap else []
    expected = {ALGORITHMS[oracle.algorithm - 1]}
    if charsmap:
        expected.add("charsmap")
    if any(piece.kind == reference.USER_DEFINED for piece in pieces):
        expected.add("user_defined")
    if oracle.byte_fallback:
        expected.add("byte_fallback")
    if oracle.denormalizer:
        expected.add("denormalizer")
    cuttable = well_formed and all(is_well_formed(text) for text in replacements)
    spaces = any(b" " in text for text in texts)
    if not cuttable:
        expected.add("whole_text")
    if oracle.normalizer.escape_whitespaces and cuttable and not spaces:
        expected.add("compact_space")
    found = case.blob.features
    assert found - {"wide", "unused_merges", "whole_text"} == expected - {"whole_text"}
    assert "whole_text" in found or "whole_text" not in expected
    if oracle.algorithm != reference.BPE:
        assert "unused_merges" not in found
        assert ("whole_text" in found) == ("whole_text" in expected)


def is_well_formed(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_byte_ids(case: Case) -> None:
    ids = case.blob.vector("byte_ids")
    if not case.oracle.byte_fallback:
        assert ids is None
        return
    assert ids is not None and len(ids) == 256
    for value, index in enumerate(ids.tolist()):
        assert case.pieces[index].text == b"<0x%02X>" % value
        assert case.pieces[index].kind == reference.BYTE


# ---- Tries --------------------------------------------------------------------------


def test_trie_spells_every_piece(case: Case) -> None:
    blob = case.blob
    trie, ids = blob.need("trie"), blob.need("trie_ids")
    assert len(trie) % 256 == 0 and len(ids) == len(trie)
    for index in case.sample:
        slot = blob.walk(trie, blob.internal(case.pieces[index].text))
        assert slot is not None and ids[slot] == index
    assert sorted(ids[ids != NONE].tolist()) == sorted(case.matched)  # each once, no other


def test_other_ids(case: Case) -> None:
    """Sorted by text; of equal texts the reserved piece first."""
    found = case.blob.vector("other_ids")
    others = [] if found is None else found.tolist()
    matched = set(case.matched)
    rest = [
        index
        for index, piece in enumerate(case.pieces)
        if index not in matched and piece.text != b"\0"
    ]
    keys = {i: (case.pieces[i].text, case.pieces[i].kind == reference.UNUSED) for i in rest}
    assert others == sorted(rest, key=keys.__getitem__)


def check_structure(trie: NDArray[Any]) -> None:
    """Links inside, bases unique, and the label alone tells a child from any other slot."""
    slots = np.arange(len(trie), dtype=np.int64)
    bases, labels = trie[:, 0].astype(np.int64) >> 8, trie[:, 0].astype(np.int64) & 0xFF
    assert (bases < len(trie)).all()
    used = bases[bases != 0]
    assert len(np.unique(used)) == len(used)
    assert (used >= 256).all()
    assert (labels[:256] != slots[:256]).all()  # the sink of nodes without children
    is_base = np.zeros(len(trie), bool)
    is_base[used] = True
    is_child = is_base[slots ^ labels]
    is_child[:256] = False
    # what is no child has neither children nor a meaning
    assert (bases[~is_child & (slots != 0)] == 0).all()


def test_trie_structure(case: Case) -> None:
    blob = case.blob
    trie, ids = blob.need("trie"), blob.need("trie_ids")
    check_structure(trie)
    none = MINUS_INFINITY if case.oracle.algorithm == reference.UNIGRAM else NONE
    assert ((trie[:, 1] == none) == (ids == NONE)).all()
    user = blob.vector("user_trie")
    if user is not None:
        check_structure(user)


def test_no_walk_finds_what_is_not_there(case: Case) -> None:
    """Random bytes, and pieces with one byte changed."""
    blob, chance = case.blob, random.Random(2)
    trie, ids = blob.need("trie"), blob.need("trie_ids")
    known = {blob.internal(case.pieces[index].text): index for index in case.matched}
    for index in case.sample[:500]:
        text = bytearray(blob.internal(case.pieces[index].text))
        text[chance.randrange(len(text))] = chance.randrange(256)
        for probe in (bytes(text), chance.randbytes(3)):
            slot = blob.walk(trie, probe)
            found = NONE if slot is None else int(ids[slot])
            assert found == known.get(probe, NONE)


def test_user_trie(case: Case) -> None:
    user = case.blob.vector("user_trie")
    expected = {
        piece.text: index
        for index, piece in enumerate(case.pieces)
        if piece.kind == reference.USER_DEFINED
    }
    if not expected:
        assert user is None
        return
    assert user is not None
    for text, index in expected.items():
        slot = case.blob.walk(user, text)
        assert slot is not None and user[slot, 1] == index + 1
    assert np.count_nonzero(user[:, 1]) == len(expected)


# ---- Values -------------------------------------------------------------------------


def test_unigram_weights(case: Case) -> None:
    if case.oracle.algorithm != reference.UNIGRAM:
        return
    blob = case.blob
    trie = blob.need("trie")
    normal = [piece.score for piece in case.pieces if piece.kind == reference.NORMAL]
    least = np.float32(min(normal)) if normal else np.finfo(np.float32).max
    assert np.float32(blob.scalar("unk_score")) == least - np.float32(10)
    for index in case.sample:
        piece = case.pieces[index]
        slot = blob.walk(trie, blob.internal(piece.text))
        weight = struct.pack("<I", trie[slot, 1])
        if piece.kind == reference.USER_DEFINED:
            assert weight == struct.pack("<f", 0.1 * (len(piece.text) - 1))
        else:
            assert weight == piece.score_bytes
    weights = [abs(struct.unpack("<f", struct.pack("<I", value))[0]) for value in trie[:, 1]]
    wide = max([abs(float(blob.scalar("unk_score"))), *(w for w in weights if w != np.inf)]) > 1e30
    longest = max((len(blob.internal(case.pieces[i].text)) for i in case.matched), default=0)
    assert ("wide" in blob.features) == (wide or longest > 254)


def test_bpe_ranks(case: Case) -> None:
    if case.oracle.algorithm != reference.BPE:
        return
    blob = case.blob
    trie = blob.need("trie")
    scores = sorted({case.pieces[index].rank for index in case.matched}, reverse=True)
    rank = {score: place for place, score in enumerate(scores)}
    for index in case.sample:
        piece = case.pieces[index]
        slot = blob.walk(trie, blob.internal(piece.text))
        assert int(trie[slot, 1]) & 0x7FFFFFFF == rank[piece.rank]


def test_bpe_direct_bits(case: Case) -> None:
    """Direct only if the piece's own merges rebuild it; not required above 64 bytes."""
    if case.oracle.algorithm != reference.BPE or len(case.pieces) > 50000:
        return
    segmenter = reference.load(case.source).segmenter
    blob = case.blob
    trie = blob.need("trie")
    for index in case.sample[:1500]:
        text = case.pieces[index].text
        if len(text) > 500:
            continue
        slot = blob.walk(trie, blob.internal(text))
        direct = int(trie[slot, 1]) >> 31 == 0
        expected = segmenter.segment(text) == [(text, index)]
        assert direct == (expected and len(blob.internal(text)) <= 64)


def test_word_and_char_values(case: Case) -> None:
    if case.oracle.algorithm in (reference.UNIGRAM, reference.BPE):
        return
    trie, ids = case.blob.need("trie"), case.blob.need("trie_ids")
    assert (trie[ids != NONE, 1] == 0).all()


# ---- Sets ---------------------------------------------------------------------------


def characters(text: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(text):
        size = reference.char_size(text, at)
        found.append(text[at : at + size])
        at += size
    return found


def test_pair_set(case: Case) -> None:
    """Every pair inside a piece is there; the set is as large as the rule says."""
    pairs, blob = case.blob.need("pair_set"), case.blob
    wanted = set()
    for index in case.matched:
        parts = characters(blob.internal(case.pieces[index].text))
        wanted.update(pairwise(parts))
    ascii_bits = np.zeros(256 * 64, bool)
    wide = {pair for pair in wanted if max(map(max, pair)) >= 0x80}
    k = next(k for k in range(32) if 64 << k >= 12 * len(wide))
    assert len(pairs) == 256 + (1 << k)
    for pair in wanted:
        a, b = (int.from_bytes(part, "big") for part in pair)
        if pair in wide:
            h = (a * 0x9E3779B1 ^ b * 0x85EBCA77) & 0xFFFFFFFF
            h = (h ^ h >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
            h >>= 32 - k - 6
            assert int(pairs[256 + (h >> 6)]) >> (h & 63) & 1
        else:
            ascii_bits[a << 7 | b] = True
    assert (np.unpackbits(pairs[:256].view("u1"), bitorder="little") == ascii_bits).all()


def rules_of(charsmap: Any) -> dict[bytes, bytes]:
    """All rules of a charsmap, found from its root."""
    units = charsmap.units
    by_base: dict[int, list[int]] = defaultdict(list)
    for slot, unit in enumerate(units):
        if not unit >> 31:
            by_base[slot ^ unit & 0xFF].append(slot)
    rules: dict[bytes, bytes] = {}
    waiting = [(0, b"")]
    while waiting:
        slot, key = waiting.pop()
        base = slot ^ charsmap.step(units[slot])
        if units[slot] & 0x100:
            value = units[base] & 0x7FFFFFFF
            rules[key] = charsmap.pool[value : charsmap.pool.index(b"\0", value)]
        waiting += [(child, key + bytes([units[child] & 0xFF])) for child in by_base[base]]
    return rules


def test_bounds(case: Case) -> None:
    blob, oracle = case.blob, case.oracle
    keys, longest = [4], [3]
    for normalizer in (oracle.normalizer, oracle.denormalizer):
        if normalizer is not None and normalizer.charsmap is not None:
            space = 3 if normalizer.escape_whitespaces else 1
            keys += [len(key) for key in rules_of(normalizer.charsmap)]
            runs = normalizer.charsmap.pool.split(b"\0")
            longest += [len(run.replace(b" ", b"." * space)) for run in runs]
    keys += [len(piece.text) for piece in case.pieces if piece.kind == reference.USER_DEFINED]
    assert blob.scalar("max_key_bytes") == max(keys)
    assert blob.scalar("max_expansion") == max(longest)


def test_charsmaps_are_copied(case: Case) -> None:
    for normalizer, name in (
        (case.oracle.normalizer, "charsmap"),
        (case.oracle.denormalizer, "denormalizer"),
    ):
        units, text = case.blob.vector(f"{name}_trie"), case.blob.vector(f"{name}_text")
        if normalizer is None or normalizer.charsmap is None:
            assert units is None and text is None
        else:
            assert units is not None and tuple(units.tolist()) == normalizer.charsmap.units
            assert text is not None and text.tobytes() == normalizer.charsmap.pool


@cache
def code_points() -> list[bytes]:
    return [chr(code).encode("utf-8", "surrogatepass") for code in range(0x20000)]


def test_start_set(case: Case) -> None:
    """Exactly the code points that begin a key, or that a key is the beginning of."""
    oracle, found = case.oracle, case.blob.vector("start_set")
    keys = {piece.text for piece in case.pieces if piece.kind == reference.USER_DEFINED}
    if oracle.normalizer.charsmap is not None:
        keys |= rules_of(oracle.normalizer.charsmap).keys()
    if not keys and oracle.normalizer.charsmap is None:
        assert found is None
        return
    assert found is not None and len(found) == 2048
    expected = np.zeros(0x20000, bool)
    beginnings = {key[:size] for key in keys for size in range(1, 5)} | keys
    for code, text in enumerate(code_points()):
        expected[code] = text in beginnings or any(text[:n] in keys for n in range(1, len(text)))
    assert (np.unpackbits(found.view("u1"), bitorder="little") == expected).all()
