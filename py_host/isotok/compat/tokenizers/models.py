"""Models: vocabularies and how pieces are found in them, as parts of a tokenizer."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn, cast

from isotok.compat.tokenizers import _model_files as files
from isotok.compat.tokenizers._arguments import ignored, need_bool, need_str, shown_as, u32, usize
from isotok.compat.tokenizers._component import (
    BOOL,
    SIZE,
    TEXT,
    Component,
    Json,
    maybe,
    member,
)
from isotok.compat.tokenizers._json import F32
from isotok.compat.tokenizers._token import Token
from isotok.compat.tokenizers._tokenize import Alone

__all__ = ["BPE", "Model", "Unigram", "WordLevel", "WordPiece"]

Vocabulary = Mapping[str, int]
Merges = Iterable[tuple[str, str]]


class Model(Component, role="model"):
    """What all models can do. Made as such it is a BPE without entries."""

    _ids: dict[str, int]
    _texts: dict[int, str] | None = None
    _alone: Alone | None = None
    _version: int = 0

    def __init__(self) -> None:
        self.__class__ = BPE  # pyright: ignore[reportAttributeAccessIssue]
        BPE.__init__(cast("BPE", self))

    def _set(self, **members: Any) -> None:
        self._alone = None
        self._version += 1
        super()._set(**members)

    def tokenize(self, sequence: str) -> list[Token]:
        """Cut one piece of text into tokens.

        Parameters
        ----------
        sequence : str
            As a pre-tokenizer would have it.

        Returns
        -------
        list of Token
            Their places are in bytes.

        Raises
        ------
        TokenizerError
            isotok cannot reproduce this model; the message says what of it.
        """
        text = need_str(sequence, "sequence")
        if self._alone is None:
            self._alone = Alone(self._to_json())
        return self._alone.tokenize(text)

    def token_to_id(self, tokens: str) -> int | None:
        """Return the id of a text, if it is a token."""
        return self._ids.get(need_str(tokens, "tokens"))

    def id_to_token(self, id: int) -> str | None:
        """Return the text of an id, if it is a token's."""
        if self._texts is None:
            self._texts = {number: text for text, number in self._ids.items()}
        return self._texts.get(u32(id, "id"))

    @shown_as("folder", "prefix")
    def save(self, folder: str, prefix: str | None = None, name: str | None = None) -> list[str]:
        """Write the vocabulary to files of a folder; returns their paths.

        Parameters
        ----------
        folder : str
        prefix : str, optional
            What the names of the files begin with.
        name : str, optional
            Old name of `prefix`.
        """
        begin = prefix if prefix is not None else name
        begin = "" if begin is None else f"{need_str(begin, 'prefix')}-"
        saved: list[str] = []
        for file, text in self._files():
            path = str(Path(need_str(folder, "folder")) / f"{begin}{file}")
            Path(path).write_text(text, encoding="utf-8", newline="")
            saved.append(path)
        return saved

    def get_trainer(self) -> NoReturn:
        """Refuse: nothing is trained here."""
        raise NotImplementedError("isotok trains no models; train with tokenizers")

    def _files(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def _vocabulary(self) -> dict[str, int]:
        """Return the ids, in their order; of a text that has several, the last."""
        by_id = {number: text for text, number in self._ids.items()}
        return {by_id[number]: number for number in sorted(by_id)}


class BPE(Model):
    """Pairs of pieces that are merged, in an order.

    Parameters
    ----------
    vocab : dict of str to int, optional
        Or the name of a vocab.json.
    merges : list of (str, str), optional
        Or the name of a merges.txt. Both or none are given.
    cache_capacity : int, optional
        Of no account: the cache is isotok's.
    dropout : float, optional
        Leave merges out by chance. isotok does not; a tokenizer with it is refused.
    unk_token : str, optional
        What unknown characters become.
    continuing_subword_prefix, end_of_word_suffix : str, optional
        What pieces that go on begin with, and what last pieces end with.
    fuse_unk : bool, optional
        Make one of unknown characters that follow on each other.
    byte_fallback : bool, optional
        Make bytes of unknown characters.
    ignore_merges : bool, optional
        A whole word that is a token is this token.
    """

    _defaults: ClassVar = {
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    }
    _merges: list[tuple[str, str]]
    unk_token = member("unk_token", maybe(TEXT), "What unknown characters become.")
    continuing_subword_prefix = member(
        "continuing_subword_prefix", maybe(TEXT), "What pieces that go on begin with."
    )
    end_of_word_suffix = member("end_of_word_suffix", maybe(TEXT), "What last pieces end with.")
    fuse_unk = member("fuse_unk", BOOL, "Whether unknown characters in a row become one.")
    byte_fallback = member("byte_fallback", BOOL, "Whether they become bytes.")
    ignore_merges = member("ignore_merges", BOOL, "Whether a word that is a token is this token.")

    @shown_as(
        vocab=None,
        merges=None,
        cache_capacity=None,
        dropout=None,
        unk_token=None,
        continuing_subword_prefix=None,
        end_of_word_suffix=None,
        fuse_unk=None,
        byte_fallback=False,
        ignore_merges=False,
    )
    def __init__(
        self,
        vocab: Vocabulary | str | None = None,
        merges: Merges | str | None = None,
        **kwargs: Any,
    ) -> None:
        if (vocab is None) != (merges is None):
            raise ValueError("`vocab` and `merges` must be both specified")
        if isinstance(vocab, str) != isinstance(merges, str):
            raise ValueError("`vocab` and `merges` must be both be from memory or both filenames")
        self._ids, self._merges = {}, []
        for name, argument in kwargs.items():
            self._option(name, argument)
        if isinstance(vocab, str):
            vocab, merges = BPE.read_file(vocab, cast("str", merges))
        if vocab is not None:
            self._ids = files.need_vocabulary(vocab)
            self._merges = files.need_merges(merges)
            prefix = self._members["continuing_subword_prefix"] or ""
            files.check_merges(self._ids, self._merges, len(prefix.encode()))

    def _option(self, name: str, argument: object) -> None:
        match name:
            case "cache_capacity":
                usize(argument, name)
            case "dropout":
                self.dropout = argument
                if not 0 <= (self._members["dropout"] or 0) <= 1:
                    raise ValueError(
                        "Error while initializing BPE: Dropout should be between 0 and 1, inclusive"
                    )
            case "unk_token":
                self.unk_token = argument
            case "continuing_subword_prefix" | "end_of_word_suffix":
                setattr(self, name, need_str(argument, name))
            case "fuse_unk" | "byte_fallback" | "ignore_merges":
                setattr(self, name, argument)
            case _:
                ignored(name)

    @property
    def dropout(self) -> Any:
        """How often merges are left out."""
        return self._members["dropout"]

    @dropout.setter
    def dropout(self, dropout: Any) -> None:
        self._set(dropout=None if dropout is None else F32(files.need_float(dropout, "dropout")))

    @staticmethod
    def read_file(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Read a vocab.json and a merges.txt."""
        return files.read_vocabulary(vocab), files.read_merges(merges)

    @classmethod
    def from_file(cls, vocab: str, merges: str, **kwargs: Any) -> BPE:
        """Make a model of a vocab.json and a merges.txt; options are as of the class."""
        return cls(*BPE.read_file(vocab, merges), **kwargs)

    def _clear_cache(self) -> None:
        """Do nothing: the cache is isotok's."""

    def _resize_cache(self, capacity: int) -> None:
        """Do nothing: the cache is isotok's."""
        usize(capacity, "capacity")

    def _pairs(self) -> list[tuple[str, str]]:
        """Return the merges; of a pair that comes twice, the last."""
        ranks = {pair: i for i, pair in enumerate(self._merges)}
        return sorted(ranks, key=ranks.__getitem__)

    def _to_json(self) -> dict[str, Any]:
        return {**super()._to_json(), "vocab": self._vocabulary(), "merges": self._pairs()}

    def _read(self, part: Json) -> None:
        super()._read({name: value for name, value in part.items() if value is not None})
        self.dropout = part.get("dropout")
        self._ids = dict(part["vocab"])
        self._merges = [
            cast("tuple[str, str]", tuple(one.split(" ") if isinstance(one, str) else one))
            for one in part["merges"]
        ]

    def _files(self) -> list[tuple[str, str]]:
        return [
            ("vocab.json", files.vocabulary_text(self._vocabulary())),
            ("merges.txt", files.merges_text(self._pairs())),
        ]


class WordPiece(Model):
    """The longest pieces of a word, from its begin.

    Parameters
    ----------
    vocab : dict of str to int, optional
        Or the name of a vocab.txt.
    unk_token : str
        What becomes of a word that cannot be cut into pieces.
    max_input_chars_per_word : int
        Longer words are unknown.
    continuing_subword_prefix : str
        What pieces that go on begin with.
    """

    _defaults: ClassVar = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    unk_token = member("unk_token", TEXT, "What unknown words become.")
    continuing_subword_prefix = member(
        "continuing_subword_prefix", TEXT, "What pieces that go on begin with."
    )
    max_input_chars_per_word = member(
        "max_input_chars_per_word", SIZE, "Characters above which a word is unknown."
    )

    @shown_as(
        vocab=None,
        unk_token="[UNK]",
        max_input_chars_per_word=100,
        continuing_subword_prefix="##",
    )
    def __init__(self, vocab: Vocabulary | str | None = None, **kwargs: Any) -> None:
        if isinstance(vocab, str):
            vocab = WordPiece.read_file(vocab)
        self._ids = {} if vocab is None else files.need_vocabulary(vocab)
        for name, argument in kwargs.items():
            if name in self._defaults:
                setattr(self, name, argument)
            else:
                print(f"Ignored unknown kwargs option {name}")

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Read a vocab.txt."""
        return files.read_lines(vocab)

    @classmethod
    def from_file(cls, vocab: str, **kwargs: Any) -> WordPiece:
        """Make a model of a vocab.txt; options are as of the class."""
        return cls(WordPiece.read_file(vocab), **kwargs)

    def _to_json(self) -> dict[str, Any]:
        return {**super()._to_json(), "vocab": self._vocabulary()}

    def _read(self, part: Json) -> None:
        super()._read(part)
        self._ids = dict(part["vocab"])

    def _files(self) -> list[tuple[str, str]]:
        every = sorted(self._ids.items(), key=lambda entry: entry[1])
        return [("vocab.txt", "".join(f"{text}\n" for text, _ in every))]


class WordLevel(Model):
    """Whole words.

    Parameters
    ----------
    vocab : dict of str to int, optional
        Or the name of a vocab.json.
    unk_token : str, optional
        What other words become; by default ``<unk>``.
    """

    _defaults: ClassVar = {"unk_token": "<unk>"}
    unk_token = member("unk_token", TEXT, "What unknown words become.")

    def __init__(self, vocab: Vocabulary | str | None = None, unk_token: str | None = None) -> None:
        if isinstance(vocab, str):
            vocab = WordLevel.read_file(vocab)
        self._ids = {} if vocab is None else files.need_vocabulary(vocab)
        if unk_token is not None:
            self.unk_token = unk_token

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Read a vocab.json."""
        return files.read_vocabulary(vocab)

    @classmethod
    def from_file(cls, vocab: str, unk_token: str | None = None) -> WordLevel:
        """Make a model of a vocab.json."""
        return cls(WordLevel.read_file(vocab), unk_token)

    def _to_json(self) -> dict[str, Any]:
        return {"type": "WordLevel", "vocab": self._vocabulary(), **self._members}

    def _read(self, part: Json) -> None:
        super()._read(part)
        self._ids = dict(part["vocab"])

    def _files(self) -> list[tuple[str, str]]:
        return [("vocab.json", files.vocabulary_text(self._vocabulary()))]


class Unigram(Model):
    """The most probable pieces.

    Parameters
    ----------
    vocab : list of (str, float), optional
        Texts and the logarithms of their probabilities. By default ``<unk>`` alone.
    unk_id : int, optional
        Place of what unknown text becomes.
    byte_fallback : bool, optional
        Make bytes of it, where there are tokens for these.
    alpha : float, optional
        Draw a sample. isotok does not here; a tokenizer with it is refused, but for 0.
    nbest_size : int, optional
        Draw it of so many.
    """

    _defaults: ClassVar = {"unk_id": None}
    _pieces: list[tuple[str, float]]
    _byte_fallback: bool
    _alpha: float | None = None
    _nbest_size: int | None = None

    def __init__(
        self,
        vocab: list[tuple[str, float]] | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.nbest_size = nbest_size
        fallback = False if byte_fallback is None else need_bool(byte_fallback, "byte_fallback")
        if vocab is None:
            if unk_id is not None:
                raise ValueError("`vocab` and `unk_id` must be both specified")
            vocab, unk_id, fallback = [("<unk>", 0.0)], 0, False
        number = None if unk_id is None else usize(unk_id, "unk_id")
        pieces = files.need_pieces(vocab)
        if number is not None and number >= len(pieces):
            raise ValueError(
                "Error while loading Unigram: "
                + (
                    "The `unk_id` is larger than vocabulary size"
                    if pieces
                    else "The vocabulary is empty but at least <unk> is needed"
                )
            )
        self._take(pieces, number, fallback)

    def _take(self, pieces: list[tuple[str, float]], unk_id: int | None, fallback: bool) -> None:
        self._pieces, self._byte_fallback = pieces, fallback
        self._ids = {text: number for number, (text, _) in enumerate(pieces)}
        self._set(unk_id=unk_id)

    @property
    def alpha(self) -> float | None:
        """How much the probabilities count of what is drawn."""
        return self._alpha

    @alpha.setter
    def alpha(self, alpha: float | None) -> None:
        self._alpha = None if alpha is None else files.need_float(alpha, "alpha")
        self._set()

    @property
    def nbest_size(self) -> int | None:
        """Of how many a sample is drawn."""
        return self._nbest_size

    @nbest_size.setter
    def nbest_size(self, nbest_size: int | None) -> None:
        self._nbest_size = None if nbest_size is None else usize(nbest_size, "nbest_size")
        self._set()

    def id_to_token(self, id: int) -> str | None:
        """Return the text of an id, if it is a token's."""
        number = u32(id, "id")
        return self._pieces[number][0] if number < len(self._pieces) else None

    def tokenize(self, sequence: str) -> list[Token]:
        """Cut one piece of text into tokens; see `Model.tokenize`."""
        self._check()
        return super().tokenize(sequence)

    def _check(self) -> None:
        if self._alpha:
            raise NotImplementedError(
                f"Unigram(alpha={self._alpha}) draws samples; isotok does not in this package: "
                "set alpha to None, or use isotok.Tokenizer.sample"
            )

    def _clear_cache(self) -> None:
        """Do nothing: the cache is isotok's."""

    def _resize_cache(self, capacity: int) -> None:
        """Do nothing: the cache is isotok's."""
        usize(capacity, "capacity")

    def _to_json(self) -> dict[str, Any]:
        return {
            **super()._to_json(),
            "vocab": self._pieces,
            "byte_fallback": self._byte_fallback,
        }

    def _read(self, part: Json) -> None:
        pieces = files.need_pieces(part["vocab"])
        self._take(pieces, part.get("unk_id"), bool(part.get("byte_fallback")))

    def _files(self) -> list[tuple[str, str]]:
        return [("unigram.json", files.pretty(self._to_json()))]
