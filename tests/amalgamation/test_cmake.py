"""The CMake project: built, tested, installed, and used by other projects."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from support import data
from support.oracle import Oracle
from support.toolchain import EXAMPLES, attempt, need, run
from support.train_example import corpus_and_model, merges_of

CONSUMER = Path(__file__).parent / "consumer"
MODEL = data.VECTOR_MODELS / "trained_unigram.model"
TEXT = "Hello, world! 日本語"
VERSION = (data.ROOT / "VERSION").read_text("utf-8").strip()


def expected() -> str:
    ids = Oracle(MODEL.read_bytes()).encode_ids(TEXT.encode())
    return f"ids: {' '.join(map(str, ids))}\ntext: {TEXT}\n"


def configure(source: Path, build: Path, *options: str) -> None:
    run("cmake", "-S", source, "-B", build, *options)


def build(folder: Path) -> None:
    run("cmake", "--build", folder, "--parallel", "2")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build folder of the project with all its defaults."""
    need("cmake")
    folder = tmp_path_factory.mktemp("project")
    configure(data.ROOT, folder, "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def prefix(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it was installed, and then moved to."""
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", project, "--prefix", folder / "installed")
    return (folder / "installed").rename(folder / "moved")


def libraries(prefix: Path) -> Path:
    (found,) = prefix.glob("lib*/**/libisotok.a")
    return found.parent


def test_ctest(project: Path) -> None:
    """The examples and the smaller tests; the vectors run elsewhere."""
    output = run("ctest", "--test-dir", project, "--output-on-failure", "-E", "^vectors$")
    match = re.search(r"100% tests passed, 0 tests failed out of (\d+)", output)
    assert match is not None and int(match[1]) >= 7, output
    listed = run("ctest", "--test-dir", project, "-N")
    for name in ("quick_start", "on_the_fly", "threads", "cache", "train", "vectors"):
        assert re.search(rf": {name}$", listed, re.M), listed


def test_install(prefix: Path) -> None:
    names = {path.name for path in prefix.rglob("*") if not path.is_dir()}
    assert names >= {"isotok.h", "isotok_build.h", "libisotok.a", "libisotok_build.a"}
    assert names >= {"libisotok.so", "libisotok_build.so", "isotok.pc", "isotok_build.pc"}
    assert names >= {"isotok_train.h", "libisotok_train.a", "libisotok_train.so", "isotok_train.pc"}
    dynamic = run("readelf", "-d", libraries(prefix) / "libisotok.so")
    header = (data.ROOT / "core/include/isotok.h").read_text("utf-8")
    major = re.search(r"ABI_MAJOR (\d+)", header)
    assert major is not None and f"[libisotok.so.{major[1]}]" in dynamic
    dynamic = run("readelf", "-d", libraries(prefix) / "libisotok_train.so")
    assert f"[libisotok_train.so.{VERSION}]" in dynamic
    for name in ("isotok", "isotok_train"):
        symbols = run("nm", "-D", "--defined-only", libraries(prefix) / f"lib{name}.so")
        assert not re.search(r" (?!isotok_[a-z])\w+$", symbols, re.M), symbols


def check_trainer(program: Path, folder: Path) -> None:
    """With the words of a model, and with lines as words: the merges of the Python package."""
    blob, text = corpus_and_model(folder)
    assert run(program, text, "300", blob) == merges_of(text, 300, blob)
    assert run(program, text, "300") == merges_of(text, 300)


@pytest.mark.parametrize("shared", ["OFF", "ON"])
def test_find_package(prefix: Path, tmp_path: Path, shared: str) -> None:
    places = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={EXAMPLES}"]
    configure(CONSUMER, tmp_path, *places, f"-DBUILD_SHARED_LIBS={shared}", f"-DWANTED={VERSION}")
    build(tmp_path)
    program = tmp_path / "consumer"
    assert ("libisotok.so" in run("readelf", "-d", program)) == (shared == "ON")
    assert run(program, MODEL, TEXT) == expected()
    check_trainer(tmp_path / "trainer", tmp_path)


@pytest.mark.parametrize("wanted", ["99.0", "0.0"])
def test_that_another_version_is_refused(prefix: Path, tmp_path: Path, wanted: str) -> None:
    places = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={EXAMPLES}"]
    done = attempt("cmake", "-S", CONSUMER, "-B", tmp_path, *places, f"-DWANTED={wanted}")
    assert done.returncode != 0
    assert f'requested version "{wanted}"' in done.stdout
    assert f"version: {VERSION}" in done.stdout


@pytest.mark.parametrize("static", [False, True])
def test_pkg_config(prefix: Path, tmp_path: Path, static: bool) -> None:
    need("pkg-config")
    where = {**os.environ, "PKG_CONFIG_PATH": str(libraries(prefix) / "pkgconfig")}

    def ask(package: str, *options: str) -> str:
        command = ["pkg-config", *options, package]
        return subprocess.check_output(command, env=where, text=True).strip()

    def link(package: str, example: str) -> Path:
        assert ask(package, "--modversion") == VERSION
        program = tmp_path / example
        linking = ["-Wl,-Bstatic"] if static else [f"-Wl,-rpath,{libraries(prefix)}"]
        ends = ["-Wl,-Bdynamic"] if static else []
        flags, found = ask(package, "--cflags").split(), ask(package, "--libs").split()
        run("gcc", *flags, EXAMPLES / f"{example}.c", "-o", program, *linking, *found, *ends)
        dynamic = run("readelf", "-d", program)
        assert all((f"lib{name}.so" in dynamic) == (not static) for name in ("isotok", package))
        return program

    assert run(link("isotok_build", "on_the_fly"), MODEL, TEXT) == expected()
    check_trainer(link("isotok_train", "train"), tmp_path)


def test_subdirectory(tmp_path: Path) -> None:
    """Inside another project: neither its tests nor an installation."""
    need("cmake")
    configure(CONSUMER, tmp_path, f"-DSUBDIRECTORY={data.ROOT}", f"-DEXAMPLES={EXAMPLES}")
    build(tmp_path)
    assert run(tmp_path / "consumer", MODEL, TEXT) == expected()
    check_trainer(tmp_path / "trainer", tmp_path)
    assert not list(tmp_path.rglob("CTestTestfile.cmake.in"))
    assert "quick_start" not in run("cmake", "--build", tmp_path, "--target", "help")


def test_options(tmp_path: Path) -> None:
    """The runtime alone, shared alone."""
    need("cmake")
    off = ("ISOTOK_STATIC", "ISOTOK_COMPILER", "ISOTOK_PARALLEL", "ISOTOK_TRAINER")
    options = [f"-D{name}=OFF" for name in off]
    configure(data.ROOT, tmp_path, "-DCMAKE_BUILD_TYPE=Debug", *options)
    build(tmp_path)
    built = {path.name for path in tmp_path.glob("lib*")}
    assert "libisotok.so" in built
    assert not {name for name in built if re.search(r"\.a$|build|train", name)}
    symbols = run("nm", "-D", "--defined-only", tmp_path / "libisotok.so")
    assert "isotok_encode_step" in symbols and "isotok_part_encode" not in symbols
    done = attempt("cmake", "-S", data.ROOT, "-B", tmp_path, "-DISOTOK_SHARED=OFF")
    assert done.returncode != 0 and "both OFF; set one" in done.stdout
