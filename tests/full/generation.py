"""compat="0.2.1" against the wheel of that release, which pip gets.

`compat_ids`: every SentencePiece model and corpus, whole and line by line, on both back ends:
the same ids and decoded texts. Texts must be among them of which today's ids are others.
`compat_vectors`: its golden vectors are as tests/vectors/make_0_2_1.py makes them.

Nothing of the wheel is kept. Without an index of packages both say that they were skipped,
and fail where CI is set.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.full import matrix
from tests.full.limits import Check
from tests.support import data

sys.path[:0] = [str(data.ROOT / "tests"), str(data.ROOT / "tests/reference")]

from support import generation  # noqa: E402

BACKENDS = ("native", "wasm")
ASKED: dict[str, Any] = {"size": None, "processes": 2}
Ids = NDArray[np.int32]


def configure(size: int | None, processes: int) -> None:
    """Take the options of run.py; `size` is that of each corpus."""
    ASKED.update(size=size, processes=processes)


def _with_old(what: str) -> Iterator[tuple[Path, Path] | Check]:
    """A temporary folder and the release in it; or the row that says that there is none."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            package = generation.install(folder)
        except subprocess.CalledProcessError as error:
            message = f"pip cannot get sentencepiece {generation.VERSION} ({error.returncode})"
            print(f"skipped: {message}")
            yield what, message, "needs an index of packages", not os.environ.get("CI")
            return
        yield folder, package


# ---- Ids ------------------------------------------------------------------------------------


@dataclass
class Row:
    """What differs for a model and a corpus: documents, by mode and back end."""

    model: str
    corpus: str
    tokens: int = 0
    lines: int = 0
    differ: list[str] = field(default_factory=list)
    today_whole: int = 0
    """Whether the whole text has other ids today; so many lines have."""
    today_lines: int = 0


def compat_ids() -> Iterator[Check]:
    """Compare on everything, and count where the releases differ."""
    for made in _with_old("compat_ids"):
        if not isinstance(made[0], Path):
            yield made
            return
        folder, package = made
        models, texts = data.real_models(), matrix.corpora(data.corpora_dir())
        rows: list[Row] = []
        with ProcessPoolExecutor(ASKED["processes"], max_tasks_per_child=1) as pool:
            jobs = [
                pool.submit(run_job, package, folder, model, text, ASKED["size"])
                for text in texts
                for model in models
            ]
            for job in as_completed(jobs):
                rows.append(job.result())
                yield check_of(rows[-1])
        whole, lines = sum(row.today_whole for row in rows), sum(row.today_lines for row in rows)
        yield "whole texts of which today's ids differ", str(whole), ">= 1", whole > 0
        yield "lines of which today's ids differ", str(lines), "told only", True


def check_of(row: Row) -> Check:
    told = "whole" if row.today_whole else "no" if not row.today_lines else ""
    lines = f"{row.today_lines:,} lines" if row.today_lines else ""
    today = " and ".join(each for each in (told, lines) if each)
    return (
        f"{row.model} {row.corpus}: {row.tokens:,} tokens, {row.lines:,} lines; "
        f"other today: {today}",
        ", ".join(row.differ) or "all equal",
        "whole, lines and text, native and wasm",
        not row.differ,
    )


def run_job(package: Path, folder: Path, model: Path, corpus: Path, size: int | None) -> Row:
    """One model and one corpus."""
    import isotok

    answers = {
        name: folder / f"{model.stem}.{corpus.name}.{name}" for name in ("whole", "lines", "text")
    }
    paths = {name: str(path) for name, path in answers.items()}
    request = {"path": str(corpus), "size": size, **paths}
    generation.run(package, {"model": str(model), "corpora": [request]})
    whole, lines = (np.fromfile(answers[name], np.int32) for name in ("whole", "lines"))
    text = answers["text"].read_bytes()
    for path in answers.values():
        path.unlink()
    content = corpus.read_bytes()[:size]
    row = Row(model.stem, corpus.name, len(whole) - 1, int((lines == -1).sum()))
    for backend in BACKENDS:
        with isotok.load(model, backend=backend, compat="0.2.1") as tok:  # type: ignore[arg-type]
            mine = flat([tok.encode(content)])
            if not np.array_equal(mine, whole):
                row.differ.append(f"{backend} whole")
            wrong = differing(flat(tok.encode_batch(content.split(b"\n"), output="list")), lines)
            if wrong:
                row.differ.append(f"{backend} {wrong} lines")
            if tok.decode(whole[:-1].astype(np.uint32)).encode() != text:
                row.differ.append(f"{backend} text")
    with isotok.load(model, backend="native") as tok:
        row.today_whole = int(not np.array_equal(flat([tok.encode(content)]), whole))
        today = flat(tok.encode_batch(content.split(b"\n"), output="list"))
        row.today_lines = differing(today, lines)
    return row


def flat(documents: list[list[int]]) -> Ids:
    """Ids of documents end to end, -1 behind each."""
    return np.array([each for ids in documents for each in (*ids, -1)], np.int32)


def differing(found: Ids, expected: Ids) -> int:
    """How many documents have other ids."""
    a, b = (np.split(ids, np.flatnonzero(ids == -1) + 1) for ids in (found, expected))
    assert len(a) == len(b), (len(a), len(b))
    if np.array_equal(found, expected):
        return 0
    return sum(not np.array_equal(x, y) for x, y in zip(a, b, strict=True))


# ---- Golden vectors -------------------------------------------------------------------------


def compat_vectors() -> Iterator[Check]:
    """Make them again."""
    for made in _with_old("compat_vectors"):
        if not isinstance(made[0], Path):
            yield made
            return
        script = data.ROOT / "tests/vectors/make_0_2_1.py"
        command = [sys.executable, str(script), str(made[1]), "--check"]
        done = subprocess.run(command, capture_output=True, text=True)
        told = done.stdout.strip().splitlines()[-1:] or [done.stderr[-300:]]
        yield "golden vectors of 0.2.1", told[0], "as made", done.returncode == 0


ALL = {"compat_ids": compat_ids, "compat_vectors": compat_vectors}
