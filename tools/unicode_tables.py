"""What the makers of py_host/isotok/data/unicode_*.json have in common."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path


def spell(toggles: Iterable[int]) -> str:
    """Steps from toggle to toggle of a set of code points, hexadecimal."""
    words: list[str] = []
    before = 0
    for toggle in toggles:
        words.append(f"{toggle - before:x}")
        before = toggle
    return " ".join(words)


def write(
    description: str | None,
    versions: Mapping[str, str],
    output: Path,
    make: Callable[[], object],
) -> int:
    """Write what `make` returns, or compare with ``--check``; returns the exit status.

    Parameters
    ----------
    description : str
        What the program does.
    versions : mapping of str to str
        Packages that are asked, and the versions that they must have.
    output : Path
        The file.
    make : callable
        Returns what is in it.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="only compare")
    arguments = parser.parse_args()
    for package, wanted in versions.items():
        if version(package) != wanted:
            print(f"needs {package}=={wanted}, found {version(package)}", file=sys.stderr)
            return 2
    text = json.dumps(make(), indent=0, ensure_ascii=True) + "\n"
    if arguments.check:
        same = output.read_text("utf-8") == text
        print(output.name, "is up to date" if same else "DIFFERS from the engines")
        return 0 if same else 1
    output.write_text(text, "utf-8")
    return 0
