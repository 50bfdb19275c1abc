"""What the sessions of bench/web read: models in every form, and texts with their ids."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import measure
import numpy as np
from isotok.compile import compile_model
from support import data

BENCH = Path(__file__).resolve().parent / "web"
FOLDER = data.BUILD / "bench_web/data"
PAGES = data.BUILD / "bench_web/pages"

MODELS = ("llama2", "gemma3", "xlmr")
CORPORA = ("en", "code", "ja")
MB = 1_000_000
# Where texts begin in a corpus of 5 MB, in bytes; each ends at the end of a line.
WARM_UP = 200_000
LONG = [WARM_UP + i * MB for i in range(4)]
SHORT = [4_200_000 + i * 250_000 for i in range(3)]
SENTENCE = re.compile(r".+?(?:[.!?。！？]+[\"'”’」』)]*\s*|\n\s*\n|$)", re.DOTALL)


class Text:
    """A file of texts to encode one by one, and the ids that sentencepiece gives them."""

    def __init__(self, name: str, texts: list[str]) -> None:
        self.name = name
        self.texts = texts
        self.size = sum(len(text.encode()) for text in texts)
        (FOLDER / name).write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")

    @cache  # noqa: B019 - as many as there are models
    def ids(self, model: str) -> str:
        """Digest of all ids, one text after the other, as session.mjs makes it."""
        found = hashlib.sha256()
        for ids in processor(model).encode(self.texts, num_threads=1):
            found.update(np.asarray(ids, dtype="<u4").tobytes())
        return found.hexdigest()


class Corpus:
    """Text of a corpus that is seen once by each session."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bytes = (data.corpora_dir() / f"{name}.txt").read_bytes()

    def _part(self, begin: int, size: int) -> str:
        first = self.bytes.index(b"\n", begin) + 1 if begin else 0
        last = self.bytes.index(b"\n", begin + size) + 1
        return self.bytes[first:last].decode()

    @cached_property
    def cold(self) -> Text:
        return Text(f"{self.name}.cold.json", [self._part(0, WARM_UP)])

    @cached_property
    def long(self) -> list[Text]:
        parts = [self._part(begin, MB) for begin in LONG]
        return [Text(f"{self.name}.long{i}.json", [part]) for i, part in enumerate(parts)]

    @cached_property
    def short(self) -> list[Text]:
        """Sentences; the first part is to get used to them."""
        parts = [SENTENCE.findall(self._part(begin, 250_000)) for begin in SHORT]
        return [Text(f"{self.name}.short{i}.json", part) for i, part in enumerate(parts)]


@cache
def processor(model: str) -> Any:
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(source_of(model)))


@cache
def corpus(name: str) -> Corpus:
    return Corpus(name)


def source_of(model: str) -> Path:
    return data.models_dir() / f"{model}.model"


def blob_size(model: str) -> int:
    return (FOLDER / f"{model}.isotok").stat().st_size


def missing() -> str | None:
    """What is not here, to be said instead of a result."""
    paths = [source_of(model) for model in MODELS]
    paths += [data.corpora_dir() / f"{name}.txt" for name in CORPORA]
    absent = [path for path in paths if not path.exists()]
    return data.absence(absent[0]) if absent else None


def prepare() -> None:
    """Write what sessions read, and bring the peers."""
    parts = ["web", "playground-tests", "bench-web"]
    subprocess.run(["./build.sh", "build", *parts], cwd=measure.ROOT, check=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for model in MODELS:
        source = source_of(model).read_bytes()
        (FOLDER / f"{model}.model").write_bytes(source)
        (FOLDER / f"{model}.isotok").write_bytes(compile_model(source))
        (FOLDER / f"{model}.packed").write_bytes(compile_model(source, form="packed"))
        (FOLDER / f"{model}.tokenizer.json").write_bytes(tokenizer_json(model))
    for name in ("isotok.wasm", "isotok-build.wasm"):
        shutil.copyfile(measure.ROOT / "web/dist" / name, FOLDER / name)
    kitoken = BENCH / "node_modules/kitoken/dist/web_bg.wasm"
    shutil.copyfile(kitoken, FOLDER / "kitoken.wasm")


def tokenizer_json(model: str) -> bytes:
    path = data.models_dir() / f"{model}.tokenizer.json"
    if path.exists():
        return path.read_bytes()
    return gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes())
