#!/usr/bin/env python3
"""Times isotok in Pyodide (Node, Chromium) beside CPython with wasmtime; prints a table.

python tests/web/pyodide/measure.py     after prepare.py; needs the data folder
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
import server
from isotok.compile import compile_model
from playwright.sync_api import sync_playwright

MODELS = ("llama2", "xlmr", "gemma3")
FOLDER = "/measure"


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
    folders = {"tests": prepare.HERE, "pyodide": prepare.PYODIDE, "dist": prepare.DIST}
    with server.serve(folders) as address, sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        path = prepare.chromium()
        with playwright.chromium.launch(executable_path=path, args=flags) as browser:
            page = browser.new_page()
            page.set_default_timeout(600_000)
            page.goto(f"{address}/tests/page.html")
            page.wait_for_function("globalThis.mayEvaluate !== undefined")
            return page.evaluate("task => runInWorker(task)", task)


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:9.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:9.2f} µs"


def main() -> None:
    (wheel,) = prepare.DIST.glob("isotok-*.whl")
    with tempfile.TemporaryDirectory() as name:
        make_archive(Path(name))
        base = here(Path(name))
    task = {
        "way": "file",
        "wheel": wheel.name,
        "files": "measure.zip",
        "python": "inside_measure.py",
        "argument": {"folder": FOLDER},
    }
    reports = [in_node(task), in_chromium(task)]
    print("start of Pyodide:", *(f"{r['host']} {r['seconds']['pyodide']:.1f} s" for r in reports))
    print("install of the wheel:", *(f"{r['seconds']['isotok'] * 1e3:.0f} ms" for r in reports))
    print(f"{'':40} {'wasmtime':>12}", *(f"{r['host']:>22}" for r in reports))
    for row, seconds in base.items():
        columns = [f"{shown(seconds):>12}"]
        for report in reports:
            found = report["result"][row]
            columns.append(f"{shown(found):>14} {found / seconds:5.2f}x")
        print(f"{row:40}", *columns)


if __name__ == "__main__":
    main()
