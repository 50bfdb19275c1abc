"""Token shards: ids of documents in files that are there whole or not at all.

FORMAT. Shard number N is three files. ``N.bin``: the ids end to end, little-endian, uint16 if the
vocabulary has at most 65,536 tokens, else uint32. ``N.idx``: int64, little-endian, at which id
each document begins, and how many ids there are. ``N.json``: what is in both, with their SHA-256,
and the model's; it is written last, so a shard without it is not finished.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from isotok.errors import TokenizerError
from isotok.train._atomic import write_atomic
from isotok.train._options import Progress, whole
from isotok.train._progress import ProgressKind, progress_of
from isotok.train._scale import encoded, opened
from isotok.train._sources import batches, records_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotok import Tokenizer
    from isotok.train._model import BpeModel

Path_ = str | os.PathLike[str]
_DIGITS: Final = 8
_MANIFEST: Final = ("model", "dtype", "documents", "tokens", "bin_sha256", "idx_sha256")


def write_shard(
    texts: Sequence[str], model: BpeModel | Tokenizer, folder: Path_, number: int
) -> dict[str, Any]:
    """Write one shard; what an engine calls with each of its partitions.

    A shard that is there already, of this model and whole, stays, and its texts are not encoded.

    Parameters
    ----------
    texts : sequence of str
        Documents. Texts of special tokens are ordinary text.
    model : BpeModel or isotok.Tokenizer
    folder : path
        It is made if it is not there.
    number : int
        From 0; each shard has its own.

    Returns
    -------
    dict
        What ``N.json`` says: model, dtype, documents, tokens, bin_sha256, idx_sha256.

    Raises
    ------
    TokenizerError
        The folder has a shard of this number by another model or with another number of documents,
        or it cannot be written (no space); finished shards stay.
    """
    whole(number, "number")
    tokenizer, stem = opened(model), _stem(folder, number)
    identity = _identity(tokenizer)
    found = _finished(stem, identity)
    if found is not None:
        if found["documents"] != len(texts):
            raise TokenizerError(
                f"{stem}.json: the shard has {found['documents']} documents, not {len(texts)}: it "
                "was made of other texts; remove it, or choose another folder"
            )
        return found
    return _write(texts, tokenizer, stem, identity)


def write_shards(
    source: object,
    model: BpeModel | Tokenizer,
    folder: Path_,
    *,
    documents: int = 65_536,
    max_bytes: int = 64 << 20,
    progress: ProgressKind = None,
) -> int:
    """Encode all records of a source into shards; a run that was stopped goes on.

    Parameters
    ----------
    source : Source or iterable of str
        Each record is a document. To go on, the same records in the same order.
    model : BpeModel or isotok.Tokenizer
    folder : path
        It is made if it is not there.
    documents, max_bytes : int
        Of a shard, which ends before the document that would exceed one.
    progress : callable, "bar" or "json", optional
        Called with ("shards", documents, None) after each shard.

    Returns
    -------
    int
        Number of shards.

    Raises
    ------
    TokenizerError
        As `write_shard`; or a record is no text. Finished shards stay.
    """
    whole(documents, "documents", 1)
    whole(max_bytes, "max_bytes", 1)
    report: Progress | None = progress_of(progress)
    number = done = 0
    for number, texts in enumerate(batches(records_of(source), documents, max_bytes), 1):
        write_shard(texts, model, folder, number - 1)
        done += len(texts)
        if report:
            report("shards", done, None)
    if _stem(folder, number).with_suffix(".json").exists():
        raise TokenizerError(
            f"{folder}: there are more shards than the source fills ({number}); they are of other "
            "texts: choose another folder"
        )
    return number


def _stem(folder: Path_, number: int) -> Path:
    return Path(folder) / f"{number:0{_DIGITS}}"


def _identity(tokenizer: Tokenizer) -> str:
    """SHA-256 of the model's bytes."""
    reduced: Any = tokenizer.__reduce_ex__(4)
    return hashlib.sha256(reduced[1][0]).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _finished(stem: Path, identity: str) -> dict[str, Any] | None:
    """What the manifest says, if the shard is whole; None: it is to be written."""
    path = stem.with_suffix(".json")
    if not path.exists() or not path.read_bytes().rstrip().endswith(b"}"):
        return None  # not there, or not all of it
    manifest = _manifest(path)
    if manifest["model"] != identity:
        raise TokenizerError(
            f"{path}: the shard was made with another model; choose another folder"
        )
    for kind in ("bin", "idx"):
        part = stem.with_suffix(f".{kind}")
        if not part.exists() or _digest(part) != manifest[f"{kind}_sha256"]:
            return None  # it was damaged: once more
    return manifest


def _manifest(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
        return {name: found[name] for name in _MANIFEST}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise TokenizerError(f"{path}: it is no manifest of a shard ({error!r})") from error


def _write(texts: Sequence[str], tokenizer: Tokenizer, stem: Path, identity: str) -> dict[str, Any]:
    ids, offsets = encoded(texts, tokenizer)
    dtype = "<u2" if tokenizer.vocab_size <= 1 << 16 else "<u4"
    data, index = ids.astype(dtype).tobytes(), offsets.astype("<i8").tobytes()
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TokenizerError(f"{stem.parent}: cannot be made ({error.strerror})") from error
    manifest = {
        "model": identity,
        "dtype": dtype,
        "documents": len(texts),
        "tokens": len(ids),
        "bin_sha256": hashlib.sha256(data).hexdigest(),
        "idx_sha256": hashlib.sha256(index).hexdigest(),
    }
    write_atomic(stem.with_suffix(".bin"), data)
    write_atomic(stem.with_suffix(".idx"), index)
    write_atomic(stem.with_suffix(".json"), json.dumps(manifest, indent=1).encode())
    return manifest


class Shards(Sequence["NDArray[Any]"]):
    """The documents of a folder of shards, mapped into memory.

    ``len(shards)`` documents; ``shards[i]`` is an array of ids that points into the file.

    Parameters
    ----------
    folder : path

    Raises
    ------
    TokenizerError
        It holds no shards, one is missing, or a file does not have the size that its manifest
        says. Contents are not compared; `write_shards` does that.
    """

    def __init__(self, folder: Path_) -> None:
        self._parts: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
        self._ends: list[int] = []
        self.tokens: int = 0
        names = sorted(Path(folder).glob("[0-9]*.json"))
        if not names:
            raise TokenizerError(f"{folder}: there are no shards")
        for number, name in enumerate(names):
            if name.stem != _stem(folder, number).name:
                raise TokenizerError(f"{folder}: shard {number} is missing")
            self._add(name)

    def _add(self, path: Path) -> None:
        manifest = _manifest(path)
        ids = _mapped(path.with_suffix(".bin"), manifest["dtype"], manifest["tokens"])
        index = _mapped(path.with_suffix(".idx"), "<i8", manifest["documents"] + 1)
        self._parts.append((ids, index))
        self._ends.append((self._ends[-1] if self._ends else 0) + manifest["documents"])
        self.tokens += manifest["tokens"]

    def __len__(self) -> int:
        """Return how many documents there are."""
        return self._ends[-1]

    def __getitem__(self, index: Any, /) -> Any:
        """Return the ids of a document; of a slice, a list of them."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        part = bisect.bisect_right(self._ends, at)
        ids, places = self._parts[part]
        at -= self._ends[part - 1] if part else 0
        return ids[places[at] : places[at + 1]]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Go through all documents."""
        for ids, places in self._parts:
            ends: list[int] = places.tolist()
            for begin, end in zip(ends, islice(ends, 1, None), strict=False):
                yield ids[begin:end]


def _mapped(path: Path, dtype: str, count: int) -> NDArray[Any]:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise TokenizerError(f"{path}: cannot be read ({error.strerror})") from error
    if size != count * np.dtype(dtype).itemsize:
        raise TokenizerError(f"{path}: it has {size} bytes, which are not {count} numbers")
    return np.memmap(path, dtype, "r", shape=(count,)) if count else np.empty(0, dtype)
