"""Text that may go on: tokens that will stay, and what the rest can become.

SOURCE  `_encode_unstable_native` and `_encode_bytes` of tiktoken 0.14.0, with what they call
        approximations there: the same ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from isotok.compat.tiktoken._ranks import merge, merge_all

_WHITE_SPACE: Final = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


@dataclass(frozen=True)
class Encoded:
    """Tokens of a text, and how many of them are of its last pre-token."""

    tokens: list[int]
    last: int
    """0: it has none, or a special token is behind it."""


@dataclass(frozen=True)
class Unstable:
    """The tokens of an encoding.

    Parameters
    ----------
    ranks : mapping of bytes to int
    ordered : sequence of bytes
        The same bytes, sorted.
    bytes_of : mapping of int to bytes
        The same, the other way round: special tokens are not in it.
    encode_each : callable
        Ids of texts without special tokens.
    """

    ranks: Mapping[bytes, int]
    ordered: Sequence[bytes]
    bytes_of: Mapping[int, bytes]
    encode_each: Callable[[list[str]], Iterable[list[int]]]

    def completions(self, encoded: Encoded) -> tuple[list[int], list[list[int]]]:
        """Return the tokens that stay, and what can come behind them, sorted."""
        if encoded.last == 0:
            return encoded.tokens, []
        stable, rest = self.cut(encoded)
        found = {(self.ranks[token],) for token in self._that_begin(rest)}
        found |= self._straddling(rest)
        split = self._split_before_space(rest)
        if split is not None:
            found.add(split)
        return stable, [list(tokens) for tokens in sorted(found)]

    def cut(self, encoded: Encoded) -> tuple[list[int], bytes]:
        """Return tokens that stay and the bytes behind them: of the last pre-token.

        White space in front of white space is not sure to stay.
        """
        tokens, last = encoded.tokens, encoded.last
        if last > 0 and self._is_space(tokens[-last]):
            while last < len(tokens) and self._is_space(tokens[-last - 1]):
                last += 1
        size = len(tokens) - last
        return tokens[:size], b"".join(self.bytes_of[token] for token in tokens[size:])

    def _is_space(self, token: int) -> bool:
        return not self.bytes_of.get(token, b"-").strip(b" \n\t")

    def _that_begin(self, prefix: bytes) -> Iterable[bytes]:
        at = bisect_left(self.ordered, prefix)
        while at < len(self.ordered) and self.ordered[at].startswith(prefix):
            yield self.ordered[at]
            at += 1

    def _straddling(self, rest: bytes) -> set[tuple[int, ...]]:
        """Segment again what each token makes that can lie across the end."""
        texts: list[str] = []
        found: set[tuple[int, ...]] = set()
        for i in range(1, len(rest)):
            for token in self._that_begin(rest[i:]):
                possible = rest[:i] + token
                try:
                    texts.append(possible.decode())
                except UnicodeDecodeError:
                    found.add(self._as_far(merge_all(self.ranks, possible), len(rest)))
        found.update(self._as_far(tokens, len(rest)) for tokens in self.encode_each(texts))
        return found

    def _as_far(self, tokens: Iterable[int], size: int) -> tuple[int, ...]:
        """Return the first tokens, up to the one that reaches the size."""
        taken: list[int] = []
        for token in tokens:
            taken.append(token)
            size -= len(self.bytes_of[token])
            if size <= 0:
                break
        return tuple(taken)

    def _split_before_space(self, rest: bytes) -> tuple[int, ...] | None:
        """Return the tokens of a text whose last white space would be cut off."""
        *before, last = rest.decode()
        if not before or last not in _WHITE_SPACE:
            return None
        parts = "".join(before).encode(), last.encode()
        return tuple(token for part in parts for token in merge_all(self.ranks, part))

    def broken(self, encoded: Encoded, rest: bytes) -> list[int]:
        """Return the tokens of a text with bytes behind it that are no UTF-8."""
        tokens = encoded.tokens
        if encoded.last > 0:
            tokens, before = self.cut(encoded)
            rest = before + rest
        return tokens + merge(self.ranks, rest)
