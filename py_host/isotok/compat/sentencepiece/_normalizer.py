"""The class `SentencePieceNormalizer`: the normalizer of a model, or one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from isotok import _layout_gen as abi
from isotok._results import byte_offsets, normalized_text
from isotok.compat.sentencepiece import _arguments as arguments
from isotok.compat.sentencepiece import _model_file as model_file
from isotok.compat.sentencepiece import _rules as named
from isotok.compat.sentencepiece._charsmap import CharsmapError, compile_rules, decompile
from isotok.compat.sentencepiece._errors import (
    NOT_LOADED,
    FileError,
    file_error,
    internal,
    invalid,
)
from isotok.compat.sentencepiece._model import is_proto, open_bytes, read_file
from isotok.compat.sentencepiece._outputs import over
from isotok.compat.sentencepiece._tokens import SPACE, character_size
from isotok.compat.sentencepiece._wire import Message, WireError, bytes_field

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from isotok._backend import Backend
    from isotok._tokenizer import Tokenizer


def normalize(tokenizer: Tokenizer | None, text: object, with_offsets: bool, strips: bool) -> Any:
    """Normalize a text; with the places of its code points, of bytes: of its bytes.

    `strips` says whether the normalizer removes extra spaces.
    """
    data = arguments.text_bytes(text)
    if tokenizer is None:
        raise internal(NOT_LOADED)
    as_bytes = isinstance(text, bytes)
    unit = abi.UNIT_BYTE if as_bytes else abi.UNIT_CODEPOINT
    backend = tokenizer._backend  # pyright: ignore[reportPrivateUsage]
    found, offsets = backend.normalize(data, 0, unit, with_offsets)
    result = found if as_bytes else found.decode()
    if offsets is None:
        return result
    if not found:
        return result, _end_only(backend, data, cast("str | bytes", text), offsets, strips)
    if as_bytes:
        return result, byte_offsets(found, offsets)
    return result, normalized_text(found, offsets).offsets


def _end_only(
    backend: Backend, data: bytes, text: str | bytes, offsets: Buffer, strips: bool
) -> list[int]:
    """Offsets of an empty result: its end, but of spaces alone 0, and of bytes none at all."""
    (end,) = memoryview(offsets).cast("B").cast("I")
    if not text or (strips and end == len(text) and _all_spaces(backend, data)):
        return [] if isinstance(text, bytes) else [0]
    return [end]


_NO_RULE: Final = "\U000f0000".encode()  # a private character, which rules leave alone


def _all_spaces(backend: Backend, data: bytes) -> bool:
    """Whether each character of a text becomes a space; others become nothing."""
    at = 0
    while at < len(data):
        size = character_size(data[at])
        between = _NO_RULE + data[at : at + size] + _NO_RULE
        found, _ = backend.normalize(between, 0, abi.UNIT_BYTE, False)
        if found.replace(SPACE, b" ").strip() != _NO_RULE + b" " + _NO_RULE:
            return False
        at += size
    return True


class SentencePieceNormalizer:
    """Normalizes texts as a model does, or by named rules, or by rules of the caller's.

    Parameters
    ----------
    model_file, model_proto : optional
        A model, whose normalizer it is.
    normalizer_spec : bytes or NormalizerSpec, optional
        What `serialized_normalizer_spec` returned.
    rule_tsv : path, optional
        A file of rules: code points in hexadecimal, a tab, those of the replacement.
    rule_name : str, optional
        identity, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf.
    norm_map : sequence of pairs of str or bytes, optional
        Texts and their replacements.
    add_dummy_prefix, escape_whitespaces, remove_extra_whitespaces : bool, optional
        Override the flags of the source.

    Examples
    --------
    >>> from isotok.compat import sentencepiece as spm
    >>> spm.SentencePieceNormalizer(norm_map=[("ß", "ss")]).normalize(" Straße ")
    '▁Strasse'
    """

    def __init__(
        self,
        model_file: Any = None,
        model_proto: Any = None,
        normalizer_spec: Any = None,
        rule_tsv: Any = None,
        rule_name: Any = None,
        norm_map: Any = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        if model_file:
            path = arguments.path_of("model_file", model_file)
            spec = _spec_of_model(read_file(path))
        elif model_proto:
            spec = _spec_of_model(arguments.proto_bytes("model_proto", model_proto))
        elif normalizer_spec:
            spec = arguments.proto_bytes("normalizer_spec", normalizer_spec)
        elif rule_tsv:
            spec = _spec_of_file(arguments.path_of("rule_tsv", rule_tsv))
        elif rule_name:
            spec = _spec_of_name(rule_name)
        elif norm_map:
            spec = _charsmap_field(_pairs(norm_map))
        else:
            raise ValueError("no model is specified")
        given = {
            "add_dummy_prefix": add_dummy_prefix,
            "escape_whitespaces": escape_whitespaces,
            "remove_extra_whitespaces": remove_extra_whitespaces,
        }
        flags = {
            name: arguments.flag(name, value) for name, value in given.items() if value is not None
        }
        self._use(spec, flags)

    def _use(self, spec: bytes, flags: dict[str, bool]) -> None:
        try:
            self._spec = model_file.with_normalizer_flags(spec, flags)
        except WireError as error:
            raise internal(f"no NormalizerSpec: {error}") from error
        self._tokenizer = open_bytes(model_file.normalizer_model(self._spec))

    def Normalize(self, input: Any, with_offsets: Any = None) -> Any:
        """Normalize a text, or each of a list; as `SentencePieceProcessor.Normalize`."""
        strips = Message(self._spec).flag(
            model_file.NORMALIZER_FLAGS["remove_extra_whitespaces"], True
        )
        return over(
            input, lambda text: normalize(self._tokenizer, text, bool(with_offsets), strips)
        )

    def Decompile(self) -> list[tuple[str, str]]:
        """List the rules: texts and replacements, in the order of the texts."""
        charsmap = Message(self._spec).bytes.get(model_file.CHARSMAP, b"")
        if not charsmap:
            raise internal("No precompiled charsmap found in model.")
        return [(key.decode(), value.decode()) for key, value in decompile(charsmap).items()]

    def serialized_model_proto(self) -> bytes:
        """Bytes of a ModelProto that has this normalizer and nothing else."""
        return bytes_field(model_file.NORMALIZER_SPEC, self._spec)

    def serialized_normalizer_spec(self) -> bytes:
        """Bytes of the NormalizerSpec."""
        return self._spec

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, serialized_model_proto: bytes) -> None:
        self._use(_spec_of_model(serialized_model_proto), {})

    normalize = Normalize
    decompile = Decompile


def _spec_of_model(data: bytes) -> bytes:
    if not is_proto(data):
        from isotok.compile import compile_model
        from isotok.errors import TokenizerError

        try:
            data = compile_model(data, "model")
        except TokenizerError as error:
            raise internal(str(error)) from error
    try:
        return model_file.normalizer_spec_of(data)
    except WireError as error:
        raise internal(f"no ModelProto: {error}") from error


def _spec_of_name(name: Any) -> bytes:
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"rule_name must be a str, not {name!r}")
    text = name if isinstance(name, str) else name.decode()
    if text == "identity":
        charsmap = b""
    elif text in named.NAMES:
        charsmap = named.charsmap_of(text)
    elif not text or set(text) - set("abcdefghijklmnopqrstuvwxyz_-"):
        raise invalid(f"Invalid charsmap name {text}")
    else:
        known = ", ".join(["identity", *named.NAMES])
        raise FileError(f"NOT_FOUND: No precompiled charsmap is found: {text}; known are {known}")
    name_field = bytes_field(model_file.NAME, text.encode())
    return name_field + bytes_field(model_file.CHARSMAP, charsmap)


def _spec_of_file(path: str) -> bytes:
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            lines = file.read().removesuffix("\n").split("\n")
    except OSError as error:
        raise file_error(path, error) from error
    rules: dict[bytes, bytes] = {}
    for line in lines:
        columns = [*line.split("\t"), ""]
        source = _code_points(columns[0])
        if not source:
            raise internal(f'{path}: the line "{line}" has no source')
        rules[source] = _code_points(columns[1])
    name = bytes_field(model_file.NAME, b"user_defined")
    return name + _charsmap_field(rules) + bytes_field(model_file.RULE_TSV, path.encode())


def _code_points(text: str) -> bytes:
    try:
        numbers = [int(word.removeprefix("U+"), 16) for word in text.split(" ") if word]
        return "".join(map(chr, numbers)).encode()
    except (ValueError, OverflowError):
        raise internal(f"Invalid hex codepoint: {text}") from None


def _pairs(norm_map: Any) -> dict[bytes, bytes]:
    """Rules of the caller's, checked."""
    if not isinstance(norm_map, Sequence) or isinstance(norm_map, (str, bytes)):
        raise TypeError(f"norm_map must be a sequence of pairs of str or bytes, not {norm_map!r}")
    rules: dict[bytes, bytes] = {}
    for pair in cast("Sequence[Any]", norm_map):
        if not isinstance(pair, Sequence) or isinstance(pair, (str, bytes)) or len(pair) != 2:  # pyright: ignore[reportUnknownArgumentType]
            raise TypeError(f"norm_map must hold pairs of str or bytes, not {pair!r}")
        try:
            source, target = arguments.each_bytes(cast("Sequence[object]", pair))
        except TypeError:
            raise TypeError(f"norm_map must hold pairs of str or bytes, not {pair!r}") from None
        _check_utf8("source", source)
        _check_utf8("target", target)
        if source in rules:
            raise invalid(f"Duplicate source string in map: {source.decode()}")
        rules[source] = target
    return rules


def _check_utf8(what: str, text: bytes) -> None:
    try:
        text.decode()
    except UnicodeDecodeError:
        raise invalid(f"Invalid UTF-8 sequence in {what}: {text!r}") from None


def _charsmap_field(rules: dict[bytes, bytes]) -> bytes:
    for source, target in rules.items():
        if not source or b"\0" in source or b"\0" in target:
            raise invalid("Source string cannot be empty, and neither may hold a NUL.")
        if source == target:
            raise invalid("Identity conversion is not allowed.")
    try:
        return bytes_field(model_file.CHARSMAP, compile_rules(rules))
    except CharsmapError as error:
        raise internal(str(error)) from error
