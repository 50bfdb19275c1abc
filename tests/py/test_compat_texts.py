"""isotok.compat.sentencepiece: texts, ids and pieces of every model, in every form of result."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import compat, data, texts

pytestmark = pytest.mark.usefixtures("sentencepiece")

MODELS = sorted(data.VECTOR_MODELS.glob("*.model"))
REAL = [data.models_dir() / f"{name}.model" for name in ("sp_test_ja_model", "nai-t5", "llama2")]
KINDS: tuple[Any, ...] = (int, str, bytes, "proto", "serialized_proto", "numpy", "offset_mapping")
DECODED: tuple[Any, ...] = (str, bytes, "proto", "serialized_proto", "offset_mapping")
LONGEST = 5000
SHORT = 60
STRAY = [b"zzz", "▁▁x".encode(), b"\xff", "é".encode(), b"<unk>", b"<s>", "▁".encode(), b""]
totals = {"models": 0, "checks": 0}


def name_of(kind: Any) -> str:
    return kind if isinstance(kind, str) else kind.__name__


class Texts:
    """A model in both packages, and what to try with it."""

    def __init__(self, path: Path) -> None:
        self.pair = compat.processors(path.read_bytes())
        self.theirs = self.pair.theirs
        self.random = random.Random(path.stem)
        self.size = len(self.theirs)
        generator = texts.from_pieces([self.piece(each) for each in range(self.size)], self.random)
        every = [*texts.CORNERS, *(next(generator) for _ in range(12))]
        self.bytes = [text for text in every if len(text) < LONGEST]
        self.all: list[str | bytes] = [*self.bytes, *well_formed(self.bytes)]

    def piece(self, token_id: int) -> bytes:
        try:
            return self.theirs.IdToPiece(token_id).encode()
        except UnicodeDecodeError:
            return b"x"

    def flags(self) -> dict[str, bool]:
        names = ("add_bos", "add_eos", "reverse", "emit_unk_piece")
        return {name: self.random.random() < 0.5 for name in names}


def well_formed(every: list[bytes]) -> Iterator[str]:
    for text in every:
        try:
            yield text.decode()
        except UnicodeDecodeError:
            continue


def encodes(given: Texts) -> None:
    check = given.pair.check
    for text in given.all:
        for kind in KINDS:
            check(
                f"encode {name_of(kind)} {text!r}",
                lambda sp, t=text, k=kind: sp.encode(t, out_type=k),
            )
        for kind in KINDS[:3]:
            flags = given.flags()
            check(
                f"encode {name_of(kind)} {flags} {text!r}",
                lambda sp, t=text, k=kind, f=flags: sp.encode(t, out_type=k, **f),
            )
        for as_bytes in (False, True):
            check(
                f"encode offset_mapping return_bytes={as_bytes} {text!r}",
                lambda sp, t=text, b=as_bytes: sp.encode(
                    t, out_type="offset_mapping", return_bytes=b
                ),
            )
    batch = list(given.all)
    for kind in KINDS:
        check(f"encode {name_of(kind)}, a batch", lambda sp, k=kind: sp.encode(batch, out_type=k))


def normalizes(given: Texts) -> None:
    for text in given.all:
        given.pair.check(f"normalize {text!r}", lambda sp, t=text: sp.normalize(t))
        given.pair.check(
            f"normalize with_offsets {text!r}",
            lambda sp, t=text: sp.normalize(t, with_offsets=True),
        )


def decodes(given: Texts) -> None:
    check, choose = given.pair.check, given.random
    sequences = [choose.choices(range(given.size), k=choose.randrange(12)) for _ in range(30)]
    of_bytes = [each for each in range(given.size) if given.theirs.IsByte(each)]
    if of_bytes:
        sequences += [
            choose.choices([*of_bytes, choose.randrange(given.size)], k=10) for _ in range(30)
        ]
    sequences += [given.theirs.encode(text) for text in given.bytes[:30]]
    for ids in sequences:
        for kind in DECODED:
            check(
                f"decode {name_of(kind)} {ids}", lambda sp, i=ids, k=kind: sp.decode(i, out_type=k)
            )
        check(f"decode array {ids}", lambda sp, i=ids: sp.decode(np.array(i, dtype=np.int64)))
    check("decode a batch", lambda sp: sp.decode(sequences))
    check("decode a batch to bytes", lambda sp: sp.decode(sequences, out_type=bytes))


def decodes_pieces(given: Texts) -> None:
    check = given.pair.check
    for text in given.bytes:
        pieces = [*given.theirs.encode(text, out_type=bytes), given.random.choice(STRAY)]
        if given.random.random() < 0.5:
            given.random.shuffle(pieces)
        forms: list[Any] = [pieces]
        forms += (
            [[piece.decode() for piece in pieces]]
            if len(list(well_formed(pieces))) == len(pieces)
            else []
        )
        for form in forms:
            for kind in DECODED:
                check(
                    f"decode {name_of(kind)} {form}",
                    lambda sp, p=form, k=kind: sp.decode(p, out_type=k),
                )


def lists_best(given: Texts) -> None:
    """Equal scores may come in another order, and some of the last score may be cut off."""

    def found(sp: Any, text: Any, size: int) -> list[Any]:
        paths = sp.nbest_encode(text, nbest_size=size, out_type="proto").nbests
        groups = [
            (score, sorted(path.SerializeToString() for path in group))
            for score, group in groupby(paths, lambda path: path.score)
        ]
        return groups if len(paths) < size else [*groups[:-1], (groups[-1][0], len(groups[-1][1]))]

    for text in given.all:
        if len(text) < SHORT:
            for size in (1, 2, 8):
                given.pair.check(
                    f"nbest {size} {text!r}", lambda sp, t=text, n=size: found(sp, t, n)
                )


def looks_up(given: Texts) -> None:
    check = given.pair.check
    some = range(0, given.size, max(1, given.size // 300))
    for method in ("IdToPiece", "GetScore", "IsUnknown", "IsControl", "IsUnused", "IsByte"):
        for token_id in some:
            check(f"{method} {token_id}", lambda sp, m=method, i=token_id: getattr(sp, m)(i))
    for token_id in some:
        piece = given.piece(token_id)
        check(f"PieceToId {piece!r}", lambda sp, p=piece: sp.PieceToId(p))
    for method in ("unk_id", "bos_id", "eos_id", "pad_id", "piece_size", "serialized_model_proto"):
        check(method, lambda sp, m=method: getattr(sp, m)())


@pytest.mark.parametrize("path", [*MODELS, *REAL], ids=lambda path: path.stem)
def test_models(path: Path) -> None:
    if not path.exists():
        pytest.skip(data.absence(path))
    compare(path)


@pytest.mark.parametrize("name", ["trained_unigram", "bpe_bytes", "uni_rules", "word_bytes"])
def test_in_wasm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTOK_BACKEND", "wasm")
    compare(data.VECTOR_MODELS / f"{name}.model")


def compare(path: Path) -> None:
    try:
        given = Texts(path)
    except RuntimeError:  # sentencepiece refuses the model
        with pytest.raises(RuntimeError):
            compat.modules()[1].SentencePieceProcessor(model_file=str(path))
        return
    for part in (encodes, normalizes, decodes, decodes_pieces, lists_best, looks_up):
        part(given)
    pair = given.pair
    pair.differ = [each for each in pair.differ if not listed(f"{path.stem}: {each}")]
    totals["models"] += 1
    totals["checks"] += pair.count
    pair.judge()


def listed(difference: str) -> bool:
    return any(re.match(row, difference) for row in compat.ROWS["texts"])


def test_total(capfd: pytest.CaptureFixture[str]) -> None:
    """Say how much was compared (of the tests that ran)."""
    with capfd.disabled():
        print(f"\n| compat: {totals['checks']:,} results on both, {totals['models']} models")
