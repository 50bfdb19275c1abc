"""One run of the distillation benchmark, in this process, which has done nothing before.

    python distil_once.py encode ENGINE MODEL UNIT TEXT
    python distil_once.py distil MODEL TEXT
    python distil_once.py peer MODEL TEXT

`encode`: the first pass over all of TEXT by UNIT (lines, documents, or "at once": all lines in one
call); ENGINE is isotok, without its run-time cache, or sentencepiece. `distil`: from TEXT to the
memo, the exceptions and all blobs; `peer`: what sentencepiece takes to encode its lines once.
Prints JSON: seconds (processor time), of loading too, the bytes of the texts, a digest of the ids,
and the peak of resident memory above the start.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT / "py_host", ROOT / "tests", ROOT / "bench"):
    sys.path.insert(0, str(folder))

import measure  # noqa: E402
import numpy  # noqa: E402, F401  (else the first array pays for it)
from train_once import memory  # noqa: E402


def texts_of(unit: str, path: Path) -> list[str]:
    if unit == "documents":
        return measure.documents(path, 1 << 40)
    return [line.rstrip("\n") for line in measure.text_lines(path)]


class Engine(NamedTuple):
    """One tokenizer: a call for a text, and one for many."""

    encode: Callable[[str], list[int]]
    encode_all: Callable[[list[str]], object]


def engine_of(name: str, model: str) -> Engine:
    if name == "sentencepiece":
        import sentencepiece

        peer = sentencepiece.SentencePieceProcessor(model_file=model)
        return Engine(peer.encode, lambda texts: peer.encode(texts, num_threads=1))
    import isotok

    tok = isotok.load(model, cache_bytes=0)
    return Engine(tok.encode, tok.encode_batch)


def encode(name: str, model: str, unit: str, path: str) -> dict[str, Any]:
    texts = texts_of(unit, Path(path))
    start = time.process_time()
    engine = engine_of(name, model)
    loaded = time.process_time()
    if unit == "at once":
        engine.encode_all(texts)
    else:
        for text in texts:
            engine.encode(text)
    seconds = time.process_time() - loaded
    digest = hashlib.sha256()
    for text in texts:
        ids = engine.encode(text)
        digest.update(array("I", [len(ids), *ids]).tobytes())
    size = sum(len(text.encode()) for text in texts)
    load = loaded - start
    return {"seconds": seconds, "load": load, "bytes": size, "digest": digest.hexdigest()}


def peak_of(work: Callable[[], object]) -> dict[str, Any]:
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    start = time.process_time()
    work()
    return {"seconds": time.process_time() - start, "peak": memory("VmHWM") - before}


def distil(model: str, path: str) -> dict[str, Any]:
    import distil_models
    import isotok  # noqa: F401

    return peak_of(lambda: distil_models.distilled(Path(model), Path(path)))


def encode_all(model: str, path: str) -> None:
    encode = engine_of("sentencepiece", model).encode
    for line in measure.text_lines(Path(path)):
        encode(line.rstrip("\n"))


def peer(model: str, path: str) -> dict[str, Any]:
    import sentencepiece  # noqa: F401

    return peak_of(lambda: encode_all(model, path))


WORKS: dict[str, Callable[..., dict[str, Any]]] = {"encode": encode, "distil": distil, "peer": peer}

if __name__ == "__main__":
    print(json.dumps(WORKS[sys.argv[1]](*sys.argv[2:])))
