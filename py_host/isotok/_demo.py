"""What `isotok demo` shows: pieces, ids and speed on both back ends."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final

import isotok
from isotok._backend import native_reason
from isotok._show import coloured, console
from isotok._tokenizer import Tokenizer

SAMPLES: Final = (
    ("English", "The quick brown fox can't jump over 1,234 lazy dogs – or can it?"),
    ("Japanese", "昨日は東京で雨が降っていたが、今朝はとてもいい天気だ。"),
    ("Chinese", "我们明天早上八点在车站见面，好吗？"),
    ("German", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich."),
    ("Greek", "Καλημέρα! Τι κάνεις σήμερα;"),
    ("Russian", "Завтра утром мы пойдём в лес за грибами."),
    ("Arabic", "السلام عليكم، كيف حالك اليوم؟"),
    ("Hindi", "आज मौसम बहुत अच्छा है।"),
    ("Korean", "내일 아침에 커피 한 잔 할까요?"),
    ("Thai", "วันนี้อากาศดีมาก"),
    ("code", "def add(a, b):\n    return a + b  # sum"),
    ("emoji", "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🎉🎉🎉 ½ ﬁ Ａ①"),
)
DOCUMENT_SIZE: Final = 2000
DOCUMENTS: Final = 400


def generated_documents(seed: int = 1) -> list[str]:
    """Make documents of some 2 KB out of the samples, always the same."""
    choose = random.Random(seed)
    documents: list[str] = []
    for _ in range(DOCUMENTS):
        sentences: list[str] = []
        size = 0
        while size < DOCUMENT_SIZE:
            words = choose.choice(SAMPLES)[1].split(" ")
            choose.shuffle(words)
            sentences.append(" ".join(words))
            size += len(sentences[-1].encode())
        documents.append("\n".join(sentences))
    return documents


def speed(encode: Callable[[str], list[int]], documents: list[str], seconds: float) -> float:
    """Megabytes of UTF-8 per second: the best pass over the documents in that time."""
    size = sum(len(document.encode()) for document in documents)
    best = float("inf")
    end = time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        for document in documents:
            encode(document)
        now = time.perf_counter()
        best = min(best, now - start)
        if now >= end:
            return size / best / 1e6


def open_backends(model: str | None) -> list[Tokenizer]:
    """Open the model on every back end that there is."""
    wasm = isotok.load(model, backend="wasm")
    if native_reason() is not None:
        return [wasm]
    return [isotok.load(model, backend="native"), wasm]


def demo(model: str | None, seconds: float) -> int:
    """Run the demo; the exit code is 1 if ids differ between back ends."""
    out = console()
    start = time.perf_counter()
    tokenizers = open_backends(model)
    elapsed = time.perf_counter() - start
    out.print(f"{tokenizers[0]!r}, opened on {len(tokenizers)} back ends in {elapsed:.2f} s\n")
    equal = True
    for name, text in SAMPLES:
        encodings = [tokenizer.encode_with_offsets(text) for tokenizer in tokenizers]
        equal &= all(encoding == encodings[0] for encoding in encodings)
        ids, pieces, _ = encodings[0]
        out.print(f"{name}: {len(text)} characters, {len(ids)} tokens", style="bold")
        out.print(coloured(pieces))
        out.print(" ".join(map(str, ids)), style="dim", end="\n\n")
    documents = generated_documents()
    lists = [[tokenizer.encode(text) for text in documents] for tokenizer in tokenizers]
    equal &= all(ids == lists[0] for ids in lists)
    for tokenizer in tokenizers:
        rate = speed(tokenizer.encode, documents, seconds)
        out.print(f"{tokenizer.backend:8}{rate:8.1f} MB/s (documents of 2 KB, lists out, one core)")
    return _conclude(tokenizers, equal)


def _conclude(tokenizers: list[Tokenizer], equal: bool) -> int:
    out = console()
    if len(tokenizers) == 1:
        out.print(f"native is not installed ({native_reason()}); nothing to compare with")
        return 0
    texts = len(SAMPLES) + DOCUMENTS
    if equal:
        out.print(f"ids equal: native = wasm on {texts} texts", style="bold green")
        return 0
    out.print(f"ids DIFFER between native and wasm on {texts} texts", style="bold red")
    return 1
