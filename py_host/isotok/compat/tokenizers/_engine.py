"""A tokenizer.json compiled for `Tokenizer`: by the compiler, and what is done around it.

Decoders that the core does not have are run on the texts of tokens. A model without entries is
compiled as another that gives a token of its own for all text; that token is then left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from isotok._load import load
from isotok._tokenizer import Tokenizer as Opened
from isotok.compat.tokenizers._arguments import Input
from isotok.compat.tokenizers._columns import Column, Lazy, changed
from isotok.compat.tokenizers._content import Content
from isotok.compat.tokenizers._decode import decoded
from isotok.compat.tokenizers._file import File, without_last_bytes
from isotok.compat.tokenizers._run import BYTE_DECODER, BYTES
from isotok.compat.tokenizers._text import Engine
from isotok.compile.pretok.huggingface import GPT2
from isotok.compile.tokenizer_json.checked import flat
from isotok.compile.tokenizer_json.document import AddedToken as FileToken
from isotok.errors import Status, TokenizerError

Json = Mapping[str, Any]

_ISOLATED: Final = {"behavior": "Isolated", "invert": False}
_NOTHING: Final = "\ufdd0"
"""Begin of the text of a token for what is no token: not a character."""


@dataclass(frozen=True)
class Compiled:
    """A model that texts and ids can be given to.

    Parameters
    ----------
    file : File
    opened : isotok.Tokenizer
    stand_in : File or None
        What was compiled in place of a model without entries.
    decodes : bool
        The core does what the decoder does.
    """

    file: File
    opened: Opened
    stand_in: File | None = None
    decodes: bool = True

    def engine(self, flags: int) -> Engine:
        """Return what encodes."""
        backend = self.opened._backend  # pyright: ignore[reportPrivateUsage]
        if self.stand_in is None:
            return Engine(backend, self.file, flags)
        return _EmptyEngine(backend, self.stand_in, flags, self.file)

    def decode(self, ids: list[int], *, skip: bool) -> str:
        """Decode ids; those that are no token's are left out."""
        if self.decodes:
            return self.opened.decode(ids, skip_special_tokens=skip)
        texts = [text for text in map(self.file.token, ids) if text is not None]
        if skip:
            texts = [text for text in texts if text not in self._specials]
        return decoded(self.file.document.decoder, texts)

    @cached_property
    def _specials(self) -> frozenset[str]:
        return frozenset(one.content for one in self.file.added.values() if one.special)


def compiled(file: File) -> Compiled:
    """Compile a file.

    Raises
    ------
    TokenizerError
        isotok cannot reproduce something in it; the message says what.
    """
    if file.is_empty and file.kind in _ERRORS:
        stand_in = _stand_in(file)
        return Compiled(file, load(stand_in.fields()), stand_in, decodes=False)
    try:
        return Compiled(file, load(file.fields()))
    except TokenizerError as error:
        if error.status != Status.E_UNSUPPORTED:
            raise
        try:
            opened = load(_with_any_decoder(file).fields())
        except TokenizerError:
            raise error from None
        return Compiled(file, opened, decodes=False)


def _is_byte_level(file: File) -> bool:
    steps = flat(file.document.pre_tokenizer, "pre_tokenizer", "pretokenizers")
    return any(step["type"] == "ByteLevel" for _, step in steps)


def _with_any_decoder(file: File) -> File:
    return file.changed(decoder=BYTE_DECODER if _is_byte_level(file) else None)


# ---- Models without entries -----------------------------------------------------------

_ERRORS: Final[Mapping[str, str]] = {
    "BPE": "",
    "WordPiece": "WordPiece error: Missing [UNK] token from the vocabulary",
    "WordLevel": "WordLevel error: Missing [UNK] token from the vocabulary",
}
"""What such a model says to text; a BPE makes nothing of it."""


def _stand_in(file: File) -> File:
    """Return a file whose model gives ids below its size for all text that is no added token."""
    contents = {token.content for token in file.added.values()}
    members: dict[str, Any] = {"post_processor": None, "decoder": None}
    steps = [step for _, step in flat(file.document.pre_tokenizer, "", "pretokenizers")]
    if steps and steps[-1]["type"] == "ByteLevel" and not steps[-1].get("add_prefix_space", True):
        # it cuts the text and spells it, and how it is spelled does not matter
        cut = steps.pop().get("use_regex", True)
        steps += [{"type": "Split", "pattern": {"Regex": GPT2}, **_ISOLATED}] if cut else []
        members["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps} if steps else None
    if any(step["type"] == "ByteLevel" for step in steps):
        if not contents.isdisjoint(BYTES["vocab"]):
            raise NotImplementedError(
                "a BPE without entries behind ByteLevel with add_prefix_space, and an added token "
                "of one letter: isotok does not support this"
            )
        members |= {"model": BYTES, "decoder": BYTE_DECODER}
    else:
        members["model"] = _word_model(contents)
    members["normalizer"], spelled = without_last_bytes(file.document.normalizer)
    if spelled:
        _check_spelled(file.added.values())
    return file.changed(**members)


def _check_spelled(tokens: Iterable[FileToken]) -> None:
    for token in tokens:
        if token.normalized and (token.lstrip or token.rstrip or token.single_word):
            raise NotImplementedError(
                f"{token.content!r}, which is normalized by ByteLevel and takes account of what is "
                "beside it: isotok does not support this"
            )


def _word_model(contents: Collection[str]) -> Json:
    """Return a model for which every word is too long to be known."""
    nothing = _NOTHING
    while nothing in contents:
        nothing += _NOTHING
    return {
        "type": "WordPiece",
        "unk_token": nothing,
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 0,
        "vocab": {nothing: 0},
    }


@dataclass(frozen=True)
class _EmptyEngine(Engine):
    """An engine for a stand-in.

    Parameters
    ----------
    own : File
        What it stands in for.
    """

    own: File

    @cached_property
    def _shift(self) -> int:
        return len(self.file.texts)

    def encode(self, text: str, type_id: int, word: int | None = None) -> Content:
        """Encode a text; see `Engine`."""
        content = super().encode(text, type_id, word)
        ids = self._own_ids(content.ids)
        keep = [i for i, number in enumerate(content.ids) if number >= self._shift]

        def pick(made: list[Any]) -> list[Any]:
            return [made[i] for i in keep]

        return replace(
            content,
            ids=ids,
            type_ids=[type_id] * len(ids),
            tokens=self._tokens(ids, changed(content.tokens, pick)),
            words=changed(content.words, pick),
            offsets=changed(content.offsets, pick),
            special=[0] * len(ids),
            attention=[1] * len(ids),
        )

    def _tokens(self, ids: list[int], found: Column[str]) -> Column[str]:
        if not without_last_bytes(self.own.document.normalizer)[1]:
            return found
        return Lazy(lambda: [self.own.everything[number] for number in ids])

    def encode_fast(self, texts: Sequence[Input]) -> list[Content]:
        """Encode texts; see `Engine`."""
        found = super().encode_fast(texts)
        for content in found:
            content.ids = self._own_ids(content.ids)
            size = len(content.ids)
            for name in ("type_ids", "tokens", "words", "offsets", "special", "attention"):
                setattr(content, name, getattr(content, name)[:size])
        return found

    def _own_ids(self, ids: list[int]) -> list[int]:
        """Return ids of the own file; an error if the model would have one.

        Raises
        ------
        ValueError
            There is text, and no token for it.
        """
        shift = self._shift
        found = [number - shift for number in ids if number >= shift]
        error = self._error
        if error and len(found) < len(ids):
            raise ValueError(error)
        return found

    @cached_property
    def _error(self) -> str:
        model = self.own.document.model
        unknown = model.get("unk_token")
        if self.own.kind == "BPE" and unknown is not None:
            return f"Unk token `{unknown}` not found in the vocabulary"
        return _ERRORS[self.own.kind]
