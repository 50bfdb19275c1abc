#!/usr/bin/env python3
"""Times isotok in Pyodide (Node, Chromium) beside CPython with wasmtime; prints a table.

python tests/web/pyodide/measure.py     after prepare.py; needs the data folder

Each host runs three times, in turns; each number is the least of the three. A long text is
encoded once a run, so the times include what the engine does to compile hot functions.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import prepare
from isotok.compile import compile_model
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(prepare.ROOT / "tests"))

import server
from support.browser import CHROMIUM_FLAGS

MODELS = ("llama2", "xlmr", "gemma3")
FOLDER = "/measure"
ROUNDS = 3


def make_archive(folder: Path) -> None:
    """Models, their blobs, and a text of about 2 MB, half of it for each way to encode."""
    data = prepare.data_dir()
    text = (data / "corpora/en.txt").read_text("utf-8")[:2_000_000]
    (folder / "text.txt").write_text(text, "utf-8")
    for name in MODELS:
        source = (data / f"models/{name}.model").read_bytes()
        (folder / f"{name}.model").write_bytes(source)
        (folder / f"{name}.isotok").write_bytes(compile_model(source))
    with zipfile.ZipFile(prepare.DIST / "measure.zip", "w") as packed:
        for path in folder.iterdir():
            packed.write(path, f"{FOLDER}/{path.name}")


def here(folder: Path) -> dict[str, float]:
    code = "import inside_measure, sys; print(inside_measure.main(sys.argv[1]))"
    task = json.dumps({"folder": str(folder)})
    command = [sys.executable, "-c", code, task]
    found = subprocess.run(command, cwd=prepare.HERE, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def in_node(task: dict[str, Any]) -> dict[str, Any]:
    command = ["node", "node.mjs", json.dumps({**task, "dist": str(prepare.DIST)})]
    found = subprocess.run(command, cwd=prepare.HERE, capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def in_chromium(task: dict[str, Any]) -> dict[str, Any]:
    folders = {"tests": prepare.HERE.parent, "pyodide": prepare.PYODIDE, "dist": prepare.DIST}
    with server.serve(folders) as address, sync_playwright() as playwright:
        path = prepare.chromium()
        with playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS) as browser:
            page = browser.new_page()
            page.set_default_timeout(600_000)
            page.goto(f"{address}/tests/pyodide/page.html")
            page.wait_for_function("globalThis.mayEvaluate !== undefined")
            return page.evaluate("task => runInWorker(task)", task)


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} µs"


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {row: min(run[row] for run in runs) for row in runs[0]}


def rows_of(report: dict[str, Any]) -> dict[str, float]:
    start = {"start of Pyodide": report["seconds"]["pyodide"]}
    return {**start, "install of the wheel": report["seconds"]["isotok"], **report["result"]}


def main() -> None:
    (wheel,) = prepare.DIST.glob("isotok-*.whl")
    task = {
        "way": "file",
        "wheel": wheel.name,
        "files": "measure.zip",
        "python": "inside_measure.py",
        "argument": {"folder": FOLDER},
    }
    base: list[dict[str, float]] = []
    reports: list[list[dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as name:
        make_archive(Path(name))
        for _ in range(ROUNDS):
            base.append(here(Path(name)))
            reports.append([in_node(task), in_chromium(task)])
    hosts = [report["host"] for report in reports[0]]
    columns = [least([rows_of(report) for report in each]) for each in zip(*reports, strict=True)]
    print(f"| | CPython, wasmtime | {' | '.join(hosts)} |\n| --- |{' ---: |' * 3}")
    compared = least(base)
    for row in columns[0]:
        cells = [shown(compared[row]) if row in compared else ""]
        for column in columns:
            ratio = f" ({column[row] / compared[row]:.1f}×)" if row in compared else ""
            cells.append(shown(column[row]) + ratio)
        print(f"| {row} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
