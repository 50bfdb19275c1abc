#!/usr/bin/env python3
"""Checks the built wasm modules: no imports, the exact exports, the size.

python wasm/check.py FOLDER [--any-size]

A module must export the functions of its public header, isotok_heap_base and the memory;
nothing else.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import wasmtime

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Module:
    """One module, where its exports are declared, and its limits in bytes."""

    name: str
    header: str
    raw_limit: int
    gzip_limit: int


MODULES = (
    Module("isotok.wasm", "core/include/isotok.h", 66_000, 33_000),
    Module("isotok-build.wasm", "core/build/isotok_build.h", 262_144, 131_072),
)


CHECKS_PER_MODULE = 5  # imports, exports missing, exports too many, size, gzip size


def declared(header: str) -> set[str]:
    """Functions that a public header declares with ISOTOK_API."""
    text = (ROOT / header).read_text("utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return set(re.findall(r"^ISOTOK_API\((\w+)\)", text, re.M))


def problems(module: Module, data: bytes, *, is_shipped: bool) -> list[str]:
    """What is wrong with a module; prints its numbers."""
    parsed = wasmtime.Module(wasmtime.Engine(), data)
    imports = [f"{item.module}.{item.name}" for item in parsed.imports]
    exports = {item.name for item in parsed.exports if item.name is not None}
    required = declared(module.header) | {"isotok_heap_base", "memory"}
    packed = len(gzip.compress(data, 9, mtime=0))
    print(
        f"{module.name}: {len(data):,} bytes (limit {module.raw_limit:,}), "
        f"gzip {packed:,} (limit {module.gzip_limit:,}), imports {len(imports)}, "
        f"exports {len(exports)}"
    )
    found: list[str] = []
    if imports:
        found.append(f"imports {', '.join(imports)}; it must import nothing")
    if required - exports:
        found.append(f"does not export {', '.join(sorted(required - exports))}")
    if exports - required:
        found.append(f"exports {', '.join(sorted(exports - required))}, which no header declares")
    if not is_shipped:  # only one of the two builds is optimized for size
        return [f"{module.name}: {text}" for text in found]
    if len(data) > module.raw_limit:
        found.append(f"{len(data):,} bytes are more than {module.raw_limit:,}")
    if packed > module.gzip_limit:
        found.append(f"{packed:,} bytes of gzip are more than {module.gzip_limit:,}")
    return [f"{module.name}: {text}" for text in found]


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the built wasm modules.")
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--any-size", action="store_true", help="for the build that is not optimized for size"
    )
    parser.add_argument("--counts", action="store_true", help="end with the counts of a test")
    arguments = parser.parse_args()
    found: list[str] = []
    for module in MODULES:
        path = arguments.folder / module.name
        if path.exists():
            found += problems(module, path.read_bytes(), is_shipped=not arguments.any_size)
        else:
            found.append(f"{path}: not built; run ./build.sh build wasm")
    for text in found:
        print(f"error: {text}", file=sys.stderr)
    if arguments.counts:
        total = (CHECKS_PER_MODULE - 2 * arguments.any_size) * len(MODULES)
        print(f"{total - len(found)} passed, {len(found)} failed, 0 skipped")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
