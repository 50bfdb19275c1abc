"""Uses an installed isotok in Pyodide, and tells what was there."""

import hashlib
import json
import sys
from pathlib import Path


def main(argument: str) -> str:
    """Encode the texts; says what runs the core and which binaries it came with."""
    import isotok

    with isotok.load() as tok:
        texts = json.loads(argument)["texts"]
        ids = [tok.encode(text) for text in texts]
        offsets = [tok.encode_with_offsets(text, unit="utf16").offsets for text in texts]
        decoded = [tok.decode(each) for each in ids]
        backend = tok.backend
    data = Path(isotok.__file__).parent / "data"
    return json.dumps(
        {
            "version": isotok.__version__,
            "platform": sys.platform,
            "backend": backend,
            "ids": ids,
            "offsets": offsets,
            "decoded": decoded,
            "loaded": sorted({"wasmtime", "numpy", "isotok._native"} & set(sys.modules)),
            "sha256": {
                path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in data.glob("*.wasm")
            },
        }
    )
