#!/usr/bin/env python3
"""Measures isotok beside its peers: python bench/run.py NAME [--save] …

Every number comes from one run on one core with the engines in turns; read the ratios,
not the absolute speeds. `NAME --help` says more.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT / "py_host", ROOT / "tests", ROOT / "tests/reference", ROOT / "bench"):
    sys.path.insert(0, str(folder))

import beside_sentencepiece  # noqa: E402
import calls  # noqa: E402
import distil  # noqa: E402
import hf  # noqa: E402
import spine  # noqa: E402
import train  # noqa: E402

import web  # noqa: E402

BENCHMARKS = {
    "sentencepiece": beside_sentencepiece,
    "spine": spine,
    "calls": calls,
    "hf": hf,
    "train": train,
    "distil": distil,
    "web": web,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write bench/results/NAME.json")
    commands = parser.add_subparsers(dest="name", required=True)
    for name, module in BENCHMARKS.items():
        command = commands.add_parser(name, help=module.__doc__.splitlines()[0])
        command.add_argument("--save", action="store_true", default=argparse.SUPPRESS)
        module.add_arguments(command)
    arguments = parser.parse_args()
    return BENCHMARKS[arguments.name].run(arguments)


if __name__ == "__main__":
    sys.exit(main())
