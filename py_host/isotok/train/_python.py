"""The merges of a table of words, in Python: the engine where the extension is not installed.

ALGORITHM: exact counts of all pairs, the words each pair occurs in, and a heap of candidates
whose entries may be out of date; one that is gets its true count and is put back. A merge
counts the pairs of each word it changes again.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

from isotok.compile.tokenizer_json.bytes_of_letters import BYTE_OF
from isotok.train._options import Learned, Options, Tick

CHARS: Final = 0x110000
"""Character c is the symbol c - CHARS while ids are from 0: characters come before tokens."""
Symbols = tuple[int, int]
_Key = tuple[int, int, Any] | tuple[int, int, Any, Any]
_PERIOD: Final = 100

LETTER_ORDER: Final = [BYTE_OF[letter] for letter in sorted(BYTE_OF)]
"""Bytes in the order of the letters that stand for them in byte-level files."""


def first_tokens(options: Options) -> list[bytes]:
    """Return the 256 bytes in the order of their ids."""
    order = LETTER_ORDER if options.initial_alphabet == "byte_level" else range(256)
    return [bytes([value]) for value in order]


class PythonEngine:
    """Merges are added one by one; see `Options` for how they are chosen."""

    def __init__(
        self,
        options: Options,
        words: Iterable[tuple[bytes, int]],
        start: Learned | None = None,
    ) -> None:
        self.options = options
        self.learned = Learned(first_tokens(options))
        self._text = dict(enumerate(self.learned.tokens))
        self._ids = {text: number for number, text in enumerate(self.learned.tokens)}
        self._byte = [self._ids[bytes([value])] for value in range(256)]
        self._words: list[list[int]] = []
        self._counts: list[int] = []
        self._pairs: dict[Symbols, int] = defaultdict(int)
        self._where: dict[Symbols, set[int]] = defaultdict(set)
        self._chars: dict[int, int] = defaultdict(int)
        self._known: dict[int, int] = {}  # characters that have a token
        self._frozen: set[int] = set()
        self.last_count = 0  # of the last token that was added
        self._heap: list[tuple[_Key, Symbols]] = []
        for text, count in words:
            self._add_word(self._symbols(text), count)
        if start is not None:
            self._replay(start)
            return
        self._push_all()
        for char in options.required:
            if not char.isascii():
                self._make_char(ord(char) - CHARS)

    # -- words ----------------------------------------------------------------------

    def _symbols(self, text: bytes) -> list[int]:
        if self.options.unit == "byte":
            return [self._byte[value] for value in text]
        chars = text.decode()
        return [self._byte[ord(c)] if c.isascii() else ord(c) - CHARS for c in chars]

    def _add_word(self, symbols: list[int], count: int) -> None:
        number = len(self._words)
        self._words.append(symbols)
        self._counts.append(count)
        for symbol in symbols:
            if symbol < 0:
                self._chars[symbol] += count
                self._text.setdefault(symbol, chr(symbol + CHARS).encode())
        for pair in itertools.pairwise(symbols):
            self._pairs[pair] += count
            self._where[pair].add(number)

    def _push_all(self) -> None:
        self._heap = [(self._key(pair, count), pair) for pair, count in self._pairs.items()]
        units = ((char, count) for char, count in self._chars.items() if char not in self._known)
        self._heap += [(self._char_key(char, count), (char, 0)) for char, count in units]
        heapq.heapify(self._heap)

    # -- order ----------------------------------------------------------------------

    def _key(self, pair: Symbols, count: int) -> _Key:
        if self.options.tie_break == "smallest_pair_id":
            return (-count, 1, pair)
        return (-count, 1, _descending(self._text[pair[0]]), _descending(self._text[pair[1]]))

    def _char_key(self, char: int, count: int) -> _Key:
        if self.options.tie_break == "smallest_pair_id":
            return (-count, 0, char)
        return (-count, 0, -char)

    # -- merges ---------------------------------------------------------------------

    def run(self, target: int, tick: Tick | None = None) -> None:
        """Add tokens until there are `target`, none is left, or `tick` returns true."""
        learned = self.learned
        while len(learned.tokens) < target:
            if not self._one(self.options.cutoff):
                learned.exhausted = True
                break
            done = len(learned.tokens)
            if tick and done % _PERIOD == 0 and tick(done, target):
                return
        if tick:
            tick(len(learned.tokens), target)

    @property
    def window_stats(self) -> dict[str, int]:
        """What a bounded window has cost: there is none."""
        return {}

    def step(self) -> bool:
        """Add one token, whatever the cutoff is."""
        return self._one(1)

    def _one(self, cutoff: int) -> bool:
        while self._heap:
            key, pair = self._heap[0]
            unit = key[1] == 0
            if unit and (pair[0] in self._frozen or pair[0] in self._known):
                heapq.heappop(self._heap)
                continue
            count = self._chars[pair[0]] if unit else self._pairs.get(pair, 0)
            if not unit and count < -key[0]:
                heapq.heappop(self._heap)
                if count > 0:
                    heapq.heappush(self._heap, (self._key(pair, count), pair))
                continue
            if not unit and self._refused(pair):
                heapq.heappop(self._heap)
                continue
            if not unit and count < max(cutoff, 1):
                return False
            heapq.heappop(self._heap)
            if unit:
                limit = self.options.limit_alphabet
                if limit is not None and len(self._known) >= limit:
                    self.freeze()
                    continue
                self._make_char(pair[0])
                self.last_count = count
                return True
            self._merge(pair, count)
            self.last_count = count
            return True
        return False

    def _refused(self, pair: Symbols) -> bool:
        if not self._frozen.isdisjoint(pair):
            return True
        left, right = self._text[pair[0]], self._text[pair[1]]
        longest = self.options.max_token_length
        if longest is not None and len(left) + len(right) > longest:
            return True
        return (left, right) in self.options.forbidden

    def _make_char(self, char: int) -> None:
        text = chr(char + CHARS).encode()
        self._text[char] = text
        self._known[char] = self._ids[text] = len(self.learned.tokens)
        self.learned.tokens.append(text)

    def number(self, symbol: int) -> int:
        """Return the id of a symbol."""
        return self._known[symbol] if symbol < 0 else symbol

    def _merge(self, pair: Symbols, count: int) -> None:
        text = self._text[pair[0]] + self._text[pair[1]]
        made = self._ids.get(text)
        if made is None:
            made = self._ids[text] = len(self.learned.tokens)
            self.learned.tokens.append(text)
            self._text[made] = text
        elif self.learned.tokens[made] == text and made in self._known.values():
            made = next(char for char, number in self._known.items() if number == made)
        self.learned.merges.append(
            (self.number(pair[0]), self.number(pair[1]), self.number(made), count)
        )
        self._apply(pair, made)

    def _apply(self, pair: Symbols, made: int) -> None:
        changed: set[Symbols] = set()
        for number in sorted(self._where.pop(pair, ())):
            symbols, count = self._words[number], self._counts[number]
            for old in itertools.pairwise(symbols):
                self._pairs[old] -= count
            symbols = self._words[number] = merged(symbols, pair, made)
            for new in itertools.pairwise(symbols):
                self._pairs[new] += count
                self._where[new].add(number)
                if made in new:
                    changed.add(new)
        self._pairs.pop(pair, None)
        for new in changed:
            if self._pairs[new] > 0:
                heapq.heappush(self._heap, (self._key(new, self._pairs[new]), new))

    # -- going on -------------------------------------------------------------------

    def _replay(self, learned: Learned) -> None:
        targets = {merge[2] for merge in learned.merges}
        for number, text in enumerate(learned.tokens):
            if number >= 256 and number not in targets:
                self._make_char(ord(text.decode()) - CHARS)
            elif number >= 256:
                self._text[number], self._ids[text] = text, number
                self.learned.tokens.append(text)
        symbol_of = {number: char for char, number in self._known.items()}
        for left, right, target, _ in learned.merges:
            pair = symbol_of.get(left, left), symbol_of.get(right, right)
            self._apply(pair, symbol_of.get(target, target))
        self.learned.merges = list(learned.merges)
        self._push_all()

    # -- for fallback ---------------------------------------------------------------

    def freeze(self) -> list[tuple[bytes, int]]:
        """Give characters without a token up, and return them with their counts."""
        self._frozen = {char for char in self._chars if char not in self._known}
        return [(chr(char + CHARS).encode(), self._chars[char]) for char in sorted(self._frozen)]

    def end(self, learned: Learned) -> None:
        """Set the result of a run that is over."""
        self.learned = learned


def merged(symbols: Sequence[int], pair: Symbols, made: int) -> list[int]:
    """Return symbols with each pair, from the left, replaced."""
    out: list[int] = []
    at, end = 0, len(symbols)
    while at < end:
        if at + 1 < end and symbols[at] == pair[0] and symbols[at + 1] == pair[1]:
            out.append(made)
            at += 2
        else:
            out.append(symbols[at])
            at += 1
    return out


def _descending(text: bytes) -> tuple[int, ...]:
    """Return a key that sorts texts from the largest."""
    return (*(255 - value for value in text), 256)
