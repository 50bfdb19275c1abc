"""The table of known pre-tokenizers: compiled forms, for hosts without a pattern compiler.

One file: the size of a JSON head (uint32, little-endian), the head, zeros up to a multiple
of 4, and the arrays that the head refers to, as [first byte, entries] from there.

All share one class map, the *master*: `pages` (uint16) and `blocks` (uint8). A member of
`chains` is found by one of its `keys`, the JSON of `cuts_of` without spaces. Its class map is
the master's with each class replaced by that in `remap` (uint8), and equal blocks and groups
of pages merged (ClassMap.remapped); in front of its own `tables` (uint16) go the new pages,
behind the new blocks its `bytes` (uint8). `header` is ready for the blob.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypedDict

from isotok.compile.pretok.arrays import PretokArrays, class_runs, make_arrays
from isotok.compile.pretok.chain import Chain
from isotok.compile.pretok.class_map import ClassMap

Key = Sequence[Sequence[object]]
"""What `cuts_of` returns, or [["tiktoken", pattern]]."""

_ALIGNMENT: Final = 4


class _Row(TypedDict):
    name: str
    keys: list[str]
    header: list[int]
    remap: list[int]
    tables: list[int]
    bytes: list[int]


class _Head(TypedDict):
    made_by: str
    versions: dict[str, str]
    pages: list[int]
    blocks: list[int]
    chains: list[_Row]


def text_of(key: Key) -> str:
    """Return a key as it stands in the table; JSON.stringify gives the same."""
    return json.dumps(key, ensure_ascii=False, separators=(",", ":"))


def pack(
    chains: Sequence[tuple[str, list[Key], Chain]], made_by: str, versions: dict[str, str]
) -> bytes:
    """Return the file; chains come with a name and the keys that lead to them."""
    master, remaps = _master([chain for _, _, chain in chains])
    body = bytearray()

    def place(part: array[int]) -> list[int]:
        body.extend(bytes(-len(body) % _ALIGNMENT))
        body.extend(part.tobytes())
        return [len(body) - len(part) * part.itemsize, len(part)]

    head: _Head = {
        "made_by": made_by,
        "versions": versions,
        "pages": place(master.pages),
        "blocks": place(master.blocks),
        "chains": [],
    }
    for (name, keys, chain), remap in zip(chains, remaps, strict=True):
        arrays = make_arrays(chain)
        pages, blocks = arrays.header[1:3]
        row: _Row = {
            "name": name,
            "keys": [text_of(key) for key in keys],
            "header": list(arrays.header),
            "remap": place(array("B", remap)),
            "tables": place(arrays.tables[pages:]),
            "bytes": place(arrays.classes[blocks:]),
        }
        head["chains"].append(row)
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return len(text).to_bytes(4, "little") + text + bytes(body)


def unpack(raw: bytes) -> Mapping[str, PretokArrays]:
    """Return all arrays of a table by key."""
    size = int.from_bytes(raw[:4], "little")
    head: _Head = json.loads(raw[4 : 4 + size])
    body = raw[4 + size :]

    def part(code: Literal["B", "H"], where: list[int]) -> array[int]:
        found = array(code)
        found.frombytes(body[where[0] : where[0] + where[1] * found.itemsize])
        return found

    master = ClassMap(part("H", head["pages"]), part("B", head["blocks"]))
    result: dict[str, PretokArrays] = {}
    for row in head["chains"]:
        found = master.remapped(part("B", row["remap"]).tobytes())
        arrays = PretokArrays(
            array("I", row["header"]),
            found.pages + part("H", row["tables"]),
            found.blocks + part("B", row["bytes"]),
        )
        result.update(dict.fromkeys(row["keys"], arrays))
    return result


def _master(chains: Sequence[Chain]) -> tuple[ClassMap, list[bytes]]:
    """Return the map that tells apart whatever one of the chains does, and each one's
    classes by those of the map.
    """
    runs = [class_runs(chain) for chain in chains]
    events: dict[int, list[tuple[int, int]]] = {}
    for i, (starts, classes) in enumerate(runs):
        for start, one in zip(starts, classes, strict=True):
            events.setdefault(start, []).append((i, one))
    now = [0] * len(chains)
    numbers: dict[tuple[int, ...], int] = {}
    master: list[int] = []
    for start in sorted(events):
        for i, one in events[start]:
            now[i] = one
        master.append(numbers.setdefault(tuple(now), len(numbers)))
    assert len(numbers) <= 1 << 8, "the classes of the master are bytes"
    remaps = [bytes(vector[i] for vector in numbers) for i in range(len(chains))]
    return ClassMap.of_runs(sorted(events), master), remaps
