"""SentencePiece's precompiled_charsmap: a double array of rules, and their replacements.

Layout (little-endian): uint32 size of the array in bytes, the array of uint32 units (Darts),
then the replacements, each ended by NUL; a value of the array is the place of one of those.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

LABEL: Final = 0xFF
HAS_LEAF: Final = 1 << 8
IS_VALUE: Final = 1 << 31
WIDE: Final = 1 << 9
BLOCK: Final = 256
RECENT: Final = 16
"""Blocks in which a place is looked for: older ones are nearly full."""
DEEPEST: Final = 1000
MOST_UNITS: Final = 1 << 24
MOST_PREFIXES: Final = 32
"""The rules that begin with one another are fewer."""


class CharsmapError(ValueError):
    """The bytes are no charsmap, or the rules make none."""


def _offset(unit: int) -> int:
    return unit >> 10 << (8 if unit & WIDE else 0) & 0x1FFFFFFF


def decompile(charsmap: bytes) -> dict[bytes, bytes]:
    """Read the rules of a charsmap, in the order of their texts."""
    (size,) = struct.unpack_from("<I", charsmap)
    if size % 4 or 4 + size > len(charsmap):
        raise CharsmapError("the array is longer than the charsmap")
    units = memoryview(charsmap)[4 : 4 + size].cast("I")
    pool = charsmap[4 + size :]
    children: dict[int, list[int]] = {}  # base: labels of the units there, descending
    for label, at in sorted((-(unit & LABEL), at) for at, unit in enumerate(units)):
        if label and not units[at] & IS_VALUE:
            children.setdefault(at ^ -label, []).append(-label)
    rules: dict[bytes, bytes] = {}
    waiting: list[tuple[int, bytes]] = [(0, b"")]
    while waiting:
        node, key = waiting.pop()
        base = node ^ _offset(units[node])
        if units[node] & HAS_LEAF and key:
            begin = units[base] & ~IS_VALUE
            rules[key] = pool[begin : pool.index(b"\0", begin)]
        labels = children.get(base, ())
        waiting += ((base ^ label, key + bytes((label,))) for label in labels)
        if len(key) > DEEPEST or len(waiting) > MOST_UNITS:
            raise CharsmapError("the array leads in circles")
    return rules


def compile_rules(rules: Mapping[bytes, bytes]) -> bytes:
    """Make the charsmap of rules (text: replacement)."""
    pool = bytearray()
    places: dict[bytes, int] = {}
    for replacement in sorted(set(rules.values())):
        places[replacement] = len(pool)
        pool += replacement + b"\0"
    _check_prefixes(rules)
    units = _Builder().build([(key, places[rules[key]]) for key in sorted(rules)])
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(pool)


def _check_prefixes(rules: Mapping[bytes, bytes]) -> None:
    for key in rules:
        prefixes = sum(key[:size] in rules for size in range(1, len(key) + 1))
        if prefixes >= MOST_PREFIXES:
            raise CharsmapError(f"{prefixes} rules begin with one another; {MOST_PREFIXES - 1} may")


class _Open:
    """A node of the trie whose children are not all known yet."""

    __slots__ = ("children", "value")

    def __init__(self) -> None:
        self.value = -1
        self.children: list[tuple[int, int, bool]] = []  # byte, base of its children, has a value


class _Builder:
    """Puts the minimal automaton of sorted keys into a double array.

    A node is known by the base of its children: the child by byte c is at base ^ c, the
    value at base ^ 0. Nodes that go on in the same way share a base, no others do.
    """

    def __init__(self) -> None:
        self.units: list[int] = []
        self.taken = bytearray()
        self.bases = bytearray()  # 1 where a base is used
        self.known: dict[tuple[int, tuple[tuple[int, int, bool], ...]], int] = {}
        self._grow()
        self.taken[0] = self.bases[0] = 1  # the root; its own base is another

    def build(self, entries: list[tuple[bytes, int]]) -> list[int]:
        """Units of the array for keys in ascending order."""
        path = [_Open()]
        before = b""
        for key, value in entries:
            common = 0
            while common < len(before) and before[common] == key[common]:
                common += 1
            self._close(path, before, common)
            path += [_Open() for _ in range(len(key) - common)]
            path[-1].value = value
            before = key
        self._close(path, before, 0)
        self.units[0] = self._link(0, self._base(path[0]))
        self._fill()
        return self.units

    def _close(self, path: list[_Open], key: bytes, depth: int) -> None:
        """Store the nodes of `key` that are deeper than `depth`."""
        while len(path) > depth + 1:
            node = path.pop()
            byte = key[len(path) - 1]
            path[-1].children.append((byte, self._base(node), node.value >= 0))

    def _base(self, node: _Open) -> int:
        """Base of a finished node; a new one gets a place."""
        key = node.value, tuple(node.children)
        base = self.known.get(key)
        if base is None:
            base = self.known[key] = self._place(node)
        return base

    def _place(self, node: _Open) -> int:
        bytes_used = [byte for byte, _, _ in node.children]
        if node.value >= 0:
            bytes_used.insert(0, 0)
        base = self._find(bytes_used)
        self.bases[base] = 1
        for byte in bytes_used:
            self.taken[base ^ byte] = 1
        if node.value >= 0:
            self.units[base] = IS_VALUE | node.value
        for byte, child_base, has_value in node.children:
            at = base ^ byte
            self.units[at] = self._link(at, child_base) | byte | (HAS_LEAF if has_value else 0)
        return base

    def _find(self, bytes_used: list[int]) -> int:
        """Find a base at which these bytes are free; only the last blocks are looked at."""
        first = bytes_used[0]
        at = max(0, len(self.units) - RECENT * BLOCK)
        while True:
            at = self.taken.find(0, at)
            if at < 0:
                at = len(self.units)
                self._grow()
            base = at ^ first
            if not self.bases[base] and not any(self.taken[base ^ byte] for byte in bytes_used):
                return base
            at += 1

    def _link(self, at: int, base: int) -> int:
        distance = at ^ base
        if distance < 1 << 21:
            return distance << 10
        if distance & 0xFF or distance >= 1 << 29:
            raise CharsmapError("the rules need too large an array")
        return distance << 2 | WIDE

    def _grow(self) -> None:
        self.units += [0] * BLOCK
        self.taken += bytes(BLOCK)
        self.bases += bytes(BLOCK)

    def _fill(self) -> None:
        """Give free units a label that no walk can ask for there."""
        for at, taken in enumerate(self.taken):
            if not taken:
                block = at & -BLOCK
                self.units[at] = at ^ self.bases.index(0, block, block + BLOCK)
