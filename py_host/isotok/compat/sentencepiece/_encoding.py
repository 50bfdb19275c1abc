"""Encoding one text: ids, pieces or whole tokens; the best segmentation, samples, n best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from time import monotonic
from typing import Final

from isotok import _layout_gen as abi
from isotok.compat.sentencepiece._errors import internal
from isotok.compat.sentencepiece._model import BYTE, Model
from isotok.compat.sentencepiece._settings import is_too_late, next_seed
from isotok.compat.sentencepiece._tokens import Span, Tokens, character_size, with_surfaces

MOST_PATHS: Final = 512
_MATCHED: Final = (1, 4)  # types of pieces that stand for their text: NORMAL, USER_DEFINED


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to draw a segmentation: from the lattice, or from the n best."""

    nbest_size: int
    alpha: float

    def check(self, model: Model) -> None:
        """Raise what sentencepiece does for values and models that do not fit."""
        if not isfinite(self.alpha) or self.alpha < 0:
            raise internal(f"alpha is {self.alpha}; it must be finite and not negative")
        if self.nbest_size > MOST_PATHS:
            raise internal(f"nbest_size must be nbest_size <= {MOST_PATHS}")
        if model.algorithm not in ("unigram", "bpe"):
            raise internal("SampleEncode is not available for the current model.")

    def is_best(self, model: Model) -> bool:
        """Whether nothing is drawn."""
        return model.algorithm == "unigram" and self.nbest_size in (0, 1)

    def is_nbest(self, model: Model) -> bool:
        """Whether one of the n best is drawn."""
        return model.algorithm == "unigram" and self.nbest_size > 1

    def noise(self, model: Model) -> tuple[int, float]:
        """Flag and parameter for the core's sampler."""
        if model.algorithm == "bpe":
            return abi.DROPOUT, min(self.alpha, 1.0)
        return abi.SAMPLE, self.alpha


def encode_ids(model: Model, text: bytes, sampling: Sampling | None = None) -> list[int]:
    """Encode to ids."""
    backend = model.backend
    if sampling is not None:
        sampling.check(model)
        if sampling.is_nbest(model):
            return _drawn(model, text, sampling)
        if not sampling.is_best(model):
            return backend.sample(text, *sampling.noise(model), next_seed())
    return backend.encode(text, 0, 0)


def encode_pieces(model: Model, text: bytes, sampling: Sampling | None = None) -> list[bytes]:
    """Encode to pieces; an unknown one is the normalized text that it stands for."""
    if sampling is not None and sampling.is_nbest(model):
        return encode_tokens(model, text, sampling).pieces
    return _spans(model, text, sampling)[1]


def encode_tokens(model: Model, text: bytes, sampling: Sampling | None = None) -> Tokens:
    """Encode to tokens."""
    if sampling is not None and sampling.is_nbest(model):
        sampling.check(model)
        return Aligner(model, text).tokens(_drawn(model, text, sampling))
    ids, pieces, spans = _spans(model, text, sampling)
    return with_surfaces(model, text, ids, pieces, spans)


def offset_mapping(model: Model, text: bytes, as_bytes: bool) -> dict[str, object]:
    """Encode to ids, pieces and offsets; in code points and str, or in bytes."""
    if not as_bytes and not _is_utf8(text):
        return encode_tokens(model, text).offset_mapping(False)
    unit = abi.UNIT_BYTE if as_bytes else abi.UNIT_CODEPOINT
    ids, spans, unknown = model.backend.encode_spans(text, 0, unit)
    if unknown or as_bytes:
        data = _with_unknown(model, text, model.pieces(ids), unknown)
        pieces = data if as_bytes else [piece.decode() for piece in data]
    else:
        pieces = model.texts(ids)
    return {"ids": ids, "pieces": pieces, "offsets": spans}


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def nbest(model: Model, text: bytes, size: int) -> tuple[list[list[int]], list[float]]:
    """Ids and scores of the best segmentations."""
    if size > MOST_PATHS:
        raise internal(f"nbest_size must be nbest_size <= {MOST_PATHS}")
    if model.algorithm != "unigram":
        raise internal("NBestEncode is not available for the current model.")
    if size <= 1:
        return [encode_ids(model, text)], [0.0]
    begin = monotonic()
    found = model.backend.nbest(text, 0, size, 0.0, 0)
    return model.backend.nbest(text, 0, 1, 0.0, 0) if is_too_late(begin) else found


def nbest_tokens(model: Model, text: bytes, size: int) -> list[Tokens]:
    """Tokens and scores of the best segmentations."""
    found, scores = nbest(model, text, size)
    aligner = Aligner(model, text)
    result = [aligner.tokens(ids) for ids in found]
    for tokens, score in zip(result, scores, strict=True):
        tokens.score = score
    return result


def _drawn(model: Model, text: bytes, sampling: Sampling) -> list[int]:
    found, _ = model.backend.nbest(
        text, abi.SAMPLE, sampling.nbest_size, sampling.alpha, next_seed()
    )
    return found[0]


def _spans(
    model: Model, text: bytes, sampling: Sampling | None
) -> tuple[list[int], list[bytes], list[Span]]:
    backend = model.backend
    if sampling is not None:
        sampling.check(model)
    if sampling is None or sampling.is_best(model):
        ids, spans, unknown = backend.encode_spans(text, 0, abi.UNIT_BYTE)
    else:
        flag, noise = sampling.noise(model)
        ids, spans, unknown = backend.encode_spans(text, flag, abi.UNIT_BYTE, noise, next_seed())
    pieces = model.pieces(ids)
    return ids, _with_unknown(model, text, pieces, unknown), spans


def _with_unknown(
    model: Model, text: bytes, pieces: list[bytes], unknown: list[tuple[int, int, int]]
) -> list[bytes]:
    """Put the text that they stand for in place of unknown pieces."""
    if unknown:
        normalized, _ = model.backend.normalize(text, 0, abi.UNIT_BYTE, False)
        for position, begin, end in unknown:
            pieces[position] = normalized[begin:end]
    return pieces


class Aligner:
    """Finds the places of tokens in a text when only their ids are known.

    Known pieces have their own length. A run of unknown characters is one token, and where
    there are several ways to divide the text between such runs, equal ids get one way after
    the other: they are different segmentations.
    """

    def __init__(self, model: Model, text: bytes) -> None:
        self._model = model
        self._text = text
        self._normalized, self._origin = model.normalize(text)
        self._ways: dict[tuple[int, ...], Iterator[list[Span]]] = {}

    def tokens(self, ids: list[int]) -> Tokens:
        """Put the ids where they belong."""
        key = tuple(ids)
        if key not in self._ways:
            self._ways[key] = self._divisions(key)
        spans = next(self._ways[key], None)
        if spans is None:  # more equal ids than ways: begin again
            self._ways[key] = self._divisions(key)
            spans = next(self._ways[key], None) or self._end_to_end(key)
        pieces = [
            self._model.piece(token_id)
            if self._model.type(token_id) == BYTE
            else self._normalized[begin:end]
            for token_id, (begin, end) in zip(ids, spans, strict=True)
        ]
        return with_surfaces(self._model, self._text, ids, pieces, self._raw(ids, spans))

    def _raw(self, ids: Sequence[int], spans: Sequence[Span]) -> list[Span]:
        """Places in the raw text; bytes of a character lie at its beginning but the last."""
        origin = self._origin
        found: list[Span] = []
        at = 0
        while at < len(ids):
            begin, end = spans[at]
            count = 1
            if self._model.type(ids[at]) == BYTE:
                count = min(character_size(self._normalized[begin]), len(self._normalized) - begin)
                found += [(origin[begin], origin[begin])] * (count - 1)
                end = begin + count
            found.append((origin[begin], origin[end]))
            at += count
        return found

    def _end_to_end(self, ids: tuple[int, ...]) -> list[Span]:
        """Where nothing fits, which takes pieces that are no UTF-8: one after the other."""
        spans: list[Span] = []
        at = 0
        for token_id in ids:
            end = min(at + len(self._model.piece(token_id)), len(self._normalized))
            spans.append((at, end))
            at = end
        return spans

    def _divisions(self, ids: tuple[int, ...]) -> Iterator[list[Span]]:
        """Every way to divide the normalized text; depth first, the shortest runs first."""
        failed: set[tuple[int, int]] = set()
        spans: list[Span] = []
        # What to try next: for each token so far, the ends that are left for it.
        choices: list[Iterator[int]] = [self._ends(ids, 0, 0)] if ids else []
        successes: list[bool] = [False] * len(choices)
        if not ids and not self._normalized:
            yield []
        while choices:
            begin = spans[-1][1] if spans else 0
            end = next(choices[-1], None)
            position = len(choices) - 1
            if end is None:
                if not successes[-1]:
                    failed.add((position, begin))
                choices.pop()
                found = successes.pop()
                if choices:
                    successes[-1] |= found
                    spans.pop()
            elif position + 1 == len(ids):
                if end == len(self._normalized):
                    successes[-1] = True
                    yield [*spans, (begin, end)]
            elif (position + 1, end) not in failed:
                spans.append((begin, end))
                choices.append(self._ends(ids, position + 1, end))
                successes.append(False)

    def _ends(self, ids: tuple[int, ...], position: int, begin: int) -> Iterator[int]:
        """Ends that a token may have if it begins at `begin`."""
        model, text = self._model, self._normalized
        token_id = ids[position]
        if token_id == model.unk_id:
            yield from self._unknown_ends(begin)
            return
        piece = model.piece(token_id)
        if model.type(token_id) == BYTE:
            piece = bytes((int(piece[3:5], 16),))
        if text.startswith(piece, begin):
            end = begin + len(piece)
            # A piece that is no UTF-8 ends with the character that it begins, as there.
            while end < len(text) and model.type(token_id) != BYTE and text[end] & 0xC0 == 0x80:
                end += 1
            yield end

    def _unknown_ends(self, begin: int) -> Iterator[int]:
        text = self._normalized
        while begin < len(text):
            size = character_size(text[begin])
            if not self._is_unknown(text[begin : begin + size]):
                return
            begin = min(begin + size, len(text))
            yield begin

    def _is_unknown(self, character: bytes) -> bool:
        token_id = self._model.find(character)
        if token_id < 0 or self._model.is_unused(token_id):
            return True
        return self._model.type(token_id) not in _MATCHED
