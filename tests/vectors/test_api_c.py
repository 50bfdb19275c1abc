"""The table of operations (api.json), the C headers and what is built of them agree."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import wasmtime
from support import api, data

HEADERS = (
    "core/include/isotok.h",
    "core/build/isotok_build.h",
    "core/parallel/isotok_parallel.h",
    "core/train/isotok_train.h",
)
LIBRARIES = ("native/libisotok.so", "native/libisotok_build.so")
MODULES = ("wasm/isotok.wasm", "wasm/isotok-build.wasm")


def text_of(header: str) -> str:
    """A header without its comments."""
    text = (data.ROOT / header).read_text("utf-8")
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def declared(header: str) -> set[str]:
    """Functions, found by their declarations and not by the macro in front of them."""
    return set(re.findall(r"^[\w ]+?[ *](isotok_\w+)\(", text_of(header), re.M))


def types() -> set[str]:
    text = "\n".join(map(text_of, HEADERS))
    simple = re.findall(r"^typedef [^{}\n]*\b(isotok_\w+);", text, re.M)
    called = re.findall(r"^typedef [^\n]*\(\*(isotok_\w+)\)\(", text, re.M)
    return {*simple, *called, *re.findall(r"^\} (isotok_\w+);", text, re.M)}


def constants() -> set[str]:
    """Macros and enumerators, also those that a list of the header makes."""
    text = "\n".join(map(text_of, HEADERS))
    found = set(re.findall(r"\b(ISOTOK_[A-Z0-9_]+)\b", text))
    return found | {f"ISOTOK_{name}" for name in re.findall(r"X\((\w+), -?\d+,", text)}


def exported(path: Path) -> set[str]:
    """Functions of a native library or a wasm module that are ours."""
    if path.suffix == ".wasm":
        module = wasmtime.Module(wasmtime.Engine(), path.read_bytes())
        kinds = {each.name: each.type for each in module.exports}
        names = {name for name, kind in kinds.items() if isinstance(kind, wasmtime.FuncType)}
        return {name for name in names if name and name.startswith("isotok_")}
    command = ["nm", "-D", "--defined-only", "--format=posix", str(path)]
    lines = subprocess.check_output(command, text=True).splitlines()
    return {line.split()[0] for line in lines if line.split()[1] == "T"}


def test_every_name_of_the_table_exists() -> None:
    known = {*(name for header in HEADERS for name in declared(header)), *types(), *constants()}
    assert [name for name in api.names("c") if name not in known] == []


def test_every_function_and_type_is_in_the_table() -> None:
    ours = [*(name for header in HEADERS for name in declared(header)), *types()]
    assert len(ours) > 30
    assert sorted(set(ours) - set(api.names("c"))) == []


@pytest.mark.parametrize("built", [*LIBRARIES, *MODULES])
def test_what_is_built_has_the_functions(built: str) -> None:
    path = data.BUILD / built
    assert path.exists(), f"{path} is missing; run ./build.sh build native wasm"
    core, build, parallel, train = map(declared, HEADERS)
    toolchain = {"isotok_heap_base"} if path.suffix == ".wasm" else set()
    expected = build if "build." in path.name else core
    if path.suffix == ".so" and expected is core:
        expected = core | parallel | train  # native only
    assert exported(path) - toolchain == expected
