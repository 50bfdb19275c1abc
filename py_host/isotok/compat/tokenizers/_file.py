"""A tokenizer.json: its vocabulary, its added tokens, and writing it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, cast

from isotok.compat.tokenizers._added import AddedToken
from isotok.compat.tokenizers._json import dump
from isotok.compat.tokenizers._limits import Padding, Truncation
from isotok.compat.tokenizers._run import normalized
from isotok.compile.tokenizer_json import Document, read_document
from isotok.compile.tokenizer_json.added import spelled_by
from isotok.compile.tokenizer_json.byte_normalizer import settle_bytes
from isotok.compile.tokenizer_json.checked import Json, flat
from isotok.compile.tokenizer_json.document import AddedToken as FileToken
from isotok.compile.tokenizer_json.document import resolve_added
from isotok.compile.tokenizer_json.floats import read_float
from isotok.compile.tokenizer_json.models import model_fields, type_of_model
from isotok.compile.tokenizer_json.parts import entries
from isotok.compile.tokenizer_json.spellings import Images

_ORDER: Final = (
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
)


class File:
    """The bytes of a tokenizer.json and what is in them.

    Parameters
    ----------
    data : bytes
    scores : sequence of float, optional
        Of a Unigram that was not read from a file: most numbers of JSON, but not all, are read
        by tokenizers as what they were when they were written.
    """

    def __init__(self, data: bytes, scores: Sequence[float] | None = None) -> None:
        self.data: Final = data
        self.document: Final[Document] = replace(read_document(data), scores=scores)

    @property
    def kind(self) -> str:
        """The type of its model."""
        return type_of_model(self.document)

    @cached_property
    def is_empty(self) -> bool:
        """Whether the model has no entries."""
        span = self.document.large.get("model.vocab")
        return span is not None and not self.data[span.begin + 1 : span.end - 1].strip()

    def changed(self, **members: Any) -> File:
        """Return a file with other members."""
        whole: dict[str, Any] = json.loads(self.data, parse_float=read_float) | members
        scores = self.document.scores
        if "model" in members:
            model = members["model"]
            is_unigram = model["type"] == "Unigram"
            scores = [score for _, score in model["vocab"]] if is_unigram else None
        return File(dump(whole).encode(), scores)

    def changed_parts(self, members: Mapping[str, Any]) -> File:
        """Return a file with other components, in which added tokens have the ids that they have.

        Raises
        ------
        NotImplementedError
            With another model they would have others.
        """
        added = [_to_json(token) for token in self.added_by_id.values()]
        made = self.changed(**members, added_tokens=added)
        return _with_ids(made, self.added_by_id)

    def fields(self) -> bytes:
        """Return the source of a model without the post_processor: that is applied to encodings."""
        return model_fields(replace(self.document, post_processor=None))

    @cached_property
    def texts(self) -> dict[int, str]:
        """Texts of the model's vocabulary, by id."""
        span = self.document.large["model.vocab"]
        every: Iterable[list[Any]] = entries(self.data, span)
        if span.is_object:
            return {number: text for pairs in every for text, number in pairs}
        return dict(enumerate(cast("str", pair[0]) for pairs in every for pair in pairs))

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Ids of the model's vocabulary, by text."""
        return {text: number for number, text in self.texts.items()}

    @cached_property
    def added(self) -> dict[str, FileToken]:
        """Added tokens by text, with the ids that they have."""
        found = resolve_added(self.document.added_tokens, self.vocabulary.get, len(self.texts))
        return {token.content: token for token in found}

    @cached_property
    def added_by_id(self) -> dict[int, FileToken]:
        """Added tokens by id, in this order."""
        by_id = {token.id: token for token in self.added.values()}
        return dict(sorted(by_id.items()))

    @cached_property
    def is_unigram(self) -> bool:
        """Whether unknown text keeps its text."""
        return not self.document.large["model.vocab"].is_object

    @cached_property
    def stripping(self) -> dict[int, FileToken]:
        """Added tokens that take white space along."""
        return {k: one for k, one in self.added_by_id.items() if one.lstrip or one.rstrip}

    @cached_property
    def images(self) -> Images | None:
        """What the normalizer makes of characters, if that is the text of some added token."""
        document = settle_bytes(self.document)
        return spelled_by(document.added_tokens, document.normalizer)

    def decoded(self, token: FileToken) -> str:
        """Text that an added token decodes to."""
        if not token.normalized:
            return token.content
        normalizer = self.document.normalizer
        if without_last_bytes(normalizer)[1]:
            return normalized(cast("Json", normalizer), token.content)
        images = self.images
        return token.content if images is None else images.of(token.content)

    def token(self, number: int) -> str | None:
        """Text of an id."""
        found = self.added_by_id.get(number)
        return self.texts.get(number) if found is None else self.decoded(found)

    def number(self, token: str) -> int | None:
        """Id of a text."""
        found = self.added.get(token)
        return self.vocabulary.get(token) if found is None else found.id

    @cached_property
    def everything(self) -> dict[int, str]:
        """Texts by id, added tokens' included."""
        return self.texts | {k: self.decoded(token) for k, token in self.added_by_id.items()}

    def whole(self, truncation: Truncation | None, padding: Padding | None) -> dict[str, Any]:
        """Return the file's members with other settings."""
        whole: dict[str, Any] = json.loads(self.data, parse_float=read_float)
        whole["version"] = "1.0"
        whole["truncation"] = None if truncation is None else truncation.to_json()
        whole["padding"] = None if padding is None else padding.to_json()
        whole["added_tokens"] = [_to_json(token) for token in self.added_by_id.values()]
        return {name: whole.get(name) for name in _ORDER}

    def with_tokens(self, tokens: Iterable[AddedToken]) -> tuple[File, int]:
        """Return a file with more added tokens, and how many are new or changed."""
        size, by_id, by_text = len(self.texts), dict(self.added_by_id), dict(self.added)
        next_id = max(max(by_id, default=-1) + 1, size)
        changed = 0
        for token in tokens:
            members = token.__getstate__()
            before = by_text.get(token.content)
            if not token.content or (before and before == _file_token(members, before.id)):
                continue
            number = self.vocabulary.get(token.content) if before is None else before.id
            if number is None:
                number, next_id = next_id, next_id + 1
            by_id[number] = by_text[token.content] = _file_token(members, number)
            changed += 1
        made = self.changed(added_tokens=[_to_json(by_id[number]) for number in sorted(by_id)])
        return _with_ids(made, dict(sorted(by_id.items()))), changed


def _with_ids(made: File, tokens: Mapping[int, FileToken]) -> File:
    """Refuse a file in which added tokens would get other ids; NotImplementedError."""
    if made.added_by_id != tokens:
        raise NotImplementedError(
            "these tokens would get other ids in a file: the vocabulary has holes behind which "
            "tokens were added, or the model was changed after they were added"
        )
    return made


def without_last_bytes(normalizer: Json | None) -> tuple[Json | None, bool]:
    """Return a normalizer without the ByteLevel that it ends with, and whether it does."""
    steps = [step for _, step in flat(normalizer, "normalizer", "normalizers")]
    if not steps or steps[-1]["type"] != "ByteLevel":
        return normalizer, False
    return {"type": "Sequence", "normalizers": steps[:-1]}, True


def _file_token(members: Mapping[str, Any], number: int) -> FileToken:
    return FileToken(number, **members)


def _to_json(token: FileToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }


def added_token(token: FileToken) -> AddedToken:
    """Return the public form."""
    members = _to_json(replace(token))
    del members["id"]
    return AddedToken(**members)
