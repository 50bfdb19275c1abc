"""Many threads with one tokenizer, each doing all sorts of things with it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from itertools import chain

import isotok

from support import chunks

Work = Callable[[isotok.Tokenizer, random.Random, "Known"], bool]


class Known:
    """A text, and what one thread alone found for it."""

    def __init__(self, tok: isotok.Tokenizer, text: str) -> None:
        self.text = text
        self.ids = tok.encode(text)
        self.spans = tok.encode_with_offsets(text)
        self.decoded = tok.decode(self.ids)
        self.normalized = tok.normalize(text)


def _encode(tok: isotok.Tokenizer, _: random.Random, known: Known) -> bool:
    return tok.encode(known.text) == known.ids and tok.count(known.text) == len(known.ids)


def _spans(tok: isotok.Tokenizer, _: random.Random, known: Known) -> bool:
    return tok.encode_with_offsets(known.text) == known.spans


def _decode(tok: isotok.Tokenizer, _: random.Random, known: Known) -> bool:
    return tok.decode(known.ids) == known.decoded


def _normalize(tok: isotok.Tokenizer, _: random.Random, known: Known) -> bool:
    return tok.normalize(known.text) == known.normalized


def _batch(tok: isotok.Tokenizer, _: random.Random, known: Known) -> bool:
    texts = [known.text, "", known.text]
    found = tok.encode_batch(texts, threads=2, output="list")
    return found == [known.ids, [], known.ids] and tok.decode_batch(found) == [
        known.decoded, "", known.decoded,
    ]  # fmt: skip


def _long(tok: isotok.Tokenizer, _: random.Random, known: Known) -> bool:
    return tok.encode_long(known.text, threads=2, output="list") == known.ids


def _encode_stream(tok: isotok.Tokenizer, generator: random.Random, known: Known) -> bool:
    parts = chunks.cut(known.text, generator, 2000)
    return list(chain.from_iterable(tok.encode_stream(parts))) == known.ids


def _decode_stream(tok: isotok.Tokenizer, generator: random.Random, known: Known) -> bool:
    return "".join(tok.decode_stream(chunks.cut(known.ids, generator, 500))) == known.decoded


WORKS: tuple[Work, ...] = (
    *(_encode, _spans, _decode, _normalize, _batch, _long, _encode_stream, _decode_stream),
)


def share(tok: isotok.Tokenizer, texts: list[str], seconds: float, threads: int = 8) -> int:
    """Use a tokenizer in many threads; the number of calls. Any wrong answer is raised."""
    known = [Known(tok, text) for text in texts]
    start = threading.Barrier(threads)
    calls = [0] * threads
    wrong: list[str] = []

    def work(number: int) -> None:
        generator = random.Random(number)
        start.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not wrong:
            call, about = generator.choice(WORKS), generator.choice(known)
            try:
                if not call(tok, generator, about):
                    wrong.append(f"{call.__name__} {about.text[:40]!r}")
            except BaseException as error:
                wrong.append(f"{call.__name__}: {error!r}")
            calls[number] += 1

    running = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not wrong, wrong
    assert all(calls), calls
    return sum(calls)
