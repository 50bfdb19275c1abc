"""The merges of one piece in Python: for what the core has no call for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise


def merge(ranks: Mapping[bytes, int], piece: bytes) -> list[int]:
    """Tokens of bytes that no pattern cuts: one token, or what their merges give."""
    return [ranks[piece]] if piece in ranks else merge_all(ranks, piece)


def merge_all(ranks: Mapping[bytes, int], piece: bytes) -> list[int]:
    """What the merges of single bytes give: the pair of least rank first, leftmost first.

    COMPLEXITY  O(n^2): for single pieces, which are short.
    """
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while len(parts) > 1:
        pairs = [ranks.get(a + b) for a, b in pairwise(parts)]
        found = [rank for rank in pairs if rank is not None]
        if not found:
            break
        at = pairs.index(min(found))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return [ranks[part] for part in parts]
