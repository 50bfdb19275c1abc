"""Fast tokenizers of the Python package transformers, over isotok.

One line changes a tokenizer that transformers has made::

    from isotok.compat.transformers import accelerate

    tokenizer = accelerate(AutoTokenizer.from_pretrained(folder))

It stays the object that it is, of its own class, with all methods and settings; what encodes and
decodes for it is isotok. This module imports neither transformers nor tokenizers.
"""

from __future__ import annotations

from isotok.compat.transformers._accelerate import accelerate, restore
from isotok.compat.transformers._backend import Backend

__all__ = ["Backend", "accelerate", "restore"]
