"""Files of other libraries: large ones, hostile members, random sets of added tokens."""

from __future__ import annotations

import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.full import hf_tasks
from tests.full.hf_tasks import BACKENDS, Tally
from tests.full.limits import Check, Checks
from tests.support import data

sys.path.insert(0, str(data.ROOT / "tests"))

from support import hf, large_files, toy_hf

PARTS = 8
MEGABYTE = 1 << 20
HUNDRED = 100 * MEGABYTE


# ---- Added tokens ---------------------------------------------------------------------


def _added(name: str, backend: str, seed: int, sets: int) -> list[Check]:
    import isotok
    import tokenizers
    from isotok.compile import compile_model
    from isotok.errors import TokenizerError

    rng = random.Random(f"{name} {seed}")
    tally, refused = Tally(f"{name} {backend} {seed}"), 0
    for _ in range(sets):
        normalized = rng.choice((0, 0, 0.3, 1))
        tokens = toy_hf.added_tokens(rng, rng.randrange(1, 9), normalized=normalized)
        source = toy_hf.dump(toy_hf.MODELS[name], added_tokens=tokens)
        try:
            tok = isotok.load(compile_model(source.encode()), backend=backend)  # type: ignore[arg-type]
        except TokenizerError:
            refused += 1
            continue
        ref = tokenizers.Tokenizer.from_str(source)
        texts = [toy_hf.text(rng, [token["content"] for token in tokens]) for _ in range(50)]
        tally.add(len(texts), hf.same_encodings, tok, ref, texts, add=True)
        for text in texts:
            tally.add(1, hf.same_streams, tok, ref, text, rng)
            ref.encode_special_tokens = True
            tally.add(1, hf.same_special, tok, ref, text, rng)
            ref.encode_special_tokens = False
    what, value, limit, holds = tally.line()
    return [(f"{what}, {refused} of {sets} sets refused", value, limit, holds)]


def added_tokens(backend: str) -> Iterator[Check]:
    """Random sets of added tokens on small models."""
    sets = min(2000, (hf_tasks.size or 1 << 30) // 1000) // PARTS + 1
    names = [name for name in toy_hf.MODELS if not name.endswith("bert")]
    tasks = {
        f"{name} {seed}": partial(_added, name, backend, seed, sets)
        for name in names
        for seed in range(PARTS)
    }
    return hf_tasks.run(f"hf_added_tokens_{backend}", tasks, backend)


# ---- Large and hostile files ----------------------------------------------------------


def _json_of(size: int) -> Iterator[tuple[str, bytes]]:
    """Files of about this size: real ones in shape, and others."""
    count = size // 40
    entries = ",".join(f'"number {i:012}": {i}' for i in range(count))
    plain = '"unk_token": "[UNK]", "type": "WordLevel"'
    yield "entries", f'{{"model": {{{plain}, "vocab": {{"[UNK]": {count},{entries}}}}}}}'.encode()
    yield "spaces", b'{"model": {' + b" " * size + b"}}"
    yield "string", b'{"x": "' + b"a" * size + b'"}'
    yield "numbers", b'{"x": [' + b"0," * (size // 2) + b"0]}"
    yield "brackets", b"[" * size
    tokens = ",".join(['{"id": 1, "content": "x"}'] * (size // 26))
    yield "tokens", f'{{"added_tokens": [{tokens}], "model": {{}}}}'.encode()
    scores = ",".join(f'["{i}", -1.25]' for i in range(size // 18))
    yield "scores", f'{{"model": {{"type": "Unigram", "unk_id": 0, "vocab": [{scores}]}}}}'.encode()
    yield "merges", b'{"model": {"vocab": {"a": 1}, "merges": [' + b'"a a",' * (size // 6) + b"0]}}"


def large_json() -> Iterator[Check]:
    """100 MB of JSON: an error or a model, in linear time and at most 8 times the memory."""
    from isotok.compile.tokenizer_json import tokenizer_json_fields
    from isotok.errors import TokenizerError

    size = hf_tasks.size or HUNDRED
    for (kind, source), (_, small) in zip(_json_of(size), _json_of(size // 4), strict=True):
        times: list[float] = []
        answer = ""
        for data_of in (small, source):
            begin = time.process_time()
            try:
                answer = f"a model of {len(tokenizer_json_fields(data_of)):,} bytes"
            except TokenizerError as error:
                answer = str(error)
            times.append(time.process_time() - begin)
        limit = 4.8 * times[0] + 0.05
        value = f"{times[1]:.2f} s: {ascii(answer)[:90]}"
        yield f"{len(source):,} bytes, {kind}: time", value, f"<= {limit:.2f} s", times[1] <= limit
        peak = _peak(source) / len(source)
        yield f"{kind}: memory / file", f"{peak:.1f}", "<= 8", peak <= 8


def _peak(source: bytes) -> int:
    from isotok.compile.tokenizer_json import tokenizer_json_fields
    from isotok.errors import TokenizerError

    tracemalloc.start()
    try:
        tokenizer_json_fields(source)
    except TokenizerError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def memory() -> Iterator[Check]:
    """Resident memory that reading takes: real files, and made up ones of 4 to 20 MB."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in large_files.FILES]
        for path, (make, count) in zip(paths, large_files.FILES.values(), strict=True):
            path.write_bytes(make(count))
        for name in hf.NAMES:
            paths.append(Path(folder) / f"{name}.tokenizer.json")
            paths[-1].write_bytes(hf.source(name))
        paths += sorted(data.models_dir().glob("*.tiktoken"))
        for path in paths:
            for backend in BACKENDS:
                size = path.stat().st_size
                peak = large_files.peak(path, backend)
                limit = large_files.FACTOR * size + large_files.CONSTANT
                value = f"{peak / 1e6:.1f} MB of {size / 1e6:.1f} MB, {peak / size:.1f} times"
                yield f"{path.name} {backend}", value, f"<= {limit / 1e6:.1f} MB", peak <= limit


PATTERNS = ("(a+)+", "a*b|a", r"\s+$", "(a|aa)+$", "(?:a*)*b", r"(\s*\S*)*x", "a{1,60}b", "(.*)*x")
UNITS = ("a", " ", "ab", "\n", "a ", "aab")


def patterns() -> Iterator[Check]:
    """Patterns that make others back-track: refused by name, or right and linear."""
    import isotok
    import tokenizers
    from isotok.errors import TokenizerError

    for pattern in PATTERNS:
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
        cuts = [split | {"invert": False}, toy_hf.bytes_bpe(use_regex=False)["pre_tokenizer"]]
        sequence = {"type": "Sequence", "pretokenizers": cuts}
        source = toy_hf.dump(toy_hf.bytes_bpe(), pre_tokenizer=sequence)
        try:
            tok = isotok.load(source.encode())
        except TokenizerError as error:
            yield pattern, ascii(str(error))[:200], "refused or equal", True
            continue
        ref, rng = tokenizers.Tokenizer.from_str(source), random.Random(pattern)
        tally = Tally(pattern)
        texts = ["".join(rng.choices("ab \n", k=rng.randrange(12))) for _ in range(3000)]
        tally.add(len(texts), hf.same_encodings, tok, ref, texts, add=True)
        yield tally.line()
        for unit in UNITS:
            short, long = (unit * (n // len(unit)) + "x" for n in (250_000, 1_000_000))
            spent = [min(_seconds(tok, text) for _ in range(3)) for text in (short, long)]
            holds = spent[1] <= 4.8 * spent[0] + 0.002
            yield (
                f"{pattern}, 1 MB of {unit!a}",
                f"{spent[1]:.3f} s",
                f"<= 4.8 * {spent[0]:.3f}",
                holds,
            )


def _seconds(tok: Any, text: str) -> float:
    begin = time.thread_time()
    tok.count(text)
    return time.thread_time() - begin


ALL: dict[str, Checks] = {
    "hf_large_files": large_json,
    "hf_memory": memory,
    "hf_patterns": patterns,
}
for _backend in BACKENDS:
    ALL[f"hf_added_tokens_{_backend}"] = partial(added_tokens, _backend)
