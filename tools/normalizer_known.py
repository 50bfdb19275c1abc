#!/usr/bin/env python3
"""Writes py_host/isotok/data/normalizer_known.bin: the programs of every normalizer in
py_host/isotok/compile/normalizers/known.py, for hosts that cannot compile them.

python tools/normalizer_known.py [--check]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "py_host"))

from isotok.compile.normalizers import data, known, make_normalizer, table  # noqa: E402
from isotok.compile.pretok.huggingface import read_pre_tokenizer  # noqa: E402
from isotok.compile.pretok.known import HUGGING_FACE  # noqa: E402
from isotok.compile.pretok.properties import need  # noqa: E402

OUTPUT = ROOT / "py_host/isotok/data/normalizer_known.bin"
CUTTING = read_pre_tokenizer(HUGGING_FACE["bert"])


def make() -> bytes:
    """Compile all; of those that rewrite alike one is kept."""
    published = {hashlib.sha256(known.nmt_nfkc()).hexdigest(): known.NMT_NFKC}
    programs: dict[str, tuple[str, list[known.Key], table.Normalizer]] = {}
    for name, normalizer, pre in known.known():
        key = [[published.get(str(part), part) for part in step] for step in
               known.key_of(normalizer, pre)]  # fmt: skip
        if json.dumps(key) in programs:
            continue
        program = make_normalizer(normalizer, pre)
        assert program is not None, name
        programs[json.dumps(key)] = (name, [key], program)
        if program.escapes and not pre.space:
            second = make_normalizer(normalizer, CUTTING)
            assert second is not None, name
            programs[json.dumps([*key, known.SPACES])] = (name, [[*key, known.SPACES]], second)
    sets = {"word": need("tokenizers fixed", "word").toggles}
    return table.pack(list(programs.values()), sets, "tools/normalizer_known.py", data.versions())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    arguments = parser.parse_args()
    made = make()
    if OUTPUT.exists() and table.contents(OUTPUT.read_bytes()) == table.contents(made):
        return 0  # another zlib may deflate it otherwise
    if arguments.check:
        print(f"{OUTPUT.relative_to(ROOT)} is out of date; run ./build.sh gen")
        return 1
    OUTPUT.write_bytes(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
