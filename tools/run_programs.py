#!/usr/bin/env python3
"""Runs the C test programs of one variant and adds up their counts.

python tools/run_programs.py VARIANT PATTERN [RUNNER …]

A program's last line is "N passed, N failed, N skipped"; without it, the program counts
as one test. RUNNER is put in front of the program (an emulator).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 900


def run_program(path: Path, runner: list[str]) -> tuple[int, int, int]:
    name = str(path.relative_to(ROOT))
    print(f"== {' '.join([*runner, name])}", flush=True)
    try:
        done = subprocess.run(
            [*runner, str(path)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        print(f"{name}: no end after {TIMEOUT} s")
        return 0, 1, 0
    text = done.stdout.decode("utf-8", errors="replace").rstrip()
    print(text)
    counts = re.search(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.M)
    passed, failed, skipped = map(int, counts.groups("0")) if counts else (1, 0, 0)
    if done.returncode and not failed:
        print(f"{name}: exit code {done.returncode}")
        return passed if counts else 0, 1, skipped
    return passed, failed, skipped


def main() -> int:
    variant, pattern, *runner = sys.argv[1:]
    folder = ROOT / "build" / variant / "tests"
    sources = sorted((ROOT / "tests/c").glob(f"{pattern}.c"))
    if not sources:
        print(f"tests/c: no {pattern}.c")
        return 1
    results = [run_program(folder / source.stem, runner) for source in sources]
    passed, failed, skipped = (sum(column) for column in zip(*results, strict=True))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
