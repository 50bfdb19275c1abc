"""dist/isotok.{h,c} and isotok_build.{h,c}: any compiler, no warning, the same ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import data
from support.toolchain import (
    AARCH64,
    COMPILERS,
    EMULATOR,
    FILES,
    Builds,
    Compiler,
    amalgamate,
    attempt,
    need,
    passed,
    run,
    table,
)

HEADERS = {"isotok": "core/include/isotok.h", "isotok_build": "core/build/isotok_build.h"}
MEMORY = {"memcpy", "memmove", "memset", "memcmp", "bcmp"}  # clang's name for a simple memcmp
FUSED = re.compile(r"\bfn?m(?:add|sub)\b|\bfml[as]\b")
GCC = COMPILERS[0]

# What the NDK's CMake files pass, per application binary interface.
NDK_FLAGS = (
    *("-DANDROID", "-DNDEBUG", "-O2", "-fPIC", "-fdata-sections", "-ffunction-sections"),
    *("-funwind-tables", "-fstack-protector-strong", "-no-canonical-prefixes"),
    *("-D_FORTIFY_SOURCE=2", "-Wformat", "-Werror=format-security"),
)
NDK_TARGETS = {
    "arm64-v8a": ["--target=aarch64-linux-android21"],
    "armeabi-v7a": ["--target=armv7a-linux-androideabi21", "-march=armv7-a", "-mthumb"],
    "x86": ["--target=i686-linux-android21", "-mstackrealign"],
    "x86_64": ["--target=x86_64-linux-android21"],
}
# What a compiler itself may call, of its run-time library.
RUNTIME = re.compile(r"__stack_chk_(?:fail|guard)|__aeabi_\w+|__floatundidf|_GLOBAL_OFFSET_TABLE_")


def symbols(path: Path, nm: str = "nm") -> tuple[set[str], set[str]]:
    """External symbols: defined, and wanted from outside."""
    lines = [line.split() for line in run(nm, "-g", "--format=posix", path).splitlines()]
    return {line[0] for line in lines if line[1] != "U"}, {
        line[0] for line in lines if line[1] == "U"
    }


def outside(wanted: set[str]) -> set[str]:
    return {name for name in wanted - MEMORY if not RUNTIME.fullmatch(name)}


def public(file: str) -> set[str]:
    text = (data.ROOT / HEADERS[file]).read_text("utf-8")
    return set(re.findall(r"^ISOTOK_API\((\w+)\)", text, re.M))


def test_that_it_is_always_the_same(dist: Path, tmp_path: Path) -> None:
    again = amalgamate(tmp_path)
    for file in dist.iterdir():
        assert (again / file.name).read_bytes() == file.read_bytes()


def test_that_all_sources_are_in_it(dist: Path) -> None:
    for file, folder in (("isotok", "core/src"), ("isotok_build", "core/build")):
        text = (dist / f"{file}.c").read_text("utf-8")
        for source in (data.ROOT / folder).glob("*.c"):
            assert text.count(f"==== {folder}/{source.name} ====") == 1, source
        assert '#include "' not in text.replace(f'#include "{file}.h"', "")


@pytest.mark.parametrize("file", FILES)
def test_no_warning(builds: Builds, compiler: Compiler, file: str) -> None:
    assert builds.object(compiler, file).stat().st_size > 0


@pytest.mark.parametrize("file", FILES)
def test_symbols(builds: Builds, compiler: Compiler, file: str) -> None:
    """The public functions alone, nothing wanted but four memory functions, no variables."""
    path = builds.object(compiler, file)
    defined, wanted = symbols(path)
    assert defined == public(file)
    assert outside(wanted) == set()
    if compiler.command != "tcc":  # which puts constants into .data
        sizes = dict(re.findall(r"^(\.\S+)\s+(\d+)", run("size", "-A", path), re.M))
        assert [sizes.get(name, "0") for name in (".data", ".bss", ".tbss")] == ["0", "0", "0"]


def test_vectors(builds: Builds, compiler: Compiler) -> None:
    counts = {
        name: passed(run(program, cwd=data.ROOT))
        for name, program in builds.programs(compiler).items()
    }
    assert counts["test_vectors"] > 100_000 and counts["test_sampling"] > 5_000, counts


def test_aarch64(builds: Builds, default_aarch64: Compiler) -> None:
    """Without any flag of ours: nothing is fused, and seeds draw the same."""
    need(AARCH64, EMULATOR[0], "aarch64-linux-gnu-objdump")
    programs = builds.programs(default_aarch64, AARCH64)
    code = run("aarch64-linux-gnu-objdump", "-d", builds.object(default_aarch64, "isotok"))
    assert code.count("fmul") > 10
    assert FUSED.findall(code) == []
    for name in ("test_nbest", "test_boundaries", "test_sampling"):
        passed(run(*EMULATOR, programs[name], cwd=data.ROOT))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["-ffast-math"], "-ffast-math"),
        (["-Ofast"], "-ffast-math"),
        (["-m32", "-mfpmath=387", "-mno-sse", "-ffreestanding"], "x87"),
    ],
)
def test_that_inexact_arithmetic_is_refused(
    dist: Path, tmp_path: Path, flags: list[str], message: str
) -> None:
    command = ["gcc", *flags, f"-isystem{data.ROOT / 'wasm/freestanding'}", "-c"]
    done = attempt(*command, dist / "isotok.c", "-o", tmp_path / "x.o")
    assert done.returncode != 0
    assert f'#error "isotok: {message}' in done.stdout


@pytest.mark.parametrize("abi", NDK_TARGETS)
def test_android(dist: Path, tmp_path: Path, abi: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The NDK's targets and flags with the same compiler, clang; its headers are not here, so
    the four memory functions are declared by ours."""
    need("clang-19", "ld.lld-19", "llvm-nm-19", "llvm-objdump-19", "llvm-size-19")
    headers = ["-ffreestanding", "-isystem", str(data.ROOT / "wasm/freestanding")]
    flags = (*NDK_TARGETS[abi], *NDK_FLAGS, *headers)
    clang = Compiler(abi, "clang-19", ("-std=c11",), flags)
    objects = [clang.compile(dist / f"{file}.c", tmp_path / f"{file}.o") for file in FILES]
    library = tmp_path / "libisotok.so"
    options = ["-shared", "-z", "max-page-size=16384", "--gc-sections", "--strip-all"]
    run("ld.lld-19", *options, "-soname", library.name, "-o", library, *objects)
    lines = [
        line.split() for line in run("llvm-nm-19", "-D", "-P", "--no-weak", library).splitlines()
    ]
    defined = {line[0] for line in lines if line[1] == "T"}
    wanted = {line[0] for line in lines if line[1] == "U"}
    assert defined >= public("isotok") | public("isotok_build")
    assert outside(wanted) == set()
    assert FUSED.findall(run("llvm-objdump-19", "-d", tmp_path / "isotok.o")) == []
    text = run("llvm-size-19", tmp_path / "isotok.o").splitlines()[-1].split()
    table(capsys, [f"Android {abi}: isotok.c is {int(text[0]) + int(text[1]):,} bytes at -O2"])
