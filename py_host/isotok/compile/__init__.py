"""The model compiler: SentencePiece `.model` files and packed models -> blobs.

`isotok.load` imports this package only when a file needs it.
"""

from __future__ import annotations

from isotok.compile._compile import compile_model

__all__ = ["compile_model"]
