"""Many texts, or the ids of many, in one thread or several."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import index
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, overload

from isotok import _layout_gen as abi
from isotok._arguments import decode_flags_of, threads_of
from isotok._crew import share
from isotok._results import Batch, need_numpy, numbers_of
from isotok._special import Special, Specials
from isotok.errors import Status, TokenIdError, TokenizerError, make_error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from isotok._backend import Backend, Flags
    from isotok._results import Ids

Texts = tuple[str | bytes, ...]
Numbers = tuple[list[int] | memoryview, ...]
S = TypeVar("S", str | bytes, list[int] | memoryview)
T = TypeVar("T")

PARTS_PER_THREAD: Final = 8
"""So that a thread with long texts does not keep the others waiting."""
MOST_PART: Final = 1 << 21
"""Characters or ids of a part, about: Ctrl-C is heard between parts."""


class Batched(Specials):
    """The part of `Tokenizer` that works on many texts at a time."""

    __slots__ = ()

    _backend: Backend

    @overload
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        threads: int | None = 1,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
        output: Literal["numpy"] = "numpy",
    ) -> Batch: ...
    @overload
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        threads: int | None = 1,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
        output: Literal["list"],
    ) -> list[list[int]]: ...
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        threads: int | None = 1,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
        output: Literal["numpy", "list"] = "numpy",
    ) -> Batch | list[list[int]]:
        """Encode many texts.

        Parameters
        ----------
        texts : iterable of str or bytes
            They are held until all are encoded.
        threads : int, optional
            Number of threads to work in; they end with the call. None and 0: this one.
        bos, eos, special, add_special_tokens
            As in `encode`, for every text.
        output : {"numpy", "list"}
            "numpy" gives one flat array of ids and one of offsets, "list" lists of int, which
            one thread makes for all: they gain less from threads.

        Returns
        -------
        Batch or list of list of int
            ``ids[offsets[i] : offsets[i + 1]]`` are the ids of text i.

        Raises
        ------
        TokenizerError
            As `encode`. Where it is about one text the message names it, and ``error.index``
            is its number.

        Examples
        --------
        >>> batch = tok.encode_batch(["hello", "hello world"])
        >>> batch.ids.tolist(), batch.offsets.tolist()
        ([3, 3, 4], [0, 1, 3])
        >>> tok.encode_batch(["hello", "hello world"], output="list")
        [[3], [3, 4]]
        """
        every, count = _texts_of(texts), threads_of(threads)
        flags, encode = (
            self._flags(bos, eos, special, add_special_tokens),
            self._backend.encode_batch,
        )
        if output == "list":
            return _lists(self._backend, every, count, flags)
        if output == "numpy":
            need_numpy()
            run = _crew(count, every)
            flat = _each_part(every, count, lambda part: encode(part, flags, 0, False), run)
            return _concatenate(list(flat), run)
        raise TokenizerError(f'output: {output!r} is unknown; use "numpy" or "list"')

    def count_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        threads: int | None = 1,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> list[int]:
        """Count the tokens of many texts, without making them.

        Parameters
        ----------
        texts, threads, bos, eos, special, add_special_tokens
            As in `encode_batch`.

        Returns
        -------
        list of int
            The number of tokens of each text.

        Examples
        --------
        >>> tok.count_batch(["hello", "hello world", ""])
        [1, 2, 0]
        """
        every, count = _texts_of(texts), threads_of(threads)
        flags, count_texts = (
            self._flags(bos, eos, special, add_special_tokens),
            self._backend.count_batch,
        )
        run = _crew(count, every)
        parts = _each_part(every, count, lambda part: count_texts(part, flags), run)
        ends = (memoryview(part).cast("B").cast("Q").tolist() for part in parts)
        return [end - begin for part in ends for begin, end in pairwise([0, *part])]

    def decode_batch(
        self,
        ids: Batch | Iterable[Ids],
        *,
        threads: int | None = 1,
        skip_special_tokens: bool | None = None,
    ) -> list[str]:
        """Decode the ids of many texts.

        Parameters
        ----------
        ids : Batch, or iterable of what `decode` takes
            What `encode_batch` returned, or any like it.
        threads : int, optional
            As in `encode_batch`.
        skip_special_tokens : bool, optional
            As in `decode`.

        Returns
        -------
        list of str
            The text of each.

        Raises
        ------
        TokenIdError
            An id is not in the vocabulary (of a tokenizer.json: no number of 32
            bits; other ids decode to nothing); ``error.index`` is its position in its text. The
            message names the text too.

        Examples
        --------
        >>> tok.decode_batch([[3], [3, 4]])
        ['hello', 'hello world']
        >>> tok.decode_batch(tok.encode_batch(["hello", "hello world"]))
        ['hello', 'hello world']
        """
        every, count = _numbers_of(ids), threads_of(threads)
        decode, flags = self._backend.decode_batch, decode_flags_of(skip_special_tokens)
        try:
            run = _crew(count, every)
            return [
                text
                for part in _each_part(every, count, lambda part: decode(part, flags), run)
                for text in part
            ]
        except TokenIdError as error:
            raise _name_id(every, self._decodable(), error) from None

    def _decodable(self) -> int:
        """Number that no id reaches which decodes."""
        parity, vocab_size = self._backend.info()[:2]
        return 1 << 32 if parity == abi.PARITY_HF else vocab_size  # there others are left out


def _texts_of(texts: Iterable[str | bytes]) -> Texts:
    if isinstance(texts, (str, bytes)):
        raise TypeError("texts must be a sequence of texts; for one text use encode()")
    every = tuple(texts)
    for number, text in enumerate(every):
        if not isinstance(text, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"texts[{number}]: text must be str or bytes, not {type(text)!r}")
    return every


def _numbers_of(ids: Batch | Iterable[Ids]) -> Numbers:
    if not isinstance(ids, Batch):
        return tuple(map(numbers_of, ids))
    flat = numbers_of(ids.ids)
    return tuple(flat[begin:end] for begin, end in pairwise(ids.offsets.tolist()))


def _name_id(every: Numbers, limit: int, error: TokenIdError) -> TokenIdError:
    """Make the exception again, with the number of the text."""
    for number, ids in enumerate(every):
        for position, each in enumerate(ids):
            if not 0 <= index(each) < limit:
                named = make_error(Status.E_ID_RANGE, "", error.what, "", position, 0, 0, "ids")
                named.args = (str(named).replace("(ids[", f"(ids[{number}][", 1),)
                return cast("TokenIdError", named)
    return error


def _alone(threads: int, items: Sequence[object]) -> bool:
    """Whether this thread does all the work."""
    return threads == 1 or len(items) < 2 or sys.platform == "emscripten"  # has no threads


def _crew(threads: int, items: Sequence[object]) -> Callable[..., Iterable[Any]]:
    """Something like `map` that works in so many threads; with one it is `map`."""
    return map if _alone(threads, items) else partial(share, threads)


def _each_part(
    items: tuple[S, ...],
    threads: int,
    work: Callable[[tuple[S, ...]], T],
    run: Callable[..., Iterable[T]],
) -> Iterable[T]:
    """Results of `work` for consecutive parts of the items, as they come."""

    def each(part: tuple[S, ...], begin: int) -> T:
        return _named(part, begin, work)

    begins, parts = _parts(items, threads) if run is not map else ([0], [items])
    return run(each, parts, begins)


def _lists(backend: Backend, texts: Texts, threads: int, flags: Flags) -> list[list[int]]:
    """Lists of ids; this thread makes them, while others go on with the next texts."""
    encode = backend.encode_batch
    if _alone(threads, texts):
        return _named(texts, 0, lambda part: encode(part, flags, 0, True))
    from concurrent.futures import ThreadPoolExecutor

    result: list[list[int]] = []
    with ThreadPoolExecutor(min(threads, len(texts))) as pool:
        run = pool.map
        for part in _each_part(texts, threads, lambda part: encode(part, flags, 0, False), run):
            result += backend.lists(*part)
    return result


def _named(part: tuple[S, ...], begin: int, work: Callable[[tuple[S, ...]], T]) -> T:
    """Do the work; an error about one text says which it is."""
    try:
        return work(part)
    except TokenIdError:
        raise
    except TokenizerError as error:
        if error.status is not None and error.status != Status.E_ARGUMENT:
            error.index, error.offset = begin + error.offset, 0
            error.args = (f"texts[{error.index}]: {error}",)
        raise


def _parts(items: tuple[S, ...], threads: int) -> tuple[list[int], list[tuple[S, ...]]]:
    """Cut into parts of about equal length, and say where each begins."""
    filled = list(accumulate(len(item) + 16 for item in items))
    count = max(min(threads, len(items)) * PARTS_PER_THREAD, filled[-1] // MOST_PART)
    wanted = (filled[-1] * number / count for number in range(count))
    begins = sorted({bisect_left(filled, each) for each in wanted})
    return begins, [items[begin:end] for begin, end in pairwise([*begins, len(items)])]


def _concatenate(
    parts: Sequence[tuple[Buffer, Buffer]], run: Callable[..., Iterable[None]]
) -> Batch:
    import numpy as np

    ids = [np.frombuffer(memoryview(part), dtype=np.uint32) for part, _ in parts]
    ends = [np.frombuffer(memoryview(part), dtype=np.uint64) for _, part in parts]
    offsets = np.zeros(sum(map(len, ends)) + 1, dtype=np.int64)
    bases = [0, *accumulate(map(len, ids))]
    text = 1
    for base, part_ends in zip(bases, ends, strict=False):
        np.add(part_ends, base, out=offsets[text : text + len(part_ends)], casting="unsafe")
        text += len(part_ends)
    if len(ids) == 1:
        return Batch(ids[0], offsets)
    flat = np.empty(bases[-1], dtype=np.uint32)

    def copy(base: int, part: NDArray[np.uint32]) -> None:
        flat[base : base + len(part)] = part

    list(run(copy, bases, ids))  # copying takes a while, and needs no lock
    return Batch(flat, offsets)
