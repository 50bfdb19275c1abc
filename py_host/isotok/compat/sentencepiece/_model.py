"""A loaded model: the tokenizer that does the work, and what sentencepiece tells beside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

import isotok
from isotok import _layout_gen as abi
from isotok.compat.sentencepiece import _model_file
from isotok.compat.sentencepiece._errors import FileError, file_error, internal
from isotok.compat.sentencepiece._wire import WireError, fields
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from isotok._backend import Backend
    from isotok._info import Compat
    from isotok._tokenizer import Tokenizer

NO_ID: Final = -1
UNKNOWN: Final = 2
CONTROL: Final = 3
UNUSED: Final = 5
BYTE: Final = 6
_NOT_PLAIN: Final = (UNKNOWN, CONTROL, BYTE)
SPACE: Final = "\u2581".encode()


def open_bytes(data: bytes, compat: Compat | None = None) -> Tokenizer:
    """Open a model; what is wrong with it is sentencepiece's INTERNAL error."""
    try:
        return isotok.load(data, compat=compat)
    except TokenizerError as error:
        raise internal(str(error)) from error


def read_file(path: str) -> bytes:
    """Read a whole file."""
    if not path:
        raise FileError("NOT_FOUND: model file path should not be empty.")
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise file_error(path, error) from error


class Model:
    """An opened model and the caches of its pieces. Never changes; any thread may use it.

    Parameters
    ----------
    data : bytes
        Any file that isotok opens.
    encoder : Tokenizer, optional
        What segments texts, where that is not the model itself.
    compat : {"0.2.1"}, optional
        As of `isotok.load`.
    """

    def __init__(
        self, data: bytes, encoder: Tokenizer | None = None, compat: Compat | None = None
    ) -> None:
        self._data = data
        self.tokenizer = open_bytes(data, compat)
        self.encoder = self.tokenizer if encoder is None else encoder
        info = self.tokenizer.info
        self.size = info.vocab_size
        self.algorithm = info.algorithm
        self.compat: Compat | None = info.compat
        known = (info.unk_id, info.bos_id, info.eos_id, info.pad_id)
        ids = [NO_ID if number is None else number for number in known]
        self.unk_id, self.bos_id, self.eos_id, self.pad_id = ids
        self._bytes: dict[int, bytes] = {}
        self._texts: dict[int, str] = {}
        self._types: dict[int, int] = {}
        self._resolved: dict[int, int] = {}

    @property
    def backend(self) -> Backend:
        """What runs the core for encoding."""
        return self.encoder._backend  # pyright: ignore[reportPrivateUsage]

    @cached_property
    def proto(self) -> bytes:
        """The model as SentencePiece's ModelProto."""
        if is_proto(self._data):
            return self._data
        from isotok.compile import compile_model

        return compile_model(self._data, "model")

    @cached_property
    def settings(self) -> _model_file.Settings:
        """What decoding depends on."""
        return _model_file.settings_of(self.proto)

    @cached_property
    def denormalizer(self) -> Tokenizer | None:
        """A tokenizer that normalizes decoded text, or None."""
        spec = self.settings.denormalizer
        return open_bytes(_model_file.normalizer_model(spec)) if spec else None

    def _piece(self, token_id: int) -> tuple[bytes, int, float]:
        backend = self.tokenizer._backend  # pyright: ignore[reportPrivateUsage]
        return backend.piece(token_id)

    def piece(self, token_id: int) -> bytes:
        """Bytes of a piece."""
        found = self._bytes.get(token_id)
        if found is None:
            found, kind, _ = self._piece(token_id)
            self._types[token_id] = kind
            self._bytes[token_id] = found
        return found

    def text(self, token_id: int) -> str:
        """Text of a piece; what is not UTF-8 is an error, as in sentencepiece."""
        found = self._texts.get(token_id)
        if found is None:
            found = self._texts[token_id] = self.piece(token_id).decode()
        return found

    def type(self, token_id: int) -> int:
        """Type of a piece."""
        found = self._types.get(token_id)
        if found is None:
            self.piece(token_id)
            found = self._types[token_id]
        return found

    def score(self, token_id: int) -> float:
        """Score of a piece."""
        return self._piece(token_id)[2]

    @cached_property
    def byte_ids(self) -> frozenset[int]:
        """Ids of the bytes that unknown characters become; empty if they do not."""
        ids = (self.find(f"<0x{value:02X}>".encode()) for value in range(256))
        return frozenset(found for found in ids if found >= 0 and self.type(found) == BYTE)

    @cached_property
    def plain(self) -> Plain:
        """Texts of pieces that always decode to the same, but at the beginning."""
        return Plain(self)

    def resolved(self, token_id: int) -> int:
        """Id of the text of a piece: of two pieces with one text, the one that is found."""
        found = self._resolved.get(token_id)
        if found is None:
            found = self._resolved[token_id] = self.find(self.piece(token_id))
        return found

    def pieces(self, ids: Sequence[int]) -> list[bytes]:
        """Bytes of many pieces."""
        known = self._bytes
        try:
            return [known[token_id] for token_id in ids]
        except KeyError:
            return [self.piece(token_id) for token_id in ids]

    def texts(self, ids: Sequence[int]) -> list[str]:
        """Texts of many pieces."""
        known = self._texts
        try:
            return [known[token_id] for token_id in ids]
        except KeyError:
            return [self.text(token_id) for token_id in ids]

    def is_unknown(self, token_id: int) -> bool:
        """Whether it is the unknown piece, or no piece where there is no unknown one."""
        return token_id == self.unk_id

    def is_unused(self, token_id: int) -> bool:
        """Whether encoding does not use the piece."""
        return self.type(token_id) == UNUSED

    def find(self, piece: bytes) -> int:
        """Id of a piece, else that of the unknown piece, else -1."""
        backend = self.tokenizer._backend  # pyright: ignore[reportPrivateUsage]
        found = backend.find(piece)
        return found if found >= 0 else self.unk_id

    def normalize(self, text: bytes) -> tuple[bytes, list[int]]:
        """Normalize; with the byte of the text that each byte, and the end, came from."""
        data, offsets = self.backend.normalize(text, 0, abi.UNIT_BYTE, True)
        assert offsets is not None
        return data, memoryview(offsets).cast("B").cast("I").tolist() if data else [0]


class Plain(dict[int, bytes | None]):
    """By id: what a piece decodes to, None for bytes, unknown and control pieces."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __missing__(self, token_id: int) -> bytes | None:
        found: bytes | None = None
        if token_id >= 0 and self._model.type(token_id) not in _NOT_PLAIN:
            found = self._model.piece(token_id).replace(SPACE, b" ")
        self[token_id] = found
        return found


def is_proto(data: bytes) -> bool:
    """Whether a file is a ModelProto, and no form of isotok's or of SentencePiece Lite's."""
    if data[:4] == b"ISTK":
        return False
    try:
        return sum(1 for _ in islice(fields(data), 4)) > 0
    except WireError:
        return False
