"""Teachers of the distillation benchmark, their corpora, and what is distilled from them.

What is trained, unpacked or distilled once is kept under build/bench_distil.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from support import data

FOLDER = data.BUILD / "bench_distil"
MEMO_BYTES = 16 << 20
EXCEPTIONS = 20_000
ALPHA = 0.5  # priority: log-probability + ALPHA * ln(frequency + 1)
ALGORITHM = {"exact": 1, "compact": 6, "longest": 6, "priority": 7}


class Teacher(NamedTuple):
    """A Unigram model; `model` None: trained by sentencepiece, 16,000 pieces."""

    language: str
    model: str | None


TEACHERS = {
    "t5": Teacher("en", "nai-t5.model"),
    "en16k": Teacher("en", None),
    "ja": Teacher("ja", "llmjp_code10K_en20K_ja30K.ver2.2.model"),
    "zh16k": Teacher("zh", None),
}


def training_text(language: str) -> Path:
    """The corpus to train and distil with, unpacked."""
    path = FOLDER / f"{language}.txt"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        packed = data.corpora_dir() / "train" / f"{language}.20MB.txt.gz"
        path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path


def test_text(language: str) -> Path:
    """A text that nothing is learned from."""
    return data.corpora_dir() / f"{language}.txt"


def missing() -> str | None:
    """Why the benchmark cannot run."""
    names = [teacher.model for teacher in TEACHERS.values() if teacher.model]
    paths = [data.models_dir() / name for name in names]
    paths += [test_text(language) for language in ("en", "ja", "zh", "code")]
    paths += [
        data.corpora_dir() / f"train/{language}.20MB.txt.gz" for language in ("en", "ja", "zh")
    ]
    return next((data.absence(path) for path in paths if not path.exists()), None)


def sentences(language: str) -> Iterator[str]:
    with open(training_text(language), encoding="utf-8") as file:
        for line in file:
            text = line.strip()
            yield from filter(None, re.split("(?<=。)|(?<=\\.) ", text))


def model_of(name: str) -> Path:
    """The teacher's `.model`."""
    teacher = TEACHERS[name]
    if teacher.model is not None:
        return data.models_dir() / teacher.model
    path = FOLDER / f"{name}.model"
    if not path.exists():
        import sentencepiece

        print(f"training {name} …", file=sys.stderr)
        training_text(teacher.language)  # makes the folder
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sentences(teacher.language),
            model_prefix=str(path.with_suffix("")),
            vocab_size=16_000,
            character_coverage=0.9995,
            max_sentence_length=100_000,
            num_threads=2,
            minloglevel=2,
        )
    return path


def counted(backend: Any, path: Path) -> Any:
    """The chunks of a text, counted line by line."""
    from isotok import _native

    counts = _native.word_counts(backend)
    lines: list[str] = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            lines.append(line.rstrip("\n"))
            if len(lines) == 4096:
                counts.add_texts(lines)
                lines.clear()
    counts.add_texts(lines)
    return counts


def distilled(model: Path, text: Path) -> dict[str, bytes]:
    """The blob of each mode."""
    import isotok
    from isotok import _native

    teacher = isotok.load(model, cache_bytes=0)
    distil = _native.distil(teacher._backend, counted(teacher._backend, text))
    blobs = {"longest": distil.blob(ALGORITHM["longest"], None)}
    scores = np.array([teacher._backend.piece(i)[2] for i in range(teacher.info.vocab_size)])
    frequencies = np.frombuffer(distil.frequencies(), np.int64)
    priorities = (scores + ALPHA * np.log(frequencies + 1)).astype(np.float32)
    blobs["priority"] = distil.blob(ALGORITHM["priority"], priorities)
    distil.memo(MEMO_BYTES)
    blobs["exact"] = distil.blob(ALGORITHM["exact"], None)
    distil.learn(EXCEPTIONS, 2)
    blobs["compact"] = distil.blob(ALGORITHM["compact"], None)
    return blobs


def blob_of(name: str, mode: str) -> Path:
    """The file of a distilled model; all modes of a teacher are made anew in each run."""
    return FOLDER / f"{name}.{mode}.isotok"


def distil_all(names: list[str]) -> None:
    for name in names:
        language = TEACHERS[name].language
        for mode, blob in distilled(model_of(name), training_text(language)).items():
            blob_of(name, mode).write_bytes(blob)
