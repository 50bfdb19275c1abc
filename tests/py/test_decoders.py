"""The decoders BPEDecoder and CTC: texts of random ids, at once and in parts."""

from __future__ import annotations

import json
import random
from typing import Any

import isotok
import pytest
from isotok.compile import compile_model
from isotok.errors import TokenizerError
from support import hf, toy_affixes, toy_hf

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")


def _sequence(*steps: toy_hf.Json) -> toy_hf.Json:
    return {"type": "Sequence", "decoders": list(steps)}


def _bpe(suffix: str) -> toy_hf.Json:
    return {"type": "BPEDecoder", "suffix": suffix}


def _ctc(pad: str, delimiter: str, *, cleanup: bool = True) -> toy_hf.Json:
    rest = {"word_delimiter_token": delimiter, "cleanup": cleanup}
    return {"type": "CTC", "pad_token": pad} | rest


STRIP = {"type": "Strip", "content": " ", "start": 2, "stop": 0}
FUSE = {"type": "Fuse"}
TOKEN = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)


def _special(whole: toy_hf.Json, *contents: str) -> toy_hf.Json:
    listed = [{"id": 900, "content": text, "special": True} | TOKEN for text in contents]
    return whole | {"added_tokens": listed}


def _compare(whole: toy_hf.Json, backend: str, rng: random.Random) -> None:
    source = json.dumps(whole)
    ref = tokenizers.Tokenizer.from_str(source)
    with isotok.load(compile_model(source.encode()), backend=backend) as tok:  # type: ignore[arg-type]
        few = rng.sample(range(tok.vocab_size), 4)
        for _ in range(150):
            pool = few if rng.random() < 0.5 else range(tok.vocab_size)
            hf.same_texts(tok, ref, rng.choices(pool, k=rng.randrange(1, 9)), rng)
        for i in range(tok.vocab_size):
            hf.same_texts(tok, ref, [i, i], rng)
            hf.same_texts(tok, ref, [i, 0, i], rng)
        assert tok.decode([]) == ""


@pytest.mark.parametrize("steps", [(), (FUSE,), (FUSE, STRIP)], ids=len)
def test_suffix(steps: tuple[toy_hf.Json, ...], backend: str) -> None:
    """A space for each suffix but that of the last token."""
    done = 0
    for seed in range(40):
        rng = random.Random(f"suffix {seed}")
        whole, _ = toy_affixes.characters(rng)
        suffix = whole["model"]["end_of_word_suffix"] or "</w>"
        whole["decoder"] = _sequence(_bpe(suffix), *steps) if steps else _bpe(suffix)
        whole = _special(whole, "<s>", f"<x>{suffix}", "[X]")
        try:
            compile_model(json.dumps(whole).encode())
        except TokenizerError as error:
            assert "the suffix" in str(error) or "behind the prefix" in str(error)
            continue
        _compare(whole, backend, rng)
        done += 1
    assert done > 10


LETTERS = ["<pad>", "<unk>", "|", *"ABC.é中", "'s", "▁", "|a"]


@pytest.mark.parametrize("cleanup", [False, True])
@pytest.mark.parametrize("steps", [(), (FUSE,)], ids=len)
def test_ctc(steps: tuple[toy_hf.Json, ...], cleanup: bool, backend: str) -> None:
    """Blanks between letters, and letters that come several times."""
    letters = LETTERS[:-1] if cleanup else LETTERS
    vocab = {letter: i for i, letter in enumerate(letters)}
    model: Any = {"type": "WordLevel", "unk_token": "<unk>", "vocab": vocab}
    for pad in ("<pad>", "<no>", ""):
        ctc = _ctc(pad, "|", cleanup=cleanup)
        whole = toy_hf.whole(model, decoder=_sequence(ctc, *steps) if steps else ctc)
        for special in ((), ("<pad>",), ("<s>", "A")):
            _compare(_special(whole, *special), backend, random.Random(f"{pad} {special}"))


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (_bpe(""), "decoder: BPEDecoder without a suffix"),
        (_bpe("A"), "BPEDecoder of 'AB', where the suffix is not at the end"),
        (_sequence(FUSE, _bpe("x")), r"decoders\[1\]: BPEDecoder behind other decoders"),
        (_sequence(_bpe("x"), {"type": "ByteFallback"}), "ByteFallback behind other decoders"),
        (_ctc("<pad>", "|"), "CTC that makes ' a' of '|a'"),
        (_ctc("A", ""), "decoder: CTC that makes "),
        (_ctc("B", "|", cleanup=False), "CTC that makes 'A' of 'AB'"),
        (_sequence(FUSE, _ctc("x", "|")), r"decoders\[1\]: CTC behind other decoders"),
        (_sequence(_ctc("x", "|", cleanup=False), FUSE, STRIP), "Strip of anything but"),
        ({"type": "CTC"}, 'decoder: the member "pad_token" is missing'),
        ({"type": "BPEDecoder"}, 'decoder: the member "suffix" is missing'),
    ],
)
def test_refused(decoder: toy_hf.Json, message: str) -> None:
    """What the core cannot do, by its name."""
    vocab = {letter: i for i, letter in enumerate([*LETTERS, "AB"])}
    model: Any = {"type": "WordLevel", "unk_token": "<unk>", "vocab": vocab}
    with pytest.raises(TokenizerError, match=message):
        compile_model(json.dumps(toy_hf.whole(model, decoder=decoder)).encode())
