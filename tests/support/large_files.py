"""Large files of other libraries, made up: vocabularies like those of real ones."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from support import data, toy_hf
from support.toy_bpe import byte_letters

_VOWELS: Final = "aeiouy"
_CONSONANTS: Final = "btkdfglmnprsvz"
_OTHERS: Final = "éüñ中文字日本語かなкирилица"


def words(rng: random.Random) -> Iterator[str]:
    """Yield different words of syllables, of one to five; a few in other scripts."""
    seen: set[str] = set()
    letters = [a + b for a in _CONSONANTS for b in _VOWELS]
    while True:
        source: Any = letters if rng.random() < 0.8 else _OTHERS
        word = "".join(rng.choices(source, k=rng.randrange(1, 6)))
        if word not in seen:
            seen.add(word)
            yield word


def _dump(source: Any) -> bytes:
    """Return a file as tokenizers saves it."""
    return json.dumps(source, ensure_ascii=False, indent=2).encode()


def word_piece(count: int) -> bytes:
    source = toy_hf.word_piece()
    vocab: dict[str, int] = source["model"]["vocab"]
    for word in islice(words(random.Random(1)), count):
        vocab.setdefault(word if len(vocab) % 3 else f"##{word}", len(vocab))
    return _dump(source)


def word_level(count: int) -> bytes:
    source = toy_hf.word_level()
    vocab: dict[str, int] = source["model"]["vocab"]
    for word in islice(words(random.Random(2)), count):
        vocab.setdefault(word, len(vocab))
    return _dump(source)


def unigram(count: int) -> bytes:
    source, rng = toy_hf.unigram(), random.Random(3)
    vocab: list[list[Any]] = source["model"]["vocab"]
    known = {text for text, _ in vocab}
    new = (word for word in islice(words(rng), count) if word not in known)
    vocab += ([word, -rng.uniform(5, 18)] for word in new)
    return _dump(source)


def _merges(base: list[str], count: int) -> tuple[dict[str, int], list[list[str]]]:
    """Merges that build the words from the left, and all tokens."""
    vocab = {token: i for i, token in enumerate(base)}
    merges: list[list[str]] = []
    for word in words(random.Random(4)):
        parts = [part for part in word if part in vocab]
        left = parts[0] if parts else ""
        for right in parts[1:]:
            if left + right not in vocab:
                vocab[left + right] = len(vocab)
                merges.append([left, right])
            left += right
        if len(merges) >= count:
            return vocab, merges
    raise AssertionError


def byte_level(count: int) -> bytes:
    source = toy_hf.bytes_bpe()
    vocab, merges = _merges(byte_letters(), count)
    source["model"] |= {"vocab": vocab, "merges": [" ".join(pair) for pair in merges]}
    return _dump(source)


def characters(count: int) -> bytes:
    source = toy_hf.characters_bpe(None)
    base = dict.fromkeys([*source["model"]["vocab"], *_VOWELS, *_CONSONANTS, *_OTHERS])
    vocab, merges = _merges([*base], count)
    source["model"] |= {"vocab": vocab, "merges": merges}
    return _dump(source)


def rank_file(count: int) -> bytes:
    """Ranks with the pattern of o200k_base, if they are taken for that."""
    byte_of = {letter: bytes([byte]) for byte, letter in enumerate(byte_letters())}
    vocab, _ = _merges(byte_letters(), count)
    lines = (
        base64.b64encode(b"".join(map(byte_of.__getitem__, token))) + f" {rank}\n".encode()
        for token, rank in vocab.items()
    )
    return b"".join(lines)


FILES: Final[dict[str, tuple[Callable[[int], bytes], int]]] = {
    "word_piece.json": (word_piece, 350_000),
    "word_level.json": (word_level, 350_000),
    "unigram.json": (unigram, 220_000),
    "byte_level.json": (byte_level, 180_000),
    "characters.json": (characters, 180_000),
    "o200k_base.tiktoken": (rank_file, 199_000),
}
"""Makers of files, and how many tokens make 9 to 20 MB (ranks of o200k_base: 4 MB)."""


# ---- Memory ---------------------------------------------------------------------------

CONSTANT: Final = 8 << 20
"""Bytes that reading takes whatever the size of the file: tables of Unicode, patterns."""
FACTOR: Final = 8
"""Bytes for each byte of a file, on both back ends."""
_PEAK: Final = """
import sys
from pathlib import Path
from isotok.compile import compile_model

def read(name):
    status = Path("/proc/self/status").read_text().split(name, 1)[1]
    return int(status.split(None, 2)[0]) * 1024

path, backend, small = sys.argv[1:]
source = Path(path).read_bytes()
compile_model(Path(small).read_bytes(), backend=backend)
Path("/proc/self/clear_refs").write_text("5")  # the peak is that of now
before = read("VmRSS:")
compile_model(source, backend=backend, name=path)
print(read("VmHWM:") - before)
"""


def peak(path: Path, backend: str) -> int:
    """Bytes of resident memory that reading a file takes, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.json"
        small.write_text(toy_hf.dump(toy_hf.word_level()))
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, str(path), backend, str(small)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(data.ROOT / "py_host")},
        )
    return int(done.stdout)
