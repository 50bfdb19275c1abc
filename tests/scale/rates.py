"""Rates for the cost model of docs/scale.md: `python tests/scale/rates.py [BYTES]`, on one core.

Counts a text such as `./build.sh test full --only train_large` trains on, in four parts, merges the
parts, and encodes the first of them into shards.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "py_host")]
MB = 1_000_000


def parts_of(path: Path, count: int) -> Iterator[Path]:
    """The lines of a file in as many files, one after the other."""
    size = path.stat().st_size // count
    with path.open("rb") as file:
        for number in range(count):
            part = path.with_name(f"part-{number}.txt")
            part.write_bytes(file.read(size) + file.readline())
            yield part


def main() -> int:
    """Print the rates."""
    from isotok.train import PreTokenizer, WordCounter, files, merge_counts, train_bpe, write_shards

    from tests.full.train import write_large

    size = int(sys.argv[1]) if len(sys.argv) > 1 else 400 * MB
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        write_large(base / "all.txt", size)
        cutter = PreTokenizer([])
        blobs: list[bytes] = []
        sizes: list[int] = []
        start = time.perf_counter()
        parts = list(parts_of(base / "all.txt", 4))
        start = time.perf_counter()
        for part in parts:
            counter = WordCounter(cutter)
            counter.add_source(files(part), prefetch=0)
            blobs.append(counter.to_bytes())
            sizes.append(len(counter))
        counted = time.perf_counter() - start
        start = time.perf_counter()
        merged = merge_counts(blobs, cutter)
        adding = time.perf_counter() - start
        counter = WordCounter.from_bytes(merged, cutter)
        start = time.perf_counter()
        model = train_bpe(counter, vocab_size=32_000)
        training = time.perf_counter() - start
        start = time.perf_counter()
        write_shards(files(parts[0]), model, base / "shards")
        encoding = time.perf_counter() - start
        first = parts[0].stat().st_size
        tokens = sum(path.stat().st_size for path in (base / "shards").glob("*.bin")) // 2
        print(f"count        {size / counted / MB:8.1f} MB/s")
        print(f"counters     {sum(map(len, blobs)) / size:8.3f} bytes for a byte of a part's text")
        print(f"merged       {len(merged) / size:8.3f} bytes for a byte; {len(counter):,} words")
        print(f"merge        {sum(map(len, blobs)) / adding / MB:8.1f} MB/s of counters")
        print(f"train 32,000 {training:8.1f} s")
        print(f"shards       {first / encoding / MB:8.1f} MB/s, {first / tokens:.2f} bytes a token")
    return 0


if __name__ == "__main__":
    sys.exit(main())
