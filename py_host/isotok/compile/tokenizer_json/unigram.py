"""Unigram of a tokenizer.json -> ModelSpec arrays."""

from __future__ import annotations

from array import array
from collections.abc import Collection

from isotok.compile._fields import append_fields
from isotok.compile._models import Words, scored_fields
from isotok.compile._texts import Texts
from isotok.compile.tokenizer_json.added import numbered
from isotok.compile.tokenizer_json.checked import maybe, optional, well_formed
from isotok.compile.tokenizer_json.document import Document
from isotok.compile.tokenizer_json.errors import broken, shorten, unsupported
from isotok.compile.tokenizer_json.finish import finish
from isotok.compile.tokenizer_json.floats import read_float
from isotok.compile.tokenizer_json.parts import entries
from isotok.compile.tokenizer_json.pipeline import read_pipeline
from isotok.compile.tokenizer_json.vocabulary import MOST_ENTRIES


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
    wanted = {token.content for token in document.added_tokens}
    words, scores = _read_scores(document, wanted)
    if document.scores is not None:
        scores = array("d", document.scores)
    unk_id = maybe(document.model, "unk_id", int, "model")
    if unk_id is not None and not 0 <= unk_id < len(scores):
        raise broken("model.unk_id", f"{unk_id} is not the place of an entry of the vocabulary")
    added = numbered(document, words.ids.get, len(scores))
    unk_token = None if unk_id is None else words.texts[unk_id].decode()
    model = scored_fields(
        words,
        scores,
        unk_id,
        (
            {token.content: token.id for token in added},
            {token.content for token in added if not token.special},
        ),
        byte_fallback=optional(document.model, "byte_fallback", bool, False, "model"),
        pretokenizer=pipeline.arrays(),
    )
    return finish(
        append_fields(model, pipeline.fields),
        document,
        added,
        byte_level=False,
        unk_token=unk_token,
    )


def _read_scores(document: Document, wanted: Collection[str]) -> tuple[Words, array[float]]:
    """Read pairs of a text and a score, with the ids of some texts: of equal ones the last."""
    span = document.large.get("model.vocab")
    if span is None or span.is_object:
        raise broken("model.vocab", "an array of pairs of a text and a score should be here")
    texts, scores, ids = Texts(), array("d"), dict[str, int]()
    for chunk in entries(document.data, span):
        some: list[bytes] = []
        for entry in chunk:
            place = f"model.vocab[{len(scores)}]"
            match entry:
                case [str(text), int() | float() as score] if not isinstance(score, bool):
                    well_formed(text, place)
                    if text in wanted:
                        ids[text] = len(scores)
                    exact = isinstance(score, float) or abs(score) < 1 << 64
                    some.append(text.encode())
                    scores.append(float(score) if exact else read_float(str(score)))
                case _:
                    raise broken(place, f"{shorten(entry)} is no pair of a text and a score")
        texts.extend(some)
        if len(scores) > MOST_ENTRIES:
            raise unsupported(span.path, f"more than {MOST_ENTRIES:,} entries")
    if not scores:
        raise unsupported("model.vocab", "a vocabulary without entries")
    return Words(texts, ids), scores
