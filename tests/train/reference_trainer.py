"""BPE training as it is defined: count everything again before each merge. Slow, and readable.

A word is a list of symbols, a symbol is the bytes it stands for. Byte units: each byte is one.
Unicode units: each character is one; ASCII has the token of its byte, any other character gets a
token when it is more frequent than every pair (or as frequent), and is written in bytes till then.
"""

from __future__ import annotations

import itertools
from collections import Counter

LETTERS = [*range(33, 127), *range(161, 173), *range(174, 256), *range(33), *range(127, 161), 173]


class Reference:
    """A run; the arguments are those of `train_bpe`."""

    def __init__(
        self,
        words: dict[str, int],
        *,
        unit: str = "byte",
        initial_alphabet: str | list[str] = "raw",
        tie_break: str = "smallest_pair_id",
        min_frequency: int = 0,
        max_token_length: int | None = None,
        limit_alphabet: int | None = None,
        forbidden_merges: list[tuple[str, str]] = (),
    ) -> None:
        order = LETTERS if initial_alphabet == "byte_level" else range(256)
        self.tokens = [bytes([byte]) for byte in order]
        self.merges: list[tuple[bytes, bytes]] = []
        self.counts: list[int] = []
        self.last = 0
        self.unit, self.ties = unit, tie_break
        self.least = max(min_frequency, 1)
        self.longest, self.limit = max_token_length, limit_alphabet
        self.forbidden = {(a.encode(), b.encode()) for a, b in forbidden_merges}
        self.frozen: set[bytes] = set()
        self.words = [(self.split(word), count) for word, count in words.items()]
        if not isinstance(initial_alphabet, str):
            self.tokens += [char.encode() for char in initial_alphabet]

    def split(self, word: str) -> list[bytes]:
        if self.unit == "byte":
            return [bytes([byte]) for byte in word.encode()]
        return [char.encode() for char in word]

    def is_char(self, symbol: bytes) -> bool:
        return len(symbol) > 1 and len(symbol.decode(errors="replace")) == 1

    # -- one step -----------------------------------------------------------------------

    def candidates(self) -> list[tuple[int, int, tuple, tuple[bytes, ...]]]:
        """Everything that could get a token: minus its count, kind, tie, and what it is."""
        pairs: Counter[tuple[bytes, bytes]] = Counter()
        chars: Counter[bytes] = Counter()
        for symbols, count in self.words:
            for pair in itertools.pairwise(symbols):
                pairs[pair] += count
            if self.unit == "unicode":
                chars.update(dict.fromkeys(symbols, 0))
        if self.unit == "unicode":
            chars = self.chars()
        limit = self.limit
        full = limit is not None and sum(map(self.is_char, self.tokens)) >= limit
        found = [
            (-count, 0, self.rank((char,)), (char,))
            for char, count in chars.items()
            if char not in self.tokens and char not in self.frozen and not full
        ]
        for (left, right), count in pairs.items():
            parts = {s for s in (left, right) if self.unit == "unicode" and self.is_char(s)}
            if parts & self.frozen or (any(char not in self.tokens for char in parts) and full):
                continue
            if self.longest is not None and len(left + right) > self.longest:
                continue
            if (left, right) not in self.forbidden:
                found.append((-count, 1, self.rank((left, right)), (left, right)))
        return found

    def chars(self) -> Counter[bytes]:
        """How often each character beyond ASCII is in the words, merged or not."""
        found: Counter[bytes] = Counter()
        for symbols, count in self.words:
            for char in b"".join(symbols).decode():
                if not char.isascii():
                    found[char.encode()] += count
        return found

    def rank(self, symbols: tuple[bytes, ...]) -> tuple:
        if self.ties == "largest_content":
            return tuple((*(255 - byte for byte in symbol), 256) for symbol in symbols)
        return tuple(
            (0, ord(s.decode()))
            if self.unit == "unicode" and self.is_char(s)
            else (1, self.tokens.index(s))
            for s in symbols
        )

    def step(self) -> bool:
        found = self.candidates()
        if not found:
            return False
        count, pair, _, symbols = min(found)
        if pair and -count < self.least:
            return False
        self.last = -count
        made = b"".join(symbols)
        if made not in self.tokens:
            self.tokens.append(made)
        if len(symbols) == 2:
            self.merges.append(symbols)
            self.counts.append(-count)
            self.words = [(replace(word, symbols), number) for word, number in self.words]
        return True

    # -- runs ---------------------------------------------------------------------------

    def run(self, size: int) -> Reference:
        while len(self.tokens) < size and self.step():
            pass
        return self

    def run_with_fallback(self, size: int, ratio: float) -> Reference:
        """Some tokens for characters, some for the bytes of the others, the rest as before."""
        learned = size - len(self.tokens)
        self.run(len(self.tokens) + int(learned * ratio))
        chars = self.chars()
        self.frozen = {char for char in chars if char not in self.tokens}
        rare = Reference({char.decode(): chars[char] for char in self.frozen}, tie_break=self.ties)
        rare.tokens[:256], rare.least = self.tokens[:256], max(self.last, self.least)
        rare.run(256 + learned - int(learned * ratio))
        self.run(size - len(rare.merges))
        self.tokens += rare.tokens[256:]
        both = [*zip(self.counts, self.merges), *zip(rare.counts, rare.merges)]  # noqa: B905
        both.sort(key=lambda item: -item[0])  # stable: characters first
        self.merges = [merge for _, merge in both]
        return self


def replace(word: list[bytes], pair: tuple[bytes, ...]) -> list[bytes]:
    out: list[bytes] = []
    for symbol in word:
        if out and (out[-1], symbol) == pair:
            out[-1] = b"".join(pair)
        else:
            out.append(symbol)
    return out
