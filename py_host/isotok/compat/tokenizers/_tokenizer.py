"""`Tokenizer`: the class of tokenizers over an isotok tokenizer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from isotok import _layout_gen as abi
from isotok.compat.tokenizers import _content, _limits
from isotok.compat.tokenizers._added import AddedToken, make
from isotok.compat.tokenizers._arguments import (
    Input,
    batch_input,
    need_bool,
    need_sequence,
    need_str,
    one_input,
    shown_as,
    u32,
    u32_list,
)
from isotok.compat.tokenizers._component import Component, need_component
from isotok.compat.tokenizers._content import Content
from isotok.compat.tokenizers._decoders import Decoder
from isotok.compat.tokenizers._encoding import Encoding, content_of
from isotok.compat.tokenizers._engine import Compiled, compiled
from isotok.compat.tokenizers._file import File, added_token
from isotok.compat.tokenizers._json import dump
from isotok.compat.tokenizers._parts import EMPTY, Parts
from isotok.compat.tokenizers._processors import without_processor
from isotok.compat.tokenizers._shown import shown_tokenizer
from isotok.compat.tokenizers._text import Engine
from isotok.compat.tokenizers.models import Model
from isotok.compat.tokenizers.normalizers import Normalizer
from isotok.compat.tokenizers.pre_tokenizers import PreTokenizer
from isotok.compat.tokenizers.processors import PostProcessor
from isotok.errors import TokenizerError

C = TypeVar("C", bound=Component)


class Tokenizer:
    """Text to tokens and back, with the methods, arguments, results and errors of tokenizers.

    Made by `from_file`, `from_str` and `from_buffer`, or of a model and other components; it is
    compiled when it is first used, and again when it was changed. Which back end runs it is what
    the environment variable ISOTOK_BACKEND says, as for `isotok.load`.

    Parameters
    ----------
    model : Model
    """

    _parts: Parts
    _compiled: tuple[Compiled, Engine, int] | None = None
    _truncation: _limits.Truncation | None = None
    _padding: _limits.Padding | None = None
    _encode_special_tokens: bool = False

    def __init__(self, model: Model) -> None:
        self._parts = Parts(File(EMPTY))
        self._parts.put("model", need_component(Model, model))

    # -- from and to JSON -----------------------------------------------------------

    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """Make a tokenizer from a tokenizer.json that is a str."""
        return _make(need_str(json, "json").encode())

    @staticmethod
    def from_file(path: str) -> Tokenizer:
        """Make a tokenizer from a tokenizer.json."""
        return _make(Path(need_str(path, "path")).read_bytes())

    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """Make a tokenizer from a tokenizer.json that is bytes."""
        if not isinstance(buffer, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(buffer).__name__
            raise TypeError(f"argument 'buffer': '{kind}' object is not 'bytes'")
        try:
            return _make(buffer)
        except TokenizerError as error:
            raise ValueError(f"Cannot instantiate Tokenizer from buffer: {error}") from error

    @staticmethod
    def from_pretrained(
        identifier: str, revision: str = "main", token: str | None = None
    ) -> NoReturn:
        """Refuse: nothing is downloaded here."""
        raise NotImplementedError(
            f"isotok downloads nothing: get tokenizer.json of {identifier!r} (for example with "
            "huggingface_hub.hf_hub_download) and pass its path to Tokenizer.from_file"
        )

    def to_str(self, pretty: bool = False) -> str:
        """Return the tokenizer as a tokenizer.json."""
        pretty = need_bool(pretty, "pretty")
        return dump(self._document(), pretty=pretty)

    def save(self, path: str, pretty: bool = True) -> None:
        """Write the tokenizer to a file, as a tokenizer.json."""
        text = self.to_str(pretty)
        Path(need_str(path, "path")).write_text(text, encoding="utf-8", newline="")

    def __getstate__(self) -> bytes:
        """Return the tokenizer as a tokenizer.json."""
        return self.to_str().encode()

    def __setstate__(self, state: bytes) -> None:
        """Become another tokenizer."""
        file = File(state)
        self._parts = Parts(file)
        self._compiled = None
        self._truncation = _limits.read_truncation(file.document.truncation)
        self._padding = _limits.read_padding(file.document.padding)

    def __repr__(self) -> str:
        """Return the tokenizer with all that it holds."""
        return shown_tokenizer(self._document(), short=False)

    def __str__(self) -> str:
        """Return the tokenizer with the beginnings of what it holds."""
        return shown_tokenizer(self._document(), short=True)

    def _document(self) -> dict[str, Any]:
        return self._parts.document(self._truncation, self._padding)

    @property
    def _file(self) -> File:
        return self._parts.file

    @property
    def _engine(self) -> Engine:
        return self._model()[1]

    def _model(self) -> tuple[Compiled, Engine]:
        """Return the model as it is now, compiled when it is first asked for."""
        file, made = self._parts.file, self._compiled
        generation = self._parts.generation
        if made is None or made[2] != generation:
            self._parts.check()
            made = *self._with_engine(compiled(file)), generation
            self._compiled = made
        return made[:2]

    def _with_engine(self, model: Compiled) -> tuple[Compiled, Engine]:
        flags = abi.NO_SPECIAL if self._encode_special_tokens else abi.SPECIAL
        return model, model.engine(flags | abi.NO_TEMPLATE)

    # -- components -----------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model; changes of it are noticed."""
        return cast("Model", self._parts.get("model"))

    @model.setter
    def model(self, model: Model) -> None:
        self._parts.put("model", need_component(Model, model))

    @property
    def normalizer(self) -> Normalizer | None:
        """What is done to a text before anything else; changes of it are noticed."""
        return self._parts.get("normalizer")

    @normalizer.setter
    def normalizer(self, normalizer: Normalizer | None) -> None:
        self._parts.put("normalizer", _or_none(Normalizer, normalizer))

    @property
    def pre_tokenizer(self) -> PreTokenizer | None:
        """What cuts a text into pieces for the model; changes of it are noticed."""
        return self._parts.get("pre_tokenizer")

    @pre_tokenizer.setter
    def pre_tokenizer(self, pretok: PreTokenizer | None) -> None:
        self._parts.put("pre_tokenizer", _or_none(PreTokenizer, pretok))

    @property
    def post_processor(self) -> PostProcessor | None:
        """What is put around a text, or a pair; changes of it are noticed."""
        return self._parts.get("post_processor")

    @post_processor.setter
    def post_processor(self, processor: PostProcessor | None) -> None:
        self._parts.put("post_processor", _or_none(PostProcessor, processor))

    @property
    def decoder(self) -> Decoder | None:
        """What makes a text of tokens; changes of it are noticed."""
        return self._parts.get("decoder")

    @decoder.setter
    def decoder(self, decoder: Decoder | None) -> None:
        self._parts.put("decoder", _or_none(Decoder, decoder))

    # -- vocabulary -----------------------------------------------------------------

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the ids of all tokens, by their texts."""
        found = dict(self._file.vocabulary)
        if need_bool(with_added_tokens, "with_added_tokens"):
            found.update((text, token.id) for text, token in self._file.added.items())
        return found

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens."""
        size = len(self._file.texts)
        if need_bool(with_added_tokens, "with_added_tokens"):
            size += len(self._file.added.keys() - self._file.vocabulary.keys())
        return size

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Return the added tokens by their ids."""
        return {k: added_token(token) for k, token in self._file.added_by_id.items()}

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a text, if it is a token."""
        return self._file.number(need_str(token, "token"))

    def id_to_token(self, id: int) -> str | None:
        """Return the text of an id, if it is a token's."""
        return self._file.token(u32(id, "id"))

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens, or give them other properties; returns how many.

        The model is compiled again.
        """
        return self._add([_token(token, special=False) for token in _need_list(tokens)])

    def add_special_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add special tokens, or make tokens special; returns how many.

        The model is compiled again.
        """
        return self._add([_token(token, special=True) for token in _need_list(tokens)])

    def _add(self, tokens: list[AddedToken]) -> int:
        file, changed = self._parts.file.with_tokens(tokens)
        if changed:
            self._parts.take(file)
        return changed

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in a text are text like others."""
        return self._encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._encode_special_tokens = need_bool(value, "value")
        made = self._compiled
        if made is not None:
            self._compiled = *self._with_engine(made[0]), made[2]

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens are put around a text, or around a pair."""
        is_pair = need_bool(is_pair, "is_pair")
        processor = self._parts.processor
        return 0 if processor is None else processor.pair if is_pair else processor.single

    # -- settings -------------------------------------------------------------------

    @property
    def truncation(self) -> dict[str, Any] | None:
        """How texts are truncated, if they are."""
        return None if self._truncation is None else self._truncation.to_dict()

    @shown_as("max_length", stride=0, strategy="longest_first", direction="right")
    def enable_truncation(self, max_length: int, **kwargs: Any) -> None:
        """Truncate texts from now on.

        Parameters
        ----------
        max_length : int
            With the tokens that are put around.
        stride : int
            Tokens that each overflowing part has in common with the one before it.
        strategy : {"longest_first", "only_first", "only_second"}
            Which text of a pair is truncated.
        direction : {"right", "left"}
            Where tokens are cut off.

        Raises
        ------
        ValueError
            The stride is too large.
        """
        truncation = _limits.truncation_of(max_length, kwargs)
        size = self.num_special_tokens_to_add(False)
        effective = truncation.shorter(size).max_length
        if effective < truncation.stride:
            raise ValueError(
                f"tokenizer stride set to {truncation.stride}, which is greater than or equal to "
                f"its effective max length of {effective} (= {truncation.max_length} original max "
                f"length - {size} added special tokens), "
            )
        self._truncation = truncation

    def no_truncation(self) -> None:
        """Truncate nothing from now on."""
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """How texts are padded, if they are."""
        return None if self._padding is None else self._padding.to_dict()

    @shown_as(
        direction="right",
        pad_id=0,
        pad_type_id=0,
        pad_token="[PAD]",
        length=None,
        pad_to_multiple_of=None,
    )
    def enable_padding(self, **kwargs: Any) -> None:
        """Pad texts from now on.

        Parameters
        ----------
        direction : {"right", "left"}
            Where the padding goes.
        pad_id, pad_type_id : int
        pad_token : str
        length : int, optional
            None: as long as the longest of a batch.
        pad_to_multiple_of : int, optional
        """
        self._padding = _limits.padding_of(kwargs)

    def no_padding(self) -> None:
        """Pad nothing from now on."""
        self._padding = None

    # -- encode ---------------------------------------------------------------------

    def encode(
        self,
        sequence: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Encode a text, or a pair.

        Parameters
        ----------
        sequence, pair : str, or list of str
        is_pretokenized : bool
            The texts are lists of words.
        add_special_tokens : bool
            Put the tokens of the template around them.
        """
        words = need_bool(is_pretokenized, "is_pretokenized")
        add = need_bool(add_special_tokens, "add_special_tokens")
        first = one_input(sequence, words)
        second = None if pair is None else one_input(pair, words)
        return Encoding._of(self._encode(first, second, add))  # pyright: ignore[reportPrivateUsage]

    def encode_batch(
        self,
        input: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Encode texts and pairs.

        Parameters
        ----------
        input : list
            Texts, and tuples or lists of two.
        is_pretokenized, add_special_tokens : bool
            As in `encode`.
        """
        inputs, add = _batch(input, is_pretokenized, add_special_tokens)
        return self._padded([self._encode(first, second, add) for first, second in inputs])

    def encode_batch_fast(
        self,
        input: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Encode texts and pairs to ids: offsets, words and the texts of tokens are left out.

        Parameters
        ----------
        input, is_pretokenized, add_special_tokens
            As in `encode_batch`.
        """
        inputs, add = _batch(input, is_pretokenized, add_special_tokens)
        every = [one for both in inputs for one in both if one is not None]
        following = iter(self._engine.encode_fast(every))
        return self._padded(
            [
                self._around(next(following), None if second is None else next(following), add)
                for _, second in inputs
            ]
        )

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncate encodings, put the template around them, and pad them.

        Parameters
        ----------
        encoding, pair : Encoding
        add_special_tokens : bool
        """
        both = [content_of(one, name) for one, name in ((encoding, "encoding"), (pair, "pair"))]
        if both[0] is None:
            raise TypeError("argument 'encoding': 'NoneType' object is not an 'Encoding'")
        add = need_bool(add_special_tokens, "add_special_tokens")
        return Encoding._of(self._around(both[0], both[1], add))  # pyright: ignore[reportPrivateUsage]

    def _encode(self, first: Input, second: Input | None, add: bool) -> Content:
        one = self._one(first, 0)
        return self._around(one, None if second is None else self._one(second, 1), add)

    def _one(self, text: Input, type_id: int) -> Content:
        if isinstance(text, str):
            return self._engine.encode(text, type_id)
        words = (self._engine.encode(word, type_id, i) for i, word in enumerate(text))
        return _content.flat(words)

    def _around(self, one: Content, other: Content | None, add: bool) -> Content:
        truncation, processor = self._truncation, self._parts.processor
        if truncation is not None:
            size = self.num_special_tokens_to_add(other is not None) if add else 0
            one, other = truncation.shorter(size).apply(one, other)
        if processor is None:
            result = without_processor(one, other)
        else:
            result = processor.process(one, other, add)
        return result if self._padding is None else self._padding.apply([result])[0]

    def _padded(self, contents: list[Content]) -> list[Encoding]:
        padded = contents if self._padding is None else self._padding.apply(contents)
        return [Encoding._of(one) for one in padded]  # pyright: ignore[reportPrivateUsage]

    # -- decode ---------------------------------------------------------------------

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Decode ids to text; those that are no token's are left out."""
        skip = need_bool(skip_special_tokens, "skip_special_tokens")
        return self._decode(u32_list(ids, "ids"), skip)

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Decode lists of ids to texts."""
        skip = need_bool(skip_special_tokens, "skip_special_tokens")
        every = [u32_list(ids, "sequences") for ids in need_sequence(sequences, "sequences")]
        return [self._decode(ids, skip) for ids in every]

    def _decode(self, ids: list[int], skip: bool) -> str:
        return self._model()[0].decode(ids, skip=skip)

    # -- in other threads ---------------------------------------------------------------

    async def async_encode(
        self,
        sequence: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Encode in another thread."""
        return await asyncio.to_thread(
            self.encode, sequence, pair, is_pretokenized, add_special_tokens
        )

    async def async_encode_batch(
        self,
        input: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Encode a batch in another thread."""
        return await asyncio.to_thread(
            self.encode_batch, input, is_pretokenized, add_special_tokens
        )

    async def async_encode_batch_fast(
        self,
        input: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Encode a batch to ids in another thread."""
        return await asyncio.to_thread(
            self.encode_batch_fast, input, is_pretokenized, add_special_tokens
        )

    async def async_decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Decode a batch in another thread."""
        return await asyncio.to_thread(self.decode_batch, sequences, skip_special_tokens)

    # -- what there is not --------------------------------------------------------------

    def train(self, files: list[str], trainer: object = None) -> NoReturn:
        """Refuse: nothing is trained here."""
        raise NotImplementedError("isotok trains no models; train with tokenizers")

    def train_from_iterator(
        self, iterator: object, trainer: object = None, length: int | None = None
    ) -> NoReturn:
        """Refuse: nothing is trained here."""
        raise NotImplementedError("isotok trains no models; train with tokenizers")


def _make(data: bytes) -> Tokenizer:
    made = Tokenizer.__new__(Tokenizer)
    made.__setstate__(data)
    # what is not supported is refused now
    made._model()  # pyright: ignore[reportPrivateUsage]
    made.num_special_tokens_to_add(False)
    return made


def _or_none(base: type[C], component: object) -> C | None:
    return None if component is None else need_component(base, component)


def _batch(
    argument: object, is_pretokenized: object, add_special_tokens: object
) -> tuple[list[tuple[Input, Input | None]], bool]:
    words = need_bool(is_pretokenized, "is_pretokenized")
    add = need_bool(add_special_tokens, "add_special_tokens")
    return [batch_input(one, words) for one in need_sequence(argument, "input")], add


def _need_list(tokens: object) -> list[object]:
    if not isinstance(tokens, list):
        raise TypeError(f"argument 'tokens': '{type(tokens).__name__}' object is not a 'list'")
    return cast("list[object]", tokens)


def _token(token: object, *, special: bool) -> AddedToken:
    if isinstance(token, str):
        return make(token, special)
    if not isinstance(token, AddedToken):
        raise TypeError("Input must be a List[Union[str, AddedToken]]")
    if special:
        token.special = True
    return token
