"""The comparisons of the long tests notice what is wrong: an id, an offset, a text, a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import isotok
import pytest
from isotok.compat.tokenizers import Tokenizer as DropIn
from isotok.compile import compile_model
from support import answers, hf, toy_hf

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

TEXTS = ["abc ab", "a b c", "", "abcab é"]


class Broken:
    """Gives what another object gives, with the result of one method changed."""

    def __init__(self, whole: Any, method: str, change: Callable[[Any], Any]) -> None:
        self._whole, self._method, self._change = whole, method, change

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._whole, name)
        if name != self._method:
            return found
        return lambda *args, **options: self._change(found(*args, **options))


def _last(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda every: [*every[:-1], change(every[-1])]


def _with_offset(found: isotok.Encoding) -> isotok.Encoding:
    moved = _last(lambda span: (span[0], span[1] + 1))
    return found._replace(offsets=moved(found.offsets)) if found.ids else found


MISTAKES: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (answers.same_ids, "encode_batch", _last(_last(lambda number: number + 1))),
    (answers.same_ids, "encode_batch", _last(lambda ids: ids[:-1])),
    (answers.same_ids, "count_batch", _last(lambda count: count + 1)),
    (answers.same_offsets, "encode_with_offsets", _with_offset),
    (answers.same_offsets, "encode_with_offsets", lambda found: found._replace(ids=[])),
    (answers.same_decoded, "decode_batch", _last(lambda text: text + " ")),
]


@pytest.mark.parametrize(("same", "method", "change"), MISTAKES)
def test_mistakes_are_found(same: Any, method: str, change: Callable[[Any], Any]) -> None:
    source = toy_hf.dump(toy_hf.bytes_bpe())
    tok = isotok.load(compile_model(source.encode()))
    found = hf.Answers(tokenizers.Tokenizer.from_str(source), TEXTS, add=True)
    same(tok, found)
    with pytest.raises(AssertionError):
        same(Broken(tok, method, change), found)


@pytest.mark.parametrize("column", hf.COLUMNS)
def test_wrong_columns_are_found(column: str) -> None:
    source = toy_hf.dump(toy_hf.bytes_bpe())
    ours = DropIn.from_str(source)
    found = hf.Answers(tokenizers.Tokenizer.from_str(source), TEXTS, add=True)
    hf.same_columns(ours, found, range(len(TEXTS)))
    broken = Broken(ours, "encode_batch", _last(lambda each: _Column(each, column)))
    with pytest.raises(AssertionError):
        hf.same_columns(broken, found, range(len(TEXTS)))


class _Column:
    """An encoding without the last element of a column."""

    def __init__(self, whole: Any, column: str) -> None:
        self._whole, self._column = whole, column

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._whole, name)
        return found[:-1] if name == self._column else found
