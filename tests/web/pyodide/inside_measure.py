"""Times loading and encoding; runs in Pyodide and, to compare, in CPython on wasmtime."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
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
        name = path.stem
        rows[f"load {name}.model"] = best(lambda p=path: isotok.load(p, backend="wasm"), 1, 3)
        blob = path.with_suffix(".isotok")
        rows[f"load {name}.isotok"] = best(lambda b=blob: isotok.load(b, backend="wasm"), 1, 3)
        tok = isotok.load(path, backend="wasm")
        half = len(text) // 2
        for kind, part, encode in (
            ("list", text[:half], tok.encode),
            ("buffer", text[half:], lambda each: tok._backend.encode_ids(each, 0, 0)),
        ):
            begin = time.perf_counter()
            encode(part)
            seconds = time.perf_counter() - begin
            rows[f"encode 1 MB, {kind}, {name}"] = seconds * 1e6 / len(part.encode())
        ids = tok.encode("Hello world")
        rows[f"encode Hello world, {name}"] = best(lambda: tok.encode("Hello world"), 2000)
        rows[f"decode it, {name}"] = best(lambda i=ids: tok.decode(i), 2000)
        texts = [f"Hello world {i}" for i in range(1000)]
        rows[f"batch of 1000, lists, {name}"] = best(
            lambda t=texts: tok.encode_batch(t, output="list"), 5
        )
        tok.close()
    return json.dumps(rows)
