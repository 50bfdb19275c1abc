"""Links, keyboard, screen readers, themes and screens of the playground."""

from __future__ import annotations

import base64
import json
import random
import re
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from support import data
from support.playground import (
    Playground,
    long_text,
    own_model,
)

Open = Callable[..., Playground]
SHOTS = data.BUILD / "playground-shots"
AXE = data.ROOT / "tests/web/playground/node_modules/axe-core/axe.min.js"


# -- links --------------------------------------------------------------------------------

LINKED = [
    "",
    "plain",
    "मनीष 👩🏽‍💻 مرحبا 日本 \0 \t\n &#+%=",
    "same words again and again " * 400,
    "lone \ud800 and \udc00\ud83d",
    "a\r\nb\rc",
]


@pytest.mark.parametrize("number", range(len(LINKED)))
def test_link(start: Open, number: int) -> None:
    text = LINKED[number]
    page = start()
    if "\r" in text:
        page.drop("some.txt", text.encode(), kind="text/plain")
    else:
        page.type(text)
    page.page.check("#eos")
    page.view("Table")
    page.page.uncheck("#spaces")
    page.page.select_option("#model-1", label="default")
    page.settle()
    page.page.click("#share")
    page.page.wait_for_selector(".notice:has-text('The link copied')")
    link = page.page.evaluate("() => navigator.clipboard.readText()")
    assert link == page.page.url
    assert len(link) < 3000
    other = start(fragment=link.partition("/#")[2] and "#" + link.partition("#")[2])
    assert other.ids() == page.ids()
    found = other.page.evaluate("() => JSON.stringify(document.getElementById('text').value)")
    if "\r" not in text:
        assert json.loads(found) == text
    assert other.counts() == page.counts()
    assert other.page.is_checked("#eos")
    assert not other.page.is_checked("#bos")
    assert not other.page.is_checked("#spaces")
    assert other.page.locator(".panel:visible table").count() == 2


def test_link_with_a_model_of_ones_own(start: Open) -> None:
    page = start()
    page.drop("own.model", own_model("trained_bpe").read_bytes(), side=1)
    page.type("some text")
    page.page.click("#share")
    page.page.wait_for_selector(".notice")
    fragment = "#" + page.page.url.partition("#")[2]
    other = start(fragment=fragment)
    assert other.notices()[0].startswith("The link was made with own.model")
    assert not other.panel(1).is_visible()
    # Wherever it is dropped, it goes where the link has it.
    other.drop("own.model", own_model("trained_bpe").read_bytes(), side=0)
    assert other.panel(0).locator("h2").inner_text() == "default"
    assert other.ids(1) == page.ids(1)


@pytest.mark.parametrize(
    "fragment",
    ["#nonsense", "#v=1&m=default&t=8z.AAAA", "#v=1&m=default&t=9.AA", "#v=2&t=8.", "#v=1&t=8z.%%"],
)
def test_damaged_link(start: Open, fragment: str) -> None:
    page = start(fragment=fragment)
    assert page.notices()[0].startswith("The link cannot be read")
    assert page.is_alive()


def test_link_that_would_fill_the_memory(start: Open) -> None:

    pack = zlib.compressobj(9, wbits=-15)
    bomb = pack.compress(bytes(40_000_000)) + pack.flush()
    encoded = base64.urlsafe_b64encode(bomb).decode().rstrip("=")
    page = start(fragment=f"#v=1&m=default&t=8z.{encoded}")
    assert "longer than this page takes" in page.notices()[0]
    assert page.is_alive()


def test_too_long_for_a_link(page: Playground) -> None:
    noise = random.Random(3)
    page.type("".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(40_000)))
    page.page.click("#share")
    page.page.wait_for_selector(".notice.error")
    assert "too long for a link" in page.notices()[0]
    assert page.is_alive()


# -- keyboard, screen readers, themes ---------------------------------------------------------


def test_keyboard(page: Playground) -> None:
    """Everything is reached by Tab, in order, and shows that it has the focus."""
    page.page.select_option("#model-1", label="default")
    page.settle()
    page.page.evaluate("() => document.activeElement.blur()")
    reached = []
    for _ in range(30):
        page.page.keyboard.press("Tab")
        element = page.focused()
        if element["tag"] == "body":
            break
        assert element["outlined"] == "true", element
        reached.append(element.get("id") or element["text"][:12])
    samples = ["English", "Code", "العربية", "日本語", "Emoji"]
    piece = page.page.locator(".pieces .piece").first.inner_text()
    assert reached == [
        *("share", "theme", "model-0", "file-0", "model-1", "file-1"),
        *samples,
        *("text", "bos", "eos", "spaces", ""),
        *(piece, "Copy ids", piece, "Copy ids", "Tokens of the piece"[:12]),
    ]


def test_arrow_keys(page: Playground) -> None:
    page.type("one two three four")
    page.page.locator(".pieces .piece").first.focus()
    count = page.page.locator(".pieces .piece").count()
    for key, wanted in [
        ("ArrowRight", 1),
        ("ArrowDown", 2),
        ("ArrowLeft", 1),
        ("End", count - 1),
        ("ArrowRight", count - 1),
        ("ArrowUp", count - 2),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        page.page.keyboard.press(key)
        element = page.focused()
        assert element["data-index"] == str(wanted), key
        assert element["aria-selected"] == "true"
        assert page.page.locator(".pieces [tabindex='0']").count() == 1
        details = page.page.inner_text("#details tbody tr")
        assert details.startswith(f"{wanted}\t")
        assert element["aria-describedby"] == "description"
        described = page.page.locator("#description").text_content()
        assert re.match(r"id \d+, normal, score -[\d.]+, bytes \w\w.*, UTF-16 \d", described)


def test_theme(start: Open) -> None:
    page = start(color_scheme="dark")
    dark = background(page)
    assert dark < 60
    seen = []
    for _ in range(3):
        page.page.focus("#theme")
        page.page.keyboard.press("Enter")
        seen.append((page.page.inner_text("#theme"), background(page) > 200))
    assert seen == [("Theme: light", True), ("Theme: dark", False), ("Theme: auto", False)]
    page.page.click("#theme")
    page.page.reload()
    page.page.wait_for_selector(".piece")
    assert page.page.inner_text("#theme") == "Theme: light"
    assert background(page) > 200


def background(page: Playground) -> int:
    color = page.page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    return int(re.findall(r"\d+", color)[0])


STATES: dict[str, Callable[[Playground], object]] = {
    "start": lambda page: None,
    "two models": lambda page: two_models(page),
    "table": lambda page: two_models(page).view("Table"),
    "emoji": lambda page: page.page.get_by_role("button", name="Emoji").click(),
    "right to left": lambda page: page.page.get_by_role("button", name="العربية").click(),
    "error": lambda page: page.drop("hostile.model", b"\x0a\xff"),
    "long text": lambda page: page.paste(long_text(200_000)),
    "nothing": lambda page: page.type(""),
    "odd": lambda page: page.type("a\ud800\0\u202e"),
    "unknown": lambda page: unknown_tokens(page),
    "details": lambda page: page.page.locator(".pieces .piece").first.focus(),
}


def two_models(page: Playground) -> Playground:
    return page.drop("trained_bpe.model", own_model("trained_bpe").read_bytes(), side=1)


def unknown_tokens(page: Playground) -> None:
    page.drop("word_plain.model", own_model("word_plain").read_bytes())
    page.type("unknown words, ꙮ")
    page.page.locator("summary").first.click()


RUN_AXE = """async () => {
    const { violations, passes } = await axe.run({ resultTypes: ["violations"] });
    return {
        violations: violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(n => n.html)]),
        passes: passes.length,
    };
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 380])
def test_axe(start: Open, theme: str, width: int) -> None:
    """No violation that axe knows, in any state of the page."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed; run ./build.sh build playground-tests")
    script = AXE.read_text("utf-8")
    page = start(color_scheme=theme)
    page.page.set_viewport_size({"width": width, "height": 900})
    page.page.evaluate(script)
    for name, prepare in STATES.items():
        page.view("Text")
        prepare(page)
        page.settle()
        found = page.page.evaluate(RUN_AXE)
        assert found["violations"] == [], name
        assert found["passes"] > 20


def test_narrow_screen(start: Open) -> None:
    """Nothing is cut off: the page has no horizontal scroll bar."""
    for width in (320, 380, 600, 800):
        page = start()
        page.page.set_viewport_size({"width": width, "height": 800})
        for prepare in STATES.values():
            page.view("Text")
            prepare(page)
            page.settle()
            found = page.page.evaluate("() => document.documentElement.scrollWidth")
            assert found <= width
        page.page.context.close()


# -- pictures -----------------------------------------------------------------------------


PICTURE: Any = {"width": 1000, "height": 980}


def shoot(page: Playground, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    path = SHOTS / f"playground-{name}.png"
    page.page.screenshot(path=path)
    assert path.stat().st_size > 5_000


def test_pictures(start: Open) -> None:
    page = start()
    page.page.set_viewport_size(PICTURE)
    page.page.locator(".pieces .piece", has_text="ability").first.hover()
    shoot(page, "light")

    page = start(color_scheme="dark")
    page.page.set_viewport_size(PICTURE)
    two_models(page)
    page.page.locator(".panel").first.locator(".differs").nth(1).hover()
    shoot(page, "dark")

    page = start()
    page.page.set_viewport_size(PICTURE)
    page.page.get_by_role("button", name="العربية").click()
    page.settle()
    page.page.locator(".pieces .piece").nth(1).focus()
    shoot(page, "rtl")

    page = start()
    page.page.set_viewport_size({"width": 380, "height": 800})
    page.page.get_by_role("button", name="Emoji").click()
    page.settle()
    page.page.locator(".pieces .piece", has=page.page.locator(".parts")).first.focus()
    shoot(page, "narrow")
