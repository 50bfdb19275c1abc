"""The playground in Debian's Chromium, driven by Playwright.

`./build.sh build playground playground-tests` comes first; `./build.sh test playground` does
it all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import playground
from support.playground import Playground, Site


# For a module: there can be only one driver at a time, and others have their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright is not installed")
    for path in (Path(playground.CHROMIUM), playground.FOLDER / "index.html"):
        if not path.exists():
            absent(f"{path.name} is not there")
    with sync_playwright() as driver:
        browser = playground.launch(driver)
        yield browser
        browser.close()


def absent(what: str) -> None:
    """Skip with a reason; in CI all must be there."""
    message = f"{what}; run ./build.sh build playground playground-tests"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture
def start(browser: Any) -> Iterator[Callable[..., Playground]]:
    """Return a function that opens the page in a fresh profile, from a site of its own."""
    opened: list[Any] = []

    def begin(site: Site | None = None, fragment: str = "", **options: Any) -> Playground:
        host = playground.serve(site or Site())
        served = host.__enter__()
        context = browser.new_context(viewport=playground.DESKTOP, **options)
        opened.append((host, context))
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        return Playground(context.new_page(), served).open(fragment)

    yield begin
    for host, context in opened:
        context.close()
        host.__exit__(None, None, None)


@pytest.fixture
def page(start: Callable[..., Playground]) -> Iterator[Playground]:
    """Yield the page; at the end it must have had no error."""
    page = start()
    yield page
    assert page.errors == []
