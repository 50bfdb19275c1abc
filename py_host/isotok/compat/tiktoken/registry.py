"""Encodings by name, from rank files in a local folder. Nothing is downloaded.

The folder is that of the environment variable ``ISOTOK_TIKTOKEN``, or what `set_folder` was
given; the file of an encoding is ``NAME.tiktoken``.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

from isotok.compat.tiktoken._encoding import Encoding
from isotok.compile._tiktoken import SPECIAL_TOKENS, read_ranks
from isotok.compile.pretok.tiktoken import PATTERNS

FOLDER: Final = "ISOTOK_TIKTOKEN"

ENCODINGS: dict[str, Encoding] = {}
"""Those that were made."""

_lock = threading.RLock()
_files: Final = {
    "gpt2": ("r50k_base", "gpt2"),
    "r50k_base": ("r50k_base", "gpt2"),
    "p50k_base": ("p50k_base",),
    "p50k_edit": ("p50k_base",),
    "cl100k_base": ("cl100k_base",),
    "o200k_base": ("o200k_base",),
    "o200k_harmony": ("o200k_base",),
}


def get_encoding(encoding_name: str) -> Encoding:
    """Return the encoding of this name; the same one each time.

    Raises
    ------
    ValueError
        The name is unknown, or the folder has no rank file for it.
    """
    if not isinstance(encoding_name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    found = ENCODINGS.get(encoding_name)
    if found is not None:
        return found
    with _lock:
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = _make(encoding_name)
        return ENCODINGS[encoding_name]


def list_encoding_names() -> list[str]:
    """Names that `get_encoding` takes where their rank files are there."""
    return list(_files)


def _make(name: str) -> Encoding:
    if name not in _files:
        raise ValueError(f"Unknown encoding {name}. Known: {', '.join(_files)}")
    folder = os.environ.get(FOLDER)
    if folder is None:
        raise ValueError(
            f"encoding {name}: set {FOLDER} to a folder that holds {_files[name][0]}.tiktoken; "
            "nothing is downloaded"
        )
    paths = [Path(folder) / f"{file}.tiktoken" for file in _files[name]]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        raise ValueError(f"encoding {name}: {paths[0]} is missing; put the rank file there")
    return Encoding(
        name,
        pat_str=PATTERNS[name],
        mergeable_ranks=read_ranks(path.read_bytes()),
        special_tokens=dict(SPECIAL_TOKENS[name]),
    )
