"""The decoders BPEDecoder and CTC: what they make of a token, which the core does in few ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from isotok import _layout_gen as abi
from isotok.compile._fields import unpack_field
from isotok.compile.tokenizer_json.errors import shorten, unsupported

Texts = Callable[[], Iterator[tuple[int, str]]]
"""Yields where the text of each token begins in FIELD_PIECE_TEXT, and the text."""

NOWHERE: Final = 0xFFFFFFFF
_CLEANUP: Final = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"),
    (" 'm", "'m"), (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def texts_of(model: bytes) -> Iterator[tuple[int, str]]:
    """Yield the tokens of what `pack_fields` returned."""
    pool = unpack_field(model, abi.FIELD_PIECE_TEXT)
    sizes = unpack_field(model, abi.FIELD_PIECE_SIZES)
    at = 0
    for i in range(0, len(sizes), 2):
        size = int.from_bytes(sizes[i : i + 2], "little")
        if size:
            yield at, pool[at : at + size].decode(errors="replace")
        at += size


def check_suffix(suffix: str, texts: Texts, path: str) -> None:
    """Refuse a token that holds the suffix elsewhere than at its end."""
    if not suffix:
        raise unsupported(path, "BPEDecoder without a suffix")
    for _, text in texts():
        at = text.find(suffix)
        if at >= 0 and at + len(suffix) != len(text):
            what = f"BPEDecoder of {shorten(text)}, where the suffix is not at the end"
            raise unsupported(path, what)


def find_delimiter(pad: str, delimiter: str, texts: Texts, path: str, *, cleanup: bool) -> int:
    """Return where the delimiter begins; refuse a token of which CTC makes anything else."""
    found = next((at for at, text in texts() if cleanup and text == delimiter), NOWHERE)
    for at, text in texts():
        want = text.replace(pad, "") if pad else text
        if cleanup:
            for old, new in _CLEANUP:
                want = want.replace(old, new)
            want = want.replace(delimiter, " ")
        if want != (" " if at == found else text.removeprefix(pad)):
            raise unsupported(path, f"CTC that makes {shorten(want)} of {shorten(text)}")
    return found
