"""`Model.tokenize`: a model run alone, in the core."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any, Final

from isotok import _layout_gen as abi
from isotok.compat.tokenizers._columns import value
from isotok.compat.tokenizers._engine import compiled
from isotok.compat.tokenizers._file import File
from isotok.compat.tokenizers._json import dump
from isotok.compat.tokenizers._run import BYTE_DECODER, LETTERS
from isotok.compat.tokenizers._text import Engine
from isotok.compat.tokenizers._token import Token
from isotok.compile.tokenizer_json.bytes_of_letters import bytes_of, is_spelled

Json = Mapping[str, Any]

BYTE_TOKENS: Final = frozenset(f"<0x{byte:02X}>" for byte in range(256))
_NOTHING: Final = "\ufdd0\ufdd0"
_HOLE: Final = "\ufdd1"
_FLAGS: Final = abi.NO_SPECIAL | abi.NO_TEMPLATE
_BYTE_LEVEL: Final = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


class Alone:
    """A model without anything around it.

    Parameters
    ----------
    model : mapping
        As JSON.
    """

    def __init__(self, model: Json) -> None:
        self._model = model
        self._made: dict[bool, Engine] = {}

    def tokenize(self, sequence: str) -> list[Token]:
        """Return the tokens of a text."""
        model = self._model
        vocabulary = model["vocab"]
        size = len(sequence.encode())
        if model["type"] == "WordLevel" and not sequence:  # a word like others
            return self._empty_word()
        if model["type"] == "BPE" and model["ignore_merges"] and sequence in vocabulary:
            return [Token(vocabulary[sequence], sequence, (0, size))]
        text = self._as_bytes(sequence)
        if text is None:
            return self._of_characters(sequence)
        content = self._engine(as_bytes=True).encode(text, 0)
        tokens = value(content.tokens)
        ends = list(accumulate(len(token.encode()) for token in tokens))
        spans = list(pairwise([0, *ends]))
        return [Token(*each) for each in zip(content.ids, tokens, spans, strict=True)]

    def _empty_word(self) -> list[Token]:
        vocabulary, unknown = self._model["vocab"], self._model["unk_token"]
        for text in ("", unknown):
            if text in vocabulary:
                return [Token(vocabulary[text], text, (0, 0))]
        raise ValueError("WordLevel error: Missing [UNK] token from the vocabulary")

    def _as_bytes(self, sequence: str) -> str | None:
        """Return the text that is spelled as letters, if the model is one of bytes."""
        model = self._model
        if model["type"] != "BPE" or len(model["vocab"]) < 256 or not is_spelled(sequence):
            return None
        if any(text not in model["vocab"] for text in LETTERS):
            return None
        try:
            return bytes_of(sequence).decode()
        except UnicodeDecodeError:
            return None

    def _of_characters(self, sequence: str) -> list[Token]:
        content = self._engine(as_bytes=False).encode(sequence, 0)
        ends = [0, *accumulate(len(char.encode()) for char in sequence)]
        found: list[Token] = []
        columns = zip(content.ids, value(content.tokens), value(content.offsets), strict=True)
        for number, text, (begin, end) in columns:
            if text == _NOTHING:
                raise NotImplementedError(
                    f"{sequence[begin:end]!r} is not in the vocabulary of a BPE without unk_token, "
                    "and would vanish; isotok does not support this: give it an unk_token"
                )
            if self._is_byte(text):  # one of a character's: each is a place of its own
                at = found[-1].offsets[1] if found else 0
                found.append(Token(number, text, (at, at + 1)))
                continue
            step = 1 if self._apart(text) else end - begin
            found += [
                Token(number, text, (ends[i], ends[i + step])) for i in range(begin, end, step)
            ]
        return found

    def _is_byte(self, text: str) -> bool:
        model = self._model
        return model["type"] == "BPE" and model["byte_fallback"] and text in BYTE_TOKENS

    def _apart(self, text: str) -> bool:
        """Whether unknown characters are tokens of their own."""
        model = self._model
        return model["type"] == "BPE" and text == model["unk_token"] and not model["fuse_unk"]

    def _engine(self, *, as_bytes: bool) -> Engine:
        if as_bytes not in self._made:
            members: dict[str, Any] = {"version": "1.0", "model": self._changed(as_bytes=as_bytes)}
            if as_bytes:
                members |= {"pre_tokenizer": _BYTE_LEVEL, "decoder": BYTE_DECODER}
            self._made[as_bytes] = compiled(File(dump(members).encode())).engine(_FLAGS)
        return self._made[as_bytes]

    def _changed(self, *, as_bytes: bool) -> Json:
        """Return a model that says of characters what this one does not."""
        model = self._model
        if model["type"] != "BPE" or as_bytes or not model["vocab"]:
            return model
        vocabulary = _without_holes(model["vocab"])
        changed = {**model, "fuse_unk": True, "ignore_merges": False, "vocab": vocabulary}
        if model["unk_token"] is None:
            changed["unk_token"] = _NOTHING
            vocabulary[_NOTHING] = len(vocabulary)
        return changed


def _without_holes(vocabulary: Mapping[str, int]) -> dict[str, int]:
    """Return a vocabulary with texts that do not occur for ids that have none."""
    taken = set(vocabulary.values())
    holes = (number for number in range(max(taken, default=0)) if number not in taken)
    return {**vocabulary, **{f"{_HOLE}{number}{_HOLE}": number for number in holes}}
