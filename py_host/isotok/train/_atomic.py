"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from isotok.errors import TokenizerError


def write_atomic(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write a file beside its place and move it there; what was there stays till then.

    Raises
    ------
    TokenizerError
        It cannot be written: no space, no such folder, no permission.
    """
    target = Path(path)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            for part in (data,) if isinstance(data, bytes) else data:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise TokenizerError(
            f"{target}: cannot be written ({error.strerror or error}); free space there or "
            "choose another place; nothing that was there is lost"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
