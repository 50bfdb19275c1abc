"""Pure functions over batches, for engines that spread work over machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from isotok.errors import TokenizerError
from isotok.train._bigrams import BigramCounter
from isotok.train._counts import WordCounter
from isotok.train._files import need_pyarrow
from isotok.train._sources import check_record

if TYPE_CHECKING:
    from isotok import Tokenizer
    from isotok.train._model import BpeModel
    from isotok.train._pretokenizer import PreTokenizer


def texts_of(batch: Any, column: str) -> list[str]:
    """Return the texts of a batch.

    Parameters
    ----------
    batch : pyarrow Table, RecordBatch, Array or ChunkedArray, mapping of columns, or list of str
    column : str
        Which column of a table, batch or mapping.

    Raises
    ------
    TokenizerError
        There is no such column, or a row is null.
    TypeError
        A row is no text.
    """
    names = _columns(batch)
    if names is not None:
        if column not in names:
            raise TokenizerError(f"the batch has no column {column!r}; it has {sorted(names)}")
        batch = batch[column]
    if isinstance(batch, (str, bytes)):
        raise TypeError("batch: give a list of texts, not one text")
    rows: list[Any] = batch.to_pylist() if hasattr(batch, "to_pylist") else list(batch)
    for number, row in enumerate(rows):
        if row is None:
            raise TokenizerError(f"row {number} of the batch is null; drop such rows first")
        check_record(row, number)
    return rows


def _columns(batch: Any) -> list[str] | None:
    """Names of the columns; None: it has none."""
    if isinstance(batch, dict):
        return list(cast("dict[str, Any]", batch))
    return getattr(getattr(batch, "schema", None), "names", None)


def count_words(batch: Any, pre_tokenizer: PreTokenizer, *, column: str = "text") -> Any:
    """Count the words of a batch; each row is a document.

    Parameters
    ----------
    batch, column
        As `texts_of` takes them: what `map_batches` of an engine gives.
    pre_tokenizer : PreTokenizer
        It can be pickled, and so be sent to workers.

    Returns
    -------
    pyarrow.Table
        Columns `word` (large_binary, UTF-8) and `count` (int64), words ascending; its metadata has
        the fingerprint of the pre-tokenizer. Sums over `word` of several are counts of all.
    """
    counter = WordCounter(pre_tokenizer)
    counter.add_checked(texts_of(batch, column))
    return counter.to_arrow()


def count_bigrams(batch: Any, pre_tokenizer: PreTokenizer, *, column: str = "text") -> Any:
    """Count the pairs of characters of a batch, for `unicode_bigrams`.

    Returns
    -------
    pyarrow.Table
        Columns `bigram` (large_string) and `count` (int64), as `BigramCounter.to_arrow` gives.
    """
    counter = BigramCounter(pre_tokenizer)
    counter.add_checked(texts_of(batch, column))
    return counter.to_arrow()


def merge_counts(parts: Iterable[Any], pre_tokenizer: PreTokenizer) -> bytes:
    """Add up counts; whatever their order and however texts were divided, the bytes are the same.

    Parameters
    ----------
    parts : iterable of bytes or pyarrow.Table
        Of one kind: what `WordCounter.to_bytes`, `BigramCounter.to_bytes`, `count_words`,
        `count_bigrams` or this function return.
    pre_tokenizer : PreTokenizer
        The one that they were counted with; others are refused.

    Returns
    -------
    bytes
        For `WordCounter.from_bytes` or `BigramCounter.from_bytes`.
    """
    total: WordCounter | BigramCounter | None = None
    for number, part in enumerate(parts):
        kind = _kind(part, number)
        if total is None:
            total = kind(pre_tokenizer)
        if type(total) is not kind:
            raise TokenizerError(f"part {number}: words and bigrams cannot be added up")
        _add(total, part, pre_tokenizer)
    if total is None:
        raise TokenizerError("there are no counts to merge")
    return total.to_bytes()


def _kind(part: Any, number: int) -> type[WordCounter] | type[BigramCounter]:
    if isinstance(part, bytes):
        return BigramCounter if b'"kind": "bigrams"' in part[:200] else WordCounter
    names = getattr(getattr(part, "schema", None), "names", ())
    if "word" in names:
        return WordCounter
    if "bigram" in names:
        return BigramCounter
    raise TypeError(f"part {number}: {type(part).__name__} holds no counts")


def _add(total: WordCounter | BigramCounter, part: Any, pre_tokenizer: PreTokenizer) -> None:
    binary = isinstance(part, bytes)
    if isinstance(total, WordCounter):
        words = WordCounter.from_bytes if binary else WordCounter.from_arrow
        total.merge(words(part, pre_tokenizer))
    else:
        bigrams = BigramCounter.from_bytes if binary else BigramCounter.from_arrow
        total.merge(bigrams(part, pre_tokenizer))


def encode_batch(batch: Any, model: BpeModel | Tokenizer, *, column: str = "text") -> Any:
    """Encode a batch; each row is a document. Texts of special tokens are ordinary text.

    Parameters
    ----------
    batch, column
        As `texts_of` takes them.
    model : BpeModel or isotok.Tokenizer
        A `BpeModel` can be pickled; a worker opens a tokenizer itself.

    Returns
    -------
    pyarrow.Table
        One column, `ids`: a large_list of uint32 for each row.
    """
    arrow = need_pyarrow("encode_batch")
    ids, offsets = encoded(texts_of(batch, column), model)
    rows = arrow.LargeListArray.from_arrays(arrow.array(offsets), arrow.array(ids))
    return arrow.table({"ids": rows})


def encoded(texts: Sequence[str], model: BpeModel | Tokenizer) -> tuple[Any, Any]:
    """Return ids end to end (uint32) and where documents begin and end (int64, one more)."""
    import numpy as np

    batch = opened(model).encode_batch(texts, special="none", add_special_tokens=False)
    return batch.ids, batch.offsets.astype(np.int64)


def opened(model: BpeModel | Tokenizer) -> Tokenizer:
    """Return what encodes; of a model that the core has no form for an error that says so."""
    from isotok.train._model import BpeModel

    return model.tokenizer if isinstance(model, BpeModel) else model
