"""Texts and ids that come in parts."""

from __future__ import annotations

from _thread import allocate_lock
from codecs import utf_8_decode
from collections.abc import Callable, Iterable, Iterator
from operator import index
from typing import TYPE_CHECKING, Generic, NoReturn, Protocol, Self, SupportsIndex, TypeVar, cast

from isotok import _layout_gen as abi
from isotok._arguments import decode_flags_of
from isotok._backend import DecoderStream, EncoderStream
from isotok._results import numbers_of
from isotok._special import Special, Specials
from isotok.errors import ClosedError, TokenIdError, TokenizerError, make_error

if TYPE_CHECKING:
    from isotok._backend import Backend, Flags
    from isotok._results import Ids


class _Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=_Closable)


class _Stream(Generic[T]):
    """What `Encoder` and `Decoder` share: one user at a time, and an end."""

    __slots__ = ("__weakref__", "_backend", "_lock", "_now", "_stream")

    def __init__(self, now: Callable[[], Backend], open_stream: Callable[[Backend], T]) -> None:
        self._now = now  # the tokenizer's back end: another one when it is closed
        self._backend = now()
        self._stream: T | None = open_stream(self._backend)
        # A fork in the middle of a call leaves it locked in the child, where the half-done
        # text is of no use either.
        self._lock = allocate_lock()

    @property
    def _name(self) -> str:
        return type(self).__name__.lower()

    def _enter(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise TokenizerError(
                f"the {self._name} is used by another thread; give each thread one of its own"
            )

    def _opened(self) -> T:
        if (backend := self._now()) is not self._backend:
            backend.info()  # raises: it was closed
        if self._stream is None:
            raise ClosedError(f"the {self._name} is closed; ask the tokenizer for another")
        return self._stream

    def close(self) -> None:
        """Give the memory back; without this it goes with the last reference."""
        self._enter()
        try:
            if self._stream is not None:
                self._stream.close()
            self._stream = None
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            f"cannot pickle or copy the {self._name} of a text that is under way; "
            f"pickle the tokenizer, and call its method {self._name}() there"
        )


class Encoder(_Stream[EncoderStream]):
    """Encodes a text that comes in chunks; `Tokenizer.encoder` makes one.

    The ids of all `push` and of `flush` together are those of `Tokenizer.encode` for the whole
    text, wherever it is cut: inside a character, or between two surrogates of a str. It has a
    session of its own, so the tokenizer may be used meanwhile. One thread at a time.

    Examples
    --------
    >>> encoder = tok.encoder(eos=True)
    >>> encoder.push("hel") + encoder.push("lo wor") + encoder.push("ld") + encoder.flush()
    [3, 4, 2]
    """

    __slots__ = ("_held",)

    def __init__(self, now: Callable[[], Backend], flags: Flags) -> None:
        super().__init__(now, lambda backend: backend.encoder(flags))
        self._held = ""  # the first half of a pair of surrogates

    def push(self, chunk: str | bytes) -> list[int]:
        """Encode the next chunk of the text.

        Parameters
        ----------
        chunk : str or bytes
            Of any length, cut anywhere.

        Returns
        -------
        list of int
            The ids that no later text can change; often none.

        Raises
        ------
        ClosedError
            The encoder or its tokenizer is closed.
        TokenizerError
            Another thread is using it. After any other error the text is over, and the next
            chunk begins another one.
        """
        return self._push(chunk, False)

    def flush(self) -> list[int]:
        """End the text and return the rest of its ids. The next `push` begins another text."""
        return self._push("", True)

    def _push(self, chunk: str | bytes, last: bool) -> list[int]:
        if not isinstance(chunk, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a chunk must be str or bytes, not {type(chunk)!r}")
        self._enter()
        try:
            stream = self._opened()
            chunk = self._join(chunk, last)
            try:
                return stream.push(chunk, last)
            except BaseException:
                self._held = ""
                raise
        finally:
            self._lock.release()

    def _join(self, chunk: str | bytes, last: bool) -> str | bytes:
        """Put what was held in front of `chunk`, and hold the first half of a pair at its end."""
        if isinstance(chunk, bytes):
            if not self._held or not chunk:
                return chunk
            self._held = ""
            return "\ufffd".encode() + chunk  # the other half is in no bytes
        if self._held:
            chunk, self._held = self._held + chunk, ""
        if not last and "\ud800" <= chunk[-1:] <= "\udbff":
            chunk, self._held = chunk[:-1], chunk[-1]
        return chunk


class Decoder(_Stream[DecoderStream]):
    """Decodes ids that come in parts; `Tokenizer.decoder` makes one.

    The pieces of text that all `push` and `flush` give are together what `Tokenizer.decode`
    gives for all ids, and none of them ends inside a character. It has a session of its own,
    so the tokenizer may be used meanwhile. One thread at a time.

    Examples
    --------
    >>> decoder = tok.decoder()
    >>> decoder.push(3), decoder.push([4, 3]), decoder.flush()
    ('hello', ' world hello', '')
    """

    __slots__ = ("_bytes", "_done")

    def __init__(self, now: Callable[[], Backend], flags: int) -> None:
        super().__init__(now, lambda backend: backend.decoder(flags))
        # The core joins the bytes of byte pieces. Only pieces that are themselves cut inside
        # a character ever make this hold something.
        self._bytes = b""
        self._done = 0  # ids of this text

    def push(self, ids: SupportsIndex | Ids) -> str:
        """Decode the next id or ids.

        Parameters
        ----------
        ids : int, or sequence or array of integers
            As in `Tokenizer.decode`.

        Returns
        -------
        str
            The text that is certain by now; often empty within a character of byte pieces.

        Raises
        ------
        TokenIdError
            An id is not in the vocabulary (of a tokenizer.json: no number of 32
            bits; other ids decode to nothing); ``error.index`` is its position in all ids since
            the text began. The text is over, and the next id begins another one.
        ClosedError
            The decoder or its tokenizer is closed.
        TokenizerError
            Another thread is using it.
        """
        return self._push(_ids_of(ids), False)

    def flush(self) -> str:
        """End the text and return the rest of it. The next `push` begins another text."""
        return self._push([], True)

    def _push(self, ids: list[int] | memoryview, last: bool) -> str:
        self._enter()
        try:
            stream = self._opened()
            done, held = self._done, self._bytes
            self._done, self._bytes = 0, b""  # stays so if the step fails
            try:
                data = held + stream.push(ids, last)
            except TokenIdError as error:
                status, what, position = abi.E_ID_RANGE, abi.WHAT_TOKEN_ID, done + error.index
                raise make_error(status, "", what, "", position, 0, 0, "ids") from None
            text, used = utf_8_decode(data, "replace", last)
            if not last:
                self._done, self._bytes = done + len(ids), data[used:]
            return text
        finally:
            self._lock.release()


def _ids_of(ids: SupportsIndex | Ids) -> list[int] | memoryview:
    if isinstance(ids, list):
        return ids
    if isinstance(ids, int):
        return [ids]
    try:
        return [index(cast("SupportsIndex", ids))]  # an integer of numpy's
    except TypeError:
        return numbers_of(cast("Ids", ids))


class Streaming(Specials):
    """The part of `Tokenizer` that works on texts and ids as they come."""

    __slots__ = ()

    _backend: Backend

    def _now(self) -> Backend:
        return self._backend

    def encoder(
        self,
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> Encoder:
        """Return an encoder for one text after another that come in chunks.

        Parameters
        ----------
        bos, eos, special, add_special_tokens
            As in `encode`, for each text.

        Examples
        --------
        >>> with tok.encoder() as encoder:
        ...     print(encoder.push("hello wor"), encoder.push("ld"), encoder.flush())
        [] [3] [4]
        """
        return Encoder(self._now, self._flags(bos, eos, special, add_special_tokens))

    def encode_stream(
        self,
        chunks: Iterable[str | bytes],
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> Iterator[list[int]]:
        """Encode a text that comes in chunks, without ever holding all of it.

        Parameters
        ----------
        chunks : iterable of str or bytes
            The text, cut anywhere: an open file is one.
        bos, eos, special, add_special_tokens
            As in `encode`.

        Yields
        ------
        list of int
            Ids as they become final, at least one; together those of `encode`.

        Examples
        --------
        >>> list(tok.encode_stream(["hel", "lo wor", "ld"]))
        [[3], [4]]
        """
        if isinstance(chunks, (str, bytes)):
            raise TypeError("chunks must be an iterable of texts; for one text use encode()")
        return self._encode_stream(chunks, self._flags(bos, eos, special, add_special_tokens))

    def _encode_stream(self, chunks: Iterable[str | bytes], flags: Flags) -> Iterator[list[int]]:
        with Encoder(self._now, flags) as encoder:
            for chunk in chunks:
                if ids := encoder.push(chunk):
                    yield ids
            if ids := encoder.flush():
                yield ids

    def decoder(self, *, skip_special_tokens: bool | None = None) -> Decoder:
        """Return a decoder for ids as they come; `skip_special_tokens` as in `decode`.

        Examples
        --------
        >>> with tok.decoder() as decoder:
        ...     print(repr(decoder.push(3)), repr(decoder.push(4)), repr(decoder.flush()))
        'hello' ' world' ''
        """
        return Decoder(self._now, decode_flags_of(skip_special_tokens))

    def decode_stream(self, ids: Iterable[SupportsIndex | Ids]) -> Iterator[str]:
        """Decode ids as they come.

        Parameters
        ----------
        ids : iterable of int, or of sequences of int
            For example what a model generates.

        Yields
        ------
        str
            Text as it becomes certain, never empty and never a part of a character; together
            what `decode` gives.

        Examples
        --------
        >>> list(tok.decode_stream(iter([3, 4])))
        ['hello', ' world']
        """
        with self.decoder() as decoder:
            for each in ids:
                if text := decoder.push(each):
                    yield text
            if text := decoder.flush():
                yield text
