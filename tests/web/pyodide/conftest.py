"""Fixtures of the tests in Pyodide: our server, a browser, a page without other network."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import prepare  # noqa: E402
import server  # noqa: E402
from support.browser import CHROMIUM_FLAGS  # noqa: E402

try:
    from playwright.sync_api import Browser, Page, sync_playwright
except ImportError:  # nobody has prepared this folder's tests; `./build.sh test pyodide` does
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def wheel() -> Path:
    (found,) = prepare.DIST.glob("isotok-*.whl")  # made by prepare.py
    return found


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    folders = {
        "tests": prepare.HERE.parent,
        "pyodide": prepare.PYODIDE,
        "dist": prepare.DIST,
        "docs": prepare.ROOT / "docs",
    }
    with server.serve(folders) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = prepare.chromium()
        launched = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page without any network but this machine, and without errors at its end."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    page.set_default_timeout(600_000)
    foreign: list[str] = []
    problems: list[str] = []

    def route(each: Any) -> None:
        if each.request.url.startswith("http://127.0.0.1:"):
            each.continue_()
        else:
            foreign.append(each.request.url)
            each.abort()

    context.route("**/*", route)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert foreign == []
    assert problems == []
