"""Google's `.spm.fb`: files of the official converter come in, ours go out; `.model` likewise.

tests/full/spm_fb.py runs our files in the official runtime.
"""

from __future__ import annotations

import math
import struct
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import isotok
import pytest
from isotok import _layout_gen as abi
from isotok.compile import compile_model
from isotok.errors import Status
from support import data, oracle, spine, texts
from support.models import (
    BPE,
    BYTES,
    CHAR,
    CONTROL,
    NORMAL,
    SPECIALS,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    WORD,
    Piece,
    charsmap,
    field,
    model,
    piece,
)
from support.spm_fb import SpmFb, characters
from support.zoo import MODELS

OWN = sorted(path.stem for path in data.VECTOR_MODELS.glob("*.model"))
REAL = {path.stem: path for path in data.real_models()}
REFUSED = {name for name, row in spine.divergences().items() if row["what"] == "refused"}
NAMES = [name for name in [*OWN, *REAL] if name not in REFUSED]

# What the official converter refuses; each of these we open as a `.model`.
NOT_CONVERTED = {
    "bpe_long": "too long",
    "bpe_not_finite": "invalid BPE score",
    "bpe_scores": "invalid BPE score",
    "uni_long": "too long",
    "uni_names": "Duplicate key",
    "uni_twice": "null byte",
}
# What is lost in its files, see docs/spm_fb.md: the model differs from the `.model`.
LOST = {
    "bpe_unused": "scores",
    "trained_bpe": "scores",  # -0.0, the score of the first merge
    "uni_denormalizer": "decoder",
    "uni_denormalizer_full": "decoder",
    "uni_unknown_space": "decoder",
}
# What cannot be exported.
NOT_EXPORTED = {
    "bpe_long": abi.WHAT_EXPORT_PIECE,
    "bpe_unused": abi.WHAT_EXPORT_UNUSED,
    "bpe_unused_deep": abi.WHAT_EXPORT_UNUSED,
    "char_bytes": abi.WHAT_EXPORT_ALGORITHM,
    "char_plain": abi.WHAT_EXPORT_ALGORITHM,
    "uni_denormalizer": abi.WHAT_EXPORT_DECODER,
    "uni_denormalizer_full": abi.WHAT_EXPORT_DECODER,
    "uni_long": abi.WHAT_EXPORT_PIECE,
    "uni_names": abi.WHAT_EXPORT_DECODER,
    "uni_nested_rules": abi.WHAT_EXPORT_NESTED,
    "uni_nested_user": abi.WHAT_EXPORT_NESTED,
    "uni_twice": abi.WHAT_EXPORT_PIECE,
    "uni_unknown_space": abi.WHAT_EXPORT_DECODER,
    "word_bytes": abi.WHAT_EXPORT_ALGORITHM,
    "word_plain": abi.WHAT_EXPORT_ALGORITHM,
}
EXPORTED = [name for name in NAMES if name not in NOT_EXPORTED]
SMALL = [name for name in EXPORTED if name not in REAL or name == "sp_test_model"]


@cache
def source_of(name: str) -> bytes:
    return (REAL.get(name) or data.VECTOR_MODELS / f"{name}.model").read_bytes()


def converted(source: bytes, **options: Any) -> bytes:
    """Convert a `.model` with the official converter."""
    import sentencepiece

    convert: Any = sentencepiece.convert_to_flatbuffer  # pyright: ignore[reportUnknownMemberType]
    return convert(model_proto=source, **options)


def sample_texts(name: str) -> list[bytes]:
    """Corner texts, and texts of the model's own vectors."""
    own = [] if name in REAL else spine.vectors_of(name, "encode")
    return [*texts.CORNERS, *(spine.text_of(each["text"]) for each in own)]


def same_score(a: float, b: float) -> bool:
    return struct.pack("<f", a) == struct.pack("<f", b)


# ---- Import ---------------------------------------------------------------------------


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", NAMES)
def test_import(name: str, backend: str) -> None:
    """A file of the official converter gives the blob of the `.model`, but for what is lost."""
    source = source_of(name)
    try:
        made = converted(source, allow_unsupported_model_type=True)
    except (ValueError, RuntimeError) as error:
        assert NOT_CONVERTED.get(name, "?") in str(error)
        return
    assert name not in NOT_CONVERTED
    blob, imported = (compile_model(each, backend=backend) for each in (source, made))
    assert (imported != blob) == (name in LOST)
    if imported == blob:
        return
    ours, theirs = isotok.load(blob), isotok.load(imported)
    assert len(ours) == len(theirs)
    for index in range(len(ours)):
        assert ours.id_to_bytes(index) == theirs.id_to_bytes(index)
        assert ours.piece_type(index) == theirs.piece_type(index)
        score = ours.score(index)
        lost = float(math.trunc(score)) if LOST[name] == "scores" else score
        assert theirs.score(index) == lost
    for text in sample_texts(name):
        if LOST[name] == "decoder" or name == "trained_bpe":
            assert theirs.encode(text) == ours.encode(text)


@pytest.mark.usefixtures("sentencepiece")
def test_without_bigrams(backend: str) -> None:
    """The tries and marks of the file are not read."""
    source = source_of("trained_unigram")
    made = converted(source, skip_char_bigrams=True)
    assert compile_model(made, backend=backend) == compile_model(source)


@pytest.mark.usefixtures("sentencepiece")
def test_through_files(tmp_path: Path, backend: str) -> None:
    """`isotok.load` opens such a file as any other."""
    path = tmp_path / "x.spm.fb"
    path.write_bytes(converted(source_of("trained_unigram")))
    with (
        isotok.load(path, backend=backend) as tok,
        isotok.load(data.VECTOR_MODELS / "trained_unigram.model") as other,
    ):
        assert tok.encode("hello world") == other.encode("hello world")


ROWS: dict[str, tuple[bytes, str, str | None]] = {
    # text, and what differs: None: nothing; "ids"; "decode"
    "fraction": (
        model(
            [
                *SPECIALS,
                *[(each, -9.0, NORMAL) for each in "abc"],
                ("ab", -1.75, NORMAL),
                ("bc", -1.25, NORMAL),
            ],
            {"model_type": BPE},
        ),
        "abc",
        "ids",
    ),
    "minus zero": (
        model(
            [
                *SPECIALS,
                *[(each, -9.0, NORMAL) for each in "abc"],
                ("ab", -0.0, NORMAL),
                ("bc", 0.0, NORMAL),
            ],
            {"model_type": BPE},
        ),
        "abc",
        "ids",
    ),
    "unused merges": (
        model(
            [
                *SPECIALS,
                *[(each, -9.0, NORMAL) for each in "abd"],
                ("ab", -1.0, UNUSED),
                ("abd", -2.0, NORMAL),
            ],
            {"model_type": BPE},
        ),
        "abd",
        None,
    ),
    "unknown elsewhere": (
        model([("<s>", 0.0, CONTROL), ("a", -1.0, NORMAL), ("<unk>", 0.0, UNKNOWN)]),
        "xa",
        None,
    ),
    "unknown without text": (
        model([*SPECIALS, ("a", -1.0, NORMAL)], {"unk_surface": ""}),
        "xa",
        "decode",
    ),
    "denormalizer": (
        model(
            [*SPECIALS, ("▁", -3.0, NORMAL), ("a", -1.0, NORMAL)],
            denormalizer={
                "precompiled_charsmap": charsmap({"a": "b"}),
                "add_dummy_prefix": False,
                "remove_extra_whitespaces": False,
                "escape_whitespaces": False,
            },
        ),
        "aa",
        "decode",
    ),
    "word": (model([*SPECIALS, ("▁ab", -1.0, NORMAL)], {"model_type": WORD}), "ab x", None),
    "char": (model([*SPECIALS, ("a", -1.0, NORMAL)], {"model_type": CHAR}), "ab", None),
    "no normalizer": (
        b"".join(field(1, piece(*each)) for each in [*SPECIALS, ("▁a", -1.0, NORMAL)]),
        " a",
        None,
    ),
    "suffix without a normalizer": (
        b"".join(field(1, piece(*each)) for each in [*SPECIALS, ("a▁", -1.0, NORMAL)])
        + field(2, field(24, 1)),
        "a",
        "ids",
    ),
}
MIXED_BYTES = model([*SPECIALS, *reversed(BYTES), ("a", -1.0, NORMAL)], {"byte_fallback": True})


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("row", ROWS)
def test_rows(row: str, backend: str) -> None:
    """The rows of docs/spm_fb.md: what the official file changes, and what it does not."""
    source, text, differs = ROWS[row]
    made = converted(source, allow_unsupported_model_type=True)
    found = isotok.load(made, backend=backend)
    original = oracle.Oracle(source)
    ids = original.encode_ids(text.encode())
    assert isotok.load(source, backend=backend).encode(text) == ids
    assert (found.encode(text) != ids) == (differs == "ids")
    if differs != "ids":
        assert (found.decode(ids).encode() != original.decode(ids)) == (differs == "decode")


# ---- Damaged files ----------------------------------------------------------------------


def refusal(source: bytes, backend: str) -> isotok.TokenizerError:
    with pytest.raises(isotok.TokenizerError) as caught:
        isotok.load(source, backend=backend)
    assert len(str(caught.value)) > 40
    return caught.value


def test_cut_short(backend: str) -> None:
    """Every beginning of a file is refused, and most say what the file is."""
    whole = compile_model(source_of("uni_ties"), "spm.fb")
    causes = [refusal(whole[:size], backend).what for size in range(0, len(whole) - 8, 37)]
    assert set(causes) <= {abi.WHAT_SPM_FB, abi.WHAT_PROTOBUF, abi.WHAT_UNK_MISSING}
    assert causes.count(abi.WHAT_SPM_FB) > len(causes) * 0.8


def test_shared_strings(backend: str) -> None:
    """A string that many pieces share would take memory out of proportion."""
    made = bytearray(compile_model(source_of("trained_unigram"), "spm.fb"))
    root = struct.unpack_from("<I", made)[0]
    vtable = root - struct.unpack_from("<i", made, root)[0]
    pieces = root + struct.unpack_from("<H", made, vtable + 4)[0]
    pieces += struct.unpack_from("<I", made, pieces)[0]
    count = struct.unpack_from("<I", made, pieces)[0]
    long = len(made)
    made += struct.pack("<I", 4000) + b"x" * 4001
    for number in range(count):
        at = pieces + 4 + 4 * number
        struct.pack_into("<I", made, at, long - at)
    assert refusal(bytes(made), backend).what == abi.WHAT_SPM_FB


def patched(name: str, slot: int, value: bytes) -> bytes:
    """Write a file whose root field `slot` has other bytes."""
    made = bytearray(compile_model(source_of(name), "spm.fb"))
    root = struct.unpack_from("<I", made)[0]
    vtable = root - struct.unpack_from("<i", made, root)[0]
    at = root + struct.unpack_from("<H", made, vtable + 4 + 2 * slot)[0]
    made[at : at + len(value)] = value
    return bytes(made)


def test_scalars(backend: str) -> None:
    for slot, value, what in (
        (6, b"\0", abi.WHAT_MODEL_TYPE),
        (6, b"\5", abi.WHAT_MODEL_TYPE),
        (13, struct.pack("<i", 0), abi.WHAT_SCALAR),  # <unk>
        (14, struct.pack("<i", 10**6), abi.WHAT_SCALAR),
        (15, struct.pack("<i", -2), abi.WHAT_SCALAR),
        (3, struct.pack("<I", 0xFFFFFFF0), abi.WHAT_SPM_FB),
        (6, b"\2", abi.WHAT_SPM_FB),  # bpe without int_scores
    ):
        assert refusal(patched("uni_ties", slot, value), backend).what == what, slot


def test_unknown_id_is_not_read(backend: str) -> None:
    """The piece of the type UNKNOWN is the unknown, as in a `.model`."""
    made = patched("uni_ties", 4, struct.pack("<i", 2))
    assert compile_model(made, backend=backend) == compile_model(source_of("uni_ties"))


# ---- Export -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPORTED)
def test_export(name: str) -> None:
    """The same file natively and in wasm, from each form of the model; it gives its ids."""
    source = source_of(name)
    made = compile_model(source, "spm.fb", backend="native")
    assert compile_model(source, "spm.fb", backend="wasm") == made
    blob = compile_model(source)
    assert compile_model(blob, "spm.fb") == made
    assert compile_model(compile_model(source, "packed"), "spm.fb") == made
    again = compile_model(made)
    if name == "trained_bpe" or again != blob:
        ours, theirs = isotok.load(blob), isotok.load(again)
        assert ours.info.algorithm == "bpe"  # whose scores become ranks, or -0.0 becomes 0
        for text in sample_texts(name):
            assert ours.encode(text) == theirs.encode(text)
            assert ours.decode(ours.encode(text)) == theirs.decode(ours.encode(text))
    assert compile_model(compile_model(made, "spm.fb")) == again


@pytest.mark.parametrize("name", SMALL)
def test_file(name: str) -> None:
    """Scalars, pieces, and every entry of the tries, read by the rules of the runtime."""
    tok = isotok.load(source_of(name))
    file = SpmFb(compile_model(source_of(name), "spm.fb"))
    count = len(tok)
    pieces = [tok.id_to_bytes(index) for index in range(count)]
    kinds = [int(tok.piece_type(index)) for index in range(count)]
    assert (file.pieces, file.types) == (pieces, kinds)
    ids = (tok.unk_id, tok.bos_id, tok.eos_id, tok.pad_id)
    assert (file.unk_id, file.bos_id, file.eos_id, file.pad_id) == tuple(
        -1 if each is None else each for each in ids
    )
    assert file.model_type == {"unigram": 1, "bpe": 2}[tok.info.algorithm]
    if tok.unk_id is not None:
        assert file.unk_surface is not None
        assert tok.decode([tok.unk_id]) == file.unk_surface.decode()
    assert (file.scores is None) == (file.int_scores is not None) == (file.model_type == 2)
    if file.scores is not None:
        assert all(same_score(a, tok.score(i)) for i, a in enumerate(file.scores))
    trie, user, pairs = file.tries
    assert trie is not None
    trie.check(count)
    assert [trie.value(text) for text in pieces] == list(range(count))
    assert trie.count() == count
    users = [index for index, kind in enumerate(kinds) if kind == USER_DEFINED]
    assert (user is None) == (not users)
    if user is not None:
        user.check(count)
        assert [user.value(pieces[index]) for index in users] == users
        assert user.count() == len(users)
    known = {(a, b) for text in pieces for a, b in pairwise(characters(text))}
    assert (pairs is None) == (not known)
    if pairs is not None:
        pairs.check(len(pairs.units))
        for a, b in known:
            link = pairs.value(a + b)
            assert link == pairs.walk(b)
            assert not pairs.units[link] >> 31
        assert pairs.count() == len({a + b for a, b in known})


@pytest.mark.parametrize("name", [each for each in SMALL if "bpe" in each])
def test_bpe_marks(name: str) -> None:
    """Ranks have the order of the scores; a piece marked direct encodes to itself."""
    tok = isotok.load(source_of(name))
    file = SpmFb(compile_model(source_of(name), "spm.fb"))
    assert file.int_scores is not None
    visible = [i for i in range(len(tok)) if int(tok.piece_type(i)) == NORMAL]
    direct = file.is_direct or [1] * len(tok)
    assert file.has_direct
    for index in visible:
        ids = tok.encode_normalized(tok.id_to_bytes(index))
        assert (ids == [index]) >= bool(direct[index])
    if name == "bpe_not_finite":
        return
    by_score = sorted(visible, key=lambda i: (-tok.score(i), math.copysign(1, tok.score(i)) < 0))
    scores = [file.int_scores[index] for index in by_score]
    assert scores == sorted(scores, reverse=True)
    for a, b in pairwise(by_score):
        if tok.score(a) > tok.score(b):
            assert file.int_scores[a] > file.int_scores[b]


@pytest.mark.parametrize("name", NOT_EXPORTED)
def test_not_exported(name: str, backend: str) -> None:
    """A model that SentencePiece Lite would run otherwise is refused, with what to do."""
    source = MODELS[name][1]() if name in MODELS else source_of(name)
    with pytest.raises(isotok.TokenizerError, match=r"export a \.model") as caught:
        compile_model(source, "spm.fb", backend=backend)
    assert (caught.value.status, caught.value.what) == (Status.E_UNSUPPORTED, NOT_EXPORTED[name])


def test_bytes_not_exported() -> None:
    with pytest.raises(isotok.TokenizerError, match="BYTE"):
        compile_model(MIXED_BYTES, "spm.fb")
    if oracle.available():
        with pytest.raises(ValueError, match="invalid"):
            converted(MIXED_BYTES)


def test_nul_piece(backend: str) -> None:
    """A piece that is one NUL byte gets the name that the official converter gives it."""
    pieces: list[Piece] = [*SPECIALS, *BYTES, ("a", -1.0, NORMAL), ("\0", -2.0, NORMAL)]
    source = model(pieces, {"byte_fallback": True})
    made = compile_model(source, "spm.fb", backend=backend)
    tok = isotok.load(made, backend=backend)
    last = len(pieces) - 1
    assert (tok.id_to_piece(last), int(tok.piece_type(last))) == (f"<unused_{last}>", UNUSED)
    assert tok.encode("a\0") == isotok.load(source).encode("a\0")
    if oracle.available():
        theirs = converted(source, treat_null_byte_as_unused=True)
        assert compile_model(theirs) == compile_model(made)


def test_other_parity(backend: str) -> None:
    """A model with another library's ids has no SentencePiece file."""
    blob = bytearray(compile_model(source_of("uni_ties"), "packed"))
    from support.blobs import xxh64

    struct.pack_into("<I", blob, 32, 3)
    struct.pack_into("<Q", blob, 16, xxh64(bytes(blob[24:])))
    for form in ("model", "spm.fb"):
        with pytest.raises(isotok.TokenizerError, match="another library") as caught:
            compile_model(bytes(blob), form, backend=backend)
        assert caught.value.what == abi.WHAT_EXPORT_PARITY


# ---- .model -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_model_round_trip(name: str, backend: str) -> None:
    """.model -> blob -> .model -> blob gives the same blob, and the file is stable."""
    blob = compile_model(source_of(name), backend=backend)
    made = compile_model(blob, "model", backend=backend)
    assert compile_model(made, backend=backend) == blob
    assert compile_model(made, "model", backend=backend) == made
    assert compile_model(blob, backend=backend) == blob


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", NAMES)
def test_model_in_sentencepiece(name: str) -> None:
    """sentencepiece loads our file: the same ids, pieces, scores, types and texts."""
    source = source_of(name)
    original, ours = oracle.Oracle(source), oracle.Oracle(compile_model(source, "model"))
    a, b = original.sp, ours.sp
    count = a.get_piece_size()
    assert b.get_piece_size() == count
    for index in range(count):
        if "ill_formed" not in name:  # whose pieces the original cannot hand out
            assert a.id_to_piece(index) == b.id_to_piece(index)
        assert same_score(a.get_score(index), b.get_score(index))
        for kind in (a.is_control, a.is_unused, a.is_byte, a.is_unknown):
            assert kind(index) == getattr(b, kind.__name__)(index)
    found = isotok.load(source)
    for name_of in ("unk_id", "bos_id", "eos_id", "pad_id"):
        known = getattr(found, name_of)
        assert getattr(b, name_of)() == (-1 if known is None else known)
    for text in sample_texts(name):
        expected = original.encode(text)
        assert ours.encode(text) == expected
        assert ours.decode(expected.ids) == original.decode(expected.ids)


CONTROLS: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("[B]", 0.0, CONTROL)]


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_no_bos(byte_fallback: bool, backend: str) -> None:
    """A CONTROL piece <s> that is not BOS does not become it."""
    pieces = [*(BYTES if byte_fallback else CONTROLS[:1]), *CONTROLS[1:], ("a", -1.0, NORMAL)]
    trainer = {"byte_fallback": byte_fallback, "bos_piece": "<none>", "eos_piece": "[B]"}
    source = model(pieces, trainer)
    blob = compile_model(source, backend=backend)
    made = compile_model(blob, "model", backend=backend)
    assert compile_model(made) == blob
    tok = isotok.load(made, backend=backend)
    assert tok.bos_id is None
    assert tok.eos_id == tok.piece_to_id("[B]")
    if oracle.available():
        assert oracle.Oracle(made).sp.bos_id() == oracle.Oracle(source).sp.bos_id() == -1


# ---- Command line -----------------------------------------------------------------------


def test_command(tmp_path: Path, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`isotok export` tells the form from the name; `isotok compile` takes its files."""
    run_cli = pytest.importorskip("isotok.cli").run
    model_file, lite, again = (tmp_path / name for name in ("x.model", "x.spm.fb", "y.model"))
    model_file.write_bytes(source_of("uni_ties"))
    options = ["--backend", backend]
    assert run_cli(["export", str(model_file), "-o", str(lite), *options]) == 0
    assert lite.read_bytes() == compile_model(source_of("uni_ties"), "spm.fb")
    assert str(lite) in capsys.readouterr().out
    assert run_cli(["compile", str(lite), *options]) == 0
    blob = tmp_path / "x.isotok"
    assert blob.read_bytes() == compile_model(source_of("uni_ties"))
    assert run_cli(["export", str(blob), "-o", str(again), *options]) == 0
    assert compile_model(again.read_bytes()) == blob.read_bytes()
    capsys.readouterr()
    for command, said in (
        (["export", str(blob), "-o", str(tmp_path / "x.fb")], "ends in .model or .spm.fb"),
        (["export", str(tmp_path / "none"), "-o", str(lite)], "none"),
        (["export", str(blob)], "--output"),
    ):
        assert run_cli(command) == 2
        assert said in capsys.readouterr().err
    model_file.write_bytes(source_of("word_plain"))
    before = lite.read_bytes()
    assert run_cli(["export", str(model_file), "-o", str(lite), *options]) == 2
    assert "unigram and bpe models only" in capsys.readouterr().err
    assert lite.read_bytes() == before
    assert not list(tmp_path.glob("*.tmp"))
