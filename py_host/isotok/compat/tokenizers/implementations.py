"""Tokenizers that are put together as usual, for vocabularies of five kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from isotok.compat.tokenizers import decoders, normalizers, pre_tokenizers, processors
from isotok.compat.tokenizers._added import AddedToken
from isotok.compat.tokenizers._encoding import Encoding
from isotok.compat.tokenizers._regex import Regex
from isotok.compat.tokenizers._tokenizer import Tokenizer
from isotok.compat.tokenizers.models import BPE, Unigram, WordPiece

__all__ = [
    "BaseTokenizer",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
]

Text = str | AddedToken
Merges = list[tuple[str, str]]
Tokens = list[str | AddedToken]


class BaseTokenizer:
    """A tokenizer with the parameters that it was made of.

    Parameters
    ----------
    tokenizer : Tokenizer
    parameters : dict, optional
    """

    def __init__(self, tokenizer: Tokenizer, parameters: dict[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._parameters = parameters if parameters is not None else {}

    def __repr__(self) -> str:
        """Return the parameters."""
        every = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {every})"

    # -- vocabulary -----------------------------------------------------------------

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """See `Tokenizer`."""
        return self._tokenizer.num_special_tokens_to_add(is_pair)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """See `Tokenizer`."""
        return self._tokenizer.get_vocab(with_added_tokens=with_added_tokens)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """See `Tokenizer`."""
        return self._tokenizer.get_added_tokens_decoder()

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """See `Tokenizer`."""
        return self._tokenizer.get_vocab_size(with_added_tokens=with_added_tokens)

    def add_tokens(self, tokens: Tokens) -> int:
        """See `Tokenizer`."""
        return self._tokenizer.add_tokens(tokens)

    def add_special_tokens(self, special_tokens: Tokens) -> int:
        """See `Tokenizer`."""
        return self._tokenizer.add_special_tokens(special_tokens)

    def token_to_id(self, token: str) -> int | None:
        """See `Tokenizer`."""
        return self._tokenizer.token_to_id(token)

    def id_to_token(self, id: int) -> str | None:
        """See `Tokenizer`."""
        return self._tokenizer.id_to_token(id)

    # -- settings -------------------------------------------------------------------

    def enable_padding(
        self,
        direction: str | None = "right",
        pad_to_multiple_of: int | None = None,
        pad_id: int | None = 0,
        pad_type_id: int | None = 0,
        pad_token: str | None = "[PAD]",
        length: int | None = None,
    ) -> None:
        """See `Tokenizer`."""
        self._tokenizer.enable_padding(
            direction=direction,
            pad_to_multiple_of=pad_to_multiple_of,
            pad_id=pad_id,
            pad_type_id=pad_type_id,
            pad_token=pad_token,
            length=length,
        )

    def no_padding(self) -> None:
        """See `Tokenizer`."""
        self._tokenizer.no_padding()

    @property
    def padding(self) -> dict[str, Any] | None:
        """See `Tokenizer`."""
        return self._tokenizer.padding

    def enable_truncation(
        self, max_length: int, stride: int | None = 0, strategy: str | None = "longest_first"
    ) -> None:
        """See `Tokenizer`."""
        self._tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy)

    def no_truncation(self) -> None:
        """See `Tokenizer`."""
        self._tokenizer.no_truncation()

    @property
    def truncation(self) -> dict[str, Any] | None:
        """See `Tokenizer`."""
        return self._tokenizer.truncation

    # -- texts ----------------------------------------------------------------------

    def normalize(self, sequence: str) -> str:
        """Return a text normalized."""
        normalizer = self._tokenizer.normalizer
        if normalizer is None:
            raise AttributeError("there is no normalizer")
        return normalizer.normalize_str(sequence)

    def encode(
        self,
        sequence: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """See `Tokenizer`."""
        if sequence is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ValueError("encode: `sequence` can't be `None`")
        return self._tokenizer.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(
        self,
        inputs: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """See `Tokenizer`."""
        if inputs is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ValueError("encode_batch: `inputs` can't be `None`")
        return self._tokenizer.encode_batch(inputs, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self,
        inputs: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """See `Tokenizer`."""
        if inputs is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ValueError("async_encode_batch: `inputs` can't be `None`")
        return await self._tokenizer.async_encode_batch(inputs, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self,
        inputs: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """See `Tokenizer`."""
        if inputs is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ValueError("async_encode_batch_fast: `inputs` can't be `None`")
        return await self._tokenizer.async_encode_batch_fast(
            inputs, is_pretokenized, add_special_tokens
        )

    def decode(self, ids: list[int], skip_special_tokens: bool | None = True) -> str:
        """See `Tokenizer`."""
        if ids is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ValueError("None input is not valid. Should be a list of integers.")
        return self._tokenizer.decode(ids, skip_special_tokens=bool(skip_special_tokens))

    def decode_batch(
        self, sequences: list[list[int]], skip_special_tokens: bool | None = True
    ) -> list[str]:
        """See `Tokenizer`."""
        if sequences is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ValueError("None input is not valid. Should be list of list of integers.")
        return self._tokenizer.decode_batch(
            sequences, skip_special_tokens=bool(skip_special_tokens)
        )

    async def async_decode_batch(
        self, sequences: list[list[int]], skip_special_tokens: bool | None = True
    ) -> list[str]:
        """See `Tokenizer`."""
        if sequences is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ValueError("None input is not valid. Should be list of list of integers.")
        return await self._tokenizer.async_decode_batch(sequences, bool(skip_special_tokens))

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """See `Tokenizer`."""
        return self._tokenizer.post_process(encoding, pair, add_special_tokens)

    # -- files ----------------------------------------------------------------------

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write the vocabulary to files; see `Model.save`."""
        return self._tokenizer.model.save(directory, prefix=prefix)

    def save(self, path: str, pretty: bool = True) -> None:
        """See `Tokenizer`."""
        self._tokenizer.save(path, pretty)

    def to_str(self, pretty: bool = False) -> str:
        """See `Tokenizer`."""
        return self._tokenizer.to_str(pretty)

    def train(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: nothing is trained here."""
        raise NotImplementedError("isotok trains no models; train with tokenizers")

    def train_from_iterator(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: nothing is trained here."""
        raise NotImplementedError("isotok trains no models; train with tokenizers")


def _component(name: str) -> Any:
    def get(self: BaseTokenizer) -> Any:
        return getattr(self._tokenizer, name)  # pyright: ignore[reportPrivateUsage]

    def put(self: BaseTokenizer, component: object) -> None:
        setattr(self._tokenizer, name, component)  # pyright: ignore[reportPrivateUsage]

    return property(get, put, doc="See `Tokenizer`.")


for _name in ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder"):
    setattr(BaseTokenizer, _name, _component(_name))


def _announce(tokenizer: Tokenizer, *tokens: Text) -> None:
    """Make tokens special that the vocabulary has."""
    for token in tokens:
        if tokenizer.token_to_id(str(token)) is not None:
            tokenizer.add_special_tokens([str(token)])


# ---- BERT -----------------------------------------------------------------------------


class BertWordPieceTokenizer(BaseTokenizer):
    """WordPiece as of BERT.

    Parameters
    ----------
    vocab : dict of str to int, optional
        Or the name of a vocab.txt.
    unk_token, sep_token, cls_token, pad_token, mask_token : str or AddedToken
    clean_text, handle_chinese_chars, strip_accents, lowercase
        Of `BertNormalizer`.
    wordpieces_prefix : str
        Of the decoder.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        unk_token: Text = "[UNK]",
        sep_token: Text = "[SEP]",
        cls_token: Text = "[CLS]",
        pad_token: Text = "[PAD]",
        mask_token: Text = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        parameters = {"model": "BertWordPiece", **locals()}
        tokenizer = Tokenizer(WordPiece(vocab, unk_token=str(unk_token)))
        _announce(tokenizer, unk_token, sep_token, cls_token, pad_token, mask_token)
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=clean_text,
            handle_chinese_chars=handle_chinese_chars,
            strip_accents=strip_accents,
            lowercase=lowercase,
        )
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        if vocab is not None:
            sep, cls = (_found(tokenizer, sep_token, "sep"), _found(tokenizer, cls_token, "cls"))
            tokenizer.post_processor = processors.BertProcessing(sep, cls)
        tokenizer.decoder = decoders.WordPiece(prefix=wordpieces_prefix)
        super().__init__(tokenizer, _shown(parameters, "vocab"))

    @staticmethod
    def from_file(vocab: str, **kwargs: Any) -> BertWordPieceTokenizer:
        """Make a tokenizer of a vocab.txt."""
        return BertWordPieceTokenizer(WordPiece.read_file(vocab), **kwargs)


def _shown(parameters: dict[str, Any], *hidden: str) -> dict[str, Any]:
    """Return the parameters without vocabularies and what Python puts in."""
    without = {"self", "__class__", *hidden}
    return {name: value for name, value in parameters.items() if name not in without}


def _found(tokenizer: Tokenizer, token: Text, name: str) -> tuple[str, int]:
    number = tokenizer.token_to_id(str(token))
    if number is None:
        raise TypeError(f"{name}_token not found in the vocabulary")
    return str(token), number


# ---- BPE ------------------------------------------------------------------------------


class CharBPETokenizer(BaseTokenizer):
    """BPE of characters, with a suffix at the end of words.

    Parameters
    ----------
    vocab, merges
        As of `BPE`.
    unk_token : str or AddedToken
    suffix : str
    dropout : float, optional
    lowercase : bool
    unicode_normalizer : {"nfc", "nfd", "nfkc", "nfkd"}, optional
    bert_normalizer : bool
        Clean the text as BERT does.
    split_on_whitespace_only : bool
        Do not cut punctuation off.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | Merges | None = None,
        unk_token: Text = "<unk>",
        suffix: str = "</w>",
        dropout: float | None = None,
        lowercase: bool = False,
        unicode_normalizer: str | None = None,
        bert_normalizer: bool = True,
        split_on_whitespace_only: bool = False,
    ) -> None:
        parameters = {"model": "BPE", **locals()}
        options = {"dropout": dropout, "unk_token": str(unk_token), "end_of_word_suffix": suffix}
        tokenizer = Tokenizer(_bpe(vocab, merges, options))
        _announce(tokenizer, unk_token)
        steps = _unicode(unicode_normalizer)
        steps += [normalizers.BertNormalizer(lowercase=False)] if bert_normalizer else []
        _normalize(tokenizer, [*steps, *([normalizers.Lowercase()] if lowercase else [])])
        if split_on_whitespace_only:
            tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        else:
            tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.BPEDecoder(suffix=suffix)
        super().__init__(tokenizer, _shown(parameters, "vocab", "merges"))

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> CharBPETokenizer:
        """Make a tokenizer of a vocab.json and a merges.txt."""
        return CharBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)


class ByteLevelBPETokenizer(BaseTokenizer):
    """BPE of bytes, as of GPT-2.

    Parameters
    ----------
    vocab, merges
        As of `BPE`.
    add_prefix_space : bool
        Put a space in front of texts.
    lowercase : bool
    dropout : float, optional
    unicode_normalizer : {"nfc", "nfd", "nfkc", "nfkd"}, optional
    continuing_subword_prefix, end_of_word_suffix : str, optional
    trim_offsets : bool
        Leave white space out of the places of tokens.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | Merges | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        parameters = {"model": "ByteLevelBPE", **locals()}
        options = {
            "dropout": dropout,
            "continuing_subword_prefix": continuing_subword_prefix or "",
            "end_of_word_suffix": end_of_word_suffix or "",
        }
        given = vocab is not None and merges is not None
        tokenizer = Tokenizer(_bpe(vocab, merges, options) if given else BPE())
        steps = _unicode(unicode_normalizer)
        _normalize(tokenizer, [*steps, *([normalizers.Lowercase()] if lowercase else [])])
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
        super().__init__(tokenizer, _shown(parameters, "vocab", "merges"))

    @staticmethod
    def from_file(
        vocab_filename: str, merges_filename: str, **kwargs: Any
    ) -> ByteLevelBPETokenizer:
        """Make a tokenizer of a vocab.json and a merges.txt."""
        return ByteLevelBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)


class SentencePieceBPETokenizer(BaseTokenizer):
    """BPE as SentencePiece has it.

    Parameters
    ----------
    vocab, merges
        As of `BPE`.
    unk_token : str or AddedToken
    replacement : str
        Symbol that stands for a space.
    add_prefix_space : bool
        Put one in front of texts.
    dropout : float, optional
    fuse_unk : bool, optional
        Make one of unknown characters that follow on each other.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | Merges | None = None,
        unk_token: Text = "<unk>",
        replacement: str = "▁",
        add_prefix_space: bool = True,
        dropout: float | None = None,
        fuse_unk: bool | None = False,
    ) -> None:
        parameters = {"model": "SentencePieceBPE", **locals()}
        options = {"dropout": dropout, "unk_token": unk_token, "fuse_unk": fuse_unk}
        tokenizer = Tokenizer(_bpe(vocab, merges, options))
        _announce(tokenizer, unk_token)
        tokenizer.normalizer = normalizers.NFKC()
        _with_symbol(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, _shown(parameters, "vocab", "merges", "fuse_unk"))

    @staticmethod
    def from_file(
        vocab_filename: str, merges_filename: str, **kwargs: Any
    ) -> SentencePieceBPETokenizer:
        """Make a tokenizer of a vocab.json and a merges.txt."""
        return SentencePieceBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)


def _bpe(
    vocab: str | dict[str, int] | None, merges: str | Merges | None, options: dict[str, Any]
) -> BPE:
    given = vocab is not None and merges is not None
    return BPE(vocab, merges, **options) if given else BPE(**options)


def _unicode(name: str | None) -> list[normalizers.Normalizer]:
    return [normalizers.unicode_normalizer_from_str(name)] if name else []


def _normalize(tokenizer: Tokenizer, steps: list[normalizers.Normalizer]) -> None:
    if steps:
        tokenizer.normalizer = normalizers.Sequence(steps) if len(steps) > 1 else steps[0]


def _with_symbol(tokenizer: Tokenizer, replacement: str, prefix: bool) -> None:
    scheme = "always" if prefix else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement, scheme)
    tokenizer.decoder = decoders.Metaspace(replacement, scheme)


# ---- Unigram --------------------------------------------------------------------------


class SentencePieceUnigramTokenizer(BaseTokenizer):
    """Unigram as SentencePiece has it.

    Parameters
    ----------
    vocab : list of (str, float), optional
    replacement : str
        Symbol that stands for a space.
    add_prefix_space : bool
        Put one in front of texts.
    """

    def __init__(
        self,
        vocab: list[tuple[str, float]] | None = None,
        replacement: str = "▁",
        add_prefix_space: bool = True,
    ) -> None:
        parameters = {"model": "SentencePieceUnigram", **locals()}
        tokenizer = Tokenizer(Unigram() if vocab is None else Unigram(vocab))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        _with_symbol(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, _shown(parameters, "vocab"))

    @staticmethod
    def from_spm(filename: str) -> SentencePieceUnigramTokenizer:
        """Make a tokenizer of a SentencePiece model of type unigram."""
        from isotok.compat.tokenizers._spm import read_spm

        pieces, unk_id, byte_fallback, rules = read_spm(filename)
        tokenizer = Tokenizer(Unigram(pieces, unk_id, byte_fallback))
        steps = [normalizers.Precompiled(rules)] if rules else []
        spaces = normalizers.Replace(Regex(" {2,}"), " ")
        tokenizer.normalizer = normalizers.Sequence([*steps, spaces])
        _with_symbol(tokenizer, "▁", True)
        made = SentencePieceUnigramTokenizer.__new__(SentencePieceUnigramTokenizer)
        BaseTokenizer.__init__(made, tokenizer, {"model": "SentencePieceUnigram"})
        return made
