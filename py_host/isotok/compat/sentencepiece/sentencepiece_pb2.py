"""Messages of encoded and decoded texts; needs the package protobuf."""

from __future__ import annotations

from isotok.compat.sentencepiece import _messages

_messages.add_file(
    "sentencepiece.proto",
    {
        "SentencePieceText": """
            1 string text
            2 [SentencePieceText.SentencePiece] pieces
            3 float score
        """,
        "SentencePieceText.SentencePiece": """
            1 string piece
            2 uint32 id
            3 string surface
            4 uint32 begin
            5 uint32 end
        """,
        "NBestSentencePieceText": """
            1 [SentencePieceText] nbests
        """,
    },
    {},
)

SentencePieceText = _messages.message_class("SentencePieceText")
NBestSentencePieceText = _messages.message_class("NBestSentencePieceText")

__all__ = ["NBestSentencePieceText", "SentencePieceText"]
