"""BPE models of a tokenizer.json -> ModelSpec arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile._fields import (
    append_fields,
    byte_level_fields,
    pack_fields,
    pretokenizer_fields,
    scalar,
)
from isotok.compile.normalizers.program import cuts_spaces
from isotok.compile.pretok.arrays import make_arrays
from isotok.compile.pretok.chain import make_chain
from isotok.compile.pretok.huggingface import WHOLE
from isotok.compile.tokenizer_json.added import numbered
from isotok.compile.tokenizer_json.affixes import (
    Affixes,
    check_affixes,
    is_end_of_bytes,
    needed_bytes,
)
from isotok.compile.tokenizer_json.bytes_of_letters import bytes_of, is_spelled
from isotok.compile.tokenizer_json.checked import maybe, optional
from isotok.compile.tokenizer_json.document import AddedToken, Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.finish import finish
from isotok.compile.tokenizer_json.merges import Splits, make_splits, read_merges
from isotok.compile.tokenizer_json.pipeline import Pipeline, read_pipeline
from isotok.compile.tokenizer_json.vocabulary import read_vocabulary

_BYTE_TOKENS: Final = [f"<0x{byte:02X}>" for byte in range(256)]
_LONGEST: Final = 7999


@dataclass(frozen=True)
class Options:
    """Members of a BPE model.

    Parameters
    ----------
    unk_token : str or None
        What a character that is not in the vocabulary becomes.
    fuse_unk : bool
        A run of such characters becomes one.
    byte_fallback : bool
        Such a character becomes its bytes' tokens instead.
    ignore_merges : bool
        A pre-token that is in the vocabulary is that token.
    affixes : Affixes
        Of symbols behind the first one of a pre-token, and of the last one.
    """

    unk_token: str | None
    fuse_unk: bool
    byte_fallback: bool
    ignore_merges: bool
    affixes: Affixes


@dataclass
class Pieces:
    """Texts and types by id; `given` is 1 for special tokens that other text can give too."""

    texts: list[bytes]
    types: bytearray
    given: array[float]


def bpe_fields(document: Document) -> bytes:
    """Return a source for `compile_model` that gives the ids of tokenizers.

    Raises
    ------
    TokenizerError
        The model is broken, or does something that is not supported, which is named.
    """
    options = _read_options(document)
    pipeline = read_pipeline(document)
    vocabulary = read_vocabulary(document)
    if not vocabulary:
        raise unsupported("model.vocab", "a vocabulary without entries")
    added = numbered(document, vocabulary.get, len(vocabulary))
    size = 1 + max((*vocabulary.values(), *(token.id for token in added)))
    byte_level = pipeline.byte_level
    if options.affixes:
        whole = options.ignore_merges
        check_affixes(options.affixes, vocabulary, byte_level=byte_level, ignore_merges=whole)
    read = _byte_level if byte_level else _characters
    return finish(
        append_fields(read(document, options, pipeline, vocabulary, added, size), pipeline.fields),
        document,
        added,
        byte_level=byte_level,
        unk_token=options.unk_token,
    )


def _read_options(document: Document) -> Options:
    model = document.model
    dropout = model.get("dropout")
    if dropout is not None and (isinstance(dropout, (bool, str)) or dropout != 0):
        raise unsupported("model.dropout", f"a dropout of {shorten(dropout)}")
    affixes = Affixes(
        maybe(model, "continuing_subword_prefix", str, "model") or "",
        maybe(model, "end_of_word_suffix", str, "model") or "",
    )
    return Options(
        maybe(model, "unk_token", str, "model"),
        optional(model, "fuse_unk", bool, False, "model"),
        optional(model, "byte_fallback", bool, False, "model"),
        optional(model, "ignore_merges", bool, False, "model"),
        affixes,
    )


# ---- Bytes ----------------------------------------------------------------------------


def _byte_level(
    document: Document,
    options: Options,
    pipeline: Pipeline,
    vocabulary: dict[str, int],
    added: Iterable[AddedToken],
    size: int,
) -> bytes:
    if options.byte_fallback:
        raise unsupported("model.byte_fallback", "byte_fallback with ByteLevel")
    affixes = options.affixes
    apart = {
        text
        for text in vocabulary
        if not is_spelled(text) or is_end_of_bytes(affixes, bytes_of(text))
    }
    merges = read_merges(
        document, vocabulary, measure=len, apart=apart, affixes=affixes, refused=set()
    )
    pieces = _empty(size)
    for text, number in _taken(vocabulary):
        kind = abi.UNUSED if text in apart else abi.NORMAL
        _put(pieces, number, bytes_of(text), kind)
    splits = make_splits(merges, size)
    for token in added:
        _need_bytes_of(token)
        is_given = pieces.types[token.id] == abi.NORMAL and (
            options.ignore_merges or splits.counts[token.id] or affixes.is_symbol(token.content)
        )
        _put_added(pieces, token, is_given=bool(is_given))
    _need_bytes(pieces, affixes)
    return byte_level_fields(
        pieces.texts,
        bytes(pieces.types),
        pieces.given,
        pipeline.arrays() or _one_pretoken(),
        parity=abi.PARITY_HF,
        whole=options.ignore_merges,
        splits=(splits.counts, splits.splits),
        affixes=affixes.field(unknown=False, fused=False, byte_level=True) if affixes else b"",
    )


def _need_bytes_of(token: AddedToken) -> None:
    """Refuse a token that is not found by its bytes."""
    if bytes_of(token.content) != token.content.encode():
        raise unsupported(
            "added_tokens", f"{shorten(token.content)}, which ByteLevel decodes to another text"
        )


def _need_bytes(pieces: Pieces, affixes: Affixes) -> None:
    longest = 1 + len(bytes_of(affixes.prefix) + bytes_of(affixes.suffix))
    there = {
        text
        for text, kind, given in zip(pieces.texts, pieces.types, pieces.given, strict=True)
        if len(text) <= longest and (kind == abi.NORMAL or given)
    }
    for where, byte, symbol in needed_bytes(affixes):
        if symbol not in there:
            what = f"a byte-level vocabulary without the byte {byte:#04x}{where}"
            raise unsupported("model.vocab", what)


def _one_pretoken() -> tuple[bytes, bytes, bytes]:
    return make_arrays(make_chain((WHOLE,))).to_bytes()


# ---- Characters -----------------------------------------------------------------------


def _characters(
    document: Document,
    options: Options,
    pipeline: Pipeline,
    vocabulary: dict[str, int],
    added: Iterable[AddedToken],
    size: int,
) -> bytes:
    options = _unknowns(options, vocabulary)
    affixes = options.affixes
    refused = {options.unk_token, *(_BYTE_TOKENS if options.byte_fallback else ())}
    fallbacks = [vocabulary[text] for text in _BYTE_TOKENS] if options.byte_fallback else []
    unk_id = None if options.unk_token is None else vocabulary[options.unk_token]
    merges = read_merges(
        document, vocabulary, measure=_utf8_size, apart={""}, affixes=affixes, refused=refused
    )
    pieces = _empty(size)
    for text, number in _taken(vocabulary):
        _put(pieces, number, text.encode(), abi.NORMAL)
    splits = make_splits(merges, size)
    for token in added:
        is_given = pieces.types[token.id] == abi.NORMAL and (
            splits.counts[token.id] or affixes.is_symbol(token.content)
        )
        _put_added(pieces, token, is_given=bool(is_given))
    for number in fallbacks:
        pieces.types[number] = abi.BYTE
    if unk_id is not None:
        pieces.types[unk_id] = abi.UNKNOWN
    _need_texts(pieces)
    return pack_fields(list(_character_fields(options, pipeline, pieces, splits)))


def _character_fields(
    options: Options, pipeline: Pipeline, pieces: Pieces, splits: Splits
) -> Iterator[tuple[int, array[int] | array[float] | bytes]]:
    yield abi.FIELD_ALGORITHM, scalar(abi.BPE)
    yield abi.FIELD_PARITY, scalar(abi.PARITY_HF)
    yield abi.FIELD_NORMALIZER_FLAGS, scalar(0)
    yield abi.FIELD_BYTE_FALLBACK, scalar(int(options.byte_fallback))
    yield abi.FIELD_PIECE_TEXT, b"".join(pieces.texts)
    yield abi.FIELD_PIECE_SIZES, array("H", map(len, pieces.texts))
    yield abi.FIELD_SCORES, pieces.given
    yield abi.FIELD_TYPES, bytes(pieces.types)
    yield abi.FIELD_UNK_SURFACE, (options.unk_token or "").encode()
    yield abi.FIELD_MERGE_COUNTS, splits.counts
    yield abi.FIELD_MERGE_SPLITS, splits.splits
    if options.byte_fallback:
        if not (pipeline.escapes and cuts_spaces(pipeline.stages)):
            yield from pretokenizer_fields(pipeline.arrays())
    elif pipeline.stages or options.affixes or not options.fuse_unk:  # what a pre-token is matters
        yield from pretokenizer_fields(pipeline.arrays() or _one_pretoken())
        affixes = options.affixes.field(unknown=True, fused=options.fuse_unk, byte_level=False)
        yield abi.FIELD_CONTINUATION, affixes


def _unknowns(options: Options, vocabulary: Mapping[str, int]) -> Options:
    """Settle what becomes of unknown characters, or refuse it."""
    if options.ignore_merges:
        raise unsupported("model.ignore_merges", "ignore_merges without ByteLevel")
    if options.byte_fallback and options.affixes:
        what = "byte_fallback with continuing_subword_prefix or end_of_word_suffix"
        raise unsupported("model.byte_fallback", what)
    if options.byte_fallback:
        missing = next((text for text in _BYTE_TOKENS if text not in vocabulary), None)
        if missing is not None:
            raise unsupported("model.byte_fallback", f"byte_fallback without {missing}")
        known = options.unk_token in vocabulary
        return options if known else replace(options, unk_token=None)
    if options.unk_token is None:
        raise unsupported("model.unk_token", "unknown characters that vanish, without unk_token")
    if options.unk_token not in vocabulary:
        raise broken("model.unk_token", f"{options.unk_token!r} is not in the vocabulary")
    if options.affixes.is_symbol(options.unk_token):
        raise unsupported("model.unk_token", "an unk_token of one character")
    return options


def _need_texts(pieces: Pieces) -> None:
    for number, text in enumerate(pieces.texts):
        if not text:
            raise unsupported("model.vocab", f"no text, or an empty one, with the id {number}")


# ---- Pieces ---------------------------------------------------------------------------


def _taken(vocabulary: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the entries of a map, which gives up its memory: it is not needed any more."""
    while vocabulary:
        yield vocabulary.popitem()


def _empty(size: int) -> Pieces:
    return Pieces([b""] * size, bytearray([abi.UNUSED]) * size, array("f", bytes(4 * size)))


def _put(pieces: Pieces, number: int, text: bytes, kind: int) -> None:
    if len(text) > _LONGEST:
        raise unsupported("model.vocab", f"a token of more than {_LONGEST} bytes")
    pieces.texts[number] = text
    pieces.types[number] = kind if text else abi.UNUSED


def _put_added(pieces: Pieces, token: AddedToken, *, is_given: bool) -> None:
    """Set the type of an added token; what the model itself gives goes on being a piece."""
    content = token.content.encode()
    if pieces.texts[token.id] not in (b"", content):
        raise unsupported(
            "added_tokens", f"{shorten(token.content)}, whose id {token.id} is another token's"
        )
    if token.special:
        _put(pieces, token.id, content, abi.CONTROL)
        pieces.given[token.id] = is_given
    elif not is_given:
        _put(pieces, token.id, content, abi.USER_DEFINED)


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
