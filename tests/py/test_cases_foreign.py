"""The bug cases of other tokenizers that concern tokenizer.json and rank files."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import cache

import isotok
import pytest
from isotok.compat.tiktoken import Encoding
from isotok.compile import compile_model
from isotok.compile._tiktoken import read_ranks, tiktoken_fields
from isotok.compile.tokenizer_json.bytes_of_letters import bytes_of
from isotok.errors import TokenizerError
from support import data, hf, pretok, reasons
from support.cases import LOAD, Case, cases, child, digest, input_of

CASES = [
    case
    for case in cases()
    if "tokenizer.json" in case["model_kind"] or "tiktoken" in case["model_kind"]
]
APPLICABLE = [case for case in CASES if case["id"] not in reasons.FOREIGN_CASES]

# ---- Models ---------------------------------------------------------------------------


@cache
def _blob(name: str, pattern: str) -> bytes:
    """A tokenizer.json by its name, or ranks with a pattern."""
    if name.startswith("cases/"):
        return compile_model((data.cases_dir().parent / name).read_bytes())
    if name.endswith(".tokenizer.json"):
        return hf.blob(name.removesuffix(".tokenizer.json"))
    return compile_model(tiktoken_fields(_ranks(name), pattern, {}))


@cache
def _ranks(name: str) -> dict[bytes, int]:
    if name.endswith(".tiktoken"):
        path = data.models_dir() / name
        if not path.exists():
            pytest.skip(data.absence(path))
        return read_ranks(path.read_bytes())
    # "256 single bytes = ids 0..255, c5bf=256, c5bf77=257"
    first, *more = name.split(", ")
    assert first == "256 single bytes = ids 0..255"
    ranks = {bytes([byte]): byte for byte in range(256)}
    return ranks | {bytes.fromhex(a): int(b) for a, b in (entry.split("=") for entry in more)}


@cache
def _opened(name: str, pattern: str, backend: str) -> isotok.Tokenizer:
    tok = isotok.load(_blob(name, pattern), backend=backend)  # type: ignore[arg-type]
    atexit.register(tok.close)
    return tok


def _tokenizer(case: Case, backend: str) -> isotok.Tokenizer:
    model, pattern = case["model"], case["operation"].get("pat_str", "")
    if isinstance(model, dict):
        model, pattern = model["ranks"], model["pat_str"]
    if model.endswith(".tiktoken") and not pattern:  # only decoded
        pattern = r"\s+|\S+"
    return _opened(model.split(" / ")[-1], pattern, backend)


# ---- Checks ---------------------------------------------------------------------------


def _same_tokens(found: isotok.Encoding, tokens: list[str], tok: isotok.Tokenizer) -> None:
    """Tokens of byte-level models are letters for bytes there, and text here."""
    for number, piece, token in zip(found.ids, found.pieces, tokens, strict=True):
        as_text = bytes_of(token).decode(errors="replace")
        known = piece in (token, as_text) or number == tok.info.unk_id
        assert known, (piece, token)


def check_encode(tok: isotok.Tokenizer, case: Case) -> None:
    text, expected = input_of(case), case["expected"]
    add = case["operation"].get("add_special_tokens")
    found = tok.encode_with_offsets(text, add_special_tokens=add)
    ids = tok.encode(text, add_special_tokens=add)
    assert ids == found.ids
    if "len" in expected:
        assert (len(ids), digest(ids)) == (expected["len"], expected["sha256_u32le"])
        return
    assert ids == expected["ids"]
    if "tokens" in expected:
        _same_tokens(found, expected["tokens"], tok)
    if "offsets_codepoints" in expected:
        assert found.offsets == [tuple(span) for span in expected["offsets_codepoints"]]
    if "decoded_keep_special" in expected:
        assert tok.decode(ids, skip_special_tokens=False) == expected["decoded_keep_special"]
    if "token_bytes_hex" in expected:
        assert [tok.id_to_bytes(i).hex() for i in ids] == expected["token_bytes_hex"]
    if "equals_text" in expected:
        assert tok.encode(expected["equals_text"]) == expected["equals_ids"] == ids


def check_modes(tok: isotok.Tokenizer, case: Case) -> None:
    text, expected = case["input"], case["expected"]
    assert tok.encode(text, special="all") == expected["parse_special_ids"]
    assert tok.encode(text, special="none") == expected["plain_text_ids"]


def check_units(tok: isotok.Tokenizer, case: Case) -> None:
    for unit, name in (("codepoint", "codepoints"), ("utf16", "utf16"), ("byte", "utf8")):
        found = tok.encode_with_offsets(case["input"], unit=unit)  # type: ignore[arg-type]
        assert found.ids == case["expected"]["ids"]
        assert found.offsets == [tuple(span) for span in case["expected"][name]]


def check_hf_half(tok: isotok.Tokenizer, case: Case) -> None:
    """A case on a .model and its tokenizer.json: the second half."""
    expected = case["expected"]
    if "hf" in expected:
        found = tok.encode_with_offsets(case["input"], add_special_tokens=False)
        assert found.ids == expected["hf"]["ids"]
        assert found.offsets == [tuple(span) for span in expected["hf"]["offsets"]]
        return
    add = "hf_tokens" in expected
    found = tok.encode_with_offsets(case["input"], add_special_tokens=add)
    assert found.ids == expected["hf_ids"]
    if add:
        assert found.pieces == expected["hf_tokens"]


def check_decoded_stream(tok: isotok.Tokenizer, case: Case) -> None:
    expected, ids = case["expected"], case["operation"].get("ids") or case["expected"]["ids"]
    if case["input"] is not None and "text" in expected:
        assert tok.encode(case["input"], add_special_tokens=False) == ids
    whole = tok.decode(ids)
    with tok.decoder() as decoder:
        chunks = [*map(decoder.push, ids), decoder.flush()]
    assert "".join(chunks) == whole
    if "chunks" in expected:
        assert chunks == expected["chunks"]
    if "stream_chunks" in expected:
        assert [*filter(None, chunks)] == expected["stream_chunks"]
    text = expected.get("text") or expected.get("joined")
    assert whole == (text or expected["joined_must_equal_one_shot_decode"])


def check_pretokens(case: Case) -> None:
    """What the case calls a pre-token is spelled in letters."""
    name = case["model"].removesuffix(".tokenizer.json")
    driver = pretok.of_json(hf.member(name, "pre_tokenizer"))
    pieces = driver.pieces(case["input"])
    assert pieces == [bytes_of(text).decode() for text, _ in case["expected"]["pre_tokens"]]


def check_undefined(case: Case) -> None:
    """tiktoken raises KeyError, and so does the module that stands for it."""
    encoding = Encoding(
        "cl100k", pat_str=r"\s+|\S+", mergeable_ranks=_ranks(case["model"]), special_tokens={}
    )
    assert case["expected"] == {"raises": "KeyError"}
    with pytest.raises(KeyError):
        encoding.decode(case["operation"]["ids"])


def check_inline_ranks(case: Case) -> None:
    """A byte without a rank is an error when the ranks are read."""
    ranks = {bytes.fromhex(text): rank for text, rank in case["model"]["ranks"].items()}
    with pytest.raises(TokenizerError, match="a byte has no piece"):
        compile_model(tiktoken_fields(ranks, case["model"]["pat_str"], {}))


def check_decoded(tok: isotok.Tokenizer, case: Case) -> None:
    """Ids that no token has are left out; what is no id is an error."""
    for ids in case["operation"]["ids_list"]:
        expected = case["expected"][str(ids).replace(" ", "")]
        if isinstance(expected, str):
            assert tok.decode(ids) == expected
            with tok.decoder() as decoder:
                assert "".join(map(decoder.push, ids)) + decoder.flush() == expected
        else:
            assert expected == {"raises": "OverflowError"}
            with pytest.raises(isotok.TokenIdError):
                tok.decode(ids)


CHECKS: dict[str, Callable[[isotok.Tokenizer, Case], None]] = {
    "hf.encode+decode": check_encode,
    "hf.decode": check_decoded,
    "hf.encode": lambda tok, case: (check_modes if "modes" in case["operation"] else check_encode)(
        tok, case
    ),
    "tiktoken.encode_ordinary": check_encode,
    "tiktoken.encode": check_encode,
    "offsets in 3 units": check_units,
    "offset_mapping": check_hf_half,
    "encode": check_hf_half,
    "encode with special tokens": check_hf_half,
    "encode, then streaming decode": check_decoded_stream,
    "streaming decode, one id at a time, then flush": check_decoded_stream,
    "streaming decode, then flush": check_decoded_stream,
}
WITHOUT_MODEL: dict[str, Callable[[Case], None]] = {
    "hf.pre_tokenize (byte-level alphabet)": check_pretokens,
    "tiktoken.decode": check_undefined,
    "load + encode": check_inline_ranks,
}


@pytest.mark.parametrize("case", APPLICABLE, ids=lambda case: case["id"])
def test_case(case: Case, backend: str) -> None:
    name = case["operation"]["name"]
    if name == "load + encode in a child process":
        path = data.cases_dir().parent / case["model"]
        found = child(LOAD, path, backend, case["input"])
        # the pattern (a+)+ is no danger here
        assert found.startswith("LOADED [" if case["id"] == "SEC-17" else "REFUSED "), found
    elif name in WITHOUT_MODEL:
        WITHOUT_MODEL[name](case)
    else:
        CHECKS[name](_tokenizer(case, backend), case)


def test_coverage() -> None:
    """Nothing is left out."""
    assert not reasons.FOREIGN_CASES
