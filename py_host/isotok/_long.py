"""One long text in several threads."""

from __future__ import annotations

import sys
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, overload

from isotok._arguments import flags_of, threads_of
from isotok._results import need_numpy
from isotok._text import to_utf8
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from isotok._backend import Backend, LongText

LEAST_PART: Final = 1 << 16
MOST_PART: Final = 1 << 20
PARTS_PER_THREAD: Final = 8


class Long:
    """The part of `Tokenizer` that shares one text among threads."""

    __slots__ = ()

    _backend: Backend

    @overload
    def encode_long(
        self,
        text: str | bytes,
        *,
        threads: int | None,
        bos: bool = False,
        eos: bool = False,
        output: Literal["numpy"] = "numpy",
    ) -> NDArray[np.uint32]: ...
    @overload
    def encode_long(
        self,
        text: str | bytes,
        *,
        threads: int | None,
        bos: bool = False,
        eos: bool = False,
        output: Literal["list"],
    ) -> list[int]: ...
    def encode_long(
        self,
        text: str | bytes,
        *,
        threads: int | None,
        bos: bool = False,
        eos: bool = False,
        output: Literal["numpy", "list"] = "numpy",
    ) -> NDArray[np.uint32] | list[int]:
        """Encode one long text in several threads.

        The ids are exactly those of `encode`. It pays from some hundred KB on; texts and
        models that cannot be cut, and the wasm back end, use one thread.

        Parameters
        ----------
        text : str or bytes
            Any text. Memory for it is needed twice, and for its ids.
        threads : int, optional
            Number of threads to work in; they end with the call. None and 0: this one.
        bos, eos : bool
            As in `encode`.
        output : {"numpy", "list"}
            "numpy" gives an array, "list" a list of int.

        Returns
        -------
        NDArray[np.uint32] or list of int
            Token ids in text order.

        Examples
        --------
        >>> tok.encode_long("hello world", threads=2).tolist()
        [3, 4]
        """
        count = threads_of(threads)
        if output not in ("numpy", "list"):
            raise TokenizerError(f'output: {output!r} is unknown; use "numpy" or "list"')
        if output == "numpy":
            need_numpy()
        ids = self._parallel(text, count) if count > 1 else None
        if ids is None:
            ids = self._backend.encode_ids(text, flags_of(bos, eos), 0)
            bos = eos = False
        front = self._backend.encode("", flags_of(bos, False), 0)
        back = self._backend.encode("", flags_of(False, eos), 0)
        if output == "list":
            return [*front, *memoryview(ids).cast("B").cast("I").tolist(), *back]
        import numpy as np

        array = np.frombuffer(memoryview(ids), dtype=np.uint32)
        if not front and not back:
            return array
        ends = np.array(front, np.uint32), np.array(back, np.uint32)
        return np.concatenate((ends[0], array, ends[1]))

    def _parallel(self, text: str | bytes, threads: int) -> Buffer | None:
        """Ids without BOS and EOS; None if the text is for one thread."""
        data = to_utf8(text) if isinstance(text, str) else text
        if sys.platform == "emscripten" or not isinstance(data, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            return None  # there are no threads there; the error is made elsewhere
        size = min(max(len(data) // (threads * PARTS_PER_THREAD), LEAST_PART), MOST_PART)
        if len(data) < 2 * size:
            return None
        long_text = self._backend.long_text(data)
        if long_text is None:
            return None
        ends = long_text.cuts(size)
        if len(ends) == 1:
            return None
        _encode_parts(long_text, ends, threads)
        return long_text.ids()


def _encode_parts(long_text: LongText, ends: list[int], threads: int) -> None:
    """Encode the parts, and join each as soon as it and those before it are there."""
    from concurrent.futures import ThreadPoolExecutor

    pending: deque[Future[object]] = deque()
    with ThreadPoolExecutor(min(threads, len(ends))) as pool:
        for begin, end in pairwise([0, *ends]):
            pending.append(pool.submit(long_text.encode, begin, end))
            if len(pending) > 2 * threads:  # memory holds so many
                long_text.join(pending.popleft().result())
        while pending:
            long_text.join(pending.popleft().result())
