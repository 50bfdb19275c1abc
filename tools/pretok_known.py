#!/usr/bin/env python3
"""Writes py_host/isotok/data/pretok_known.bin: the compiled form of every pre-tokenizer in
py_host/isotok/compile/pretok/known.py, for hosts that have no pattern compiler.

python tools/pretok_known.py [--check]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "py_host"))

from isotok.compile.pretok import properties, table  # noqa: E402
from isotok.compile.pretok.chain import make_chain  # noqa: E402
from isotok.compile.pretok.huggingface import WHOLE, cuts_of, read_pre_tokenizer  # noqa: E402
from isotok.compile.pretok.known import HUGGING_FACE, TIKTOKEN  # noqa: E402
from isotok.compile.pretok.stages import Stage  # noqa: E402
from isotok.compile.pretok.tiktoken import tiktoken_stage  # noqa: E402

OUTPUT = ROOT / "py_host/isotok/data/pretok_known.bin"


def make() -> bytes:
    """Compile all; those that cut alike are one."""
    found: dict[str, tuple[str, table.Key, tuple[Stage, ...]]] = {
        table.text_of([]): ("whole", [], (WHOLE,))
    }
    for name, value in HUGGING_FACE.items():
        key = cuts_of(value)
        stages = read_pre_tokenizer(value).stages
        found.setdefault(table.text_of(key), (name, key, stages))
    for name, pattern in TIKTOKEN.items():
        key = [["tiktoken", pattern]]
        found.setdefault(table.text_of(key), (f"tiktoken {name}", key, (tiktoken_stage(pattern),)))
    chains = [(name, [key], make_chain(stages)) for name, key, stages in found.values()]
    return table.pack(chains, "tools/pretok_known.py", properties.tables())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    arguments = parser.parse_args()
    made = make()
    if arguments.check:
        if OUTPUT.exists() and OUTPUT.read_bytes() == made:
            return 0
        print(f"{OUTPUT.relative_to(ROOT)} is out of date; run ./build.sh gen")
        return 1
    OUTPUT.write_bytes(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
