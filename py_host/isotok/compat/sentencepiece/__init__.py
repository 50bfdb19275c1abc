"""Drop-in for the package sentencepiece 0.2.3: one changed import, isotok does the work.

Replace ``import sentencepiece as spm`` by::

    from isotok.compat import sentencepiece as spm

docs/compat.md says what is the same and what is not.
"""

from isotok.compat.sentencepiece._flatbuffer import ConvertToFlatbuffer, convert_to_flatbuffer
from isotok.compat.sentencepiece._immutable import (
    ImmutableNBestSentencePieceText,
    ImmutableSentencePieceText,
    ImmutableSentencePieceText_ImmutableSentencePiece,
)
from isotok.compat.sentencepiece._normalizer import SentencePieceNormalizer
from isotok.compat.sentencepiece._processor import SentencePieceProcessor
from isotok.compat.sentencepiece._settings import (
    SetDataDir,
    SetMinLogLevel,
    SetNBestTimeout,
    SetRandomGeneratorSeed,
    ThreadPool,
    set_data_dir,
    set_min_log_level,
    set_nbest_timeout,
    set_random_generator_seed,
)
from isotok.compat.sentencepiece._trainer import SentencePieceTrainer

__version__ = "0.2.3"  # of sentencepiece, whose behaviour this is

__all__ = [
    "ConvertToFlatbuffer",
    "ImmutableNBestSentencePieceText",
    "ImmutableSentencePieceText",
    "ImmutableSentencePieceText_ImmutableSentencePiece",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceTrainer",
    "SetDataDir",
    "SetMinLogLevel",
    "SetNBestTimeout",
    "SetRandomGeneratorSeed",
    "ThreadPool",
    "__version__",
    "convert_to_flatbuffer",
    "set_data_dir",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]
