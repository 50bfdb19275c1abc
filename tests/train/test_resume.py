"""A run that is killed (-9) anywhere goes on, and ends with the same model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from isotok.train import train_bpe
from texts import corpus

HERE = Path(__file__).parent
PROGRAM = """
import os, signal, sys
sys.path[:0] = [{here!r}, {package!r}]
from isotok.train import train_bpe
from texts import corpus

calls = 0

def progress(stage, done, total):
    global calls
    calls += stage == {stage!r}
    if calls == {calls}:
        os.kill(os.getpid(), signal.SIGKILL)

train_bpe(
    corpus({name!r}, texts=200), checkpoint=sys.argv[1], checkpoint_seconds=0, max_records=9,
    progress=progress, **{options!r}
)
"""
CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("count", 3, {"vocab_size": 400}),
    ("count", 15, {"vocab_size": 400}),
    ("merge", 1, {"vocab_size": 900}),
    ("merge", 7, {"vocab_size": 1100}),
    ("count bigrams", 9, {"vocab_size": 400, "unit": "unicode", "lossless": True}),
    ("count", 9, {"vocab_size": 400, "unit": "unicode", "lossless": True}),
    ("merge", 1, {"vocab_size": 400, "unit": "unicode", "primary_vocab_ratio": 0.5}),
]


@pytest.mark.parametrize(("stage", "calls", "options"), CASES)
def test_killed_and_gone_on(
    stage: str, calls: int, options: dict[str, Any], tmp_path: Path
) -> None:
    program = PROGRAM.format(
        here=str(HERE),
        package=str(HERE.parents[1] / "py_host"),
        stage=stage,
        calls=calls,
        name="mixed",
        options=options,
    )
    folder = tmp_path / "run"
    ended = subprocess.run([sys.executable, "-c", program, str(folder)], timeout=120)
    assert ended.returncode == -signal.SIGKILL
    assert (folder / "state.json").exists()
    model = train_bpe(
        corpus("mixed", texts=200),
        checkpoint=folder,
        checkpoint_seconds=0,
        max_records=4,
        **options,
    )
    assert model.data == train_bpe(corpus("mixed", texts=200), **options).data


def test_killed_at_any_time(tmp_path: Path) -> None:
    options: dict[str, Any] = {"vocab_size": 900}
    program = PROGRAM.format(
        here=str(HERE),
        package=str(HERE.parents[1] / "py_host"),
        stage="",
        calls=-1,
        name="mixed",
        options=options,
    )
    folder = tmp_path / "run"
    for pause in (0.4, 0.5, 0.6):
        run = subprocess.Popen([sys.executable, "-c", program, str(folder)])
        time.sleep(pause)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    texts = corpus("mixed", texts=200)
    model = train_bpe(texts, checkpoint=folder, checkpoint_seconds=0, **options)
    assert model.data == train_bpe(texts, **options).data
