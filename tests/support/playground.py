"""The playground in a browser: a static host with a security policy, and a driver."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support import data
from support.browser import CHROMIUM_FLAGS, Handler, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright, ViewportSize

DEFAULT = data.ROOT / "py_host/isotok/data/default.isotok-packed"
FOLDER = data.BUILD / "playground"
CHROMIUM = "/usr/bin/chromium"
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'"
)
DESKTOP: ViewportSize = {"width": 1200, "height": 900}
SETTLED = "() => !document.querySelector('[aria-busy=\"true\"]')"
READ_CLIPBOARD = """async () => {
    for (;;) {
        const text = await navigator.clipboard.readText();
        if (text !== "") return text;
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}"""


@dataclass
class Site:
    """A static host; `files` stand for files of the folder or are added to them."""

    address: str = ""
    policy: str | None = POLICY
    files: dict[str, bytes] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class PageHandler(Handler):
    def __init__(self, *arguments: Any, site: Site) -> None:
        self.site = site
        super().__init__(*arguments, directory=str(FOLDER))

    def do_GET(self) -> None:
        name = self.path.removeprefix("/")
        content = self.site.files.get(name)
        if name in self.site.missing:
            self.send_error(404)
            return
        if content is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(name))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        if self.site.policy is not None:
            self.send_header("Content-Security-Policy", self.site.policy)
        super().end_headers()


@contextmanager
def serve(site: Site) -> Iterator[Site]:
    with serving(partial(PageHandler, site=site)) as address:
        site.address = f"{address}/"
        yield site


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)


class Playground:
    """The page and what the tests do with it."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )

    def open(self, fragment: str = "") -> Playground:
        self.page.goto(self.site.address + fragment)
        ready = ".statistics, #notices .error"
        self.page.wait_for_selector(ready, state="attached")
        return self.settle()

    def settle(self, milliseconds: float = 60_000) -> Playground:
        """Wait until models are open and the text is analysed."""
        self.page.wait_for_function(SETTLED, timeout=milliseconds)
        return self

    # -- what a reader does ---------------------------------------------------------

    def type(self, text: str) -> Playground:
        """Put a text into the field, as one input; lone surrogates too."""
        # In the source: the protocol of the driver takes no surrogates.
        self.page.evaluate(
            f"""() => {{
                const area = document.getElementById("text");
                area.value = {json.dumps(text)};
                area.dispatchEvent(new InputEvent("input", {{ bubbles: true }}));
            }}"""
        )
        return self.settle()

    def paste(self, text: str, wait: bool = True) -> Playground:
        """Paste a text over all that is there, from the real clipboard."""
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.page.focus("#text")
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Control+v")
        if wait:
            self.page.wait_for_function(
                "start => document.getElementById('counts').textContent.startsWith(start)",
                arg=f"{len(text):,} character",
                timeout=120_000,
            )
            self.settle()
        return self

    def drop(self, name: str, content: bytes, side: int = 0, kind: str = "") -> Playground:
        """Drop a file on the zone for one side."""
        self.site.files["dropped"] = content
        self.page.evaluate(
            """async ([name, side, type]) => {
                const content = await (await fetch("dropped")).arrayBuffer();
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([content], name, { type }));
                const options = { bubbles: true, cancelable: true, dataTransfer };
                const zone = document.querySelectorAll(".zone")[side];
                document.body.dispatchEvent(new DragEvent("dragenter", options));
                if (zone.getBoundingClientRect().width === 0) throw new Error("no zone to drop on");
                zone.dispatchEvent(new DragEvent("dragover", options));
                zone.dispatchEvent(new DragEvent("drop", options));
            }""",
            [name, side, kind],
        )
        return self.settle()

    def view(self, name: str) -> Playground:
        self.page.locator(".view label", has_text=name).click()
        return self.settle()

    # -- what a reader sees ---------------------------------------------------------

    def panel(self, side: int = 0) -> Any:
        return self.page.locator(".panel").nth(side)

    def counts(self) -> str:
        return self.page.inner_text("#counts")

    def statistics(self, side: int = 0) -> dict[str, str]:
        rows = self.panel(side).locator(".statistics > div").all_inner_texts()
        return dict(row.split("\n") for row in rows)

    def tokens(self, side: int = 0) -> int:
        return int(self.statistics(side)["Tokens"].replace(",", ""))

    def ids(self, side: int = 0) -> list[int]:
        """All ids, through the button that copies them."""
        if self.tokens(side) == 0:
            return []
        self.page.evaluate("() => navigator.clipboard.writeText('')")
        self.panel(side).get_by_role("button", name="Copy ids").click()
        text: str = self.page.evaluate(READ_CLIPBOARD)
        return [int(word) for word in text.split()]

    def rows(self, side: int = 0) -> list[list[str]]:
        """Cells of the table of tokens."""
        found: list[list[str]] = self.panel(side).evaluate(
            """panel => Array.from(panel.querySelectorAll("tbody tr"), row =>
                Array.from(row.cells, cell => cell.textContent))"""
        )
        return found

    def focused(self) -> dict[str, str]:
        """Attributes of the element that has the focus, its outline too."""
        found: dict[str, str] = self.page.evaluate(
            """() => {
                const element = document.activeElement;
                const names = element.getAttributeNames();
                const style = getComputedStyle(element);
                // File inputs and view buttons are drawn by their label.
                const drawn = [element, ...element.labels ?? [], ...element.parentElement.children];
                const outlined = drawn.some(each => {
                    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
                    const isOutlined = outlineStyle !== "none" && outlineWidth !== "0px";
                    return isOutlined || boxShadow !== "none";
                });
                return {
                    ...Object.fromEntries(names.map(name => [name, element.getAttribute(name)])),
                    tag: element.tagName.toLowerCase(),
                    text: element.textContent,
                    outlined: String(outlined),
                };
            }"""
        )
        return found

    def notices(self) -> list[str]:
        return self.page.locator("#notices .notice").all_inner_texts()

    def facts(self) -> dict[str, str]:
        """Status, what and offset in the error box at the top."""
        rows = self.page.locator("#notices .error .facts > div").all_inner_texts()
        return dict(re.split(r"\s+", row, maxsplit=1) for row in rows)

    def is_alive(self) -> bool:
        """Whether a new text gets its tokens."""
        self.type("one two")
        return self.counts().startswith("7 characters") and self.tokens() > 0


# -- models and texts ------------------------------------------------------------------

TEXTS = [
    "Hello world! Unhappiness, re-tokenized.",
    "  two  spaces\tand a tab\n\nand lines ",
    "Family 👨‍👩‍👧‍👦, 👩🏽‍💻, 🇯🇵🇫🇷, 1️⃣ and 🏳️‍🌈",
    "e\u0301 n\u0303 ắ क्षि H\u0337\u031b\u0316\u0301i ﬁ ㌔ ½ ﷺ",
    "مرحبًا بالعالم! (about $67) שלום",
    "日本語とカタカナ",
    "a\0b\u200b\u202ec\ufeff",
]


def own_model(name: str) -> Path:
    return data.VECTOR_MODELS / f"{name}.model"


def real_model(name: str) -> Path:
    path = data.models_dir() / f"{name}.model"
    if not path.exists():
        pytest.skip(data.absence(path))
    return path


def long_text(size: int) -> str:
    words = ["tokens", "and", "pieces", "of", "unlikely", "words", "🌵", "日本語", "naïve", "\n"]
    chosen = random.Random(1).choices(words, k=size // 4)
    return " ".join(chosen)[:size]


READ_PIECES = """panel => Array.from(panel.querySelectorAll(".pieces > *"), element => {
    const copy = element.cloneNode(true);
    for (const part of copy.querySelectorAll(".parts")) part.remove();
    for (const line of copy.querySelectorAll("br")) line.replaceWith("\\n");
    return element.classList.contains("ghost") ? "" : copy.textContent;
})"""
