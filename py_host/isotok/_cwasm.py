"""Compiled wasm modules in the user's cache folder.

A compiled module is machine code: it is read only from a file that we own, in a folder
that we own, and that nobody else can write. Everything here may fail without harm; then
the module is compiled again (some 50 ms).

ISOTOK_CACHE names another folder; empty means no cache.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import Final

ENVIRONMENT: Final = "ISOTOK_CACHE"
_CAN_CHECK: Final = hasattr(os, "getuid")


def cache_folder() -> Path | None:
    """Folder of compiled modules; None if there is to be no cache."""
    forced = os.environ.get(ENVIRONMENT)
    if forced is not None:
        return Path(forced) if forced else None
    if not _CAN_CHECK:
        return None  # without owners and modes, code from a file cannot be trusted
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        return None
    if sys.platform == "darwin":
        return Path(home, "Library", "Caches", "isotok")
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base if os.path.isabs(base) else os.path.join(home, ".cache"), "isotok")


def _is_ours(found: os.stat_result, mode: int) -> bool:
    return found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == mode


def read(key: str) -> bytes | None:
    """Bytes stored under `key`, if they are certainly ours."""
    folder = cache_folder()
    if folder is None or not _CAN_CHECK:
        return None
    try:
        if not _is_ours(os.stat(folder), 0o700):
            return None
        descriptor = os.open(folder / key, os.O_RDONLY | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or not _is_ours(found, 0o600):
                return None
            return file.read()
    except OSError:
        return None


def write(key: str, data: bytes | bytearray) -> None:
    """Store bytes under `key`, if there is a place for them."""
    folder = cache_folder()
    if folder is None or not _CAN_CHECK:
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(os.stat(folder), 0o700):
            return
        temporary = folder / f"{key}.{os.getpid()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        try:
            with open(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(data)
            os.replace(temporary, folder / key)
        finally:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
    except OSError:
        return
