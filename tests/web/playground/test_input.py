"""Whatever is put into the playground: an answer or an error, and the page lives on."""

from __future__ import annotations

import random
from collections.abc import Callable

import isotok
import pytest
from support import data, playground, refusals
from support.playground import (
    DEFAULT,
    READ_PIECES,
    Playground,
    Site,
    long_text,
    own_model,
    real_model,
)

Open = Callable[..., Playground]
WEB = data.ROOT / "web"


def well_formed(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# -- the host -----------------------------------------------------------------------------


INLINE_SCRIPT = """() => new Promise(resolve => {
    addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
        resolve(`${effectiveDirective} ${blockedURI}`);
    });
    const script = document.createElement("script");
    script.textContent = "document.title = 'it has run'";
    document.head.append(script);
    setTimeout(() => resolve(document.title), 2000);
})"""


def test_security_policy(start: Open) -> None:
    """With the strict header, and without one: the page has the policy in itself."""
    for policy in (playground.POLICY, None):
        page = start(Site(policy=policy))
        headers = page.page.request.get(page.site.address).headers
        assert headers.get("content-security-policy") == policy
        page.drop("x.model", own_model("trained_bpe").read_bytes())
        assert page.is_alive()
        assert page.errors == []
        assert page.page.evaluate(INLINE_SCRIPT) == "script-src-elem inline"


def test_nothing_leaves(page: Playground) -> None:
    page.drop("x.model", own_model("trained_bpe").read_bytes())
    page.type("a secret")
    page.page.click("#share")
    page.page.wait_for_selector(".notice")
    assert len(page.requests) >= 7
    for url in page.requests:
        assert url.startswith(page.site.address)
        assert "secret" not in url.partition("#")[0]
    files = {url.removeprefix(page.site.address) for url in page.requests}
    assert files - {"dropped"} == {
        *("", "app.js", "default.isotok-packed", "icon.svg", "isotok-build.wasm", "isotok.wasm"),
        *("isotok-compile.js", "style.css", "theme.js", "worker.js"),
    } - ({"icon.svg"} - files)


def test_same_modules_as_in_the_packages() -> None:
    for name in ("isotok.wasm", "isotok-build.wasm"):
        module = (playground.FOLDER / name).read_bytes()
        assert module == (WEB / "dist" / name).read_bytes()
        assert module == (data.ROOT / "py_host/isotok/data" / name).read_bytes()


# -- long and odd texts -------------------------------------------------------------------

WATCH = """() => {
    window.longest = 0;
    new PerformanceObserver(list => {
        const durations = list.getEntries().map(entry => entry.duration);
        window.longest = Math.max(window.longest, ...durations);
    }).observe({ type: "longtask" });
}"""


@pytest.mark.parametrize(
    ("model", "size"),
    # To the model of words, nearly all is one unknown token.
    [("default", 40_000), ("default", 1_000_000), ("word_plain", 1_000_000)],
)
def test_paste_is_responsive(page: Playground, model: str, size: int) -> None:
    """The page is never stopped for long; other work of the machine may disturb two tries."""
    path = DEFAULT if model == "default" else own_model(model)
    if model != "default":
        page.drop(path.name, path.read_bytes())
    page.page.evaluate(WATCH)
    text = long_text(size)
    found: list[float] = []
    for attempt in range(3):
        page.page.evaluate("() => { window.longest = 0; }")
        page.paste(text[attempt:])
        page.page.evaluate("() => new Promise(resolve => setTimeout(resolve, 100))")
        found.append(page.page.evaluate("() => window.longest"))
        if found[-1] < 200:
            break
    assert min(found) < 200, found
    with isotok.load(path) as tokenizer:
        assert page.tokens() == tokenizer.count(text[len(found) - 1 :])


def test_show_more(page: Playground) -> None:
    """Only what is asked for is drawn."""
    text = long_text(1_000_000)
    page.paste(text)
    first = page.page.locator(".pieces .piece").count()
    assert first < 1000
    page.page.get_by_role("button", name="Show more").click()
    page.page.wait_for_function(f"() => document.querySelectorAll('.piece').length > {first}")
    page.page.uncheck("#spaces")
    pieces: list[str] = page.panel().evaluate(READ_PIECES)
    shown = "".join(pieces)
    assert 1000 < len(pieces) < 5000
    assert text.startswith(shown)


def test_ten_megabytes(page: Playground) -> None:
    text = long_text(10_000_000)
    page.paste(text)
    with isotok.load(DEFAULT) as tokenizer:
        assert page.tokens() == tokenizer.count(text)
    assert "too long to edit" in page.page.inner_text("#held")
    assert page.page.locator(".mark.exact").count() == 1
    page.page.click("#clear")
    page.settle()
    assert page.is_alive()


def test_too_long_a_text(page: Playground) -> None:
    """Beyond any sense, there is an error instead of a page that hangs."""
    page.page.evaluate(
        """() => {
            const transfer = new DataTransfer();
            transfer.setData("text/plain", "x".repeat(65 << 20));
            const options = { clipboardData: transfer, bubbles: true, cancelable: true };
            document.getElementById("text").dispatchEvent(new ClipboardEvent("paste", options));
        }"""
    )
    assert "this page takes up to 67,108,864" in page.notices()[0]
    assert page.is_alive()


def test_lone_surrogates(page: Playground) -> None:
    text = "a\ud83d b\ude00 \ud83d\ude00"
    page.type(text)
    with isotok.load(DEFAULT) as tokenizer:
        assert page.ids() == list(tokenizer.encode(well_formed(text)))
    assert page.counts() == "7 characters · 14 bytes · 2 lone surrogates, encoded as U+FFFD"
    assert page.page.locator(".mark.repaired").count() == 1
    assert page.page.locator(".pieces .code").all_inner_texts() == ["U+D83D", "U+DE00"]
    assert page.is_alive()


def test_nul(page: Playground) -> None:
    text = "\0a\0\0b"
    page.type(text)
    with isotok.load(DEFAULT) as tokenizer:
        assert page.ids() == list(tokenizer.encode(text))
    assert page.counts() == "5 characters · 5 bytes"
    assert page.page.locator(".mark.exact").count() == 1
    assert page.page.locator(".pieces .code").all_inner_texts() == ["U+0000"] * 3


def test_directions_cannot_be_overridden(page: Playground) -> None:
    """A text with bidirectional controls does not turn the page around it."""
    page.type("safe \u202e txet \u2066 x")
    assert page.page.locator(".pieces .code").all_inner_texts() == ["U+202E", "U+2066"]
    assert "\u202e" not in page.page.inner_text("main .panels")


def test_right_to_left(page: Playground) -> None:
    """Paragraph by paragraph: the first piece of an Arabic line is at its right."""
    page.drop("gemma3.model", real_model("gemma3").read_bytes())
    page.type("مرحبا بالعالم العربي\nhello wide world")
    boxes = [box.bounding_box() for box in page.page.locator(".pieces .piece").all()]
    arabic, latin = boxes[:3], boxes[-3:]
    assert arabic[0]["x"] > arabic[1]["x"] > arabic[2]["x"]
    assert latin[0]["x"] < latin[1]["x"] < latin[2]["x"]
    panel = page.panel().bounding_box()
    assert panel["x"] + panel["width"] - arabic[0]["x"] - arabic[0]["width"] < 40
    # The arrow keys go where they point.
    page.page.locator(".pieces .piece").first.focus()
    page.page.keyboard.press("ArrowLeft")
    assert page.focused()["data-index"] == "1"
    page.page.keyboard.press("ArrowRight")
    assert page.focused()["data-index"] == "0"


# -- files that are no models ---------------------------------------------------------------


def hostile() -> dict[str, bytes]:
    packed = DEFAULT.read_bytes()
    source = own_model("trained_bpe").read_bytes()
    noise = random.Random(7).randbytes(50_000)
    named = ("empty file", "cut inside a piece", "cut by one byte", "field number 0")
    return {
        **{name: refusals.FILES[name][0] for name in named},
        "truncated model": source[: len(source) // 2],
        "truncated packed": packed[: len(packed) // 2],
        "damaged packed": packed[:5000] + bytes(64) + packed[5064:],
        "noise": noise,
        "noise behind a right head": packed[:64] + noise,
        "a web page": (playground.FOLDER / "index.html").read_bytes(),
    }


@pytest.mark.parametrize("name", hostile())
def test_hostile_model(page: Playground, name: str) -> None:
    content = hostile()[name]
    with pytest.raises(isotok.TokenizerError) as caught:
        isotok.load(content)
    page.drop("hostile.model", content)
    (notice,) = page.notices()
    assert notice.startswith("hostile.model cannot be opened")
    facts = page.facts()
    status = caught.value.status
    assert facts["status"] == f"E_{status.name.removeprefix('E_')} ({int(status)})"
    assert facts.get("offset", "byte 0") == f"byte {caught.value.offset or 0}"
    assert page.panel().locator("h2").inner_text() == "default"
    assert page.is_alive()
    page.page.get_by_role("button", name="Close: hostile.model cannot be opened").click()
    assert page.notices() == []
    page.drop("good.model", own_model("trained_bpe").read_bytes())
    assert page.panel().locator("h2").inner_text() == "good.model"


def with_memory_limit(pages: int) -> bytes:
    """isotok.wasm with another maximum in its memory section (1 memory, with maximum)."""
    module = bytearray((playground.FOLDER / "isotok.wasm").read_bytes())
    at = module.index(bytes([1, 1, 4, 0x80, 0x80, 0x02]))
    module[at + 3 : at + 6] = bytes([0x80 | pages & 127, 0x80 | pages >> 7 & 127, pages >> 14])
    return bytes(module)


def test_memory_limit(start: Open) -> None:
    """A text that needs more memory than there is: an error, and the next one works."""
    page = start(Site(files={"isotok.wasm": with_memory_limit(100)}))
    page.drop("own.model", own_model("bpe_runs").read_bytes())
    page.paste("a" * 4_000_000, wait=False)
    page.settle()
    error = page.panel().locator(".error")
    error.wait_for()
    assert "E_TOO_LARGE" in error.inner_text()
    page.page.click("#clear")
    page.settle()
    assert page.is_alive()


def test_model_beyond_the_memory_limit(start: Open) -> None:
    page = start(Site(files={"isotok.wasm": with_memory_limit(128)}))
    page.drop("gemma3.model", real_model("gemma3").read_bytes())
    assert page.facts()["status"].startswith("E_TOO_LARGE")
    assert page.is_alive()


def test_worker_that_ends(page: Playground) -> None:
    """Should the worker fail, there is another one, with the same models."""
    page.drop("own.model", own_model("trained_bpe").read_bytes())
    (worker,) = page.page.workers
    worker.evaluate("() => { setTimeout(() => { throw new Error('out of order'); }); }")
    page.page.wait_for_selector(".notice.error")
    assert "out of order" in page.notices()[0]
    page.settle()
    assert page.is_alive()
    with isotok.load(own_model("trained_bpe")) as tokenizer:
        assert page.ids() == list(tokenizer.encode("one two"))


def test_missing_files(start: Open) -> None:
    """Without the default model, others can be opened; without the worker, it says so once."""
    page = start(Site(missing=("default.isotok-packed",)))
    assert "default.isotok-packed: the server answered 404" in page.notices()[0]
    page.drop("own.model", own_model("trained_bpe").read_bytes())
    assert page.is_alive()

    page = start(Site(missing=("worker.js",)))
    assert "the worker ended" in page.notices()[0]
    page.page.evaluate("() => new Promise(resolve => setTimeout(resolve, 300))")
    assert len([url for url in page.requests if url.endswith("worker.js")]) == 1
