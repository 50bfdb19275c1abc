"""isotok: one tokenizer core that gives the same ids natively and in WebAssembly."""

from isotok._added import AddedToken
from isotok._arguments import Unit
from isotok._backend import Limits
from isotok._info import CacheInfo, Info, PieceType
from isotok._load import load
from isotok._results import Batch, Encoding, NormalizedBytes, NormalizedText
from isotok._sampling import Scored
from isotok._stream import Decoder, Encoder
from isotok._tokenizer import Tokenizer
from isotok.errors import (
    ClosedError,
    LimitError,
    NotOpenError,
    Status,
    TokenIdError,
    TokenizerError,
)

__version__ = "0.1.0"  # the file VERSION decides; a test compares them

__all__ = [
    "AddedToken",
    "Batch",
    "CacheInfo",
    "ClosedError",
    "Decoder",
    "Encoder",
    "Encoding",
    "Info",
    "LimitError",
    "Limits",
    "NormalizedBytes",
    "NormalizedText",
    "NotOpenError",
    "PieceType",
    "Scored",
    "Status",
    "TokenIdError",
    "Tokenizer",
    "TokenizerError",
    "Unit",
    "__version__",
    "load",
]
