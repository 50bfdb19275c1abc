"""An automaton over bytes as the nodes of a blob's trie (FORMAT.md, section 4).

A node knows where its children are, and nothing of where it hangs. So nodes can share children,
and be among their own: the reader of a trie reads any deterministic automaton.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Final, Protocol, TypeVar

from isotok.compile.tokenizer_json.errors import unsupported

S = TypeVar("S")
_TRIES: Final = 6
"""Blocks that are looked at for the children of one node."""
_MOST_BLOCKS: Final = 0xFFFF

Bytes = Mapping[int, "Bytes | None"]
"""Byte sequences as a tree; None: the end of one."""


def bytes_of_characters(chars: Iterable[str]) -> Bytes:
    """Return the UTF-8 of characters as a tree whose equal parts are one."""
    tree: dict[int, object] = {}
    for char in chars:
        *head, last = char.encode()
        node = tree
        for byte in head:
            node = node.setdefault(byte, {})  # type: ignore[assignment]
        node[last] = None  # type: ignore[index]
    return _shared(tree, {})


def _shared(tree: dict[int, object], known: dict[object, Bytes]) -> Bytes:
    made: dict[int, Bytes | None] = {
        byte: None if child is None else _shared(child, known)  # type: ignore[arg-type]
        for byte, child in tree.items()
    }
    key = tuple((byte, id(child)) for byte, child in sorted(made.items(), key=lambda pair: pair[0]))
    return known.setdefault(key, made)


# ---- States ---------------------------------------------------------------------------


class Automaton(Protocol[S]):
    """A deterministic automaton over characters."""

    @property
    def start(self) -> S:
        """State in front of a text."""
        ...

    def value(self, state: S) -> int:
        """Value of a state; 0: none."""
        ...

    def step(self, state: S) -> Mapping[str, S]:
        """States that single characters lead to."""
        ...

    def loop(self, state: S) -> tuple[Bytes, S] | None:
        """One state that many further characters lead to, and their bytes."""
        ...


Tree = dict[int, "Tree | int"]
"""Bytes to more of them, or to the number of a state."""


class _States:
    """States over bytes by number: those of the automaton, and others within characters."""

    def __init__(self, automaton: Automaton[S]) -> None:
        self.children: list[dict[int, int]] = []
        self.values: list[int] = []
        self._numbers: dict[object, int] = {}
        waiting = [automaton.start]
        self._number(automaton.start, automaton.value(automaton.start))
        for state in waiting:
            tree: Tree = {}
            loop = automaton.loop(state)
            targets = automaton.step(state)
            for to in (*targets.values(), *([loop[1]] if loop else [])):
                if to not in self._numbers:
                    waiting.append(to)
                    self._number(to, automaton.value(to))
            for char, to in targets.items():
                _put(tree, char.encode(), self._numbers[to])
            number = self._numbers[state]
            known: dict[int, int] = {}
            target = self._numbers[loop[1]] if loop else 0
            self.children[number] = self._merge(tree, loop[0] if loop else {}, target, known)

    def _number(self, key: object, value: int) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.children)
            self.children.append({})
            self.values.append(value)
        return self._numbers[key]

    def _merge(self, tree: Tree, loop: Bytes, target: int, known: dict[int, int]) -> dict[int, int]:
        """Children of a state: where the tree leads, else the loop."""
        children: dict[int, int] = {}
        for byte in sorted(tree.keys() | loop.keys()):
            mine, others = tree.get(byte, {}), loop.get(byte, {})
            if isinstance(mine, int):
                children[byte] = mine
            elif others is None:
                children[byte] = target
            elif mine or id(others) not in known:
                inside = self._merge(mine, others, target, known)
                children[byte] = self._inside(inside)
                if not mine:
                    known[id(others)] = children[byte]
            else:
                children[byte] = known[id(others)]
        return children

    def _inside(self, children: dict[int, int]) -> int:
        number = self._number(tuple(children.items()), 0)
        self.children[number] = children
        return number


def _put(tree: Tree, raw: bytes, number: int) -> None:
    *head, last = raw
    for byte in head:
        inner = tree.setdefault(byte, {})
        assert isinstance(inner, dict)  # no character is the beginning of another
        tree = inner
    tree[last] = number


# ---- Nodes ----------------------------------------------------------------------------


class _Blocks:
    """Slots in blocks of 256, and the bases in them that are taken."""

    def __init__(self) -> None:
        self.free: list[int] = [0]  # block 0 is for nodes without children
        self.used: list[int] = [0]
        self._open: list[int] = []

    def place(self, labels: list[int]) -> int:
        """Take slots for children with these labels; returns their base."""
        for block in self._open[-_TRIES:]:
            base = self._fitting(block, labels)
            if base >= 0:
                return self._take(block, base, labels)
        block = len(self.free)
        if block >= _MOST_BLOCKS:
            raise unsupported("added_tokens", "so many spellings of tokens that are normalized")
        self.free.append((1 << 256) - 1)
        self.used.append(0)
        self._open.append(block)
        return self._take(block, 0, labels)

    def _fitting(self, block: int, labels: list[int]) -> int:
        free, used = self.free[block], self.used[block]
        if free.bit_count() < len(labels):
            return -1
        for base in range(256):
            if not used >> base & 1 and all(free >> (base ^ label) & 1 for label in labels):
                return base
        return -1

    def _take(self, block: int, base: int, labels: list[int]) -> int:
        self.used[block] |= 1 << base
        for label in labels:
            self.free[block] &= ~(1 << (base ^ label))
        return block << 8 | base


def make_nodes(automaton: Automaton[S]) -> array[int]:
    """Return the nodes of an automaton: pairs of a link and a value."""
    states = _States(automaton)
    blocks = _Blocks()
    order = sorted(range(len(states.children)), key=lambda i: (-len(states.children[i]), i))
    bases = [0] * len(order)
    for number in order:
        if states.children[number]:
            bases[number] = blocks.place([*states.children[number]])
    nodes = array("I", bytes(4)) * (512 * len(blocks.free))
    nodes[0] = bases[0] << 8 | 1
    for number, children in enumerate(states.children):
        for label, child in children.items():
            slot = bases[number] ^ label
            nodes[2 * slot] = bases[child] << 8 | label
            nodes[2 * slot + 1] = states.values[child]
    for block in range(1, len(blocks.free)):
        _label_free(nodes, block, blocks.free[block], blocks.used[block])
    return nodes


def _label_free(nodes: array[int], block: int, free: int, used: int) -> None:
    """Give free slots the label with which they would belong to a base that no node has."""
    base = next((base for base in range(256) if not used >> base & 1), 0)
    for slot in range(256):
        if free >> slot & 1:
            nodes[2 * (block << 8 | slot)] = slot ^ base
