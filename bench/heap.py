"""What opening a model takes from malloc: `python heap.py WAY FILE`, one process for a figure."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class _Mallinfo(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def used() -> int:
    """Bytes that are in use, in the heap and in maps of malloc's own."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Mallinfo
    found = mallinfo()
    return found.uordblks + found.hblkhd


def open_once(way: str, path: str) -> object:
    if way == "sentencepiece":
        import sentencepiece

        return sentencepiece.SentencePieceProcessor(model_file=path)
    import isotok

    return isotok.load(path, backend="native", map=True if way == "map" else None)


def measure_here(way: str, path: str, warm_up: str) -> int:
    """Open another model first: what the library itself needs is not counted."""
    first = open_once(way, warm_up)
    gc.collect()
    before = used()
    tokenizer = open_once(way, path)
    gc.collect()
    found = used() - before
    del first, tokenizer
    return found


def of(model: Path, way: str = "build") -> int:
    """Bytes of heap that an opened model holds: "sentencepiece", "map" (a blob), "build"."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [model, Path(folder) / "toy.model"]
        paths[1].write_bytes(toy_model())
        if way == "map":
            paths = [blob_of(path, Path(folder)) for path in paths]
        done = subprocess.run(
            [sys.executable, __file__, way, *map(str, paths)],
            # glibc counts what its caches of free chunks hold as used
            env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
            capture_output=True,
            text=True,
            check=True,
        )
    return int(done.stdout)


def toy_model() -> bytes:
    from support import toy

    return toy.toy_model()


def blob_of(model: Path, folder: Path) -> Path:
    from isotok.compile import compile_model

    path = folder / f"{model.stem}.isotok"
    path.write_bytes(compile_model(model.read_bytes(), "blob"))
    return path


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "py_host"))
    print(measure_here(*sys.argv[1:4]))
