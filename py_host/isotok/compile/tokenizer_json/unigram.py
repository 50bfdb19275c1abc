"""Unigram of a tokenizer.json -> ModelSpec arrays."""

from __future__ import annotations

from isotok.compile._fields import append_fields
from isotok.compile._models import unigram_fields
from isotok.compile.tokenizer_json.added import numbered
from isotok.compile.tokenizer_json.checked import maybe, optional, well_formed
from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.finish import finish
from isotok.compile.tokenizer_json.floats import read_float
from isotok.compile.tokenizer_json.parts import entries
from isotok.compile.tokenizer_json.pipeline import read_pipeline


def read_unigram(document: Document) -> bytes:
    """Return a source for `compile_model` that gives the ids of Unigram.

    Raises
    ------
    TokenizerError
        The model is broken, or does something that is not supported, which is named.
    """
    pipeline = read_pipeline(document)
    if pipeline.byte_level:
        raise unsupported("pre_tokenizer", "ByteLevel in front of Unigram")
    vocab = _read_scores(document)
    unk_id = maybe(document.model, "unk_id", int, "model")
    if unk_id is not None and not 0 <= unk_id < len(vocab):
        raise broken("model.unk_id", f"{unk_id} is not the place of an entry of the vocabulary")
    places = {text: number for number, (text, _) in enumerate(vocab)}
    added = numbered(document, places.get, len(vocab))
    model = unigram_fields(
        vocab,
        unk_id,
        byte_fallback=optional(document.model, "byte_fallback", bool, False, "model"),
        added={token.content: token.id for token in added},
        plain={token.content for token in added if not token.special},
        pretokenizer=pipeline.arrays(),
    )
    return finish(
        append_fields(model, pipeline.fields),
        document,
        added,
        byte_level=False,
        unk_token=None if unk_id is None else vocab[unk_id][0],
    )


def _read_scores(document: Document) -> list[tuple[str, float]]:
    span = document.large.get("model.vocab")
    if span is None or span.is_object:
        raise broken("model.vocab", "an array of pairs of a text and a score should be here")
    vocab: list[tuple[str, float]] = []
    for chunk in entries(document.data, span):
        for entry in chunk:
            place = f"model.vocab[{len(vocab)}]"
            match entry:
                case [str(text), int() | float() as score] if not isinstance(score, bool):
                    well_formed(text, place)
                    exact = isinstance(score, float) or abs(score) < 1 << 64
                    vocab.append((text, float(score) if exact else read_float(str(score))))
                case _:
                    raise broken(place, f"{shorten(entry)} is no pair of a text and a score")
    if not vocab:
        raise unsupported("model.vocab", "a vocabulary without entries")
    return vocab
