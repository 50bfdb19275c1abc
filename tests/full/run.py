"""`./build.sh test full`: the matrices and limits that are too long for every change.

    ./build.sh test full [--size BYTES] [--only NAME …] [--corpus NAME …]
                         [--model NAME …] [--processes N] [--resume FILE]

Exits with 1 if a line falls short. With `--resume FILE` the lines hf_… write there each task that
holds, and do not run it again. `--size` reads only the first BYTES of each corpus; of the
shuffled text (cache_shuffled) it is the length, 1 GB if not given; hf_… take as many texts.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.full import cache, generation, hf_tasks, limits, matrix
from tests.support import data

EXTRA = (
    "tests.full.cache",
    "tests.full.compat",
    "tests.full.compat_foreign",
    "tests.full.compat_tokenizers",
    "tests.full.generation",
    "tests.full.hf",
    "tests.full.hf_files",
    "tests.full.hf_long",
    "tests.full.hf_models",
    "tests.full.hostile",
    "tests.full.normalized",
    "tests.full.pretok",
    "tests.full.spm_fb",
    "tests.full.streams",
    "tests.full.train",
)  # modules with an ALL of their own


def checks() -> dict[str, limits.Checks]:
    """All named checks."""
    found = dict(limits.ALL)
    for name in EXTRA:
        if importlib.util.find_spec(name):
            found |= importlib.import_module(name).ALL
    return found


def run_limits(names: list[str]) -> tuple[int, int]:
    """Print every check; passed and failed."""
    passed = failed = 0
    for name in names:
        print(f"\n== {name}", flush=True)
        for what, value, limit, holds in checks()[name]():
            print(f"{'ok  ' if holds else 'FAIL'} {what}: {value} ({limit})", flush=True)
            passed += holds
            failed += not holds
    return passed, failed


def run_matrix(processes: int, size: int | None, names: list[str]) -> tuple[int, int]:
    """Print a row per model, corpus, mode and back end; equal and differing rows."""
    passed = failed = 0
    print(f"\n== matrix\n{matrix.HEADER}", flush=True)
    texts = [t for t in matrix.corpora(data.corpora_dir()) if not names or t.name in names]
    for row in matrix.run(data.real_models(), texts, processes, size):
        print(matrix.line(row), flush=True)
        passed += row.differing == 0
        failed += row.differing != 0
    return passed, failed


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, help="bytes of each corpus, or of the shuffled text")
    parser.add_argument("--only", nargs="+", choices=["matrix", *checks()])
    parser.add_argument("--corpus", nargs="+", default=[], help="only these corpora")
    parser.add_argument("--model", nargs="+", default=[], help="only these, of the lines hf_…")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--resume", type=Path, help="tasks of the lines hf_… that are done")
    options = parser.parse_args()
    if not data.real_models():
        print(data.absence(data.models_dir()))
        return 1
    cache.configure(options.size, options.processes)
    generation.configure(options.size, options.processes)
    hf_tasks.configure(options.size, options.processes, options.model, options.resume)
    begin = time.monotonic()
    wanted = options.only or [*checks(), "matrix"]
    passed, failed = run_limits([name for name in wanted if name != "matrix"])
    if "matrix" in wanted:
        equal, differing = run_matrix(options.processes, options.size, options.corpus)
        passed, failed = passed + equal, failed + differing
    print(f"\n{time.monotonic() - begin:.0f} s\n{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
