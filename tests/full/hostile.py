"""Models and texts that mean harm: mutated files, tries with loops, limits, 2 GiB of text."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator

from tests.full.limits import Check, Checks, _alternate, _at_most
from tests.support import data

sys.path[:0] = [str(data.ROOT / "tests"), str(data.ROOT / "tests/fuzz")]

import mutate  # noqa: E402
from support.models import BPE, NORMAL, SPECIALS, USER_DEFINED, Piece, model  # noqa: E402

MUTANTS = 20_000
LONGEST = 64  # bytes of the longest piece, honest or not
LETTER = ord("a")
GIB = 1 << 30


def mutants() -> Iterator[Check]:
    """20,000 mutated blobs and model files under ASan and UBSan, and in wasm."""
    todo = list(mutate.mutants(MUTANTS, 1, mutate.own_models()))
    for name, run in mutate.BACKENDS.items():
        result = run(todo)
        for problem in result.problems[:20]:
            yield f"{name}: {problem}", "a crash, hang, leak or silent refusal", "none", False
        yield f"{name}: {result}", f"{len(result.problems)}", "0 problems", not result.problems
        past = result.past_header
        yield f"{name}: blobs past the header", f"{past:,}", ">= 5,000", past >= 5000


# ---- A trie that never ends ---------------------------------------------------------


def runs(algorithm: int) -> bytes:
    """A model of all runs of one letter up to LONGEST."""
    pieces: list[Piece] = [("a" * size, -size, NORMAL) for size in range(1, LONGEST + 1)]
    return model([*SPECIALS, *pieces], {"model_type": algorithm}, {"add_dummy_prefix": False})


def user_runs() -> bytes:
    user: list[Piece] = [("a" * size, 0, USER_DEFINED) for size in range(1, LONGEST + 1)]
    return model([*SPECIALS, *user, ("b", -1, NORMAL)], {"model_type": BPE})


def with_loop(blob: bytes, section: str) -> bytes:
    """Make the trie's node for "a" its own child, so that a run of "a" never leaves it."""
    from isotok._blob_gen import BlobView

    at = next(each.offset for each in BlobView(blob).sections() if each.name == section)
    changed = bytearray(blob)
    root_base = struct.unpack_from("<I", changed, at)[0] >> 8
    slot = root_base ^ LETTER
    link = struct.unpack_from("<I", changed, at + 8 * slot)[0]
    assert link & 0xFF == LETTER
    struct.pack_into("<I", changed, at + 8 * slot, (slot ^ LETTER) << 8 | LETTER)
    return bytes(changed)


def loops() -> Iterator[Check]:
    """1 MB of one letter: a looping trie costs at most 5 times an honest one."""
    import isotok
    from isotok.compile import compile_model

    text = b"a" * 1_000_000
    models = {
        "unigram": (runs(1), "trie"),
        "bpe": (runs(2), "trie"),
        "char": (runs(4), "trie"),
        "user-defined": (user_runs(), "user_trie"),
    }
    for name, (source, section) in models.items():
        honest = compile_model(source)
        for backend in ("native", "wasm"):
            tokenizers = [
                isotok.load(blob, backend=backend) for blob in (honest, with_loop(honest, section))
            ]
            works = [lambda tok=tok: tok.encode_to_numpy(text) for tok in tokenizers]
            fair, looping = map(min, _alternate(5, *works))
            yield _at_most(f"{name} {backend}: self-looping / honest trie", looping / fair, 5)


# ---- Limits -------------------------------------------------------------------------


def limits() -> Iterator[Check]:
    """A model that grows or runs too long is stopped, and the process lives."""
    import isotok

    large = data.models_dir() / "gemma3.model"
    slow = data.VECTOR_MODELS / "uni_long.model"
    small = data.VECTOR_MODELS / "uni_ties.model"

    def stopped(what: str, work: object) -> Check:
        try:
            work()  # type: ignore[operator]
        except isotok.LimitError as error:
            return f"{what}: {error}", "LimitError", "LimitError", True
        return what, "went on", "LimitError", False

    def memory() -> None:
        isotok.load(large, backend="wasm", limits={"memory": 4 << 20})

    def compile_time() -> None:
        isotok.load(large, backend="wasm", limits={"fuel": 1_000_000})

    def run_time() -> None:
        tok = isotok.load(slow, backend="wasm", limits={"fuel": 50_000_000})
        tok.encode(b"a" * 200_000)

    yield stopped("memory of a large model", memory)
    yield stopped("time to compile", compile_time)
    yield stopped("time to encode", run_time)
    ids = isotok.load(small, backend="wasm").encode("ab abc")
    again = isotok.load(small, backend="native").encode("ab abc")
    yield "another model afterwards", str(ids), str(again), ids == again


def huge() -> Iterator[Check]:
    """2^31 newlines: counted in 64 bits, without a wrap-around."""
    import isotok

    free = _available_memory()
    if free < 6 * GIB:
        yield f"2 GiB of text needs 6 GiB; {free // GIB} are free", "skipped", "", True
        return
    size = 1 << 31
    path = data.models_dir() / "llama2.model"
    expected = size + 1  # a byte piece for each, and ▁ in front
    found = isotok.load(path, backend="native").count(b"\n" * size)
    yield "2^31 newlines, llama2", f"{found:,} tokens", f"{expected:,}", found == expected


def _available_memory() -> int:
    with open("/proc/meminfo") as file:
        line = next(line for line in file if line.startswith("MemAvailable"))
    return int(line.split()[1]) << 10


ALL: dict[str, Checks] = {"mutants": mutants, "loops": loops, "limits": limits, "huge": huge}
