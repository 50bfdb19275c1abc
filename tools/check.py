#!/usr/bin/env python3
"""All static checks, two at a time: formats, lints, types, layers, generated files.

python tools/check.py [NAME …]

Prints a line per check with its time, the output of those that fail, and at the end
"N passed, N failed, N skipped".
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from check_tree import tree_files

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
VERSIONS = ROOT / "core/format/versions"
C_FOLDERS = (
    "core/src",
    "core/build",
    "core/platform",
    "core/parallel",
    "core/train",
    "core/distil",
    "py_host/native",
    "tests/c",
    "tests/fuzz",
    "examples/c",
)
INCLUDES = [
    *[f"-I{name}" for name in ("core/include", *C_FOLDERS)],
    "-isystem",
    sysconfig.get_path("include"),
]


class Result(NamedTuple):
    """Outcome of one check; `ok` None: skipped, with the reason as text."""

    ok: bool | None
    text: str


def run(*command: str) -> Result:
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return Result(done.returncode == 0, done.stdout)


def tool(name: str) -> str:
    return str(BIN / name)


def python(*arguments: str) -> Result:
    return run(sys.executable, *arguments)


def sources(*suffixes: str) -> list[str]:
    names = [str(path.relative_to(ROOT)) for path in tree_files() if path.suffix in suffixes]
    return [name for name in names if "_gen." not in name]


def ruff_format() -> Result:
    return run(tool("ruff"), "format", "--check", "--quiet", ".")


def ruff_lint() -> Result:
    return run(tool("ruff"), "check", "--quiet", ".")


def pyright() -> Result:
    return run(tool("pyright"))


def shellcheck() -> Result:
    if shutil.which("shellcheck") is None:
        return Result(None, "shellcheck is not installed; run ./build.sh setup")
    return run("shellcheck", "-x", "build.sh", ".ci/run", *sources(".sh"))


def generated() -> Result:
    scripts = (
        "core/format/generate.py",
        "wasm/layout.py",
        "tools/operations.py",
        "tools/pretok_known.py",
        "tools/normalizer_known.py",
    )
    results = [python(script, "--check") for script in scripts]
    return Result(all(r.ok for r in results), "".join(r.text for r in results))


def conform() -> Result:
    """The schema is an evolution of every frozen version."""
    frozen = sorted(VERSIONS.glob("v*.fbs"))
    if not frozen:
        return Result(False, "core/format/versions: no frozen schema")
    results = [
        run(tool("flatc"), "--conform", str(path), "core/format/model.fbs") for path in frozen
    ]
    return Result(all(r.ok for r in results), "".join(r.text for r in results))


def tree() -> Result:
    return python("tools/check_tree.py")


def web() -> Result:
    """Format, lint and types of the npm package; what it needs comes with its build."""
    if not (ROOT / "web/dist").exists() or shutil.which("npm") is None:
        return Result(None, "web/dist is not there; run ./build.sh build web")
    return run("npm", "--prefix", "web", "--silent", "run", "check")


def c_warnings(compiler: str) -> Result:
    """No compiler warning in any C code of ours."""
    if shutil.which(compiler) is None:
        return Result(None, f"{compiler} is not installed; run ./build.sh setup")
    names = [name for name in sources(".c") if name.startswith(C_FOLDERS)]
    # What gcc finds only when it optimises is an error in the builds of the C tests.
    flags = ["@core/cflags.txt", "@core/warnings.txt", "-Werror", "-fsyntax-only", *INCLUDES]
    return run(compiler, *flags, *names) if names else Result(False, "no C files")


def c_format() -> Result:
    """Only reports: a line broken by hand may read better."""
    if shutil.which("clang-format") is None:
        return Result(None, "clang-format is not installed; run ./build.sh setup")
    done = run("clang-format", "--dry-run", *sources(".c", ".h"))
    count = done.text.count("[-Wclang-format-violations]")
    return Result(True, f"clang-format would change {count} places" if count else "")


CHECKS: dict[str, Callable[[], Result]] = {
    "pyright": pyright,
    "c-gcc": lambda: c_warnings("gcc"),
    "c-clang": lambda: c_warnings("clang-19"),
    "generated": generated,
    "ruff-lint": ruff_lint,
    "ruff-format": ruff_format,
    "shellcheck": shellcheck,
    "conform": conform,
    "web": web,
    "tree": tree,
    "c-format": c_format,
}


def timed(check: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    return check(), time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the static checks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CHECKS))
    names: list[str] = parser.parse_args().names or list(CHECKS)
    for name in names:
        if name not in CHECKS:
            parser.error(f"unknown check {name}; one of {', '.join(CHECKS)}")
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}
    with ThreadPoolExecutor(2) as pool:
        for name, (result, seconds) in zip(
            names, pool.map(lambda n: timed(CHECKS[n]), names), strict=True
        ):
            word = {True: "ok", False: "FAILED", None: "skipped"}[result.ok]
            counts[word] += 1
            print(f"{name:12} {seconds:5.1f} s  {word}")
            if result.ok is None:
                print(f"skipped {name}: {result.text}")
            elif result.text.strip():
                print("    " + result.text.strip().replace("\n", "\n    "))
    print(f"{counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
