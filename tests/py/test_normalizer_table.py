"""The table of known normalizers is what is compiled here, and what real models need."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from isotok.compile.normalizers import known, make_normalizer, table
from isotok.compile.pretok.huggingface import PreTokenizer, read_pre_tokenizer
from isotok.compile.pretok.known import HUGGING_FACE
from support import data

TABLE = data.ROOT / "py_host/isotok/data/normalizer_known.bin"
REAL = sorted(data.models_dir().glob("*tokenizer.json*"))
NAMES = ("gemma", "llama2", "prefix", "metaspace words", "NFC", "NFKD", "bert 100", "bert 111")


@cache
def programs() -> dict[str, table.Program]:
    return dict(table.unpack(TABLE.read_bytes())[0])


@cache
def listed() -> dict[str, tuple[object, PreTokenizer]]:
    return {name: (normalizer, pre) for name, normalizer, pre in known.known()}


def text_of(key: known.Key) -> str:
    return json.dumps(key, ensure_ascii=False, separators=(",", ":"))


def check(normalizer: object, pre: PreTokenizer) -> None:
    made = make_normalizer(normalizer, pre)
    key = known.key_of(normalizer, pre)
    if made is None:
        assert key == []
        return
    found = programs()[text_of(key)]
    if found.escapes and not made.escapes:
        found = programs()[text_of([*key, known.SPACES])]
    assert (found.header, found.tables) == (made.header, made.tables)
    assert (found.text, found.escapes) == (made.text, made.escapes)


@pytest.mark.parametrize("name", NAMES)
def test_programs(name: str) -> None:
    check(*listed()[name])


@pytest.mark.parametrize("name", ["gemma", "llama2"])
@pytest.mark.parametrize("cutting", ["bert", "gpt2"])
def test_programs_in_front_of_what_cuts_elsewhere(name: str, cutting: str) -> None:
    normalizer, _ = listed()[name]
    pre = read_pre_tokenizer(HUGGING_FACE[cutting])
    made = make_normalizer(normalizer, pre)
    assert made is not None and not made.escapes
    check(normalizer, pre)


def test_every_entry_of_the_list_is_there() -> None:
    digest = hashlib.sha256(known.nmt_nfkc()).hexdigest()
    for name, (normalizer, pre) in listed().items():
        key = text_of(known.key_of(normalizer, pre)).replace(digest, known.NMT_NFKC)
        assert key in programs(), name


@pytest.mark.skipif(not REAL, reason=data.absence(data.models_dir()))
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name.split(".")[0])
def test_real_models(path: Path) -> None:
    """Of charsmaps too: that rules from Unicode's data are those of the published one."""
    raw = path.read_bytes()
    file: dict[str, Any] = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    check(file["normalizer"], read_pre_tokenizer(file["pre_tokenizer"]))


@pytest.mark.parametrize(
    ("normalizer", "key"),
    [
        (None, []),
        ({"type": "Sequence", "normalizers": []}, []),
        ({"type": "Prepend", "prepend": ""}, []),
        ({"type": "Sequence", "normalizers": [{"type": "NFC"}]}, [["NFC"]]),
        (
            {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": False,
                "strip_accents": None,
                "lowercase": True,
            },
            [["BertNormalizer", True, False, True, True]],
        ),
    ],
)
def test_keys(normalizer: object, key: known.Key) -> None:
    assert known.key_of(normalizer, PreTokenizer()) == key
