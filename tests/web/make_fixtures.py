#!/usr/bin/env python3
"""Make what the web tests need from Python: small models, and offsets to compare with.

    python tests/web/make_fixtures.py [folder, by default build/web/fixtures]

offsets.json holds texts with ids and ranges: code points from sentencepiece 0.2.3 where it
is installed, else from our Python package; UTF-16 units by a conversion of those that
shares nothing with the core.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "tests/reference", "py_host")]

import make_foreign  # noqa: E402
from support import oracle, toy  # noqa: E402
from support.offsets import labelled_texts, model_paths, utf16  # noqa: E402


def broken_blob(model: bytes) -> bytes:
    """A blob that nobody may trust: the root of its trie leads out of all memory."""
    from isotok._blob_gen import BlobView
    from isotok.compile import compile_model

    blob = bytearray(compile_model(model))
    trie = next(each for each in BlobView(blob).sections() if each.name == "trie")
    blob[trie.offset + 1 : trie.offset + 4] = b"\xff\xff\xff"
    return bytes(blob)


def own_offsets(model: bytes, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    import isotok

    with isotok.load(model) as tokenizer:
        found = tokenizer.encode_with_offsets(text, unit="codepoint")
    return found.ids, found.offsets


def rows(name: str, model: bytes) -> Iterator[dict[str, Any]]:
    reference = oracle.Oracle(model) if oracle.available() else None
    for label, text in labelled_texts():
        if reference is None:
            ids, spans = own_offsets(model, text)
        else:
            ids = reference.encode_ids(text.encode())
            spans = reference.codepoint_offsets(text)
        yield {
            "model": name,
            "label": label,
            "text": text,
            "ids": ids,
            "codepoint": [list(span) for span in spans],
            "utf16": [[utf16(text, begin), utf16(text, end)] for begin, end in spans],
        }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/web/fixtures"
    folder.mkdir(parents=True, exist_ok=True)
    models = {
        "toy": toy.toy_model(),
        "toy_bytes": toy.byte_model(),
        "toy_bare": toy.bare_model(),
    }
    for name, model in models.items():
        (folder / f"{name}.model").write_bytes(model)
    (folder / "broken.isotok").write_bytes(broken_blob(models["toy"]))
    models |= {name: path.read_bytes() for name, path in model_paths().items()}
    found = [row for name, model in models.items() for row in rows(name, model)]
    origin = f"sentencepiece {oracle.VERSION}" if oracle.available() else "isotok"
    text = json.dumps({"origin": origin, "rows": found}, ensure_ascii=True)
    (folder / "offsets.json").write_text(text)
    make_foreign.write(folder / "foreign", make_foreign.real_files())
    print(f"{folder}: {len(models)} models, {len(found)} texts with offsets of {origin}")


if __name__ == "__main__":
    main()
