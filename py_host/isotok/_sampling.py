"""What a Tokenizer does beside the best segmentation: samples and n-best lists."""

from __future__ import annotations

import os
from operator import index
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, SupportsIndex

from isotok import _layout_gen as abi
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from isotok._backend import Backend

MOST_PATHS: Final = 512
"""Segmentations that `nbest` returns at most, as in sentencepiece."""
DEFAULT_NOISE: Final = 0.1
"""Of `alpha`, and of `dropout`."""


class Scored(NamedTuple):
    """One segmentation of a text."""

    ids: list[int]
    """Token ids in text order."""
    score: float
    """Sum of the pieces' scores: a natural logarithm, as a float32."""


class Sampled:
    """The part of `Tokenizer` that draws segmentations, and lists the best ones."""

    __slots__ = ()

    _backend: Backend

    def sample(
        self,
        text: str | bytes,
        *,
        alpha: float | None = None,
        dropout: float | None = None,
        method: Literal["ffbs", "gumbel"] = "ffbs",
        seed: SupportsIndex | None = None,
        bos: bool = False,
        eos: bool = False,
    ) -> list[int]:
        """Draw a segmentation of a text (subword regularization).

        Parameters
        ----------
        text : str or bytes
            Any text.
        alpha : float, optional
            Unigram models only; 0.1 if not given. For "ffbs" a segmentation is drawn with
            P ~ exp(alpha * sum of scores): 0 makes all equally likely, the larger the more
            is it the best one. For "gumbel" the noise: 0 gives the best segmentation,
            the larger the more is it any.
        dropout : float, optional
            BPE models only: probability from 0 to 1 of leaving out a merge; 0.1 if not
            given. 1 leaves single characters.
        method : {"ffbs", "gumbel"}
            For unigram models: exact sampling (forward filtering, backward sampling), or
            the best segmentation after alpha * Gumbel noise was added to every piece, as
            SentencePiece Lite does, which is another distribution.
        seed : int, optional
            From 0 to 2**64 - 1. One seed gives the same ids on every back end, in every
            process, on every machine; use another one for each text. None: a new one.
        bos, eos : bool
            As in `encode`.

        Returns
        -------
        list of int
            Token ids in text order.

        Raises
        ------
        TokenizerError
            An argument does not fit the model, or is out of range.

        Examples
        --------
        >>> tok.sample("hello world", alpha=0.0, seed=4)
        [5, 7, 8, 9, 9, 10, 5, 11, 10, 12, 6]
        """
        flags, noise = self._kind(alpha, dropout, method)
        flags |= (abi.BOS if bos else 0) | (abi.EOS if eos else 0)
        return self._backend.sample(text, flags, noise, _seed(seed))

    def nbest(
        self, text: str | bytes, n: SupportsIndex, *, bos: bool = False, eos: bool = False
    ) -> list[Scored]:
        """List the best segmentations of a text; unigram models only.

        Parameters
        ----------
        text : str or bytes
            Any text; all of it is held in memory.
        n : int
            From 1 to 512.
        bos, eos : bool
            As in `encode`, for each segmentation.

        Returns
        -------
        list of Scored
            At most `n` pairs (ids, score), best first. The same as sentencepiece's, score
            for score; after 500,000 partial segmentations the best one alone, as there. A
            score is summed from the end; that of the best one alone from the beginning.

        Examples
        --------
        >>> for ids, score in tok.nbest("hello world", 2):
        ...     print(ids, score)
        [3, 4] -2.0
        [3, 5, 11, 10, 12, 6] -18.0
        """
        flags = (abi.BOS if bos else 0) | (abi.EOS if eos else 0)
        return self._nbest(text, flags, n, 0.0, 0)

    def sample_nbest(
        self,
        text: str | bytes,
        n: SupportsIndex,
        *,
        alpha: float = DEFAULT_NOISE,
        seed: SupportsIndex | None = None,
        bos: bool = False,
        eos: bool = False,
    ) -> list[int]:
        """Draw one of the `n` best segmentations, with P ~ exp(alpha * score).

        Parameters
        ----------
        text, n, bos, eos
            As in `nbest`.
        alpha, seed
            As in `sample`.

        Examples
        --------
        >>> tok.sample_nbest("hello world", 2, alpha=0.1, seed=3)
        [3, 4]
        """
        flags = abi.SAMPLE | (abi.BOS if bos else 0) | (abi.EOS if eos else 0)
        return self._nbest(text, flags, n, _noise("alpha", alpha), _seed(seed))[0].ids

    def _nbest(
        self, text: str | bytes, flags: int, n: SupportsIndex, alpha: float, seed: int
    ) -> list[Scored]:
        count = index(n)
        if not 1 <= count <= MOST_PATHS:
            raise TokenizerError(f"n: {count} is out of range; use 1 to {MOST_PATHS}")
        ids, scores = self._backend.nbest(text, flags, count, alpha, seed)
        return [Scored(*each) for each in zip(ids, scores, strict=True)]

    def _kind(self, alpha: float | None, dropout: float | None, method: str) -> tuple[int, float]:
        """Flag and noise of a sample from this model."""
        if method not in ("ffbs", "gumbel"):
            raise TokenizerError(f'method: {method!r} is unknown; use "ffbs" or "gumbel"')
        algorithm = self._backend.info()[2]
        if algorithm == abi.BPE:
            if alpha is not None or method != "ffbs":
                raise TokenizerError("alpha, method: this is a bpe model; use dropout")
            return abi.DROPOUT, _noise("dropout", dropout, 1.0)
        if dropout is not None:
            raise TokenizerError("dropout: this is no bpe model; use alpha")
        return abi.GUMBEL if method == "gumbel" else abi.SAMPLE, _noise("alpha", alpha)


def _noise(name: str, value: float | None, most: float = float("inf")) -> float:
    if value is None:
        return DEFAULT_NOISE
    try:
        value = float(value)
    except OverflowError:
        value = float("inf")
    if not 0.0 <= value <= most or value == float("inf"):
        limit = "a finite number" if most == float("inf") else f"at most {most:g}"
        raise TokenizerError(f"{name}: {value} is out of range; use {limit}, not below 0")
    return value


def _seed(seed: SupportsIndex | None) -> int:
    if seed is None:
        return int.from_bytes(os.urandom(8), "little")
    number = index(seed)
    if not 0 <= number < 1 << 64:
        raise TokenizerError(f"seed: {number} is out of range; use 0 to 2**64 - 1")
    return number
