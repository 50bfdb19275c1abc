"""sentencepiece 0.2.1 as an oracle beside the installed one, and its golden vectors.

A process of its own runs the old package (`old_calls.py`), one for each model: some texts and
models end it.
"""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from array import array
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from wire import Message

from support import data

VERSION = "0.2.1"
GOLDEN = data.SPINE.parent / "sentencepiece_0_2_1.json"
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
CALLS = Path(__file__).with_name("old_calls.py")


class Crash(Exception):
    """The process with the old package ended."""


@cache
def golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text())


def install(folder: Path) -> Path:
    """Get the release with pip, into a folder of its own."""
    target = folder / "old"
    package = f"sentencepiece=={VERSION}"
    subprocess.run([*PIP, "install", "--no-deps", "--target", target, package], check=True)
    return target


def run(package: Path, request: dict[str, Any]) -> Any:
    """What `old_calls.py` answers with the package in that folder."""
    command = [sys.executable, "-I", str(CALLS), str(package)]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True)
    if done.returncode != 0:
        raise Crash(f"exit code {done.returncode}: {done.stderr[-500:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["version"] == VERSION, answer["version"]
    return answer["answer"]


def tokens(serialized: bytes) -> dict[str, list[int]]:
    """Ids and places, in bytes, of a SentencePieceText."""
    pieces = [Message(piece).numbers for piece in Message(serialized).repeated.get(2, [])]
    return {
        "ids": [piece.get(2, 0) for piece in pieces],
        "begin": [piece.get(4, 0) for piece in pieces],
        "end": [piece.get(5, 0) for piece in pieces],
    }


def text(serialized: bytes) -> bytes:
    """Text of a SentencePieceText."""
    return Message(serialized).bytes.get(1, b"")


def digest(ids: Sequence[int]) -> str:
    """Of ids as int32."""
    return hashlib.sha256(array("i", ids).tobytes()).hexdigest()


def paths(serialized: bytes) -> list[tuple[list[int], float]]:
    """Ids and score of each path of an NBestSentencePieceText."""
    found: list[tuple[list[int], float]] = []
    for path in Message(serialized).repeated.get(1, []):
        (score,) = struct.unpack("<f", Message(path).words.get(3, bytes(4)))
        found.append((tokens(path)["ids"], score))
    return found
