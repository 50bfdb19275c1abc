"""Trains once, in this process: `python train_once.py ENGINE FILE UNIT SIZE SMALL [NAME=JSON …]`.

Lines of the file, with their ends, are the documents; SMALL is a file for the first run, in which
imports are made. Prints JSON: seconds from file to model, peak of resident memory above the
start in bytes, and the tokens that were learned, in order.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Learned = Callable[[], Iterable[bytes]]
"""What was learned, asked for when the time has been taken."""


def isotok(path: str, unit: Any, size: int, **options: Any) -> Learned:
    from isotok.train import files, train_bpe

    alphabet = "byte_level" if unit == "byte" else None
    model = train_bpe(files(path), vocab_size=size, unit=unit, initial_alphabet=alphabet, **options)
    return lambda: model.data.tokens[256:]


def ffbpe(path: str, unit: Any, size: int, **options: Any) -> Learned:
    import ffbpe

    counter = ffbpe.PreTokenizer([]).word_counter()
    with open(path, encoding="utf-8", newline="\n") as file:
        counter.add_source(file)
    alphabet = "byte_level" if unit == "byte" else None
    trainer = ffbpe.BpeTrainer([], unit=unit, initial_alphabet=alphabet, **options)
    trainer.add_word_counter(counter)
    trainer.train(size)
    vocab = trainer.vocab
    return lambda: sorted(vocab, key=vocab.__getitem__)[256:]


def huggingface(path: str, unit: str, size: int) -> Learned:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[],
        show_progress=False,
    )
    tokenizer.train([path], trainer)
    return lambda: made(json.loads(tokenizer.to_str())["model"]["merges"])


def gigabpe(path: str, unit: str, size: int) -> Learned:
    import gigabpe

    _, merges = gigabpe.train_bpe(
        [path], size, special_tokens=[], pretokenizer="bytelevel", threads=1
    )
    return lambda: made(merges)


def made(merges: Iterable[tuple[str, str]]) -> Iterable[bytes]:
    """Tokens of merges in the letters of byte-level BPE."""
    from isotok.train._spelling import unspell

    return dict.fromkeys(unspell(left + right, "gpt2", "merges") for left, right in merges)


ENGINES: dict[str, Callable[..., Learned]] = {
    "isotok": isotok,
    "ffbpe": ffbpe,
    "huggingface": huggingface,
    "gigabpe": gigabpe,
}


def memory(name: str) -> int:
    """A figure of the process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise KeyError(name)


def main() -> int:
    engine, path, unit, size, small = sys.argv[1:6]
    options = {name: json.loads(value) for name, value in (o.split("=") for o in sys.argv[6:])}
    sys.path.insert(0, str(ROOT / "py_host"))
    ENGINES[engine](small, unit, 260)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    start = time.perf_counter()
    learned = ENGINES[engine](path, unit, int(size), **options)
    seconds = time.perf_counter() - start
    peak = memory("VmHWM") - before
    tokens = [token.hex() for token in learned()]
    print(json.dumps({"seconds": seconds, "peak": peak, "tokens": tokens}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
