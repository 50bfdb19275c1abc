"""What a seed draws (samples.json), on every back end; the ids are those of our reference."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from conftest import Opener
from support import data
from support.sampling import sample

SAMPLES: dict[str, Any] = json.loads((data.SPINE.parent / "samples.json").read_text())


@pytest.mark.parametrize("name", sorted({row["model"] for row in SAMPLES["samples"]}))
def test_seeds(name: str, backend: str, opened: Opener) -> None:
    tok = opened(data.VECTOR_MODELS / f"{name}.model", backend)
    for row in SAMPLES["samples"]:
        if row["model"] == name:
            arguments = (bytes.fromhex(row["text"]), row["method"], row["alpha"], int(row["seed"]))
            assert sample(tok, *arguments, SAMPLES["paths"]) == row["ids"], row


def test_that_samples_are_as_made() -> None:
    """The reference still draws the same: it is what the vectors were made with."""
    script = data.SPINE.parent / "make_samples.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
