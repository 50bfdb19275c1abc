"""WordPiece and WordLevel of a tokenizer.json -> ModelSpec arrays."""

from __future__ import annotations

from isotok.compile._fields import append_fields
from isotok.compile._models import wordlevel_fields, wordpiece_fields
from isotok.compile.tokenizer_json.added import numbered
from isotok.compile.tokenizer_json.checked import member, optional
from isotok.compile.tokenizer_json.document import AddedToken, Document
from isotok.compile.tokenizer_json.errors import unsupported
from isotok.compile.tokenizer_json.finish import finish
from isotok.compile.tokenizer_json.pipeline import Pipeline, read_pipeline
from isotok.compile.tokenizer_json.vocabulary import read_vocabulary


def word_piece_fields(document: Document) -> bytes:
    """Return a source for `compile_model` that gives the ids of WordPiece.

    Raises
    ------
    TokenizerError
        The model is broken, or does something that is not supported, which is named.
    """
    pipeline, vocabulary, added = _read(document)
    unk_token = optional(document.model, "unk_token", str, "[UNK]", "model")
    prefix = optional(document.model, "continuing_subword_prefix", str, "##", "model")
    limit = optional(document.model, "max_input_chars_per_word", int, 100, "model")
    model = wordpiece_fields(
        vocabulary,
        unk_token,
        prefix=prefix,
        max_chars=max(0, limit),
        added={token.content: token.id for token in added},
        plain={token.content for token in added if not token.special},
        pretokenizer=pipeline.arrays(),
    )
    return _finish(model, document, pipeline, added, unk_token)


def word_level_fields(document: Document) -> bytes:
    """Return a source for `compile_model` that gives the ids of WordLevel; errors as above."""
    pipeline, vocabulary, added = _read(document)
    unk_token = member(document.model, "unk_token", str, "model")
    model = wordlevel_fields(
        vocabulary,
        unk_token,
        added={token.content: token.id for token in added},
        plain={token.content for token in added if not token.special},
        pretokenizer=pipeline.arrays(),
    )
    return _finish(model, document, pipeline, added, unk_token)


def _read(document: Document) -> tuple[Pipeline, dict[str, int], tuple[AddedToken, ...]]:
    pipeline = read_pipeline(document)
    if pipeline.byte_level:
        raise unsupported("pre_tokenizer", "ByteLevel in front of a model of words")
    vocabulary = read_vocabulary(document)
    if not vocabulary:
        raise unsupported("model.vocab", "a vocabulary without entries")
    if "" in vocabulary:
        raise unsupported("model.vocab", "an empty token")
    return (
        pipeline,
        vocabulary,
        numbered(document, vocabulary.get, len(vocabulary)),
    )


def _finish(
    model: bytes,
    document: Document,
    pipeline: Pipeline,
    added: tuple[AddedToken, ...],
    unk_token: str,
) -> bytes:
    return finish(
        append_fields(model, pipeline.fields),
        document,
        added,
        byte_level=False,
        unk_token=unk_token,
    )
