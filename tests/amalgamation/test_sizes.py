"""How large the runtime is: gates, and the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.toolchain import need, run, table

LIMIT = 50 * 1024  # text and data of the runtime for SentencePiece, gcc -Os on x86-64
LITE_LINES = 1_884  # sentencepiece_lite.cc of sentencepiece 0.2.3, all lines
SECTIONS = ["-fPIC", "-ffunction-sections", "-fdata-sections"]
UNWINDING = {"": [], " without unwind tables": ["-fno-asynchronous-unwind-tables"]}
ONLY = "-DISOTOK_SENTENCEPIECE_ONLY=1"
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')', re.S)


def loaded(path: Path) -> int:
    """Bytes of text and data."""
    text, initialised = run("size", path).splitlines()[-1].split()[:2]
    return int(text) + int(initialised)


def measure(
    dist: Path, folder: Path, file: str, compiler: str, flags: list[str]
) -> tuple[int, int]:
    """The object; and the shared library, stripped and without unused sections."""
    unit, library = folder / f"{file}.o", folder / f"{file}.so"
    run(compiler, "-std=c11", "-Os", *SECTIONS, *flags, "-c", dist / f"{file}.c", "-o", unit)
    run(compiler, "-shared", "-Wl,--gc-sections", "-s", unit, "-o", library)
    return loaded(unit), loaded(library)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_size(
    dist: Path, tmp_path: Path, compiler: str, capsys: pytest.CaptureFixture[str]
) -> None:
    need(compiler)
    if run(compiler, "-dumpmachine").split("-")[0] != "x86_64":
        pytest.skip("the limit is for x86-64")
    rows: list[str] = []
    for name, flags in UNWINDING.items():
        whole = measure(dist, tmp_path, "isotok", compiler, flags)
        rows.append(
            f"isotok.c, {compiler} -Os{name}: object {whole[0]:,}, shared {whole[1]:,} bytes"
        )
        unit, library = measure(dist, tmp_path, "isotok", compiler, [ONLY, *flags])
        rows.append(f"… {ONLY}: object {unit:,}, shared {library:,} bytes")
        if compiler == "gcc":
            assert unit <= LIMIT
            assert library <= LIMIT or not flags  # the tables are for debuggers and C++ callers
    unit, library = measure(dist, tmp_path, "isotok_build", compiler, [])
    rows.append(f"isotok_build.c, {compiler} -Os: object {unit:,}, shared {library:,} bytes")
    table(capsys, rows)


def code_lines(text: str) -> int:
    """Lines that are neither blank nor comment."""
    plain = TEXT.sub(lambda match: match[1] or "", text)
    return sum(bool(line.strip()) for line in plain.splitlines())


def test_code_lines() -> None:
    assert code_lines('int a; /* x\n y */\n\n// z\nchar *b = "/* no */";\n') == 2


def test_lines(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = []
    for path in sorted(dist.iterdir()):
        text = path.read_text("utf-8")
        assert code_lines(text) < 8_500
        rows.append(
            f"{path.name}: {text.count(chr(10)):,} lines, of which code {code_lines(text):,}"
        )
    table(capsys, [*rows, f"SentencePiece Lite's sentencepiece_lite.cc: {LITE_LINES:,} lines"])
