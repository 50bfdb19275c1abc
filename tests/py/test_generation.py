"""compat="0.2.1": where it may be asked for, who keeps it, and what it is not for.

Its ids are golden vectors: tests/vectors/test_0_2_1.py.
"""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import isotok
import isotok.compat.sentencepiece as spm
import pytest
from isotok import _blob_gen, _info, cli
from isotok import _layout_gen as abi
from isotok.compile import compile_buffer, compile_model
from support import data
from support.models import NORMAL, SPECIALS, UNUSED, USER_DEFINED, model

NAMED = data.VECTOR_MODELS / "bpe_scores.model"
TEXT, OLD, TODAY = "hij", [3, 18, 22], [3, 20, 19]


def load(source: Any, backend: str, **options: Any) -> isotok.Tokenizer:
    return isotok.load(source, backend=backend, **options)  # type: ignore[arg-type]


def test_bit() -> None:
    assert _blob_gen.FEATURES["sentencepiece_0_2_1"] == _info.BIT_0_2_1


def test_a_model_file_gives_either(backend: str) -> None:
    for source in (NAMED, NAMED.read_bytes()):
        with load(source, backend, compat="0.2.1") as tok:
            assert (tok.encode(TEXT), tok.info.compat) == (OLD, "0.2.1")
        with load(source, backend) as tok:
            assert (tok.encode(TEXT), tok.info.compat) == (TODAY, None)
        with load(source, backend, compat=None) as tok:
            assert tok.encode(TEXT) == TODAY


@pytest.mark.parametrize("form", ["blob", "packed"])
def test_what_is_compiled_keeps_its_own(form: Any, backend: str, tmp_path: Path) -> None:
    source = NAMED.read_bytes()
    for compat, ids in (("0.2.1", OLD), (None, TODAY)):
        made = compile_model(source, form, backend=backend, compat=compat)  # type: ignore[arg-type]
        path = tmp_path / f"x.{form}"
        path.write_bytes(made)
        with load(path, backend) as tok:
            assert (tok.encode(TEXT), tok.info.compat) == (ids, compat)
        if compat:
            with load(path, backend, compat=compat) as tok:
                assert tok.encode(TEXT) == ids
            continue
        for opened in (path, made):
            with pytest.raises(isotok.TokenizerError, match=r"not compiled for sentencepiece 0\.2"):
                load(opened, backend, compat="0.2.1")
        with pytest.raises(isotok.TokenizerError) as caught:
            compile_model(made, backend=backend, compat="0.2.1")  # type: ignore[arg-type]
        assert caught.value.what == abi.WHAT_SOURCE_NOT_0_2_1


@pytest.mark.parametrize("unknown", ["0.2.0", "0.2.3", "", 0, True])
def test_other_releases_are_unknown(unknown: Any) -> None:
    for call in (isotok.load, compile_model, compile_buffer):
        with pytest.raises(isotok.TokenizerError, match=r"compat: .* is unknown"):
            call(NAMED.read_bytes(), *(["blob"] if call is not isotok.load else []), compat=unknown)


def test_copies(backend: str) -> None:
    tok = load(NAMED, backend, compat="0.2.1")
    for again in (pickle.loads(pickle.dumps(tok)), copy.deepcopy(tok), copy.copy(tok)):
        assert (again.encode(TEXT), again.info.compat) == (OLD, "0.2.1")


def test_default_model_is_of_today(backend: str) -> None:
    with pytest.raises(isotok.TokenizerError, match="not compiled for sentencepiece"):
        load(None, backend, compat="0.2.1")


def test_exports(backend: str) -> None:
    blob = compile_model(NAMED.read_bytes(), compat="0.2.1")
    exported = compile_model(blob, "model", backend=backend)  # type: ignore[arg-type]
    assert load(exported, backend, compat="0.2.1").encode(TEXT) == OLD
    with pytest.raises(isotok.TokenizerError) as caught:
        compile_model(blob, "spm.fb", backend=backend)  # type: ignore[arg-type]
    assert caught.value.what == abi.WHAT_EXPORT_0_2_1


def test_cache(backend: str) -> None:
    """Sums of a unigram model are not certified; merges of bpe are what they were."""
    text = "the 12 kalomi ter un " * 50
    for name, has_cache in (("trained_unigram", False), ("trained_bpe", True)):
        path = data.VECTOR_MODELS / f"{name}.model"
        with load(path, backend, compat="0.2.1") as tok:
            ids = [tok.encode(text) for _ in range(3)]
            assert (tok.cache_info().entries > 0) is has_cache
            assert (tok.cache_info().hits > 0) is has_cache
        with load(path, backend, compat="0.2.1", cache_bytes=0) as tok:
            assert ids == 3 * [tok.encode(text)]


def test_samples_use_the_old_scores(backend: str) -> None:
    """Of "éé" as one user-defined piece, or two letters of score 0.7: P ~ exp(score)."""
    pieces = [("a", 1.5, NORMAL), ("é", 0.7, NORMAL), ("éé", 0.0, USER_DEFINED)]
    source = model([*SPECIALS, *pieces], None, {"add_dummy_prefix": False})
    with load(source, backend, compat="0.2.1") as old, load(source, backend) as today:
        assert [each.score for each in old.nbest("éé", 2)] == pytest.approx([2 * 1.5 - 0.1, 1.4])
        assert [each.score for each in today.nbest("éé", 2)] == pytest.approx([1.4, 0.1])
        draws = [old.sample("éé", alpha=1.0, seed=seed) for seed in range(2000)]
    share = sum(ids == [5] for ids in draws) / len(draws)
    assert abs(share - 1 / (1 + 2.718281828 ** (1.4 - 2.9))) < 0.04


# ---- The command ---------------------------------------------------------------------------


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "old.isotok"
    assert cli.run(["compile", str(NAMED), "--compat", "0.2.1", "-o", str(target)]) == 0
    assert target.read_bytes() == compile_model(NAMED.read_bytes(), compat="0.2.1")
    capsys.readouterr()
    assert cli.run(["inspect", str(target), "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["compat"] == "0.2.1"
    assert "sentencepiece_0_2_1" in described["features"]
    assert cli.run(["inspect", str(target)]) == 0
    assert "compat         0.2.1\n" in capsys.readouterr().out
    assert cli.run(["inspect", str(NAMED)]) == 0
    assert "compat" not in capsys.readouterr().out
    assert cli.run(["compile", str(NAMED), "--compat", "0.1.9", "-o", str(target)]) == 2


# ---- The drop-in ---------------------------------------------------------------------------


def test_processor() -> None:
    sp = spm.SentencePieceProcessor(model_file=str(NAMED), compat="0.2.1")
    assert sp.encode(TEXT) == OLD
    assert spm.SentencePieceProcessor(model_file=str(NAMED)).encode(TEXT) == TODAY
    made = spm.SentencePieceProcessor.from_file(str(NAMED), compat="0.2.1")
    assert made.encode(TEXT, out_type=str) == ["▁", "hi", "j"]
    for each in (pickle.loads(pickle.dumps(sp)), copy.deepcopy(sp)):
        assert each.encode(TEXT) == OLD
    blob = compile_model(NAMED.read_bytes(), compat="0.2.1")
    sp = spm.SentencePieceProcessor(model_proto=blob)
    assert sp.encode(TEXT) == pickle.loads(pickle.dumps(sp)).encode(TEXT) == OLD
    with pytest.raises(TypeError):
        spm.SentencePieceProcessor(*[None] * 12, "0.2.1")  # type: ignore[misc]


def test_processor_keeps_it_when_the_model_changes() -> None:
    sp = spm.SentencePieceProcessor(model_file=str(NAMED), compat="0.2.1")
    sp.override_normalizer_spec(add_dummy_prefix=False)
    assert sp.encode(TEXT) == OLD[1:]
    sp.set_vocabulary(["hi", "ij"])
    assert sp.encode(TEXT + "abc") == [*OLD[1:], 4, 5, 6]
    sp.reset_vocabulary()
    assert sp.encode(TEXT) == OLD[1:]


def test_set_vocabulary_keeps_the_highest_score() -> None:
    """On it the scores of user-defined pieces depend, though its piece is not wanted."""
    pieces = [("ab", 2.0, NORMAL), ("a", -1.0, NORMAL), ("é", 0.04, NORMAL)]
    source = model([*SPECIALS, *pieces, ("éé", 0.0, USER_DEFINED)], None, {})
    sp = spm.SentencePieceProcessor(model_proto=source, compat="0.2.1")
    sp.set_vocabulary(["a"])
    assert sp.encode("ééab", out_type=str) == ["▁", "éé", "a", "b"]
    assert sp.calculate_entropy("éé", 1.0) == pytest.approx(0.1036577, abs=1e-6)
    assert sp.calculate_entropy("é", 1.0) == pytest.approx(0.0)


def test_decoder_of_the_processor() -> None:
    """An id is what its text is: a NORMAL piece spelled as a control piece is that."""
    pieces = [("<s>", -1.0, NORMAL), ("\ufffd", -1.0, NORMAL), ("c", -1.0, UNUSED)]
    more = [("d", -1.0, NORMAL), ("a long piece at the end", -1.0, NORMAL)]
    source = model([*SPECIALS, *pieces, *more], None, {"add_dummy_prefix": False})
    today = spm.SentencePieceProcessor(model_proto=source)
    old = spm.SentencePieceProcessor(model_proto=source, compat="0.2.1")
    for ids, text in (([3, 5], "c"), ([3, 4, 5], "\ufffdc")):
        assert today.decode(ids) == "<s>" + text
        assert old.decode(ids) == text
        assert old.decode(ids, out_type="offset_mapping")["text"] == text
    assert today.decode([6, 6, 3, 6]) == "dd<s>d"
    assert old.decode([6, 6, 3, 6]) == "ddd"
