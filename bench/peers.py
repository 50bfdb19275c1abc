"""Other fast tokenizers beside `bench hf`, where they are installed.

    pip install fastokens gigatoken quicktok-v1 toktok-rs     (or a folder of these in PYTHONPATH)

Each is called as its documents say is fastest, in one thread. None is needed; one that does not
open a model, or gives other ids on the documents of a row, has no column in that row.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

Many = Callable[[list[str]], object]
Opened = tuple[Many, Callable[[list[str]], list[list[int]]]]
"""What is timed, and the same as lists of ids."""


def _fastokens(model: str, source: bytes, ranks: Path | None) -> Opened:
    from fastokens import Tokenizer

    if ranks is not None:
        peer = Tokenizer.from_tiktoken(str(ranks), encoding=model)
    else:
        peer = Tokenizer.from_json_str(source.decode())
    return (
        lambda texts: peer.encode_batch_flat(texts, add_special_tokens=ranks is None),
        lambda texts: [peer.encode(text, add_special_tokens=ranks is None).ids for text in texts],
    )


def _gigatoken(model: str, source: bytes, ranks: Path | None) -> Opened:
    from gigatoken import Tokenizer

    peer = Tokenizer.from_json(source) if ranks is None else Tokenizer.from_tiktoken(ranks)
    return (
        lambda texts: [peer.encode(text) for text in texts],
        lambda texts: [peer.encode(text).tolist() for text in texts],
    )


def _quicktok(model: str, source: bytes, ranks: Path | None) -> Opened:
    import quicktok

    peer = quicktok.get_encoding(model)

    def many(texts: list[str]) -> Any:
        return peer.encode_batch(texts, threads=1, with_special=ranks is None)

    def lists(texts: list[str]) -> list[list[int]]:
        ids, offsets = many(texts)
        return [ids[begin:end].tolist() for begin, end in pairwise(offsets)]

    return many, lists


def _toktok(model: str, source: bytes, ranks: Path | None) -> Opened:
    import toktok

    if ranks is None:
        raise KeyError(model)
    peer = toktok._encoding(model)
    return (
        lambda texts: [peer.encode_to_numpy(text) for text in texts],
        lambda texts: [list(peer.encode_ordinary(text)) for text in texts],
    )


OPENERS: dict[str, Callable[[str, bytes, Path | None], Opened]] = {
    "fastokens": _fastokens,
    "gigatoken": _gigatoken,
    "quicktok": _quicktok,
    "toktok": _toktok,
}


def opened(
    model: str, source: bytes, is_ranks: bool, texts: list[str], wanted: list[list[int]]
) -> Iterator[tuple[str, Many]]:
    """Yield those that open the model and give the wanted ids for the texts.

    Parameters
    ----------
    model : str
        Name, as the peers know published encodings.
    source : bytes
        The file.
    is_ranks : bool
        Whether it is a rank file.
    texts, wanted : list
        What is measured, and the ids.
    """
    with tempfile.TemporaryDirectory() as folder:
        ranks = Path(folder) / f"{model}.tiktoken" if is_ranks else None
        if ranks is not None:
            ranks.write_bytes(source)
        for name, opener in OPENERS.items():
            try:
                many, lists = opener(model, source, ranks)
                found = lists(texts)
            except Exception:  # not installed, or another model than it knows
                continue
            if found == wanted:
                yield name, many
