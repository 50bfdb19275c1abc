#!/usr/bin/env python3
"""Generates the readers of the blob from model.fbs and FORMAT.md.

    python core/format/generate.py           writes the files that differ
    python core/format/generate.py --check   exit 1 if a file would change

model.fbs gives the table, its structs and the identifier; FORMAT.md, section 3, gives
the names of the required features. `flatc` must be installed (./build.sh setup).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from emit_c import emit_c
from emit_python import emit_python
from emit_typescript import emit_typescript
from reflection import read_schema

FORMAT = Path(__file__).resolve().parent
ROOT = FORMAT.parents[1]


def read_features(path: Path) -> dict[str, int]:
    """Names and bit numbers of the required features, from FORMAT.md, section 3."""
    match = re.search(r"^## 3\. .*?(?=^## 4\.)", path.read_text("utf-8"), re.M | re.S)
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", match[0], re.M) if match else []
    features = {name: int(bit) for bit, name in rows}
    if not rows or len(features) != len(rows) or len(set(features.values())) != len(rows):
        raise SystemExit(f"generate.py: {path}: section 3 has no clean table of features")
    return features


def main() -> int:
    """Write or check the generated files."""
    parser = argparse.ArgumentParser(description="Generate the readers of the blob.")
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args().check
    schema = read_schema(FORMAT / "model.fbs")
    features = read_features(FORMAT / "FORMAT.md")
    outputs = {
        ROOT / "core/src/blob_gen.h": emit_c(schema, features),
        ROOT / "py_host/isotok/_blob_gen.py": emit_python(schema, features),
        ROOT / "web/src/blob_gen.ts": emit_typescript(schema, features),
    }
    stale = [
        path
        for path, text in outputs.items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    for path in stale:
        name = path.relative_to(ROOT)
        if check:
            print(f"{name}: out of date; fix: ./build.sh gen", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(outputs[path], "utf-8")
            print(f"wrote {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
