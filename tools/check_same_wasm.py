#!/usr/bin/env python3
"""Checks that everything we publish has the same wasm modules, by their SHA-256.

python tools/check_same_wasm.py [PLACE …]

The modules are those of build/wasm. Places: wheel and pure-wheel (built here), npm (the
tarball, packed here of web/dist; with the modules that are inside of scripts), playground
(build/playground) and pyodide (the wheel that tests/web/pyodide/prepare.py has made).
Without arguments: all of them.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from check_wheel import build_wheel

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("isotok.wasm", "isotok-build.wasm")
INLINE = {
    "isotok.wasm": r"package/dist/inline\.js",
    "isotok-build.wasm": r"package/dist/build_wasm_inline-\w+\.js",
}

Found = Iterator[tuple[str, str, bytes]]
"""Where it was, the name of the module, its bytes."""


def in_wheel(path: Path) -> Found:
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            if name.endswith(".wasm"):
                yield path.name, Path(name).name, wheel.read(name)


def wheel() -> Found:
    with tempfile.TemporaryDirectory() as folder:
        yield from in_wheel(build_wheel(Path(folder), pure=False))


def pure_wheel() -> Found:
    with tempfile.TemporaryDirectory() as folder:
        yield from in_wheel(build_wheel(Path(folder), pure=True))


def npm() -> Found:
    with tempfile.TemporaryDirectory() as folder:
        pack = ["npm", "pack", "--silent", "--pack-destination", folder]
        subprocess.run(pack, cwd=ROOT / "web", check=True, stdout=subprocess.DEVNULL)
        (path,) = Path(folder).glob("*.tgz")
        with tarfile.open(path) as tarball:
            yield from in_tarball(path.name, tarball)


def in_tarball(where: str, tarball: tarfile.TarFile) -> Found:
    for member in tarball:
        file = tarball.extractfile(member)
        if file is None:
            continue
        name = Path(member.name).name
        if name.endswith(".wasm"):
            yield where, name, file.read()
        for module, script in INLINE.items():
            if re.fullmatch(script, member.name):
                (text,) = re.findall(rb'"([A-Za-z0-9+/=]{1000,})"', file.read())
                yield f"{where}, {name}", module, base64.b64decode(text)


def playground() -> Found:
    for path in sorted((ROOT / "build/playground").glob("*.wasm")):
        yield "playground", path.name, path.read_bytes()


def pyodide() -> Found:
    for path in (ROOT / "build/pyodide").glob("isotok-*.whl"):
        yield from (("Pyodide page", name, data) for _, name, data in in_wheel(path))


# Each with how often it has each module, and how to make it.
PLACES: dict[str, tuple[Callable[[], Found], int, str]] = {
    "wheel": (wheel, 1, "./build.sh build py"),
    "pure-wheel": (pure_wheel, 1, "./build.sh build py"),
    "npm": (npm, 2, "./build.sh build web"),
    "playground": (playground, 1, "./build.sh build playground"),
    "pyodide": (pyodide, 1, "python tests/web/pyodide/prepare.py"),
}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check(place: str, wanted: dict[str, str]) -> Iterator[bool]:
    """One result for each module that should be there; prints a line for each that is."""
    find, times, todo = PLACES[place]
    counts = dict.fromkeys(MODULES, 0)
    for where, name, data in find():
        found = digest(data)
        same = found == wanted.get(name)
        counts[name] = counts.get(name, 0) + 1
        print(f"{found[:16]}  {'same' if same else 'OTHER'}  {name:18} {where}")
        if not same:
            print(f"error: {where} has another {name} than build/wasm; run {todo}")
        yield same
    for name, count in counts.items():
        if count != times:
            print(f"error: {place} has {name} {count} times, not {times}; run {todo}")
            yield False


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that all have the same wasm modules.")
    parser.add_argument("places", nargs="*", metavar="PLACE", help=", ".join(PLACES))
    places: list[str] = parser.parse_args().places or list(PLACES)
    for place in places:
        if place not in PLACES:
            parser.error(f"unknown place {place}; one of {', '.join(PLACES)}")
    wanted: dict[str, str] = {}
    for name in MODULES:
        path = ROOT / "build/wasm" / name
        if not path.exists():
            parser.error(f"build/wasm/{name} is missing; run ./build.sh build wasm")
        wanted[name] = digest(path.read_bytes())
        print(f"{wanted[name][:16]}  {'':5} {name:18} build/wasm")
    results = [result for place in places for result in check(place, wanted)]
    print(f"{sum(results)} passed, {results.count(False)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
