"""A folder from which a training run goes on, whatever stopped it.

`state.json` is replaced in one step and names all else: counts with how many records they hold,
and what was learned. A file that it does not name yet, or no more, is not looked at.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from isotok.errors import TokenizerError
from isotok.train._atomic import write_atomic
from isotok.train._options import Learned, Merge


class Checkpoint:
    """State of a run in a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    key : dict
        What must be the same for the run to go on: options, pattern and so on.
    seconds : float
        How long to wait between two times of writing.
    """

    def __init__(self, folder: str | os.PathLike[str], key: dict[str, Any], seconds: float) -> None:
        self._folder = Path(folder)
        self._seconds = seconds
        self._written = time.monotonic()
        self._key = json.loads(json.dumps(key))
        self._state: dict[str, Any] = {"version": 1, "key": self._key, "parts": {}}
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / "state.json"
        if path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            state = json.loads(path.read_bytes())
            found, parts = state["key"], state["parts"]
        except (ValueError, KeyError, TypeError) as error:
            raise TokenizerError(f"{path}: it is no state of a training run") from error
        if found != self._key:
            names = [name for name in self._key if found.get(name) != self._key[name]]
            raise TokenizerError(
                f"{self._folder}: the run there had other options ({', '.join(names)}); give the "
                "same ones, or another folder"
            )
        self._state = {"version": 1, "key": self._key, "parts": parts}

    def due(self) -> bool:
        """Tell whether it is time to write."""
        return time.monotonic() - self._written >= self._seconds

    def get(self, part: str) -> tuple[Path, int, bool] | None:
        """Return the file of a part, how far it goes, and whether that is all of it."""
        entry = self._state["parts"].get(part)
        if entry is None:
            return None
        return self._folder / entry["file"], entry["done"], entry["whole"]

    def put(self, part: str, data: Any, done: int, whole: bool) -> None:
        """Write a part: `data` has save(path) or is bytes."""
        before = self._state["parts"].get(part)
        name = f"{part}-{done}-{'whole' if whole else 'part'}"
        if isinstance(data, bytes):
            write_atomic(self._folder / name, data)
        else:
            data.save(self._folder / name)
        self._state["parts"][part] = {"file": name, "done": done, "whole": whole}
        write_atomic(self._folder / "state.json", json.dumps(self._state, indent=1).encode())
        if before and before["file"] != name:
            with suppress(OSError):
                (self._folder / before["file"]).unlink()
        self._written = time.monotonic()


def pack_learned(learned: Learned) -> bytes:
    """Return what was learned as bytes."""
    members = {
        "tokens": [token.decode("latin-1") for token in learned.tokens],
        "merges": learned.merges,
        "finished": learned.finished,
        "exhausted": learned.exhausted,
    }
    return json.dumps(members).encode()


def unpack_learned(data: bytes) -> Learned:
    """Return what `pack_learned` has packed."""
    members = json.loads(data)
    merges: list[Merge] = [(a, b, made, count) for a, b, made, count in members["merges"]]
    tokens = [text.encode("latin-1") for text in members["tokens"]]
    return Learned(tokens, merges, members["finished"], members["exhausted"])
