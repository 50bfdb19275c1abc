"""Memory of reading files of other libraries; `test full --only hf_memory` has large ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import large_files

SHARE = 3
"""Of the tokens of a large file."""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", large_files.FILES)
def test_peak(name: str, backend: str, tmp_path: Path) -> None:
    make, count = large_files.FILES[name]
    path = tmp_path / name
    path.write_bytes(make(count // SHARE))
    size = path.stat().st_size
    limit = large_files.FACTOR * size + large_files.CONSTANT
    assert large_files.peak(path, backend) <= limit
