"""Classes of SentencePiece's protobuf messages, made of short descriptions of their fields.

They live in a pool of their own, so that the modules of the package sentencepiece can be
imported beside them.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE: Final = "sentencepiece"
EXTENSIONS: Final = (200, 536870912)
POOL: Final = descriptor_pool.DescriptorPool()

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES: Final = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
    "float": _Field.TYPE_FLOAT,
}


def add_file(name: str, messages: dict[str, str], enums: dict[str, dict[str, int]]) -> None:
    """Describe a file of messages.

    Parameters
    ----------
    name : str
        Of the file.
    messages : dict
        Name (nested ones as Outer.Inner) and fields, one a line: number, type or [type],
        name and, if there is one, the default.
    enums : dict
        Name (Outer.Enum) and values.
    """
    file = descriptor_pb2.FileDescriptorProto(name=name, package=PACKAGE, syntax="proto2")
    made: dict[str, Any] = {}
    for path, fields in messages.items():
        outer, _, inner = path.rpartition(".")
        message = made[outer].nested_type.add() if outer else file.message_type.add()
        made[path] = message
        message.name = inner
        message.extension_range.add(start=EXTENSIONS[0], end=EXTENSIONS[1])
        for line in fields.strip().splitlines():
            _add_field(message, line.split(maxsplit=3), enums)
    for path, values in enums.items():
        outer, _, inner = path.rpartition(".")
        enum = made[outer].enum_type.add(name=inner)
        for value, number in values.items():
            enum.value.add(name=value, number=number)
    POOL.Add(file)  # type: ignore[no-untyped-call]


def _add_field(message: Any, words: list[str], enums: dict[str, dict[str, int]]) -> None:
    number, kind, name, *default = words
    field = message.field.add(name=name, number=int(number))
    field.label = _Field.LABEL_REPEATED if kind[0] == "[" else _Field.LABEL_OPTIONAL
    kind = kind.strip("[]")
    if kind in _TYPES:
        field.type = _TYPES[kind]
    else:
        field.type = _Field.TYPE_ENUM if kind in enums else _Field.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{kind}"
    if default:
        field.default_value = default[0].strip('"')


def message_class(name: str) -> Any:
    """Class of a message."""
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))
