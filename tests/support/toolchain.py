"""Compilers for the tests of the C distribution: the amalgamation, CMake, the examples."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import data

CORE = data.ROOT / "core"
EXAMPLES = data.ROOT / "examples/c"
TESTS = data.ROOT / "tests/c"
FILES = ("isotok", "isotok_build")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
C11, CXX17 = ("-std=c11",), ("-x", "c++", "-std=c++17")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed", re.M)


@dataclass(frozen=True)
class Compiler:
    """A command, the flags of its language, and those of the build."""

    name: str
    command: str
    language: tuple[str, ...]
    flags: tuple[str, ...] = ("-Os",)
    warnings: tuple[str, ...] = STRICT
    library: str = ""
    """Pattern of the compiler's run-time library, where another one links."""

    def compile(self, source: Path, target: Path, *flags: str | Path) -> Path:
        """Compile quietly: a warning fails."""
        options = [*self.language, *self.flags, *self.warnings, *flags]
        done = attempt(self.command, *options, "-c", source, "-o", target)
        assert done.returncode == 0 and not done.stdout.strip(), done.stdout
        return target


# Each makes the amalgamation without a warning and passes the vectors.
COMPILERS = (
    Compiler("gcc, C11", "gcc", C11),
    Compiler("clang, C11", "clang-19", C11),
    Compiler("g++, C++17", "g++", CXX17),
    Compiler("clang++, C++17", "clang++-19", CXX17),
    Compiler("gcc, standard C alone", "gcc", C11, ("-O1", "-DISOTOK_PORTABLE")),
    Compiler("tcc", "tcc", (), (), ("-Wall", "-Werror"), "lib/*/tcc/libtcc1.a"),
)
AARCH64 = "aarch64-linux-gnu-gcc"
EMULATOR = ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")


def attempt(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command that may fail; standard error goes into stdout."""
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = attempt(*command, cwd=cwd)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


def need(*tools: str) -> None:
    """Skip the test, with the reason, unless all tools are there."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed; run ./build.sh setup")


def amalgamate(folder: Path) -> Path:
    run(sys.executable, data.ROOT / "tools/amalgamate.py", folder)
    return folder


def passed(output: str) -> int:
    """The count that a C test program prints last; nothing may have failed."""
    match = COUNTS.search(output)
    assert match is not None and match[2] == "0", output
    return int(match[1])


def table(capsys: pytest.CaptureFixture[str], rows: list[str]) -> None:
    """Print rows where the runner of the parts finds them."""
    with capsys.disabled():
        print("", *(f"| {row}" for row in rows), sep="\n")


PROGRAMS = ("test_vectors", "test_nbest", "test_boundaries", "test_sampling")
SHARED = ("check_normalized", "drive", "drive_nbest", "json_lines", "make_model")
# test_sampling looks at these two from inside; in the amalgamation they are static.
INSIDE = ("exp_log", "philox")


class Builds:
    """Objects of the amalgamation, once for each compiler, and test programs linked with them."""

    def __init__(self, dist: Path, folder: Path) -> None:
        self.dist, self.folder = dist, folder
        self._objects: dict[tuple[str, str], Path] = {}

    def object(self, compiler: Compiler, file: str) -> Path:
        """Compile isotok.c or isotok_build.c."""
        key = (compiler.name, file)
        if key not in self._objects:
            need(compiler.command)
            target = self.folder / f"{len(self._objects)}.o"
            self._objects[key] = compiler.compile(self.dist / f"{file}.c", target)
        return self._objects[key]

    def tests(self, command: str) -> dict[str, Path]:
        """Objects of tests/c, compiled with the amalgamated headers."""
        folder = self.folder / command
        sources = [TESTS / f"{name}.c" for name in (*PROGRAMS, *SHARED)]
        sources += [CORE / f"src/{name}.c" for name in INSIDE]
        if not folder.exists():
            folder.mkdir()
            flags = [*C11, "-O1", f"-I{self.dist}", f"-I{CORE / 'src'}", f"-I{TESTS}"]
            run(command, *flags, "-c", *sources, cwd=folder)
        return {source.stem: folder / f"{source.stem}.o" for source in sources}

    def programs(self, compiler: Compiler, tests: str = "gcc") -> dict[str, Path]:
        """Test programs, linked with what the compiler made of the amalgamation."""
        objects = [self.object(compiler, file) for file in reversed(FILES)]
        ours = self.tests(tests)
        shared = [ours[name] for name in (*SHARED, *INSIDE)]
        libraries = [*Path("/usr").glob(compiler.library)] if compiler.library else []
        made: dict[str, Path] = {}
        for name in PROGRAMS:
            target = self.folder / f"{name}-{objects[0].stem}"
            run(tests, "-o", target, ours[name], *shared, *objects, *libraries, "-lpthread", "-lm")
            made[name] = target
        return made
