#!/usr/bin/env python3
"""Builds the wheel from a copy of the tree and uses it from a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "VERSION", "LICENSE", "README.md", "core")
USE = """
import isotok
version = open({version!r}).read().strip()
assert isotok.__file__.startswith({folder!r}), isotok.__file__
assert isotok.__version__ == version, isotok.__version__
ids = []
for backend in ("native", "wasm"):
    with isotok.load(backend=backend) as tokenizer:
        ids.append(tokenizer.encode("Hello, world!"))
        assert tokenizer.decode(ids[-1]) == "Hello, world!"
assert ids[0] == ids[1], ids
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "source"
        source.mkdir()
        for item in FILES:
            copy = shutil.copytree if (ROOT / item).is_dir() else shutil.copy
            copy(ROOT / item, source / item)
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / "py_host", source / "py_host", ignore=ignored)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
        subprocess.run(wheel, cwd=source, check=True)
        (built,) = folder.glob("isotok-*.whl")
        target = folder / "installed"
        install = [*pip, "install", "--no-deps", "--target", str(target), str(built)]
        subprocess.run(install, check=True)
        # The path of the source tree comes from a .pth file, hence later in the search.
        environment = {**os.environ, "PYTHONPATH": str(target)}
        script = USE.format(folder=str(target), version=str(ROOT / "VERSION"))
        subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, check=True)
        print(f"{built.name}: {built.stat().st_size:,} bytes; installed, loaded, both back ends")
    print("1 passed, 0 failed, 0 skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
