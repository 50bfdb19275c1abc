#!/usr/bin/env python3
"""Brings together what the tests in Pyodide use, in build/pyodide; quick if it is there.

python tests/web/pyodide/prepare.py

From outside: Debian's chromium, the npm package pyodide, Python packages for .venv and
pure wheels for Pyodide, all by name and version. Of our own: the py3-none-any wheel, a
lock file that knows it, and an archive of the tests with the models that they use.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DIST = ROOT / "build/pyodide"
PYODIDE = HERE / "node_modules/pyodide"
MODULES = ("isotok.wasm", "isotok-build.wasm")
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
NATIVE = DIST / "native"
FOLDERS = ("tests/vectors", "tests/py", "tests/support", "tests/reference", "build/pyodide/native")
FILES = ("tests/conftest.py", "tests/web/hosts/native.py", "pyproject.toml", "VERSION")
SUFFIXES = (".bin", ".json", ".model", ".py", ".txt")


def data_dir() -> Path:
    return Path(os.environ.get("ISOTOK_DATA") or ROOT.parent / "shared/data")


def changed(name: str, *sources: Path) -> bool:
    """Whether one of the files differs from when `done` was called for `name`."""
    stamp = DIST / f"{name}.stamp"
    return not stamp.exists() or stamp.read_text() != digest(*sources)


def done(name: str, *sources: Path) -> None:
    (DIST / f"{name}.stamp").write_text(digest(*sources))


def digest(*sources: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


# -- from outside -------------------------------------------------------------------


def chromium() -> str:
    """Path of the browser; installs Debian's if there is none."""
    found = os.environ.get("ISOTOK_CHROMIUM") or shutil.which("chromium")
    if found is None:
        print("installing chromium", flush=True)
        apt = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"]
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        subprocess.run([*sudo, "apt-get", "update", "-qq"], check=True)
        subprocess.run([*sudo, *apt], check=True, stdout=subprocess.DEVNULL)
        found = shutil.which("chromium")
    if found is None:
        raise SystemExit("prepare.py: no chromium; install it, or set ISOTOK_CHROMIUM to one")
    return found


def npm_packages() -> None:
    lock = HERE / "package-lock.json"
    if PYODIDE.exists() and not changed("npm", lock):
        return
    print("npm packages", flush=True)
    subprocess.run(["npm", "ci", "--silent"], cwd=HERE, check=True)
    done("npm", lock)


def python_packages() -> None:
    wanted = HERE / "requirements.txt"
    try:
        import playwright  # noqa: F401
        import pyodide_lock  # noqa: F401
    except ImportError:
        missing = True
    else:
        missing = changed("python", wanted)
    if missing:
        print("Python packages", flush=True)
        subprocess.run([*PIP, "install", "-r", str(wanted)], check=True)
        done("python", wanted)


def wheels() -> list[str]:
    """Names of the pure wheels in DIST that Pyodide gets."""
    wanted = HERE / "wheels.txt"
    names = wanted.read_text().split("\n")
    count = len([name for name in names if name and not name.startswith("#")])
    if changed("wheels", wanted) or len(list(DIST.glob("*.whl"))) <= count:
        print("wheels", flush=True)
        for old in DIST.glob("*.whl"):
            old.unlink()
        only = ["--only-binary=:all:", "--platform=any", "--implementation=py"]
        download = [*PIP, "download", "--no-deps", *only, "--python-version=3.14"]
        subprocess.run([*download, "-d", str(DIST), "-r", str(wanted)], check=True)
        done("wheels", wanted)
    return sorted(path.name for path in DIST.glob("*.whl") if not path.name.startswith("isotok-"))


# -- our own ------------------------------------------------------------------------


def own_wheel() -> Path:
    """Build the wheel without an extension."""
    command = [sys.executable, str(ROOT / "tools/check_wheel.py"), "pure", str(DIST)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = DIST.glob("isotok-*-py3-none-any.whl")
    return wheel


def lock_file(wheel: Path) -> Path:
    """Add the wheel to Pyodide's lock file with pyodide-build's own library for that."""
    from pyodide_lock import PyodideLockSpec
    from pyodide_lock.utils import add_wheels_to_spec

    source, target = PYODIDE / "pyodide-lock.json", DIST / "pyodide-lock.json"
    if sys.version_info >= (3, 12):
        spec = PyodideLockSpec.from_json(source)
        add_wheels_to_spec(spec, [wheel], base_path=DIST).to_json(target)
        return target
    # The last library for Python 3.11 does not read today's lock files: it makes the entry.
    lock = json.loads(source.read_text())
    info = {key: lock["info"][key] for key in ("arch", "platform", "python")}
    spec = PyodideLockSpec(info={**info, "version": "0"}, packages={})
    entry = add_wheels_to_spec(spec, [wheel], base_path=DIST).packages["isotok"].model_dump()
    lock["packages"]["isotok"] = entry
    target.write_text(json.dumps(lock))
    return target


def index(wheel: Path) -> None:
    """Write a package index of one package, in the form of PEP 503."""
    folder = DIST / "simple/isotok"
    folder.mkdir(parents=True, exist_ok=True)
    link = f'<a href="/dist/{wheel.name}#sha256={digest(wheel)}">{wheel.name}</a>'
    (folder / "index.html").write_text(f"<!doctype html><title>isotok</title>{link}\n")


def test_files() -> Iterator[tuple[str, Path]]:
    """Name in the archive and path of what the tests read."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            hidden = {"node_modules", "__pycache__"} & set(path.parts)
            if path.is_file() and not hidden and path.suffix in SUFFIXES:
                yield f"project/{path.relative_to(ROOT)}", path
    for path in [*(ROOT / name for name in FILES), *sorted(HERE.glob("inside_*.py"))]:
        yield f"project/{path.relative_to(ROOT)}", path
    shared = data_dir().parent
    for pattern in ("data/models/*.model", "vectors/**/*", "cases/**/*"):
        for path in sorted(shared.glob(pattern)):
            if path.is_file():
                yield f"shared/{path.relative_to(shared)}", path


def native_answers() -> None:
    """Write what the native back end says, to compare with inside."""
    command = [sys.executable, str(ROOT / "tests/web/hosts/native.py"), str(NATIVE)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def archive() -> Path:
    """Pack the tests."""
    target = DIST / "tests.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, path in test_files():
            packed.write(path, name)
    return target


def prepare() -> None:
    DIST.mkdir(parents=True, exist_ok=True)
    npm_packages()
    python_packages()
    wheels()
    wheel = own_wheel()
    lock_file(wheel)
    index(wheel)
    native_answers()
    archive()
    for old in DIST.glob("row-*.json"):
        old.unlink()
    for path in HERE.glob("inside_*.py"):
        shutil.copy(path, DIST / path.name)
    chromium()
    print("0 passed, 0 failed")  # of the tests: those come now


if __name__ == "__main__":
    prepare()
