"""Train tokenizers: BPE from texts, files or counts; Unigram through sentencepiece.

`train_bpe` is the one call; `PreTokenizer`, `WordCounter`, `BpeTrainer`, `BpeModel` and
`BpeEncoder` are its parts, with the names of FFBPE. Needs numpy: pip install 'isotok[train]'.
"""

from __future__ import annotations

from isotok.compat.tiktoken import (
    encoding_for_model,
    encoding_name_for_model,
    get_encoding,
    list_encoding_names,
)
from isotok.train._agreement import Agreement, agreement
from isotok.train._bigrams import BigramCounter, UnicodeBigramSelection
from isotok.train._counts import WordCounter
from isotok.train._distil import Distilled, distil
from isotok.train._encoder import BpeEncoder
from isotok.train._encoding import Encoding
from isotok.train._files import FileSource, files
from isotok.train._model import BpeModel
from isotok.train._options import (
    BoundaryMode,
    FileFormat,
    UnicodeBigramMixedBoundary,
    Unit,
)
from isotok.train._pretokenizer import PreTokenizer
from isotok.train._progress import JsonLines, ProgressBar
from isotok.train._scale import count_bigrams, count_words, encode_batch, merge_counts
from isotok.train._shards import Shards, write_shard, write_shards
from isotok.train._sources import Source, Texts
from isotok.train._train import Bigrams, train_bpe
from isotok.train._trainer import BpeTrainer

__all__ = [
    "Agreement",
    "BigramCounter",
    "Bigrams",
    "BoundaryMode",
    "BpeEncoder",
    "BpeModel",
    "BpeTrainer",
    "Distilled",
    "Encoding",
    "FileFormat",
    "FileSource",
    "JsonLines",
    "PreTokenizer",
    "ProgressBar",
    "Shards",
    "Source",
    "Texts",
    "UnicodeBigramMixedBoundary",
    "UnicodeBigramSelection",
    "Unit",
    "WordCounter",
    "agreement",
    "count_bigrams",
    "count_words",
    "distil",
    "encode_batch",
    "encoding_for_model",
    "encoding_name_for_model",
    "files",
    "get_encoding",
    "list_encoding_names",
    "merge_counts",
    "train_bpe",
    "write_shard",
    "write_shards",
]
