"""What happens to text in front of the model: a program of the core, and what cuts it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from isotok.compile.normalizers import make_normalizer
from isotok.compile.pretok.arrays import make_arrays
from isotok.compile.pretok.chain import make_chain
from isotok.compile.pretok.huggingface import read_pre_tokenizer
from isotok.compile.pretok.stages import Stage
from isotok.compile.tokenizer_json.document import Document


@dataclass(frozen=True)
class Pipeline:
    """How text becomes what the model sees.

    Parameters
    ----------
    fields : list of (int, array or bytes)
        Of the normalizer; none: text stays as it is.
    stages : tuple of Stage
        What cuts the text; none: nothing.
    byte_level : bool
        The model sees bytes, spelled as letters.
    escapes : bool
        No U+0020 is left.
    """

    fields: list[tuple[int, array[int] | bytes]]
    stages: tuple[Stage, ...]
    byte_level: bool
    escapes: bool

    def arrays(self) -> tuple[bytes, bytes, bytes] | None:
        """Return the compiled pre-tokenizer, if there is one."""
        return make_arrays(make_chain(self.stages)).to_bytes() if self.stages else None


def read_pipeline(document: Document) -> Pipeline:
    """Return what normalizer and pre-tokenizer do; refuse by name what is not supported."""
    cuts = read_pre_tokenizer(document.pre_tokenizer)
    program = make_normalizer(document.normalizer, cuts)
    if program is None:
        return Pipeline([], cuts.stages, cuts.byte_level, False)
    return Pipeline(program.fields(), program.stages, cuts.byte_level, program.escapes)
