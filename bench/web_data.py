"""What the sessions of bench/web read: models in every form, and texts with their ids."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

import measure
import numpy as np
import web_models
from support import data

BENCH = Path(__file__).resolve().parent / "web"
FOLDER = data.BUILD / "bench_web/data"
PAGES = data.BUILD / "bench_web/pages"

CORPORA = ("en", "code", "ja", "zh", "multi")
MB = 1_000_000
# Where texts begin in a corpus of 5 MB, in bytes; each ends at the end of a line.
WARM_UP = 200_000
LONG = [WARM_UP + i * MB for i in range(4)]
SHORT = [4_200_000 + i * 250_000 for i in range(3)]
SENTENCE = re.compile(r".+?(?:[.!?。！？]+[\"'”’」』)]*\s*|\n\s*\n|$)", re.DOTALL)


class Text:
    """A file of texts to encode one by one, and the ids that a model's library gives them."""

    def __init__(self, name: str, texts: list[str]) -> None:
        self.name = name
        self.texts = texts
        self.size = sum(len(text.encode()) for text in texts)
        (FOLDER / name).write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")

    @cache  # noqa: B019 - as many as there are models
    def ids(self, model: str) -> str:
        """Digest of all ids, one text after the other, as session.mjs makes it."""
        found = hashlib.sha256()
        for ids in web_models.reference(model)(self.texts):
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
def corpus(name: str) -> Corpus:
    return Corpus(name)


def blob_size(model: str) -> int:
    return (FOLDER / f"{model}.isotok").stat().st_size


def missing(models: Sequence[str], corpora: Sequence[str]) -> str | None:
    """What is not here, to be said instead of a result."""
    paths = [data.corpora_dir() / f"{name}.txt" for name in corpora]
    absent = [path for path in paths if not path.exists()]
    return data.absence(absent[0]) if absent else web_models.missing(models)


# Modules of WebAssembly that engines read: ours, then those of peers.
OURS = ("isotok.wasm", "isotok-build.wasm")
PEERS = {
    "kitoken.wasm": "kitoken/dist/web_bg.wasm",
    "tiktoken.wasm": "tiktoken/lite/tiktoken_bg.wasm",
}


def prepare(models: Sequence[str]) -> None:
    """Write what sessions read, and bring the peers."""
    parts = ["web", "playground-tests", "bench-web"]
    subprocess.run(["./build.sh", "build", *parts], cwd=measure.ROOT, check=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for model in models:
        for name, contents in web_models.files(model):
            (FOLDER / name).write_bytes(contents)
    for name in OURS:
        shutil.copyfile(measure.ROOT / "web/dist" / name, FOLDER / name)
    for name, path in PEERS.items():
        shutil.copyfile(BENCH / "node_modules" / path, FOLDER / name)
    for model in web_models.RANKS:
        ranks = BENCH / f"node_modules/tiktoken/encoders/{model}.json"
        shutil.copyfile(ranks, FOLDER / f"{model}.ranks.json")
