"""The class `Tokenizer`: the same face on every back end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import TYPE_CHECKING, Any, Literal, Self, SupportsIndex, cast, overload

from isotok._arguments import Unit, decode_flags_of, limit_of, unit_of
from isotok._batch import Batched
from isotok._gone import CLOSED, NEVER_OPENED, Gone
from isotok._long import Long
from isotok._normalized import OfNormalized
from isotok._parts import Parted
from isotok._results import (
    Encoding,
    NormalizedBytes,
    NormalizedText,
    byte_offsets,
    need_numpy,
    normalized_text,
    numbers_of,
    replace_escaped,
)
from isotok._sampling import Sampled
from isotok._special import Special
from isotok._stream import Streaming
from isotok._text import PairPositions, has_pairs
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from isotok._backend import Backend
    from isotok._results import Ids, Memory


class Tokenizer(Parted, OfNormalized, Sampled, Batched, Long, Streaming):
    """An opened model. `isotok.load` makes one.

    It never changes, so any number of threads may use it at the same time, and forked
    processes too. Text is str or bytes (UTF-8; ill-formed bytes become U+FFFD, one
    each). In a str, pairs of surrogates are joined and lone ones become U+FFFD.

    Examples
    --------
    >>> with isotok.load(path) as tok:
    ...     ids = tok.encode("hello world")
    >>> ids
    [3, 4]
    """

    __slots__ = ("__weakref__", "_name", "_options")

    _name: str
    _options: dict[str, Any]

    def __new__(cls) -> Self:
        """Make a tokenizer without a model; only `isotok.load` gives it one."""
        self = super().__new__(cls)
        self._backend = cast("Backend", NEVER_OPENED)
        self._name = ""
        self._options = {}
        self._pieces = {}
        self._sets = {}
        return self

    @classmethod
    def _of(cls, backend: Backend, name: str, options: dict[str, Any]) -> Self:
        """Wrap an opened back end; `options` are those of `load` that pickling keeps."""
        self = cls.__new__(cls)
        self._backend = backend
        self._name = name
        self._options = options
        return self

    # -- encode -------------------------------------------------------------------

    def encode(
        self,
        text: str | bytes,
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> list[int]:
        """Encode a text to token ids.

        Parameters
        ----------
        text : str or bytes
            Any text.
        bos, eos : bool
            Put the model's BOS id in front, its EOS id at the end.
        special : {"none", "all"} or collection of str or int, optional
            Which special tokens are looked for in the text: none, all, or those of a set, given
            by texts or ids, so that all others are ordinary text. None: what the library does
            that the model comes from (tokenizers: "all"; sentencepiece and tiktoken: "none").
        add_special_tokens : bool, optional
            Put the tokens of the model's template around the text, as in ``[CLS] … [SEP]``. None:
            as the library that the model comes from (tokenizers: True).

        Returns
        -------
        list of int
            Token ids in text order.

        Raises
        ------
        TokenizerError
            The tokenizer is closed, or the model has no BOS or EOS.

        Examples
        --------
        >>> tok.encode("hello world", bos=True)
        [1, 3, 4]
        """
        # `_flags` takes longer than a short text does.
        flags = (
            self._flags(bos, eos, special, add_special_tokens)
            if bos or eos or special is not None or add_special_tokens is not None
            else 0
        )
        return self._backend.encode(text, flags, 0)

    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> NDArray[np.uint32]:
        """Encode a text to an array of ids; needs numpy.

        Parameters
        ----------
        text, bos, eos, special, add_special_tokens
            As in `encode`.

        Returns
        -------
        NDArray[np.uint32], shape (n_tokens,)
            A fresh array; the caller owns it.

        Examples
        --------
        >>> tok.encode_to_numpy("hello world").tolist()
        [3, 4]
        """
        need_numpy()
        import numpy as np

        ids = self._backend.encode_ids(text, self._flags(bos, eos, special, add_special_tokens), 0)
        return np.frombuffer(memoryview(ids), dtype=np.uint32)

    def encode_into(
        self,
        buffer: Memory,
        text: str | bytes,
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> int:
        """Encode a text into memory of the caller's.

        Parameters
        ----------
        buffer : writable buffer of uint32
            For example a numpy array or ``array("I", …)``, contiguous.
        text, bos, eos, special, add_special_tokens
            As in `encode`.

        Returns
        -------
        int
            Number of ids written; what is behind them in the buffer is not touched.

        Raises
        ------
        TokenizerError
            The buffer is too small; ``error.need`` is the number of elements it needs.
            What the buffer holds then is not specified.

        Examples
        --------
        >>> from array import array
        >>> buffer = array("I", [0] * 8)
        >>> buffer[: tok.encode_into(buffer, "hello world")].tolist()
        [3, 4]
        """
        view = memoryview(cast("Buffer", buffer))
        if view.itemsize != 4 or view.format not in ("I", "L", "i", "l"):
            raise TypeError(f"the buffer must hold uint32 numbers, not format {view.format!r}")
        return self._backend.encode_into(
            text, self._flags(bos, eos, special, add_special_tokens), view
        )

    def encode_with_offsets(
        self,
        text: str | bytes,
        *,
        unit: Unit = "codepoint",
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> Encoding:
        """Encode a text, with the place of each token in it.

        Parameters
        ----------
        text, bos, eos, special, add_special_tokens
            As in `encode`.
        unit : {"codepoint", "byte", "utf16"}
            What the offsets count: code points of the text, bytes of its UTF-8, or UTF-16
            code units, as JavaScript does.

        Returns
        -------
        Encoding
            ids, pieces and offsets: half-open ranges in the raw text. Where a token came
            from nothing (a space that the normalizer put in front) the range is empty.

        Examples
        --------
        >>> ids, pieces, offsets = tok.encode_with_offsets("hello wörld")
        >>> pieces
        ['▁hello', '▁', 'w', 'ö', 'r', 'ld']
        >>> offsets
        [(0, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 11)]
        """
        return self._encoding(text, self._flags(bos, eos, special, add_special_tokens), unit)

    def count(
        self,
        text: str | bytes,
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> int:
        """Count the tokens of a text, without making them.

        Examples
        --------
        >>> tok.count("hello world")
        2
        """
        return self._backend.count(text, self._flags(bos, eos, special, add_special_tokens), 0)

    def fits(
        self,
        text: str | bytes,
        limit: int,
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> bool:
        """Whether a text has at most `limit` tokens; stops where it has more.

        Examples
        --------
        >>> tok.fits("hello world", 2), tok.fits("hello world", 1)
        (True, False)
        """
        limit = limit_of(limit)
        flags = self._flags(bos, eos, special, add_special_tokens)
        if limit <= 0:
            return self._backend.count(text, flags, 1) == 0 and limit == 0
        return self._backend.count(text, flags, limit) >= 0

    def truncate(
        self,
        text: str | bytes,
        limit: int,
        *,
        bos: bool = False,
        eos: bool = False,
        special: Special = None,
        add_special_tokens: bool | None = None,
    ) -> list[int]:
        """First `limit` token ids of a text; stops there.

        BOS and EOS count, so the EOS of a text that is too long is cut off.

        Examples
        --------
        >>> tok.truncate("hello world", 1)
        [3]
        """
        limit = limit_of(limit)
        if limit < 0:
            raise TokenizerError(f"limit: {limit} is negative; use 0 or more")
        flags = self._flags(bos, eos, special, add_special_tokens)
        if limit == 0:
            self._backend.count(text, flags, 1)  # the same errors as elsewhere
            return []
        return self._backend.encode(text, flags, limit)

    # -- normalize ----------------------------------------------------------------

    @overload
    def normalize(self, text: str, *, with_offsets: Literal[False] = False) -> str: ...
    @overload
    def normalize(self, text: bytes, *, with_offsets: Literal[False] = False) -> bytes: ...
    @overload
    def normalize(
        self, text: str, *, with_offsets: Literal[True], unit: Unit = "codepoint"
    ) -> NormalizedText: ...
    @overload
    def normalize(
        self, text: bytes, *, with_offsets: Literal[True], unit: Unit = "codepoint"
    ) -> NormalizedBytes: ...
    def normalize(
        self, text: str | bytes, *, with_offsets: bool = False, unit: Unit = "codepoint"
    ) -> str | bytes | NormalizedText | NormalizedBytes:
        """Normalize a text as `encode` does before it looks for pieces.

        Parameters
        ----------
        text : str or bytes
            The result is of the same type.
        with_offsets : bool
            Return also where each code point (of bytes: each byte) came from.
        unit : {"codepoint", "byte", "utf16"}
            What the offsets count in the raw text.

        Examples
        --------
        >>> tok.normalize("  hello ")
        '▁hello'
        >>> tok.normalize("  hello ", with_offsets=True).offsets
        [2, 2, 3, 4, 5, 6, 7]
        """
        data, offsets = self._backend.normalize(text, 0, unit_of(unit), with_offsets)
        if offsets is None:
            if isinstance(text, bytes):
                return data
            return replace_escaped(data.decode(errors="surrogateescape"))
        if isinstance(text, bytes):
            return NormalizedBytes(data, byte_offsets(data, offsets))
        result = normalized_text(data, offsets)
        if unit != "codepoint" or not has_pairs(text):
            return result
        original = PairPositions(text).original
        return result._replace(offsets=[original(offset) for offset in result.offsets])

    # -- decode -------------------------------------------------------------------

    def decode(self, ids: Ids, *, skip_special_tokens: bool | None = None) -> str:
        """Decode token ids to text.

        Parameters
        ----------
        ids : sequence of int, or array of an integer type
            Ill-formed runs of byte pieces become U+FFFD, one for each byte.
        skip_special_tokens : bool, optional
            Leave special tokens out. None: as the library that the model comes from (tokenizers:
            True; sentencepiece, whose control pieces have no text, and tiktoken: False).

        Raises
        ------
        TokenIdError
            An id is not in the vocabulary (of a tokenizer.json: no number of 32
            bits; other ids decode to nothing); ``error.index`` is its position.

        Examples
        --------
        >>> tok.decode([3, 4])
        'hello world'
        """
        flags = decode_flags_of(skip_special_tokens)
        return self._backend.decode(numbers_of(ids), False, flags)

    def decode_bytes(self, ids: Ids, *, skip_special_tokens: bool | None = None) -> bytes:
        """Decode token ids to bytes; byte pieces give their byte, well-formed or not.

        Examples
        --------
        >>> tok.decode_bytes([3, 4])
        b'hello world'
        """
        flags = decode_flags_of(skip_special_tokens)
        return self._backend.decode(numbers_of(ids), True, flags)

    def decode_pieces(self, pieces: Iterable[str | bytes]) -> str:
        """Decode piece texts; a text that is no piece is taken as it is.

        Examples
        --------
        >>> tok.decode_pieces(["▁hello", "▁world"])
        'hello world'
        """
        if isinstance(pieces, (str, bytes)):
            raise TypeError("pieces must be a sequence of pieces, not one text")
        return self._backend.decode_pieces(tuple(pieces))

    # -- life ---------------------------------------------------------------------

    @property
    def backend(self) -> str:
        """What runs the core: "native" or "wasm"."""
        self._backend.info  # noqa: B018  (an error if it is closed)
        return self._name

    def close(self) -> None:
        """Let the model go; calls that are running end as usual. Closing twice is fine."""
        if cast("object", self._backend) is NEVER_OPENED:
            self._backend.info()
        self._backend = cast("Backend", CLOSED)
        self._pieces = {}

    def __enter__(self) -> Self:
        self._backend.info()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __copy__(self) -> Self:
        """Make a tokenizer on the same model, to be closed by itself."""
        self._backend.info()
        return self._of(self._backend, self._name, self._options)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """As copying: the model never changes."""
        return self.__copy__()

    def __reduce_ex__(
        self, protocol: SupportsIndex
    ) -> tuple[Callable[..., Tokenizer], tuple[Any, ...]]:
        """Pickle the bytes of the model (out of band from protocol 5 on) and the options."""
        from pickle import PickleBuffer

        blob = self._backend.blob().toreadonly()
        data = PickleBuffer(blob) if index(protocol) >= 5 else bytes(blob)
        return _restore, (data, self._options)

    def __repr__(self) -> str:
        if isinstance(cast("object", self._backend), Gone):
            state = "closed" if cast("object", self._backend) is CLOSED else "never opened"
            return f"<isotok.Tokenizer, {state}>"
        info = self.info
        return f"<isotok.Tokenizer: {info.algorithm}, {info.vocab_size:,} pieces, {self._name}>"


def _restore(data: Buffer, options: dict[str, Any]) -> Tokenizer:
    """Unpickle."""
    from isotok._load import load_bytes

    return load_bytes(data, **options)
