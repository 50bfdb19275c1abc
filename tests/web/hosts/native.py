#!/usr/bin/env python3
"""Writes what the native back end answers, for the hosts to compare with.

    python tests/web/hosts/native.py FOLDER

FOLDER gets what make_foreign.py makes, the texts, and native.json: for each model and text
the number of ids, and digests of ids, offsets, normalized and decoded text, of a sample and of
the n best segmentations. Models are named as the server of the
host tests has them; models and texts of the data folder take part where it is there.
"""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "tests/web", "py_host")]

import isotok  # noqa: E402
from support import data, texts  # noqa: E402

OWN = ("trained_unigram", "trained_bpe", "uni_rules", "uni_expand", "char_bytes", "word_plain")
SLICE = 20_000
"""Bytes taken of a corpus, from its middle."""
DRAWN = 4_000
"""Bytes of a text from which a sample is drawn."""
LISTED = 300
"""Bytes of a text whose best segmentations are listed."""
PATHS = 8
SEED = 0x0123_4567_89AB_CDEF


def corners(*, well_formed: bool) -> bytes:
    def is_text(corner: bytes) -> bool:
        return corner.decode(errors="ignore").encode() == corner

    return b"\n".join(text for text in texts.CORNERS if is_text(text) == well_formed)


def all_texts() -> Iterator[tuple[str, bytes]]:
    yield "corners.txt", corners(well_formed=True)
    yield "ill_formed.txt", corners(well_formed=False)
    for path in sorted(data.corpora_dir().glob("*.txt")):
        with path.open("rb") as file:
            file.seek(path.stat().st_size // 2)
            yield path.name, file.read(SLICE).decode(errors="ignore").encode()
    for path in sorted(data.corpora_dir().glob("stress/*")):
        yield path.name, path.read_bytes()[:SLICE]


def all_models() -> Iterator[tuple[str, Path]]:
    for name in OWN:
        yield f"vectors/models/{name}.model", data.VECTOR_MODELS / f"{name}.model"
    for path in data.real_models():
        yield f"shared/data/models/{path.name}", path


def digest_of_numbers(numbers: Iterable[int]) -> str:
    words = array("I", numbers)
    if sys.byteorder == "big":
        words.byteswap()
    return hashlib.sha256(words.tobytes()).hexdigest()


def digest_of_text(text: str | bytes) -> str:
    encoded = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(encoded).hexdigest()


def answers(tokenizer: isotok.Tokenizer, content: bytes) -> dict[str, Any]:
    text: str | bytes = content
    try:
        text = content.decode()
        found = tokenizer.encode_with_offsets(text, unit="utf16")
    except UnicodeDecodeError:
        found = tokenizer.encode_with_offsets(content, unit="byte")
    return {
        "count": len(found.ids),
        "ids": digest_of_numbers(found.ids),
        "offsets": digest_of_numbers(place for span in found.offsets for place in span),
        "normalized": digest_of_text(tokenizer.normalize(text)),
        "decoded": digest_of_text(tokenizer.decode(found.ids)),
        **others(tokenizer, content),
    }


def others(tokenizer: isotok.Tokenizer, content: bytes) -> dict[str, Any]:
    """Answers beside the best segmentation."""
    found: dict[str, Any] = {}
    if tokenizer.info.algorithm in ("unigram", "bpe"):
        found["drawn"] = digest_of_numbers(tokenizer.sample(content[:DRAWN], seed=SEED))
    if tokenizer.info.algorithm == "unigram":
        best = tokenizer.nbest(content[:LISTED], PATHS)
        found["best"] = digest_of_numbers(n for ids, _ in best for n in (len(ids), *ids))
        found["scores"] = [score for _, score in best]
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    contents = dict(all_texts())
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    rows: list[dict[str, Any]] = []
    for model, path in all_models():
        with isotok.load(path, backend="native") as tokenizer:
            rows += [
                {"model": model, "text": name, **answers(tokenizer, content)}
                for name, content in contents.items()
            ]
    (folder / "native.json").write_text(json.dumps(rows))
    import make_foreign  # not there in Pyodide, which only reads

    make_foreign.write(folder / "foreign", [])
    print(f"native.py: {len(rows)} answers of the native back end")


if __name__ == "__main__":
    main()
