"""Vocabulary and merges as files: FFBPE's two formats, GPT-2's, and its folder with ffbpe.json."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from isotok.errors import TokenizerError
from isotok.train._atomic import write_atomic
from isotok.train._data import ModelData, Shape, data_of
from isotok.train._options import FileFormat, UnicodeBigramMixedBoundary, Unit, one_of
from isotok.train._spelling import resolve_format, spell, unspell

CONFIG: Final = "ffbpe.json"
LEGACY_CONFIG: Final = "unitoken.json"


def vocabulary_json(data: ModelData, form: FileFormat) -> bytes:
    """Return the vocabulary as FFBPE writes it, which Hugging Face reads too."""
    texts = {spell(token, form): number for number, token in enumerate(data.tokens)}
    if len(texts) != len(data.tokens):
        raise TokenizerError(f"two tokens are spelled alike in format {form!r}")
    return json.dumps(texts, ensure_ascii=False, indent=2).encode()


def merges_txt(data: ModelData, form: FileFormat, *, counts: bool = True) -> bytes:
    """Return merges by rank: with counts as FFBPE writes them, without as Hugging Face reads."""
    spelled = [spell(token, form) for token in data.tokens]
    if not counts:
        lines = [f"{spelled[a]} {spelled[b]}\n" for a, b, _, _ in data.merges]
        return ("#version: 0.2\n" + "".join(lines)).encode()
    lines = [f"{spelled[a]} {spelled[b]} => {count}\n" for a, b, _, count in data.merges]
    return "".join(lines).encode()


def write_files(
    data: ModelData,
    vocabulary: str | os.PathLike[str],
    merges: str | os.PathLike[str],
    form: FileFormat | None,
) -> None:
    """Write both files in FFBPE's format."""
    form = resolve_format(data.unit, form)
    made = vocabulary_json(data, form), merges_txt(data, form)
    write_atomic(vocabulary, made[0])
    write_atomic(merges, made[1])


def read_text(path: str | os.PathLike[str]) -> str:
    """Return a file's text; else an error with its name."""
    try:
        return Path(path).read_bytes().decode()
    except OSError as error:
        raise TokenizerError(f"{os.fspath(path)}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TokenizerError(
            f"{os.fspath(path)}: byte {error.start} is not UTF-8; it is no file of a model"
        ) from error


def read_vocabulary(path: str | os.PathLike[str], form: FileFormat) -> dict[bytes, int]:
    """Read a vocabulary; numbers below 0, which FFBPE reserves, are left out."""
    where = os.fspath(path)
    try:
        entries = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise TokenizerError(f"{where}: line {error.lineno}: {error.msg}") from error
    found: dict[bytes, int] = {}
    if not isinstance(entries, dict):
        raise TokenizerError(f"{where}: it is not an object of texts and ids")
    for text, number in cast("dict[str, Any]", entries).items():
        if type(number) is not int:
            raise TokenizerError(f"{where}: the id of {text[:60]!r} is {number!r}, no whole number")
        if number >= 0:
            found[unspell(text, form, where)] = number
    return found


def read_merges(path: str | os.PathLike[str], form: FileFormat) -> list[tuple[bytes, bytes, int]]:
    """Read merges with counts (FFBPE) or without (Hugging Face: then the counts are 0)."""
    found: list[tuple[bytes, bytes, int]] = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        where = f"{os.fspath(path)}, line {number}"
        pair, arrow, count = line.partition(" => ")
        parts = pair.split(" ")
        if len(parts) != 2 or (arrow and not count.strip().isdigit()):
            raise TokenizerError(f"{where}: {line[:60]!r} is not two tokens (and => a count)")
        left, right = (unspell(part, form, where) for part in parts)
        found.append((left, right, int(count) if arrow else 0))
    return found


def read_files(
    vocabulary: str | os.PathLike[str],
    merges: str | os.PathLike[str],
    *,
    unit: Unit,
    form: FileFormat | None,
    special: tuple[str, ...],
    pat_str: str | None,
) -> ModelData:
    """Read a model from its two files."""
    form = resolve_format(unit, form)
    ids, pairs = read_vocabulary(vocabulary, form), read_merges(merges, form)
    return data_of(ids, pairs, special, unit, pat_str, os.fspath(vocabulary))


# ---- Folders ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Folder:
    """A model and how its texts are cut."""

    data: ModelData
    shape: Shape


def write_folder(
    directory: str | os.PathLike[str], data: ModelData, shape: Shape, form: FileFormat | None
) -> None:
    """Write ffbpe.json, vocab.json and merges.txt; ffbpe.json last: it says that all is there."""
    form = resolve_format(data.unit, form)
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TokenizerError(f"{folder}: cannot be made ({error.strerror})") from error
    write_files(data, folder / "vocab.json", folder / "merges.txt", form)
    config = {
        "version": 1,
        "unit": data.unit,
        "format": form,
        "vocab_file": "vocab.json",
        "merges_file": "merges.txt",
        "special_tokens": [text for text, _ in data.special],
        "pat_str": data.pat_str,
        "unicode_bigrams": None if shape.bigrams is None else list(shape.bigrams),
        "unicode_bigram_mixed_boundary": shape.mixed,
        "split_on_vocab_bigrams": shape.split_on_vocab,
    }
    text = json.dumps(config, ensure_ascii=False, indent=2) + "\n"
    write_atomic(folder / CONFIG, text.encode())


def read_folder(directory: str | os.PathLike[str]) -> Folder:
    """Read a folder that `write_folder` or FFBPE wrote (or unitoken, its earlier name)."""
    folder = Path(directory)
    path = folder / CONFIG
    if not path.exists() and (folder / LEGACY_CONFIG).exists():
        path = folder / LEGACY_CONFIG
    if not path.exists():
        raise TokenizerError(f"{folder}: it holds no {CONFIG}; give a folder of save_pretrained")
    try:
        config = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise TokenizerError(f"{path}: line {error.lineno}: {error.msg}") from error
    return _folder(folder, _checked(config, str(path)))


def _folder(folder: Path, config: Mapping[str, Any]) -> Folder:
    data = read_files(
        folder / config["vocab_file"],
        folder / config["merges_file"],
        unit=config["unit"],
        form=config["format"],
        special=tuple(config["special_tokens"]),
        pat_str=config["pat_str"],
    )
    bigrams = config["unicode_bigrams"]
    return Folder(
        data,
        Shape(
            None if bigrams is None else tuple(bigrams),
            config["unicode_bigram_mixed_boundary"],
            config["split_on_vocab_bigrams"],
        ),
    )


def _checked(config: object, where: str) -> Mapping[str, Any]:
    if not isinstance(config, dict):
        raise TokenizerError(f"{where}: it is not an object")
    members: dict[str, Any] = {
        "pat_str": None,
        "unicode_bigrams": None,
        "unicode_bigram_mixed_boundary": "keep",
        "split_on_vocab_bigrams": True,
        **cast("dict[str, Any]", config),
    }
    if members.get("version") != 1:
        raise TokenizerError(f"{where}: version {members.get('version')!r}; 1 is known")
    kinds: dict[str, type | tuple[type, ...]] = {
        "unit": str,
        "format": str,
        "vocab_file": str,
        "merges_file": str,
        "special_tokens": list,
        "pat_str": (str, type(None)),
        "unicode_bigrams": (list, type(None)),
        "split_on_vocab_bigrams": bool,
    }
    for name, kind in kinds.items():
        if not isinstance(members.get(name), kind):
            raise TokenizerError(f"{where}: {name} is {members.get(name)!r}")
    one_of(members["unit"], Unit, f"{where}: unit")
    one_of(members["format"], FileFormat, f"{where}: format")
    mixed = members["unicode_bigram_mixed_boundary"]
    one_of(mixed, UnicodeBigramMixedBoundary, f"{where}: unicode_bigram_mixed_boundary")
    for name in ("vocab_file", "merges_file"):
        path = Path(members[name])
        if path.is_absolute() or ".." in path.parts:
            raise TokenizerError(f"{where}: {name} leads out of the folder")
    for name in ("special_tokens", "unicode_bigrams"):
        if not all(isinstance(text, str) for text in members[name] or ()):
            raise TokenizerError(f"{where}: {name} holds something that is no text")
    return members
