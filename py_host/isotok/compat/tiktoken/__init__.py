"""Drop-in for the package tiktoken 0.14: one changed import, isotok does the work.

Replace ``import tiktoken`` by::

    from isotok.compat import tiktoken

docs/compat.md says what is the same and what is not.
"""

from isotok.compat.tiktoken._encoding import Encoding
from isotok.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from isotok.compat.tiktoken.registry import get_encoding, list_encoding_names

__version__ = "0.14.0"  # of tiktoken, whose behaviour this is

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]
