"""The model compiler: model files of SentencePiece and packed models -> blobs, and back.

`isotok.load` imports this package only when a file needs it.
"""

from __future__ import annotations

from isotok.compile._compile import Form, compile_buffer, compile_model

__all__ = ["Form", "compile_buffer", "compile_model"]
