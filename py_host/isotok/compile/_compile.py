"""Runs the compiler of `core/build`, natively or in wasm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from isotok import _layout_gen as abi
from isotok._backend import Limits, choose, limits_of, need_engine
from isotok._info import Compat, need_compat
from isotok.errors import Status, TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

Form = Literal["blob", "packed", "model", "spm.fb"]

_FORMS: Final = {
    "blob": abi.FORM_BLOB,
    "packed": abi.FORM_PACKED,
    "model": abi.FORM_SENTENCEPIECE,
    "spm.fb": abi.FORM_SPM_FB,
}


def compile_model(
    source: Buffer,
    form: Form = "blob",
    *,
    backend: Literal["auto", "native", "wasm"] = "auto",
    limits: Limits | Mapping[str, int | None] | None = None,
    compat: Compat | None = None,
    name: str = "",
) -> bytes:
    """Compile a model file in memory.

    Parameters
    ----------
    source : bytes-like
        A SentencePiece `.model`, a `.spm.fb` of SentencePiece Lite, a `tokenizer.json`, a
        `tekken.json`, a `.tiktoken` rank file, a packed model, or a blob.
    form : {"blob", "packed", "model", "spm.fb"}
        "blob" is what the core opens; "packed" is smaller and has to be compiled again.
        "model" and "spm.fb" are the files of SentencePiece and of SentencePiece Lite.
    backend : {"auto", "native", "wasm"}
        Which build of the compiler runs. All give the same bytes.
    limits : Limits or dict, optional
        For sources that nobody trusts; runs the compiler in wasm.
    compat : {"0.2.1"}, optional
        Make a model that gives the ids and texts of sentencepiece up to 0.2.1. A packed model
        and a blob are what they were made as; it is an error if that is not this.
    name : str
        Name or path of the file: of a rank file, which encoding it is.

    Returns
    -------
    bytes
        The file to write.

    Raises
    ------
    TokenizerError
        The source is not a model or a damaged one; the error says what is wrong, in
        which piece (``index``) and at which byte (``offset``).

    Examples
    --------
    >>> compile_model(b"not a model")
    Traceback (most recent call last):
        ...
    isotok.errors.TokenizerError: ...
    """
    made = compile_buffer(source, form, backend=backend, limits=limits, compat=compat, name=name)
    return bytes(made)


_FOREIGN: Final = {
    b"\x1f\x8b": "compressed (gzip): decompress it first",
}


def _refuse_foreign(head: bytes) -> None:
    """Name formats that are not a damaged model, but another thing."""
    if not head:
        raise TokenizerError(
            "source: the model is damaged: it has no bytes; get the file again",
            status=Status.E_CORRUPT,
            what=abi.WHAT_PROTOBUF,
        )
    for mark, what in _FOREIGN.items():
        if head.startswith(mark):
            raise TokenizerError(
                f"source: the file is {what}",
                status=Status.E_UNSUPPORTED,
                what=abi.WHAT_SOURCE_KIND,
            )


def _read_foreign(source: Buffer, name: str) -> Buffer:
    """Fields of a model whose file Python reads, or the source itself."""
    head = bytes(memoryview(source)[:1024])
    if head.lstrip(b" \t\r\n").startswith(b"{"):
        from isotok.compile.tokenizer_json import tokenizer_json_fields

        return tokenizer_json_fields(source)
    from isotok.compile._tiktoken import is_rank_file, named_fields

    return named_fields(source, name) if is_rank_file(head) else source


def compile_buffer(
    source: Buffer,
    form: str,
    *,
    backend: str = "auto",
    limits: Limits | Mapping[str, int | None] | None = None,
    compat: Compat | None = None,
    name: str = "",
) -> Buffer:
    """Compile without the last copy; natively the result is 64-aligned memory."""
    if form not in _FORMS:
        known = ", ".join(f'"{name}"' for name in _FORMS)
        raise TokenizerError(f"form: {form!r} is unknown; use one of {known}")
    need_compat(compat)
    _refuse_foreign(bytes(memoryview(source)[:2]))
    source = _read_foreign(source, name)
    kind = abi.SOURCE_AUTO if compat is None else abi.SOURCE_AUTO | abi.SOURCE_0_2_1
    limits = limits_of(limits)
    if choose(backend, limits) == "native":
        from isotok import _native

        return _native.compile(source, kind, _FORMS[form])
    need_engine(limits)
    from isotok.compile._wasm import compile_in_wasm

    sources = [source]
    del source
    return compile_in_wasm(sources.pop, kind, _FORMS[form], limits)
