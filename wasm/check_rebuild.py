#!/usr/bin/env python3
"""Builds the wasm modules again in a copy of the tree elsewhere and compares the bytes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("isotok.wasm", "isotok-build.wasm")


def digests(folder: Path) -> dict[str, str]:
    return {
        name: hashlib.sha256((folder / "build/wasm" / name).read_bytes()).hexdigest()
        for name in MODULES
    }


def rebuild(folder: Path) -> dict[str, str]:
    for name in ("core", "wasm", "tools"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "build.sh", folder)
    # Only the compiler is wanted: no packages, no second environment.
    script = "VENV_PYTHON=python3; JOBS=2; source tools/compile.sh; build_wasm"
    environment = {**os.environ, "TMPDIR": str(folder)}
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, check=True
    )
    return digests(folder)


def main() -> int:
    first = digests(ROOT)
    with tempfile.TemporaryDirectory(prefix="isotok rebuild ") as name:
        second = rebuild(Path(name))
    failed = 0
    for module in MODULES:
        equal = first[module] == second[module]
        failed += not equal
        print(f"{module}: sha256 {first[module]} {'twice' if equal else f'and {second[module]}'}")
    print(f"{len(MODULES) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
