"""A tokenizer.json: its vocabulary, its added tokens, and writing it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, cast

from isotok.compat.tokenizers._added import AddedToken
from isotok.compat.tokenizers._limits import Padding, Truncation
from isotok.compile.tokenizer_json import Document, read_document
from isotok.compile.tokenizer_json.added import spelled_by
from isotok.compile.tokenizer_json.around import read_template
from isotok.compile.tokenizer_json.document import AddedToken as FileToken
from isotok.compile.tokenizer_json.document import resolve_added
from isotok.compile.tokenizer_json.models import model_fields
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
    """

    def __init__(self, data: bytes) -> None:
        self.data: Final = data
        self.document: Final[Document] = read_document(data)

    def fields(self) -> bytes:
        """Return the source of a model without the post_processor: that is applied to encodings."""
        read_template(self.document.post_processor)  # refused here, if it is
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
        return spelled_by(self.document.added_tokens, self.document.normalizer)

    def decoded(self, token: FileToken) -> str:
        """Text that an added token decodes to."""
        images = self.images if token.normalized else None
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

    def write(self, truncation: Truncation | None, padding: Padding | None, *, pretty: bool) -> str:
        """Return the file with other settings."""
        whole: dict[str, Any] = json.loads(self.data)
        whole["version"] = "1.0"
        whole["truncation"] = None if truncation is None else truncation.to_json()
        whole["padding"] = None if padding is None else padding.to_json()
        whole["added_tokens"] = [_to_json(token) for token in self.added_by_id.values()]
        ordered = {name: whole.get(name) for name in _ORDER}
        if pretty:
            return json.dumps(ordered, ensure_ascii=False, indent=2)
        return json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))

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
        whole: dict[str, Any] = json.loads(self.data)
        whole["added_tokens"] = [_to_json(by_id[number]) for number in sorted(by_id)]
        made = File(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode())
        if made.added_by_id != dict(sorted(by_id.items())):
            raise NotImplementedError(
                "these tokens would get other ids in a file: the vocabulary has holes behind which "
                "tokens were added"
            )
        return made, changed


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
