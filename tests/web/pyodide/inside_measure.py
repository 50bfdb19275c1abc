"""Times loading and encoding; runs in Pyodide and, to compare, in CPython on wasmtime."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any


def best(work: Callable[[], object], calls: int, rounds: int = 7) -> float:
    """Seconds of one call, the least of several rounds."""
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        found.append((time.perf_counter() - begin) / calls)
    return min(found)


def main(argument: str) -> str:
    """Measure every model in the folder; the text is encoded fresh, once."""
    task = json.loads(argument)
    begin = time.perf_counter()
    import isotok

    rows: dict[str, Any] = {"import isotok": time.perf_counter() - begin}
    folder = Path(task["folder"])
    text = (folder / "text.txt").read_text("utf-8")
    isotok.load(backend="wasm")  # compiles the modules
    for path in sorted(folder.glob("*.model")):
        for each in (path, path.with_suffix(".isotok")):
            rows[f"load {each.name}"] = best(partial(isotok.load, each, backend="wasm"), 1, 3)
        with isotok.load(path, backend="wasm") as tok:
            rows.update((f"{row}, {path.stem}", seconds) for row, seconds in calls(tok, text))
    return json.dumps(rows)


def calls(tok: Any, text: str) -> Iterator[tuple[str, float]]:
    """Long text, one half for each way, so that nothing has been seen before; short texts."""
    half = len(text) // 2
    yield "encode 1 MB to a list", seconds_per_megabyte(tok.encode, text[:half])
    to_buffer = partial(to_array, tok)
    yield "encode 1 MB to an array", seconds_per_megabyte(to_buffer, text[half:])
    yield "encode 11 characters", best(partial(tok.encode, "Hello world"), 2000)
    yield "decode them", best(partial(tok.decode, tok.encode("Hello world")), 2000)
    texts = [f"Hello world {i}" for i in range(1000)]
    batch = partial(tok.encode_batch, texts, output="list")
    yield "encode 1000 short texts to lists", best(batch, 5)


def to_array(tok: Any, text: str) -> memoryview:
    """As `encode_to_numpy`, without numpy."""
    return tok._backend.encode_ids(text, 0, 0)


def seconds_per_megabyte(encode: Callable[[str], object], text: str) -> float:
    begin = time.perf_counter()
    encode(text)
    return (time.perf_counter() - begin) * 1e6 / len(text.encode())
