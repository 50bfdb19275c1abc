"""Sessions of bench/web/session.mjs in Node and in Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import web_models
from support.browser import CHROMIUM_FLAGS, FolderHandler, serving

FOLDER = Path(__file__).resolve().parent / "web"
FLAGS = [
    *CHROMIUM_FLAGS,
    "--enable-blink-features=ForceEagerMeasureMemory",  # else memory is measured within 20 s
    "--js-flags=--expose-gc",
]
HEADERS = {
    # Isolated pages have a fine clock, and may ask for the memory they take.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cache-Control": "max-age=3600",
}


class Session(Protocol):
    """One engine with one model on one host."""

    def __call__(self, command: str, **arguments: object) -> dict[str, Any]: ...

    def close(self) -> None: ...


class Host(Protocol):
    name: str
    version: str

    def session(self, engine: str, model: str) -> Session: ...


class Node:
    name = "node"

    def __init__(self, data: Path) -> None:
        path = shutil.which("node")
        if path is None:
            raise SystemExit("web: no node; run ./build.sh build web")
        self.path = path
        self.data = data
        found = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        self.version = f"Node {found.stdout.strip().removeprefix('v')}"

    def session(self, engine: str, model: str) -> Session:
        script = str(FOLDER / "node.mjs")
        what = [engine, model, web_models.source(model)]
        return NodeSession([self.path, "--expose-gc", script, str(self.data), *what])


class NodeSession:
    def __init__(self, command: list[str]) -> None:
        self.what = " ".join(command[-3:-1])
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, command: str, **arguments: object) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps({"command": command, **arguments}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"node: {self.what} ended at {command}")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


class Chromium:
    """A browser; each session is a page in a context, so a process, of its own."""

    name = "chromium"

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        self.address = address
        self.version = f"Chromium {browser.version}"

    def session(self, engine: str, model: str) -> Session:
        return PageSession(self.browser.new_context(), self.address, engine, model)


class PageSession:
    def __init__(self, context: Any, address: str, engine: str, model: str) -> None:
        self.context = context
        self.page = context.new_page()
        self.page.set_default_timeout(600_000)
        self.page.goto(f"{address}/page/page.html")
        self.page.wait_for_function("() => globalThis.start !== undefined")
        self.page.evaluate("what => start(what)", [engine, model, web_models.source(model)])

    def __call__(self, command: str, **arguments: object) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(
            "what => command(what)", {"command": command, **arguments}
        )
        return found

    def close(self) -> None:
        self.context.close()


class IsolatedHandler(FolderHandler):
    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()


@contextmanager
def chromium(data: Path, pages: Path) -> Iterator[Chromium]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("web: no chromium; run ./build.sh build playground-tests")
    subprocess.run(["node", str(FOLDER / "build.mjs"), str(pages)], check=True)
    handler = partial(IsolatedHandler, folders={"data": data, "page": pages})
    with serving(handler) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield Chromium(browser, address)
        finally:
            browser.close()
