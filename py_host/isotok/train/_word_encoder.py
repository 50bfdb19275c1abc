"""Words to ids in Python, for models whose merges join bytes and characters."""

from __future__ import annotations

import itertools
from functools import lru_cache

from isotok.train._data import ModelData
from isotok.train._python import merged


class WordEncoder:
    """Applies merges by rank to one word; the last 65,536 words are remembered."""

    def __init__(self, data: ModelData) -> None:
        self._data = data
        self._ranks = {
            (left, right): (rank, made) for rank, (left, right, made, _) in enumerate(data.merges)
        }
        self.encode = lru_cache(maxsize=1 << 16)(self._encode)

    def _encode(self, word: bytes) -> tuple[int, ...]:
        ids = self._symbols(word)
        while len(ids) > 1:
            pairs = itertools.pairwise(ids)
            found = [self._ranks[pair] for pair in pairs if pair in self._ranks]
            if not found:
                break
            rank, made = min(found)
            left, right, _, _ = self._data.merges[rank]
            ids = merged(ids, (left, right), made)
        return tuple(ids)

    def _symbols(self, word: bytes) -> list[int]:
        ids = self._data.ids
        if self._data.unit == "byte":
            return [ids[word[i : i + 1]] for i in range(len(word))]
        built = self._data.bytes_built
        out: list[int] = []
        for char in word.decode():
            data = char.encode()
            number = ids.get(data)
            if number is None or number in built:
                out += [ids[data[i : i + 1]] for i in range(len(data))]
            else:
                out.append(number)
        return out
