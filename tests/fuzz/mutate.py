"""Mutated blobs and `.model` files: none may crash, hang or leak.

    python tests/fuzz/mutate.py [--count 20000] [--seed 1] [--only native | wasm]

Every mutant goes through build/fuzz/replay (native, ASan and UBSan, guard pages; what opens
is exercised with hostile texts) and through the wasm back end with limits. A refusal must
say what and where. At least a quarter of the mutants must get past the blob's header.
"""

from __future__ import annotations

import argparse
import random
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/fuzz"), str(ROOT / "py_host")]

import run as fuzz_run  # noqa: E402

BLOB, SOURCE = 0, 1
HEADER_SIZE = 64
TOTAL_SIZE_AT = 8
HEADER_CAUSES = range(1, 9)  # ISOTOK_WHAT_HEADER .. BLOB_ADDRESS
INTERESTING = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
MODELS = ROOT / "tests/vectors/models"
BATCH = 500  # mutants per process
NO_UNKNOWN = 44  # ISOTOK_WHAT_NO_UNKNOWN: a text that the model cannot encode


@dataclass(frozen=True)
class Mutant:
    kind: int
    data: bytes
    name: str  # of the file it was


@dataclass
class Result:
    """What came of the mutants of one back end."""

    accepted: int = 0
    refused: Counter[int] = field(default_factory=Counter)  # by cause
    past_header: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, mutant: Mutant, cause: int) -> None:
        if cause == 0:
            self.accepted += 1
        else:
            self.refused[cause] += 1
        self.past_header += mutant.kind == BLOB and cause not in HEADER_CAUSES

    def merge(self, other: Result) -> None:
        self.accepted += other.accepted
        self.refused += other.refused
        self.past_header += other.past_header
        self.problems += other.problems

    def __str__(self) -> str:
        return (
            f"{self.accepted + self.refused.total()} mutants: {self.accepted} accepted,"
            f" {self.refused.total()} refused for {len(self.refused)} causes,"
            f" {self.past_header} blobs past the header, {len(self.problems)} problems"
        )


# ---- Mutation -----------------------------------------------------------------------

Change = Callable[[bytearray, random.Random], None]


def flip_bits(data: bytearray, generator: random.Random) -> None:
    for _ in range(generator.choice([1, 1, 2, 8, 64])):
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)


def set_word(data: bytearray, generator: random.Random) -> None:
    """Replace aligned 32-bit numbers: by edge values, sizes, or others of the file."""
    for _ in range(generator.choice([1, 1, 1, 3])):
        at = generator.randrange(len(data) // 4) * 4
        other = generator.randrange(len(data) // 4) * 4
        value = generator.choice(
            [*INTERESTING, len(data), struct.unpack_from("<I", data, other)[0]]
        )
        delta = generator.choice([0, 0, 1, -1, 64])
        struct.pack_into("<I", data, at, (value + delta) & 0xFFFFFFFF)


def copy_within(data: bytearray, generator: random.Random) -> None:
    size = generator.choice([1, 4, 8, 64, 256])
    if size < len(data):
        source = generator.randrange(len(data) - size)
        target = generator.randrange(len(data) - size)
        data[target : target + size] = data[source : source + size]


def cut(data: bytearray, generator: random.Random) -> None:
    del data[generator.randrange(len(data)) :]


def remove(data: bytearray, generator: random.Random) -> None:
    at = generator.randrange(len(data))
    del data[at : at + generator.choice([1, 2, 4, 64])]


def insert(data: bytearray, generator: random.Random) -> None:
    at = generator.randrange(len(data))
    data[at:at] = generator.randbytes(generator.choice([1, 2, 4, 64]))


def near_table(data: bytearray, generator: random.Random, start: int = HEADER_SIZE) -> None:
    """Change the root, vtable or table of the FlatBuffer at `start`: offsets and scalars."""
    root = start + struct.unpack_from("<I", data, start)[0]
    at = root + generator.randrange(-80, 160)
    if 0 <= at < len(data):
        data[at] = generator.choice([0, 1, 4, 0xFF, data[at] ^ 1, generator.randrange(256)])


def link_back(data: bytearray, generator: random.Random) -> None:
    """Lead nodes of a trie back to themselves, to the root or to each other: endless keys."""
    from isotok._blob_gen import BlobView

    sections = {each.name: each for each in BlobView(bytes(data)).sections()}
    names = [name for name in ("trie", "trie", "user_trie") if name in sections]
    if not names:
        return
    section = sections[generator.choice(names)]
    links = list(struct.unpack_from(f"<{section.count * 2}I", data, section.offset))[::2]
    inner = [slot for slot, link in enumerate(links) if slot > 255 and link >> 8]
    for _ in range(generator.choice([1, 1, 3])):
        slot = generator.choice(inner) if inner else generator.randrange(section.count)
        label = links[slot] & 0xFF
        base = generator.choice(
            [slot ^ label, links[0] >> 8, links[generator.randrange(len(links))] >> 8]
        )
        struct.pack_into("<I", data, section.offset + 8 * slot, base << 8 | label)


SAME_SIZE: tuple[Change, ...] = (flip_bits, set_word, set_word, copy_within)
ANY_SIZE: tuple[Change, ...] = (cut, remove, insert)


def mutate_blob(blob: bytes, generator: random.Random) -> bytes:
    data = bytearray(blob)
    kind = generator.random()
    if kind < 0.15:
        generator.choice(ANY_SIZE)(data, generator)
    elif kind < 0.30:
        near_table(data, generator)
    elif kind < 0.45:
        link_back(data, generator)
    else:
        body = data[HEADER_SIZE:]
        generator.choice(SAME_SIZE)(body, generator)
        data[HEADER_SIZE:] = body
    if generator.random() < 0.05:
        flip_bits(data, generator)  # the header too
    elif len(data) >= HEADER_SIZE:
        struct.pack_into("<Q", data, TOTAL_SIZE_AT, len(data))
    return bytes(data)


def mutate_source(source: bytes, generator: random.Random) -> bytes:
    data = bytearray(source)
    for _ in range(generator.choice([1, 1, 2, 5])):
        if len(data) >= 8:
            generator.choice((*SAME_SIZE, *ANY_SIZE))(data, generator)
    return bytes(data)


def mutate_spm_fb(source: bytes, generator: random.Random) -> bytes:
    data = bytearray(source)
    if generator.random() < 0.4:
        near_table(data, generator, 0)
        return bytes(data)
    return mutate_source(source, generator)


def mutants(count: int, seed: int, sources: Sequence[Path]) -> Iterator[Mutant]:
    """Yield `count` mutants of the models, two thirds of them blobs; the same for a seed."""
    generator = random.Random(f"mutants {seed}")
    files = [
        (path.stem, path.read_bytes(), fuzz_run.blob_of(path), fuzz_run.spm_fb_of(path))
        for path in sources
    ]
    for number in range(count):
        name, source, blob, spm_fb = generator.choice(files)
        if number % 3:
            yield Mutant(BLOB, mutate_blob(blob, generator), name)
        elif number % 2 and spm_fb:
            yield Mutant(SOURCE, mutate_spm_fb(spm_fb, generator), name)
        else:
            yield Mutant(SOURCE, mutate_source(source, generator), name)


def own_models() -> list[Path]:
    """Our small models; those of long pieces would only be slow."""
    slow = {"uni_long", "bpe_long", "bpe_unused_deep", "uni_nested_user"}
    return [path for path in sorted(MODELS.glob("*.model")) if path.stem not in slow]


# ---- Native: build/fuzz/replay ------------------------------------------------------


def record(mutant: Mutant) -> bytes:
    return struct.pack("<II", mutant.kind, len(mutant.data)) + mutant.data


def replay(program: Path, batch: Sequence[Mutant]) -> Result:
    """Run one process over a batch; if it dies, say with which mutant and go on behind it."""
    result = Result()
    todo = list(batch)
    while todo:
        done = subprocess.run(
            [str(program)], input=b"".join(map(record, todo)), capture_output=True, cwd=ROOT
        )
        lines = done.stdout.decode().splitlines()
        for mutant, line in zip(todo, lines, strict=False):
            status, cause, _index, _offset = map(int, line.split())
            if (status == 0) != (cause == 0):
                result.problems.append(f"{mutant.name}: status {status}, cause {cause}")
            result.add(mutant, cause)
        if done.returncode == 0 and len(lines) == len(todo):
            break
        last = done.stderr.decode(errors="replace").strip().splitlines()
        shown = next((line for line in last if "ERROR" in line or "broken" in line), last[-1:])
        if len(lines) == len(todo):  # all answered: a leak, found at the end
            result.problems.append(f"exit code {done.returncode}: {shown}")
            break
        culprit = todo[len(lines)]
        path = keep(culprit)
        result.problems.append(f"{path}: exit code {done.returncode}: {shown}")
        todo = todo[len(lines) + 1 :]
    return result


def keep(mutant: Mutant) -> Path:
    folder = fuzz_run.OUT / "artifacts"
    folder.mkdir(parents=True, exist_ok=True)
    kind = ("blob", "source")[mutant.kind]
    path = folder / f"mutant-{kind}-{mutant.name}-{hash(mutant.data) & 0xFFFFFF:06x}"
    path.write_bytes(mutant.data)
    return path


def run_native(todo: Sequence[Mutant]) -> Result:
    program = fuzz_run.replay_program()
    batches = [todo[at : at + BATCH] for at in range(0, len(todo), BATCH)]
    total = Result()
    with ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda batch: replay(program, batch), batches):
            total.merge(result)
    return total


# ---- wasm ---------------------------------------------------------------------------

TEXTS = [
    b"a" * 2000,
    b" \xe2\x96\x81  " * 300,
    b"\xe3\x81\xff\x80\xf0\x9f" * 200,
    "\ufdfa ＡＢ ab abc <s>\n\n日本 e\u0301".encode() * 40,
]


def passes_full_verification(mutant: Mutant) -> bool:
    import isotok

    try:
        isotok.load(mutant.data, backend="wasm", verify="full").close()
    except isotok.TokenizerError:
        return False
    return True


def use_in_wasm(mutant: Mutant) -> int:
    """Load and use a mutant with limits; return the cause of its refusal, 0 without one."""
    import isotok

    limits = isotok.Limits(memory=1 << 27, fuel=4_000_000_000)
    try:
        tok = isotok.load(mutant.data, backend="wasm", limits=limits)
    except isotok.TokenizerError as error:
        message = str(error)
        if isinstance(error, isotok.LimitError) or len(message) < 30 or error.what == 0:
            raise AssertionError(f"refused without a reason: {message}") from error
        return error.what
    sound = passes_full_verification(mutant)
    with tok:
        for text in TEXTS:
            try:
                ids = tok.encode(text)
            except isotok.TokenizerError as error:
                assert error.what == NO_UNKNOWN, error
                continue
            found = tok.encode_with_offsets(text, unit="byte")
            # Where the set of pairs is damaged, a piece may lie across a cut: what becomes of
            # such a text depends on what the cache knows already.
            assert found.ids == ids or not sound
            assert all(0 <= begin <= end <= len(text) for begin, end in found.offsets)
            tok.decode(ids)
            tok.normalize(text)
        tok.decode_bytes(list(range(min(tok.vocab_size, 2000))))
    return 0


def run_wasm(todo: Sequence[Mutant]) -> Result:
    result = Result()
    for mutant in todo:
        try:
            result.add(mutant, use_in_wasm(mutant))
        except Exception as error:  # anything else is what this looks for
            result.problems.append(f"{keep(mutant)}: {type(error).__name__}: {error}")
    return result


BACKENDS: dict[str, Callable[[Sequence[Mutant]], Result]] = {
    "native": run_native,
    "wasm": run_wasm,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=[*BACKENDS])
    options = parser.parse_args()
    todo = list(mutants(options.count, options.seed, own_models()))
    failed = 0
    for name in [options.only] if options.only else BACKENDS:
        result = BACKENDS[name](todo)
        print(f"{name}: {result}", flush=True)
        print("\n".join(f"  {problem}" for problem in result.problems[:20]))
        failed += bool(result.problems) or result.past_header < options.count // 4
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
