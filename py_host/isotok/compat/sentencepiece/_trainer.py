"""Training is not here yet."""

from __future__ import annotations

from typing import Any, NoReturn


class SentencePieceTrainer:
    """Stands where sentencepiece trains models; isotok does not train yet."""

    @staticmethod
    def Train(arg: Any = None, logstream: Any = None, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError(
            "isotok does not train models yet; train with the package sentencepiece, "
            "and open the .model file here"
        )

    train = Train
