"""A tokenizer.json as its small members and the places of its large ones.

The vocabulary and the merges take nearly all of a file. They are not parsed with the rest, but
read piece by piece where they are needed (`entries`), so that memory stays a small multiple of the
file, whatever it holds; the rest may only be as large as the rest of a tokenizer.json can be.

COMPLEXITY  O(size of the file): each byte is scanned once, and parsed once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from isotok.compile.tokenizer_json.errors import broken, shorten
from isotok.compile.tokenizer_json.floats import read_float

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WS: Final = rb"[ \t\n\r]*+"
_STRING: Final = rb'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"'
_NUMBER: Final = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_VALUE: Final = rb"(?:%s|%s|true|false|null)" % (_STRING, _NUMBER)
_PAIR: Final = _WS.join([rb"\[", _STRING, rb",", _VALUE, rb"\]"])
_FLAT: Final = rb'\{(?:[^"{}\[\]]++|%s)*+\}' % _STRING
_ENTRIES: Final = {
    b"{": _WS.join([b"", _STRING, rb":", _VALUE, b""]),
    b"[": _WS.join([b"", rb"(?:%s|%s|%s)" % (_PAIR, _VALUE, _FLAT), b""]),
}
_RUNS: Final = {mark: re.compile(rb"(?:%s,)*+" % entry) for mark, entry in _ENTRIES.items()}
_LASTS: Final = {
    b"{": re.compile(rb"(?:%s|%s)\}" % (_ENTRIES[b"{"], _WS)),
    b"[": re.compile(rb"(?:%s|%s)\]" % (_ENTRIES[b"["], _WS)),
}
_SPACES: Final = re.compile(_WS)
_KEY: Final = re.compile(_STRING)
_STEP: Final = re.compile(rb'[^"\[\]{}]*+(?:%s|[\[\]{}])' % _STRING)
_PLAIN: Final = re.compile(_VALUE)

_CHUNK: Final = 1 << 16
"""Bytes of entries that are parsed at a time."""
_MOST_REST: Final = 1 << 24
"""Bytes of all small members together; half a megabyte is usual."""
_MOST_STEPS: Final = 1 << 20
"""Strings and brackets in small members."""
_MOST_MEMBERS: Final = 1000
"""Of the file and of `model`."""
_DEEPEST: Final = 100

_LARGE: Final = ("model.vocab", "model.merges", "vocab")
"""What is not parsed with the rest; the last is that of a tekken.json."""


@dataclass(frozen=True)
class Span:
    """An array or object that has not been parsed.

    Parameters
    ----------
    path : str
        Where it is in the JSON.
    is_object : bool
    begin, end : int
        Its bytes, brackets included.
    """

    path: str
    is_object: bool
    begin: int
    end: int


def split_document(data: Buffer) -> tuple[dict[str, Any], dict[str, Span]]:
    """Parse all but the large members.

    Parameters
    ----------
    data : bytes-like
        The file.

    Returns
    -------
    document : dict
        The JSON object, with null for each large member.
    large : dict of str to Span
        By their paths: `model.vocab`, `model.merges`, `vocab`.

    Raises
    ------
    TokenizerError
        It is not JSON, not an object, too deep, or too large where it is small by nature.
    """
    scanner = _Scanner(memoryview(data).cast("B"))
    scanner.scan_object("", ("model",))
    scanner.skip_spaces()
    if scanner.at < len(scanner.data):
        raise broken("", "something follows the JSON object", offset=scanner.at)
    return scanner.rest(), scanner.large


def entries(data: Buffer, span: Span) -> Iterator[list[Any]]:
    """Parse the elements of an array, or (key, value) of an object, some at a time."""
    view = memoryview(data).cast("B")
    mark = b"{" if span.is_object else b"["
    at = span.begin + 1
    while at < span.end:
        run = _RUNS[mark].match(view, at, min(at + _CHUNK, span.end))
        end = run.end() if run is not None and run.end() > at else span.end
        # without the comma, or the bracket
        chunk = mark + bytes(view[at : end - 1]) + (b"}" if span.is_object else b"]")
        yield cast("list[Any]", parse(chunk, span.path, at, pairs=span.is_object))
        at = end


def parse(chunk: bytes, path: str, offset: int, *, pairs: bool = False) -> object:
    """Parse JSON; of objects, the pairs if asked for. Errors name the byte of the file."""
    try:
        text = chunk.decode()
        return json.loads(
            text,
            object_pairs_hook=list if pairs else None,
            parse_constant=_no_constant,
            parse_float=read_float,
        )
    except UnicodeDecodeError as error:
        raise broken(path, "text that is not UTF-8", offset=offset + error.start) from None
    except json.JSONDecodeError as error:
        at = offset + len(error.doc[: error.pos].encode())
        raise broken(path, f"not JSON: {error.msg}", offset=at) from None
    except RecursionError:
        raise broken(path, "JSON that is nested too deep") from None
    except ValueError as error:  # a number of too many digits, a constant
        raise broken(path, f"not JSON: {error}", offset=offset) from None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


class _Scanner:
    """A walk over the file that notes the large members and copies the rest."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0
        self.large: dict[str, Span] = {}
        self._copied = 0  # bytes before that are in the skeleton, or skipped
        self._skeleton = bytearray()
        self._steps = self._members = 0

    def rest(self) -> dict[str, Any]:
        """The small members."""
        self._copy(self.at)
        return cast("dict[str, Any]", parse(bytes(self._skeleton), "", 0))

    def skip_spaces(self) -> None:
        self.at = self._end(_SPACES)

    def scan_object(self, path: str, inner: tuple[str, ...]) -> None:
        """Walk over an object: into members named `inner`, around the large ones of these."""
        self._take(b"{", path)
        self.skip_spaces()
        if self._peek() == b"}":
            self.at += 1
            return
        while True:
            self._member(path, inner)
            self.skip_spaces()
            if self._peek() != b",":
                break
            self.at += 1
        self._take(b"}", path)

    def _member(self, path: str, inner: tuple[str, ...]) -> None:
        self.skip_spaces()
        begin, self.at = self.at, self._end(_KEY)
        if begin == self.at:
            raise broken(path, f"a member's name expected, not {self._here()}", offset=begin)
        name = cast("str", parse(bytes(self.data[begin : self.at]), path, begin))
        self._take(b":", path)
        self.skip_spaces()
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise broken(path, "more members than a tokenizer.json has", offset=begin)
        place, mark = f"{path}.{name}" if path else name, self._peek()
        if name in inner and mark == b"{":
            self.scan_object(place, ())
        elif place in _LARGE and mark in (b"{", b"["):
            self._skip_large(place, mark)
        else:
            self._skip_small(place)

    def _skip_large(self, path: str, mark: bytes) -> None:
        begin = self.at
        if path in self.large:
            raise broken(path, "this member is there twice", offset=begin)
        self._copy(begin)
        self.at += 1
        while True:
            run = _RUNS[mark].match(self.data, self.at, self.at + _CHUNK)
            if run is None or run.end() == self.at:
                break
            self.at = run.end()
        end = self._end(_LASTS[mark])
        if end == self.at:
            kinds = "a name and a number" if mark == b"{" else "a string, or a pair in brackets"
            raise broken(path, f"{self._here()} where {kinds} should be", offset=self.at)
        self.large[path] = Span(path, mark == b"{", begin, end)
        self._skeleton += b"null"
        self._copied = self.at = end

    def _skip_small(self, path: str) -> None:
        begin, depth = self.at, 0
        while True:
            plain = self._end(_PLAIN) if depth == 0 else self.at
            if plain > self.at:
                self.at = plain
                break
            step, self.at = self.at, self._end(_STEP)
            last = bytes(self.data[self.at - 1 : self.at])
            depth += (last in b"[{") - (last in b"]}") if step != self.at else 0
            self._steps += 1
            if step == self.at or depth < 0 or (depth == 0 and last == b'"'):
                self.at = step
                raise broken(path, f"{self._here()} where a value should be", offset=step)
            if depth > _DEEPEST:
                raise broken(path, "JSON that is nested too deep", offset=begin)
            if self._steps > _MOST_STEPS or self.at - begin > _MOST_REST:
                raise broken(path, "more JSON than this member can be", offset=begin)
            if depth == 0:
                break
        if len(self._skeleton) + self.at - self._copied > _MOST_REST:
            raise broken(path, "more JSON than this member can be", offset=begin)

    def _copy(self, end: int) -> None:
        if len(self._skeleton) + end - self._copied > 2 * _MOST_REST:
            raise broken("", "more spaces than JSON")
        self._skeleton += self.data[self._copied : end]
        self._copied = end

    def _end(self, pattern: re.Pattern[bytes]) -> int:
        """Where a match at this place ends; here if there is none."""
        found = pattern.match(self.data, self.at)
        return self.at if found is None else found.end()

    def _peek(self) -> bytes:
        return bytes(self.data[self.at : self.at + 1])

    def _here(self) -> str:
        if self.at >= len(self.data):
            return "the end of the file"
        return shorten(bytes(self.data[self.at : self.at + 40]).decode(errors="replace"))

    def _take(self, mark: bytes, path: str) -> None:
        self.skip_spaces()
        if self._peek() != mark:
            raise broken(path, f"{mark.decode()} expected, not {self._here()}", offset=self.at)
        self.at += 1
