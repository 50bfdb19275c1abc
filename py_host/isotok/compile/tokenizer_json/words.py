"""WordPiece and WordLevel of a tokenizer.json -> ModelSpec arrays."""

from __future__ import annotations

from isotok.compile._fields import append_fields
from isotok.compile._models import Words, wordlevel_fields, wordpiece_fields
from isotok.compile.tokenizer_json.added import numbered
from isotok.compile.tokenizer_json.checked import member, optional
from isotok.compile.tokenizer_json.document import AddedToken, Document
from isotok.compile.tokenizer_json.errors import unsupported
from isotok.compile.tokenizer_json.finish import finish
from isotok.compile.tokenizer_json.pipeline import Pipeline, read_pipeline
from isotok.compile.tokenizer_json.vocabulary import read_words


def word_piece_fields(document: Document) -> bytes:
    """Return a source for `compile_model` that gives the ids of WordPiece.

    Raises
    ------
    TokenizerError
        The model is broken, or does something that is not supported, which is named.
    """
    unk_token = optional(document.model, "unk_token", str, "[UNK]", "model")
    pipeline, vocabulary, added = _read(document, unk_token)
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
    unk_token = member(document.model, "unk_token", str, "model")
    pipeline, vocabulary, added = _read(document, unk_token)
    model = wordlevel_fields(
        vocabulary,
        unk_token,
        added={token.content: token.id for token in added},
        plain={token.content for token in added if not token.special},
        pretokenizer=pipeline.arrays(),
    )
    return _finish(model, document, pipeline, added, unk_token)


def _read(document: Document, unk_token: str) -> tuple[Pipeline, Words, tuple[AddedToken, ...]]:
    pipeline = read_pipeline(document)
    if pipeline.byte_level:
        raise unsupported("pre_tokenizer", "ByteLevel in front of a model of words")
    contents = {token.content for token in document.added_tokens}
    words, count = read_words(document, {unk_token, "", *contents})
    if not count:
        raise unsupported("model.vocab", "a vocabulary without entries")
    if "" in words.ids:
        raise unsupported("model.vocab", "an empty token")
    return pipeline, words, numbered(document, words.ids.get, count)


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
