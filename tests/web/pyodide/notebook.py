#!/usr/bin/env python3
"""The cells of docs/pyodide/notebook.html: their code, and the outputs that it shows.

python tests/web/pyodide/notebook.py     writes the outputs anew, from CPython on wasmtime
"""

from __future__ import annotations

import ast
import contextlib
import html
import io
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import prepare

PAGE = prepare.ROOT / "docs/pyodide/notebook.html"
CELL = re.compile(
    r'(?P<head><section class="cell"><textarea[^>]*>)(?P<code>.*?)</textarea>'
    r"<pre>(?P<output>.*?)</pre></section>",
    re.DOTALL,
)


class Cell(NamedTuple):
    code: str
    output: str


def cells(page: str) -> list[Cell]:
    return [
        Cell(html.unescape(match["code"]), html.unescape(match["output"]))
        for match in CELL.finditer(page)
    ]


def run(codes: list[str]) -> list[str]:
    """Run cells as a notebook does; gives what each printed and the value of its last line."""
    scope: dict[str, object] = {"__name__": "__main__"}
    return [_run_cell(code, scope) for code in codes]


def _run_cell(code: str, scope: dict[str, object]) -> str:
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    lines = []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), scope)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
            lines = [repr(value)] if value is not None else []
    return "\n".join([*printed.getvalue().splitlines(), *lines])


def outputs() -> list[str]:
    """What the cells give in this Python, on the wasm back end."""
    os.environ["ISOTOK_BACKEND"] = "wasm"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("models").mkdir()
        return run([cell.code for cell in cells(PAGE.read_text("utf-8"))])


def main() -> None:
    page = PAGE.read_text("utf-8")
    found = iter(outputs())

    def fill(match: re.Match[str]) -> str:
        output = html.escape(next(found), quote=False)
        return f"{match['head']}{match['code']}</textarea><pre>{output}</pre></section>"

    PAGE.write_text(CELL.sub(fill, page), "utf-8")


if __name__ == "__main__":
    main()
