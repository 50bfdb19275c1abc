"""A small reader of FlatBuffers binary schemas (.bfbs).

`flatc --schema -b` writes the parsed schema as a FlatBuffer of its own. The slots used
here are those of FlatBuffers' reflection schema, which never change. Everything the
generator cannot express is refused by name instead of being guessed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from flatbuffers import encode, number_types
from flatbuffers.table import Table

# reflection.BaseType
BASE_UBYTE, BASE_USHORT, BASE_UINT, BASE_ULONG = 4, 6, 8, 10
BASE_FLOAT, BASE_VECTOR, BASE_OBJECT = 11, 14, 15


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number type: its names in C, in Python's struct module and its size."""

    c_name: str
    code: str
    size: int


SCALARS = {
    BASE_UBYTE: Scalar("uint8_t", "B", 1),
    BASE_USHORT: Scalar("uint16_t", "H", 2),
    BASE_UINT: Scalar("uint32_t", "I", 4),
    BASE_ULONG: Scalar("uint64_t", "Q", 8),
    BASE_FLOAT: Scalar("float", "f", 4),
}


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct of uint32 members."""

    name: str
    members: tuple[str, ...]

    @property
    def size(self) -> int:
        return 4 * len(self.members)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of table Model: a 4-byte scalar or a vector."""

    name: str
    id: int
    is_vector: bool
    element: Scalar | Struct
    default: int | float
    comment: str


@dataclass(frozen=True, slots=True)
class Schema:
    """What the generator needs of a schema."""

    identifier: str
    structs: tuple[Struct, ...]
    fields: tuple[Field, ...]


def flatc_program() -> str:
    """Path of the schema compiler: beside this Python, else on the PATH."""
    beside = shutil.which("flatc", path=str(Path(sys.executable).parent))
    program = beside or shutil.which("flatc")
    if program is None:
        raise SystemExit("generate.py: flatc not found; run ./build.sh setup")
    return program


def read_schema(path: Path) -> Schema:
    """Compile `path` with flatc and read the binary schema."""
    with tempfile.TemporaryDirectory() as folder:
        command = [flatc_program(), "--binary", "--schema"]
        subprocess.run([*command, "-o", folder, str(path)], check=True)
        data = (Path(folder) / path.with_suffix(".bfbs").name).read_bytes()
    if data[4:8] != b"BFBS":
        raise SystemExit(f"generate.py: flatc wrote no binary schema for {path}")
    root = _Node(data, encode.Get(number_types.UOffsetTFlags.packer_type, data, 0))
    return _schema(root, _comments(path.read_text("utf-8")))


def _comments(text: str) -> dict[str, str]:
    """The comments behind fields; flatc keeps only those before them."""
    return dict(re.findall(r"^\s*(\w+):[^;]*;\s*//\s*(.*?)\s*$", text, re.M))


class _Node:
    """A table of the binary schema, its fields addressed by number."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._table = Table(data, position)

    def _offset(self, field: int) -> int:
        return self._table.Offset(4 + 2 * field)

    def number(self, field: int, flags: type, default: int | float) -> int | float:
        offset = self._offset(field)
        return self._table.Get(flags, self._table.Pos + offset) if offset else default

    def text(self, field: int) -> str:
        offset = self._offset(field)
        return self._table.String(self._table.Pos + offset).decode() if offset else ""

    def node(self, field: int) -> _Node:
        return _Node(self._data, self._table.Indirect(self._table.Pos + self._offset(field)))

    def nodes(self, field: int) -> list[_Node]:
        offset = self._offset(field)
        if not offset:
            return []
        start = self._table.Vector(offset)
        count = self._table.VectorLen(offset)
        return [_Node(self._data, self._table.Indirect(start + 4 * i)) for i in range(count)]


def _type(field: _Node) -> tuple[int, int, int]:
    """Base type, element type and object index of a field."""
    node = field.node(1)
    base = int(node.number(0, number_types.Int8Flags, 0))
    element = int(node.number(1, number_types.Int8Flags, 0))
    return base, element, int(node.number(2, number_types.Int32Flags, -1))


def _schema(root: _Node, comments: dict[str, str]) -> Schema:
    objects = root.nodes(0)
    structs = {i: _struct(o) for i, o in enumerate(objects) if _is_struct(o)}
    fields = [_field(f, structs, comments) for f in root.node(4).nodes(1)]
    fields.sort(key=lambda f: f.id)
    if [f.id for f in fields] != list(range(len(fields))):
        raise SystemExit("generate.py: the ids of table Model are not 0, 1, 2 …")
    used = sorted({f.element.name for f in fields if isinstance(f.element, Struct)})
    by_name = {s.name: s for s in structs.values()}
    return Schema(root.text(2), tuple(by_name[name] for name in used), tuple(fields))


def _is_struct(node: _Node) -> bool:
    return bool(node.number(2, number_types.BoolFlags, 0))


def _struct(node: _Node) -> Struct:
    name = node.text(0).rpartition(".")[2]
    members = sorted(node.nodes(1), key=lambda f: f.number(3, number_types.Uint16Flags, 0))
    for member in members:
        if _type(member)[0] != BASE_UINT:
            raise SystemExit(f"generate.py: {name}.{member.text(0)}: only uint members")
    return Struct(name, tuple(member.text(0) for member in members))


def _field(node: _Node, structs: dict[int, Struct], comments: dict[str, str]) -> Field:
    name = node.text(0)
    base, element_type, index = _type(node)
    if node.number(6, number_types.BoolFlags, 0):
        raise SystemExit(f"generate.py: {name}: deprecated fields are not handled yet")
    is_vector = base == BASE_VECTOR
    element: Scalar | Struct | None = None
    if is_vector and element_type == BASE_OBJECT:
        element = structs.get(index)
    elif is_vector:
        element = SCALARS.get(element_type)
    elif base in (BASE_UINT, BASE_FLOAT):
        element = SCALARS[base]
    if element is None:
        raise SystemExit(
            f"generate.py: {name}: only uint and float scalars, and vectors of "
            "unsigned numbers, floats and structs"
        )
    real = base == BASE_FLOAT
    default = (
        float(node.number(5, number_types.Float64Flags, 0.0))
        if real
        else int(node.number(4, number_types.Int64Flags, 0))
    )
    field_id = int(node.number(2, number_types.Uint16Flags, 0))
    return Field(name, field_id, is_vector, element, default, comments.get(name, ""))
