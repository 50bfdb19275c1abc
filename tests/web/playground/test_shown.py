"""What the playground shows is what isotok says in Python."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import isotok
import pytest
from support import data, refusals
from support.playground import (
    DEFAULT,
    READ_PIECES,
    TEXTS,
    Playground,
    own_model,
    real_model,
)

WEB = data.ROOT / "web"
OWN = ["trained_bpe", "trained_unigram", "uni_rules", "bpe_bytes", "word_plain", "char_plain"]


def test_sources() -> None:
    """Types, formats and lints of the page's own scripts."""
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules").exists():
        pytest.skip("npm packages of web/ are not installed; run ./build.sh build web")
    for command in (
        [node, "node_modules/typescript/bin/tsc", "--noEmit", "-p", "playground"],
        [node, "../node_modules/@biomejs/biome/bin/biome", "check", "."],
    ):
        folder = WEB if "tsc" in command[1] else WEB / "playground"
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_default_model(page: Playground) -> None:
    with isotok.load(DEFAULT) as tokenizer:
        for text in TEXTS:
            page.type(text)
            assert page.ids() == list(tokenizer.encode(text)), text


@pytest.mark.parametrize("name", OWN)
def test_dropped_model(page: Playground, name: str) -> None:
    check_dropped(page, own_model(name))


@pytest.mark.parametrize("name", ["gemma3", "llama2", "xlmr", "nai-t5"])
def test_dropped_real_model(page: Playground, name: str) -> None:
    check_dropped(page, real_model(name))


def check_dropped(page: Playground, model: Path) -> None:
    page.drop(model.name, model.read_bytes())
    assert page.panel().locator("h2").inner_text() == model.name
    with isotok.load(model) as tokenizer:
        for text in TEXTS:
            page.type(text)
            assert page.ids() == list(tokenizer.encode(text)), text


def test_all_forms_of_a_model(page: Playground) -> None:
    """The source, the blob and the packed form give the same, chosen instead of dropped."""
    from isotok.compile import compile_model

    source = own_model("trained_bpe").read_bytes()
    forms = {
        "a.model": source,
        "a.isotok": compile_model(source),
        "a.isotok-packed": compile_model(source, form="packed"),
    }
    page.type(TEXTS[0])
    with isotok.load(own_model("trained_bpe")) as tokenizer:
        wanted = list(tokenizer.encode(TEXTS[0]))
    for name, content in forms.items():
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        page.page.set_input_files("#file-0", file)  # type: ignore[arg-type]
        page.settle()
        assert page.panel().locator("h2").inner_text() == name
        assert page.ids() == wanted
    assert len(page.page.locator("#model-0 option").all()) == 4


@pytest.mark.parametrize("name", [*OWN, "default"])
def test_table(page: Playground, name: str) -> None:
    """Ids, pieces, scores and offsets in all three units are Python's."""
    path = DEFAULT if name == "default" else own_model(name)
    if name != "default":
        page.drop(path.name, path.read_bytes())
    page.view("Table")
    with isotok.load(path) as tokenizer:
        for text in TEXTS:
            page.type(text)
            assert page.rows() == list(wanted_rows(tokenizer, text)), text


def wanted_rows(tokenizer: isotok.Tokenizer, text: str) -> Iterator[list[str]]:
    found = tokenizer.encode_with_offsets(text, unit="codepoint")
    for index, (number, (begin, end)) in enumerate(zip(found.ids, found.offsets, strict=True)):
        piece = tokenizer.id_to_piece(number)
        if tokenizer.is_byte(number):
            spelled = piece[3:5]
        else:
            known = piece if not tokenizer.is_unknown(number) else text[begin:end]
            spelled = known.encode().hex(" ").upper()
        ranges = [
            f"{size(text[:begin])}–{size(text[:end])}"
            for size in (
                lambda part: len(part.encode("utf-16-le")) // 2,
                len,
                lambda part: len(part.encode()),
            )
        ]
        score = repr(round(tokenizer.score(number), 4) + 0.0).removesuffix(".0")
        kind = tokenizer.piece_type(number).name.lower().replace("_", " ")
        yield [str(index), str(number), shown(piece), spelled, score, kind, *ranges]


def shown(piece: str) -> str:
    """A piece as the page shows it."""
    hidden = "".join(f"U+{ord(c):04X}" if c in "\0\u200b\u202e\ufeff" else c for c in piece)
    for character, sign in ((" ", "·"), ("\t", "→\t"), ("\n", "⏎\n"), ("\u3000", "□")):
        hidden = hidden.replace(character, sign)
    return hidden


@pytest.mark.parametrize("name", [*OWN, "default"])
def test_pieces_do_not_break_characters(page: Playground, name: str) -> None:
    """What is shown, piece by piece, is the text, cut only between whole characters."""
    if name != "default":
        page.drop(f"{name}.model", own_model(name).read_bytes())
    page.page.uncheck("#spaces")
    for text in TEXTS[:-1]:
        page.type(text)
        pieces: list[str] = page.panel().evaluate(READ_PIECES)
        assert "".join(pieces) == text
        cuts: list[int] = page.page.evaluate(
            """text => Array.from(new Intl.Segmenter("en").segment(text), part => part.index)""",
            text,
        )
        at = 0
        for piece in pieces:
            assert at in cuts or at == len(text.encode("utf-16-le")) // 2, (text, pieces)
            at += len(piece.encode("utf-16-le")) // 2


def test_bytes_of_a_split_character(page: Playground) -> None:
    page.type("a 🌵 b")
    piece = page.page.locator(".pieces .piece", has=page.page.locator(".parts"))
    assert piece.locator(".part").all_inner_texts() == ["F0", "9F", "8C", "B5"]
    piece.hover()
    rows = page.page.locator("#details tbody tr").all_inner_texts()
    with isotok.load(DEFAULT) as tokenizer:
        ids = list(tokenizer.encode("a 🌵 b"))
    assert [int(row.split("\t")[1]) for row in rows] == [i for i in ids if tokenizer_byte(i)]
    assert "🌵" in page.page.inner_text("#details")


def tokenizer_byte(number: int) -> bool:
    return 3 <= number < 259  # byte pieces of the default model


def test_visible_spaces(page: Playground) -> None:
    page.type("a b\tc\nd")
    assert page.page.locator(".pieces .sign").all_inner_texts() == ["·", "→\t", "⏎"]
    page.page.uncheck("#spaces")
    assert page.page.locator(".pieces .sign").count() == 0


def test_counts(page: Playground) -> None:
    for text, wanted in [
        ("", "0 characters · 0 bytes"),
        ("a", "1 character · 1 byte"),
        ("é👍日", "3 characters · 9 bytes"),
    ]:
        page.type(text)
        assert page.counts() == wanted
    page.page.wait_for_function(
        "() => /tokens?; 3 characters/.test(document.querySelector('[role=status]').textContent)"
    )


def test_bos_and_eos(page: Playground) -> None:
    page.type("a")
    (inner,) = page.ids()
    page.page.check("#bos")
    page.page.check("#eos")
    page.settle()
    with isotok.load(DEFAULT) as tokenizer:
        assert page.ids() == [tokenizer.bos_id, inner, tokenizer.eos_id]
    assert page.page.locator(".ghost").all_inner_texts() == ["<s>", "</s>"]
    # A model without them is encoded without them.
    page.drop("no.model", refusals.model([*refusals.SPECIALS[:1], refusals.A]))
    assert len(page.ids()) >= 1


def test_two_models(page: Playground) -> None:
    text = "The unbelievable 🌵 retokenization of words"
    left, right = own_model("trained_bpe"), own_model("trained_unigram")
    page.drop(left.name, left.read_bytes())
    page.drop(right.name, right.read_bytes(), side=1)
    page.type(text)
    assert page.panel(0).locator("h2").inner_text() == left.name
    assert page.panel(1).locator("h2").inner_text() == right.name
    segments: list[list[tuple[int, int, int]]] = []
    for side, path in enumerate((left, right)):
        with isotok.load(path) as tokenizer:
            found = tokenizer.encode_with_offsets(text)
        assert page.ids(side) == list(found.ids)
        segments.append(list(cut(found.offsets)))
    for side in (0, 1):
        different = [part for part in segments[side] if part not in segments[1 - side]]
        assert different
        assert page.statistics(side)["Cut otherwise"] == f"{len(different)} places"
        marked = page.panel(side).locator(".piece.differs").count()
        # The tokens of a range may be shown as several pieces, or ranges as one.
        assert 0 < marked <= sum(count for _, _, count in different)
    assert page.page.locator("#legend").is_visible()
    page.page.select_option("#model-1", "")
    page.settle()
    assert not page.panel(1).is_visible()
    assert "Cut otherwise" not in page.statistics()


def cut(offsets: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Ranges with their number of tokens; tokens without a range go with the next."""
    begin, count = None, 0
    for start, end in offsets:
        begin = start if begin is None else begin
        count += 1
        if end > start:
            yield begin, end, count
            begin, count = None, 0
    if begin is not None:
        yield begin, begin, count


def test_same_model_twice_does_not_differ(page: Playground) -> None:
    page.page.select_option("#model-1", label="default")
    page.settle()
    assert page.statistics(1)["Cut otherwise"] == "0 places"
    assert page.page.locator(".pieces .differs").count() == 0


@pytest.mark.parametrize(
    ("model", "text", "outcome", "words"),
    [
        ("bpe_bytes", "as it is, 🌵", "exact", "gives the text back"),
        ("uni_rules", "ﬁ ㌔", "normalized", "normalizes to the same"),
        ("char_plain", "ab ꙮ", "lost", "1 unknown token"),
    ],
)
def test_round_trip(page: Playground, model: str, text: str, outcome: str, words: str) -> None:
    page.drop(f"{model}.model", own_model(model).read_bytes())
    page.type(text)
    found = page.panel().locator(".round-trip")
    assert found.locator(f".mark.{outcome}").count() == 1
    assert words in found.inner_text()
    with isotok.load(own_model(model)) as tokenizer:
        decoded = tokenizer.decode(tokenizer.encode(text))
    assert (decoded == text) == (outcome == "exact")
    if outcome == "exact":
        return
    found.locator("summary").click()
    at = next(i for i, (a, b) in enumerate(zip(text, decoded + "\0", strict=False)) if a != b)
    shown = found.locator(".shown").all_inner_texts()
    assert shown == [text[at:].replace(" ", "·"), decoded[at:].replace(" ", "·")]


def test_timing(page: Playground) -> None:
    page.type("some words " * 2000)
    found = page.statistics()
    assert re.fullmatch(r"[\d.]+ (ms|µs)", found["Encoded in"])
    speed = float(found["Speed"].removesuffix(" MB/s"))
    time_text, unit = found["Encoded in"].split()
    milliseconds = float(time_text) / (1000 if unit == "µs" else 1)
    assert speed == pytest.approx(22_000 / 1000 / milliseconds, rel=0.1)


def test_text_file(page: Playground) -> None:
    """A text that is dropped is shown, with what a text field would change."""
    content = "\ufeffone\r\ntwo"
    page.drop("some.txt", content.encode(), kind="text/plain")
    with isotok.load(DEFAULT) as tokenizer:
        assert page.ids() == list(tokenizer.encode(content))
    assert "carriage returns" in page.page.inner_text("#held")
    page.page.click("#clear")
    page.settle()
    assert page.counts().startswith("0 characters")
    assert page.page.input_value("#text") == ""
