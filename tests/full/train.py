"""Training at the sizes of corpora: tokens and their order as Hugging Face has them, and 1 GB."""

from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.full.limits import Check
from tests.support import data

VOCAB_SIZE = 16_000
MB = 1_000_000
LARGE = 1_000 * MB
LARGE_PEAK = 8_000 * MB
LANGUAGES = ("en", "zh", "ja")
TEST_CORPORA = ("en", "ja", "zh", "code", "multi")


def _training_text(language: str) -> bytes:
    path = data.corpora_dir() / f"train/{language}.20MB.txt.gz"
    return gzip.decompress(path.read_bytes())


def mixed() -> bytes:
    """The first 17 MB of each language, in turns of 1 MB."""
    texts = [_training_text(language) for language in LANGUAGES]
    return b"".join(text[at : at + MB] for at in range(0, 17 * MB, MB) for text in texts)


def _corpora(folder: Path) -> Iterator[tuple[str, Path]]:
    for name in TEST_CORPORA:
        text = (data.corpora_dir() / f"{name}.txt").read_bytes().decode(errors="replace")
        yield name, _written(folder, text.encode())
    for language in LANGUAGES:
        yield f"train/{language}", _written(folder, _training_text(language))
    # a character that two pieces share is none: the engines take text
    yield "mixed", _written(folder, mixed().decode(errors="replace").encode())


def _written(folder: Path, text: bytes) -> Path:
    path = folder / "text.txt"
    path.write_bytes(text)
    return path


def _once(engine: str, path: Path, unit: str = "byte", *options: str) -> dict[str, Any]:
    """Train in a process of its own: seconds, peak, tokens."""
    small = path.with_name("small.txt")
    small.write_text("low lower lowest, new newer newest\n")
    script = data.ROOT / "bench/train_once.py"
    arguments = [engine, path, unit, VOCAB_SIZE, small, *options]
    command = [sys.executable, script, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def _agree(found: list[str], wanted: list[str]) -> tuple[str, bool]:
    same = next((i for i, (a, b) in enumerate(zip(found, wanted, strict=False)) if a != b), None)
    if same is None and len(found) == len(wanted):
        return f"{len(found):,} tokens, all equal", True
    where = min(len(found), len(wanted)) if same is None else same
    return f"{len(found):,} and {len(wanted):,} tokens, the first {where:,} equal", False


def train_hf() -> Iterator[Check]:
    """Vocabulary and order of Hugging Face's BpeTrainer with ByteLevel."""
    with tempfile.TemporaryDirectory() as name:
        for corpus, path in _corpora(Path(name)):
            wanted = _once("huggingface", path)["tokens"]
            found = _once("isotok", path)["tokens"]
            told, equal = _agree(found, wanted)
            yield f"{corpus}, {path.stat().st_size / MB:.0f} MB", told, "as tokenizers", equal


def train_lossless() -> Iterator[Check]:
    """Unicode units: `lossless` learns what training without shaping learns."""
    with tempfile.TemporaryDirectory() as name:
        for corpus, path in _corpora(Path(name)):
            wanted = _once("isotok", path, "unicode")["tokens"]
            found = _once("isotok", path, "unicode", "lossless=true")["tokens"]
            told, equal = _agree(found, wanted)
            yield f"{corpus}, {path.stat().st_size / MB:.0f} MB", told, "as unshaped", equal


def write_large(path: Path, size: int, seed: int = 20_261_201) -> None:
    """Lines drawn with replacement; digits and one long word in eight are drawn anew, so that
    different words keep growing."""
    draw = random.Random(seed)
    lines = [line for text in map(_training_text, LANGUAGES) for line in _short(text)]
    letters = "abcdefghijklmnopqrstuvwxyz"

    def renewed(match: re.Match[str]) -> str:
        word = match.group()
        if word.isdigit():
            return "".join(draw.choices("0123456789", k=len(word)))
        return "".join(draw.choices(letters, k=len(word))) if draw.random() < 0.125 else word

    changed = re.compile(r"[0-9]+|\b[a-z]{8,}\b")
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            file.writelines(changed.sub(renewed, draw.choice(lines)) for _ in range(1000))


def _short(text: bytes) -> Iterator[str]:
    """Lines of at most some KB: those of one corpus are whole documents."""
    for line in text.decode().splitlines(keepends=True):
        for at in range(0, len(line), 4096):
            part = line[at : at + 4096]
            yield part if part.endswith("\n") else part + "\n"


def train_large() -> Iterator[Check]:
    """1 GB, with the default options."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "large.txt"
        write_large(path, LARGE)
        size = path.stat().st_size / MB
        for unit in ("byte", "unicode"):
            found = _once("isotok", path, unit)
            told = f"{found['seconds']:.0f} s, {found['peak'] / MB:,.0f} MB above the start"
            limit = f"< {LARGE_PEAK / MB:,.0f} MB"
            yield f"{size:,.0f} MB, {unit} units", told, limit, found["peak"] < LARGE_PEAK


ALL = {"train_hf": train_hf, "train_large": train_large, "train_lossless": train_lossless}
