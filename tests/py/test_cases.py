"""The bug cases of other tokenizers (beside the data) that concern `.model` files.

A case of an operation that does not exist here yet is not applicable, with the reason;
`test_coverage` prints how many.
"""

from __future__ import annotations

import copy
import hashlib
import pickle
import random
import string
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import isotok
import pytest
from conftest import Opener, need
from support import data, reasons
from support.cases import Case, cases, check_hostile, child, digest, input_of


def reason_not_applicable(case: Case) -> str | None:
    return reasons.CASE_KINDS.get(case["model_kind"]) or reasons.CASES.get(case["id"])


APPLICABLE = [case for case in cases() if reason_not_applicable(case) is None]


def model_path(case: Case) -> Path:
    """File of the `.model`; a case on two files names it first."""
    name = case["model"].split(" / ")[0]
    if name.startswith("cases/"):
        return data.cases_dir().parent / name
    return data.models_dir() / name


def check_encode(tok: isotok.Tokenizer, case: Case) -> None:
    """Ids, and whatever else the case knows: pieces, offsets, text, normalized text."""
    text, expected = input_of(case), case["expected"]
    found = tok.encode_with_offsets(text)
    ids = tok.encode(text)
    assert found.ids == ids
    if "ids" in expected:
        assert ids == expected["ids"]
    if "len" in expected:
        assert (len(ids), digest(ids)) == (expected["len"], expected["sha256_u32le"])
    if "pieces" in expected:
        assert found.pieces == expected["pieces"]
    if "offsets_codepoints" in expected:
        assert found.offsets == [tuple(span) for span in expected["offsets_codepoints"]]
    if "normalized" in expected:
        assert tok.normalize(text) == expected["normalized"]
    if "decoded" in expected:
        assert tok.decode(ids) == expected["decoded"]
    if "piece_1678" in expected:
        assert tok.id_to_piece(1678) == expected["piece_1678"]
        assert tok.decode([1678]) == expected["decode_[1678]"]


def check_decode(tok: isotok.Tokenizer, case: Case) -> None:
    ids = case["operation"]["ids"]
    text = tok.decode(ids)
    assert text == case["expected"]["text"]
    assert text.encode().hex() == case["expected"]["bytes_hex"]["value"]
    # What the original cannot give: the true bytes.
    pieces = [tok.id_to_piece(each) for each in ids]
    assert all(piece.startswith("<0x") for piece in pieces)
    assert tok.decode_bytes(ids) == bytes(int(piece[3:5], 16) for piece in pieces)


def check_expression(tok: isotok.Tokenizer, case: Case) -> None:
    expression = case["operation"]["expr"]
    assert case["expected"]["out"] == "IndexError\n"
    with pytest.raises(IndexError):
        {"sp.id_to_piece(1000)": lambda: tok.id_to_piece(1000),
         "sp.id_to_piece(-1)": lambda: tok.id_to_piece(-1)}[expression]()  # fmt: skip


def check_model_half(tok: isotok.Tokenizer, case: Case) -> None:
    """A case on a .model and its tokenizer.json: the first half."""
    expected = case["expected"]
    if "spm" in expected:
        found = tok.encode_with_offsets(case["input"])
        assert found.ids == expected["spm"]["ids"]
        assert found.offsets == [tuple(span) for span in expected["spm"]["offsets"]]
    else:
        assert tok.encode(case["input"]) == expected["spm_ids"]


def check_batch(tok: isotok.Tokenizer, case: Case) -> None:
    texts, expected = input_of(case), case["expected"]
    for threads in (1, 3):
        batch = tok.encode_batch(texts, threads=threads)
        assert len(batch.ids) == expected["total"]
        assert batch.ids[: len(expected["first"])].tolist() == expected["first"]
        found = hashlib.sha256(batch.ids.astype("<u4").tobytes()).hexdigest()
        assert found == expected["sha256_u32le_concat"]


def check_pickle(tok: isotok.Tokenizer, case: Case) -> None:
    ids = tok.encode(case["input"])
    copies = [pickle.loads(pickle.dumps(tok, protocol)) for protocol in range(2, 6)]
    for other in [*copies, copy.deepcopy(tok), copy.copy(tok)]:
        assert other.encode(case["input"]) == ids


def check_threads(tok: isotok.Tokenizer, case: Case) -> None:
    texts = [f"{case['input']} {number}" * (number + 1) for number in range(40)]
    expected = [tok.encode(text) for text in texts]
    found: list[bool] = []

    def work() -> None:
        found.append(all([tok.encode(text) for text in texts] == expected for _ in range(20)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def resident_kilobytes() -> int:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


def check_memory_growth(tok: isotok.Tokenizer, case: Case) -> None:
    generator = random.Random(6)
    letters = string.ascii_letters
    texts = ["".join(generator.choices(letters, k=40)) for _ in range(20_000)]
    for text in texts:
        tok.encode(text)
    before = resident_kilobytes()
    for _ in range(3):
        for text in texts:
            tok.encode(text)
    assert resident_kilobytes() - before < 5 << 10


FORK = """
import os, signal, sys, isotok
path, backend, text = sys.argv[1:]
tok = isotok.load(path, backend=backend)
texts = [text * 500] * 64
expected = tok.encode_batch(texts, threads=4, output="list")
child = os.fork()
if child == 0:
    signal.alarm(10)
    found = tok.encode_batch(texts, threads=4, output="list")
    os._exit(0 if found == expected and found[0] == tok.encode(texts[0]) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

CHECKS: dict[str, Callable[[isotok.Tokenizer, Case], None]] = {
    "sp.encode+decode": check_encode,
    "sp.encode": check_encode,
    "sp.encode(bytes)": check_encode,
    "sp offset_mapping": check_encode,
    "sp.normalize / encode / offset_mapping (code points)": check_encode,
    "sp.decode": check_decode,
    "python expression": check_expression,
    "offset_mapping": check_model_half,
    "encode with special tokens": check_model_half,
    "encode_batch": check_batch,
    "pickle round trip, also copy.deepcopy": check_pickle,
    "8 Python threads, one tokenizer object on the wasmtime host": check_threads,
}


@pytest.mark.parametrize("case", APPLICABLE, ids=lambda case: case["id"])
def test_case(case: Case, backend: str, opened: Opener) -> None:
    operation = case["operation"]["name"]
    path = model_path(case)
    if operation == "load + encode in a child process":
        check_hostile(path, backend, case["input"], case["expected"]["reference"]["out"])
    elif operation == "load every prefix":
        for row in case["expected"]["reference"]:
            cut = path.with_name(path.name.replace("*", str(row["bytes"])))
            check_hostile(cut, backend, case["input"], row["reference"]["out"])
    elif operation.startswith("encode_batch, os.fork()"):
        assert child(FORK, path, backend, case["input"]) == ""
    elif case["id"] == "PRC-06":
        check_memory_growth(opened(path, backend), case)
    elif case["id"] == "FSQ-01":
        check_model_half(opened(path, backend), case)
    else:
        CHECKS[operation](opened(path, backend), case)


def test_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    """Print what is not applicable and why; every other case is run."""
    need(data.cases_dir())
    left_out = Counter(filter(None, map(reason_not_applicable, cases())))
    with capsys.disabled():
        print(f"\ncases: {len(APPLICABLE)} applicable, {left_out.total()} not applicable:")
        for reason, count in left_out.items():
            print(f"  {count:3} {reason}")
    assert len(APPLICABLE) + left_out.total() == len(cases())
    assert not [case["id"] for case in APPLICABLE if not model_path(case).parent.exists()]
