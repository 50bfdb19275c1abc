#!/usr/bin/env python3
"""Builds the wheel from a copy of the tree and uses it from a folder of its own.

python tools/check_wheel.py
python tools/check_wheel.py pure FOLDER     only builds the py3-none-any wheel, to FOLDER
"""

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


PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
EPOCH = "1704067200"  # so that the same tree gives the same pure wheel


def build_wheel(folder: Path, *, pure: bool) -> Path:
    """Build a wheel in `folder` from a copy of the tree, without what older builds left."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "source"
        source.mkdir()
        for item in FILES:
            copy = shutil.copytree if (ROOT / item).is_dir() else shutil.copy
            copy(ROOT / item, source / item)
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / "py_host", source / "py_host", ignore=ignored)
        wheel = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
        switch = {"ISOTOK_PURE": "1" if pure else "0", "SOURCE_DATE_EPOCH": EPOCH}
        subprocess.run(wheel, cwd=source, check=True, env={**os.environ, **switch})
    (built,) = folder.glob("isotok-*-none-any.whl" if pure else "isotok-*-abi3-*.whl")
    return built


def main() -> int:
    if sys.argv[1:2] == ["pure"]:
        folder = Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("isotok-*-none-any.whl"):
            old.unlink()
        print(build_wheel(folder, pure=True))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = build_wheel(folder, pure=False)
        target = folder / "installed"
        install = [*PIP, "install", "--no-deps", "--target", str(target), str(built)]
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
