#!/usr/bin/env python3
"""Runs the parts of `./build.sh test` and adds up their counts.

python tools/run_tests.py [--list] [PART or GROUP …]

A part is a series of commands; the first that fails ends it. Commands report their tests
as JUnit XML (pytest) or by a last line "N passed, N failed, N skipped"; one that does
neither counts as one test. Where CI is set, a skipped test needs a reason. The output of
a part is in build/log/PART.log and shown if the part fails; lines that begin with "| ",
a table, are always shown. The last line is the sum.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build/log"
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SHOWN_LINES = 60


@dataclass(slots=True)
class Counts:
    """Passed, failed and skipped tests, and why those were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        for reason, count in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + count

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def build(*arguments: str) -> list[str]:
    return ["./build.sh", "build", *arguments]


def pytest(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]


def with_environment(setting: str, command: list[str]) -> list[str]:
    return ["env", setting, *command]


def emulator(machine: str) -> list[str]:
    """Run programs of another machine with the C library of its cross compiler."""
    return [f"qemu-{machine}-static", "-L", f"/usr/{machine}-linux-gnu"]


def programs(variant: str, pattern: str, *runner: str) -> list[str]:
    """Run the C test programs of a variant."""
    return [sys.executable, "tools/run_programs.py", variant, pattern, *runner]


PARTS: dict[str, list[list[str]]] = {
    "check": [["./build.sh", "check"]],
    "wasm": [
        build("wasm"),
        [sys.executable, "wasm/check.py", "build/wasm", "--counts"],
        [sys.executable, "wasm/check_rebuild.py"],
    ],
    "wasm-second": [
        build("native", "wasm-second", "py"),
        with_environment("ISOTOK_WASM=build/wasm-second", pytest("tests/vectors", "-k", "wasm")),
    ],
    "c": [build("variant", "debug"), programs("debug", "test_*")],
    "asan": [build("variant", "asan"), programs("asan", "test_*")],
    "aarch64": [build("variant", "aarch64"), programs("aarch64", "test_*", *emulator("aarch64"))],
    "amalgamation": [
        ["./build.sh", "amalgamation"],
        build("py"),
        pytest("tests/amalgamation"),
    ],
    "bigendian": [build("variant", "s390x"), programs("s390x", "bigendian_*", *emulator("s390x"))],
    "vectors": [build("native", "wasm", "py"), pytest("tests/vectors")],
    "py": [build("native", "wasm", "py"), pytest("tests/py")],
    "train": [build("native", "py"), pytest("tests/train")],
    "npm": [
        build("native", "wasm", "py", "web"),
        [sys.executable, "tests/web/make_fixtures.py"],
        ["npm", "--prefix", "web", "--silent", "test"],
        ["npm", "--prefix", "web", "--silent", "run", "check"],
    ],
    "playground": [
        build("native", "py", "playground", "playground-tests"),
        pytest("tests/web/playground"),
    ],
    "pyodide": [
        build("native", "wasm", "py"),
        [sys.executable, "tests/web/pyodide/prepare.py"],
        [sys.executable, "tools/check_same_wasm.py", "pyodide"],
        pytest("tests/web/pyodide"),
    ],
    # After Pyodide, whose rows it shows too.
    "hosts": [
        build("native", "wasm", "py", "web", "hosts"),
        ["node", "tests/web/hosts/run.mjs"],
    ],
    "wheel": [
        build("wasm", "py", "web", "playground"),
        [sys.executable, "tools/check_wheel.py"],
        [sys.executable, "tools/check_same_wasm.py", "wheel", "pure-wheel", "npm", "playground"],
    ],
    "typing": [[sys.executable, "-m", "mypy", "tests/typing"], ["pyright", "tests/typing"]],
}

GROUPS = {"web": ("npm", "playground", "pyodide", "hosts")}


def run_part(name: str, commands: list[list[str]]) -> Counts:
    total = Counts()
    with open(LOGS / f"{name}.log", "w", encoding="utf-8") as log:
        for index, command in enumerate(commands):
            report = LOGS / f"{name}-{index}.xml"
            report.unlink(missing_ok=True)
            if "pytest" in command:
                command = [*command, f"--junitxml={report}"]
            log.write(f"$ {shlex.join(command)}\n")
            log.flush()
            start = log.tell()
            code = subprocess.run(
                command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, env=environment()
            ).returncode
            log.seek(0, os.SEEK_END)
            counts = read_counts(LOGS / f"{name}.log", start, report)
            if counts is None:
                # A build step that succeeds is not a test.
                counts = Counts(passed=int(code == 0 and command[:2] != ["./build.sh", "build"]))
            if code and not counts.failed:
                counts.failed = 1
            total.add(counts)
            if code:
                break
    return total


def environment() -> dict[str, str]:
    """The commands find the tools of this Python's folder first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path}


def read_counts(log: Path, start: int, report: Path) -> Counts | None:
    """Counts of a command: from its report, else from the last line it printed."""
    if report.exists():
        return junit_counts(report)
    with open(log, encoding="utf-8", errors="replace") as text:
        text.seek(start)
        lines = text.read().rstrip().splitlines()
    # build.sh may add a line when a command fails.
    match = next(filter(None, (COUNTS.match(line.strip()) for line in reversed(lines[-3:]))), None)
    if match is None:
        return None
    counts = Counts(*(int(number) for number in match.groups("0")))
    for line in lines:
        reason = re.match(r"skipped? (?P<test>[^:]+): (?P<reason>.+)", line.strip())
        if reason:
            counts.reasons[reason["reason"]] = counts.reasons.get(reason["reason"], 0) + 1
    return counts


def junit_counts(report: Path) -> Counts:
    counts = Counts()
    for case in ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            counts.failed += 1
        elif "skipped" in outcomes:
            counts.skipped += 1
            skip = case.find("skipped")
            reason = (skip.get("message") or "") if skip is not None else ""
            if reason and reason != "unconditional skip":
                counts.reasons[reason] = counts.reasons.get(reason, 0) + 1
        else:
            counts.passed += 1
    return counts


def failed_reasons(counts: Counts) -> Iterator[str]:
    """In CI, skips without a reason are failures."""
    nameless = counts.skipped - sum(counts.reasons.values())
    if nameless > 0 and os.environ.get("CI"):
        counts.failed += nameless
        counts.skipped -= nameless
        yield f"{nameless} skipped without a reason"


def show(name: str, counts: Counts, seconds: float) -> None:
    problems = list(failed_reasons(counts))
    word = "FAILED" if counts.failed else "ok"
    print(f"{name:12} {seconds:6.1f} s  {word:6} {counts}", flush=True)
    for reason, count in sorted(counts.reasons.items()):
        print(f"    skipped {count}: {reason}")
    lines = (LOGS / f"{name}.log").read_text("utf-8", errors="replace").splitlines()
    for line in lines:
        if line.startswith("| "):
            print(f"    {line}")
    if counts.failed:
        print("\n".join(f"    {line}" for line in lines[-SHOWN_LINES:]))
        for problem in problems:
            print(f"    {problem}")
        print(f"    all of it: build/log/{name}.log; again: ./build.sh test {name}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests, part by part.")
    parser.add_argument("--list", action="store_true", help="only list the parts and groups")
    known = ", ".join([*PARTS, *GROUPS])
    parser.add_argument("parts", nargs="*", metavar="PART", help=known)
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(PARTS))
        print("\n".join(f"{name}: {' '.join(parts)}" for name, parts in GROUPS.items()))
        return 0
    names: list[str] = []
    for name in arguments.parts or PARTS:
        names += GROUPS.get(name, (name,))
    for name in names:
        if name not in PARTS:
            parser.error(f"unknown part {name}; one of {known}")
    LOGS.mkdir(parents=True, exist_ok=True)
    total, begin = Counts(), time.perf_counter()
    for name in names:
        start = time.perf_counter()
        counts = run_part(name, PARTS[name])
        show(name, counts, time.perf_counter() - start)
        total.add(counts)
    print(f"{len(names)} parts in {time.perf_counter() - begin:.0f} s")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
