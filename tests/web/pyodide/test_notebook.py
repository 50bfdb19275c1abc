"""The page docs/pyodide/notebook.html does what it shows, and the recipe fits the package."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import isotok
import notebook
import pytest
import server
from playwright.sync_api import Page
from prepare import PYODIDE, ROOT

MODEL = ROOT / "tests/vectors/models/trained_unigram.model"


@pytest.fixture
def opened(page: Page, site: str, wheel: Path) -> Page:
    """The page with Python running, under a policy that forbids evaluating program text."""
    page.goto(
        f"{site}/strict/docs/pyodide/notebook.html?pyodide=/pyodide/&wheel=/dist/{wheel.name}"
    )
    page.get_by_role("status").filter(has_text="ready").wait_for()
    return page


def shown(page: Page) -> list[str]:
    return page.locator(".cell pre").all_text_contents()


def test_saved_outputs_are_those_of_this_version() -> None:
    saved = [cell.output for cell in notebook.cells(notebook.PAGE.read_text("utf-8"))]
    assert len(saved) == 9
    assert saved == notebook.outputs()


def test_every_cell_gives_what_the_page_shows(opened: Page) -> None:
    saved = shown(opened)
    opened.evaluate("for (const each of document.querySelectorAll('pre')) each.textContent = ''")
    opened.get_by_role("button", name="Run all cells").click()
    opened.get_by_role("status").filter(has_text="cells").wait_for()
    assert opened.get_by_role("status").inner_text() == "all 9 cells ran"
    assert shown(opened) == saved


def test_cells_can_be_changed(opened: Page) -> None:
    cell = opened.get_by_label("Cell 1", exact=True)
    cell.fill("import isotok\nprint('one')\nisotok.load().encode('changed')")
    cell.press("Shift+Enter")
    with isotok.load(backend="native") as tok:
        expected = f"one\n{tok.encode('changed')}"
    opened.wait_for_function(
        "text => document.querySelector('pre').textContent == text", arg=expected
    )


def test_an_error_is_shown(opened: Page) -> None:
    cell = opened.get_by_label("Cell 1", exact=True)
    cell.fill("1 / 0")
    cell.press("Shift+Enter")
    opened.locator(".cell.error pre").filter(has_text="ZeroDivisionError").wait_for()


def test_a_model_of_ones_own(opened: Page) -> None:
    """Cell 8 needs only the import of cell 1."""
    opened.get_by_label("Cell 1", exact=True).press("Shift+Enter")
    opened.get_by_label("File").set_input_files(MODEL)
    opened.get_by_role("status").filter(has_text="is opened").wait_for()
    with isotok.load(MODEL, backend="native") as tok:
        ids = tok.encode("Hello world")
        expected = f"{MODEL.name} {tok.info.algorithm} {tok.vocab_size} {ids}"
    assert shown(opened)[7] == expected


def test_screenshots(opened: Page, tmp_path: Path) -> None:
    """Nothing is wider than a narrow page, in light and in dark."""
    opened.get_by_role("button", name="Run all cells").click()
    opened.get_by_role("status").filter(has_text="cells ran").wait_for()
    for scheme in ("light", "dark"):
        for width in (1000, 360):
            opened.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            opened.set_viewport_size({"width": width, "height": 900})
            wide = opened.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
            opened.screenshot(path=tmp_path / f"{scheme}-{width}.png", full_page=True)


def test_the_example_of_the_docs(page: Page, wheel: Path, tmp_path: Path) -> None:
    """The JavaScript of docs/pyodide.md, with the two things beside it that it names."""
    text = (ROOT / "docs/pyodide.md").read_text("utf-8")
    (code,) = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    (tmp_path / "example.mjs").write_text(code, "utf-8")
    (tmp_path / "index.html").write_text('<script type="module" src="example.mjs"></script>')
    (tmp_path / "pyodide").symlink_to(PYODIDE)
    shutil.copy(wheel, tmp_path)
    (expected,) = re.findall(r"// (.*)", code)
    with (
        server.serve({"example": tmp_path}) as address,
        page.expect_console_message(lambda message: message.text == expected, timeout=120_000),
    ):
        page.goto(f"{address}/example/")


def test_the_python_of_the_docs() -> None:
    text = (ROOT / "docs/pyodide.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    scope: dict[str, object] = {"isotok": isotok, "model": MODEL}
    exec(code, scope)
    with isotok.load(MODEL) as tok:
        assert scope["tok"].encode("Hello") == tok.encode("Hello")  # type: ignore[attr-defined]


def test_versions() -> None:
    """The page and the recipe name the wheel of this version."""
    page = notebook.PAGE.read_text("utf-8")
    assert f'content="isotok-{isotok.__version__}-py3-none-any.whl"' in page
    recipe = (ROOT / "docs/pyodide/meta.yaml").read_text("utf-8")
    assert re.search(r"^  version: (.*)$", recipe, re.MULTILINE)[1] == isotok.__version__  # type: ignore[index]
    assert "export ISOTOK_PURE=1" in recipe
