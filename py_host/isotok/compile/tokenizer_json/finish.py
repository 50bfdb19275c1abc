"""What every type of model has besides: added tokens, the template, the decoder."""

from __future__ import annotations

from collections.abc import Sequence

from isotok.compile._fields import append_fields
from isotok.compile.tokenizer_json.added import added_fields
from isotok.compile.tokenizer_json.around import (
    check_trimming,
    decoder_fields,
    read_template,
    template_fields,
)
from isotok.compile.tokenizer_json.document import AddedToken, Document
from isotok.compile.tokenizer_json.piece_decoders import texts_of


def finish(
    model: bytes,
    document: Document,
    added: Sequence[AddedToken],
    *,
    byte_level: bool,
    unk_token: str | None = None,
) -> bytes:
    """Return the fields of a model with those of all that is around it.

    Parameters
    ----------
    model : bytes
        Fields, as `pack_fields` returns them.
    document : Document
    added : sequence of AddedToken
        With the ids that tokenizers gives them.
    byte_level : bool
        Whether pieces are bytes.
    unk_token : str, optional
        What unknown text becomes.
    """
    template = read_template(document.post_processor)
    check_trimming(template, document, byte_level=byte_level)
    unk_special = any(token.special and token.content == unk_token for token in added)
    return append_fields(
        model,
        [
            *added_fields(added, document.normalizer),
            *template_fields(template),
            *decoder_fields(
                document.decoder,
                lambda: texts_of(model),
                byte_level=byte_level,
                unk_special=unk_special,
            ),
        ],
    )
