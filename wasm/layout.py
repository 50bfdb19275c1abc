#!/usr/bin/env python3
"""Generates _layout_gen.py (Python) and layout_gen.ts: the C interface as wasm has it.

    python wasm/layout.py [--check]

The compiler lists the structs, enumerators and macros of the public headers (its syntax
tree as JSON); a probe compiled to wasm holds their sizes, offsets and values, and is read
through wasmtime. So no number is worked out by hand. The texts of statuses and causes, which
isotok.wasm does not hold, come from the preprocessor.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wasmtime

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "py_host/isotok/_layout_gen.py"
TYPESCRIPT = ROOT / "web/src/layout_gen.ts"
HEADERS = ["isotok.h", "isotok_build.h"]
CLANG = [
    "clang-19",
    "--target=wasm32-unknown-unknown",
    "-std=c11",
    *[f"-I{ROOT / folder}" for folder in ("core/include", "core/build")],
    f"-isystem{ROOT / 'wasm/freestanding'}",
]
# C type of a struct member -> its letter in Python's struct module, for wasm32.
LETTERS = {
    "uint32_t": "I",
    "uint64_t": "Q",
    "size_t": "I",
    "isotok_status": "i",
    "float": "f",
    "double": "d",
}


UNSEEN = [
    "ENDIAN",
    "BLOB_ADDRESS",
    "SCORE",
    "MODEL_MEMORY",
    "SESSION_MEMORY",
    "NULL_POINTER",
    "STRUCT_SIZE",
    "NOT_BEGUN",
    "TOKEN_ID",
    "TEXT_ENDS",
    "CACHE_MEMORY",
    "NBEST_MEMORY",
]
"""Causes that only a caller of the C functions can give, not one of the npm package."""

OPENING = [*range(1, 24), 33, 34]
"""Causes that only a model has which is opened."""

OPENING_STATUSES = ["E_ABI", "E_UNSUPPORTED", "E_CORRUPT", "E_ALIGNMENT"]

TODO = {
    "E_ABI": "install one version of isotok only",
    "E_UNSUPPORTED": "update isotok",
    "E_CORRUPT": "get the file again, or compile it again from its source",
    "E_TEXT": "encode it in parts",
    "E_TOO_LARGE": "use less at a time",
}
"""What to do about a status, where its cause does not say it."""


@dataclass(slots=True)
class Interface:
    """Names found in the headers."""

    structs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    enums: list[list[str]] = field(default_factory=list)
    macros: list[str] = field(default_factory=list)
    texts: dict[str, dict[int, str]] = field(default_factory=dict)


def clang(arguments: list[str], text: str) -> str:
    done = subprocess.run(
        [*CLANG, *arguments, "-x", "c", "-"], input=text, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"layout.py: clang-19 failed:\n{done.stderr}")
    return done.stdout


def includes() -> str:
    return "".join(f'#include "{name}"\n' for name in HEADERS)


def read_headers() -> Interface:
    """List structs, enumerators and numeric macros of the public headers, in order."""
    found = Interface()
    tree: dict[str, Any] = json.loads(
        clang(["-Xclang", "-ast-dump=json", "-fsyntax-only"], includes())
    )
    for node in tree["inner"]:
        _collect(node, found)
    macros = clang(["-dM", "-E"], includes())
    number = r"#define (ISOTOK_[A-Z_]+) (?:0x)?[0-9A-Fa-f]+u?$"
    found.macros = sorted(re.findall(number, macros, re.M))
    found.texts["STATUS_TEXTS"] = read_texts("ISOTOK_STATUS_MAP")
    found.texts["WHAT_TEXTS"] = read_texts("ISOTOK_RUN_WHAT_MAP")
    return found


def read_texts(table: str) -> dict[int, str]:
    """Texts of an X-macro of isotok.h by their numbers; those of numbers only are left out."""
    source = f"{includes()}#define X(name, number, text) @ number text\n$ {table}(X)\n"
    expanded = clang(["-E", "-P"], source).partition("$")[2]
    texts: dict[int, str] = {}
    for row in expanded.split("@")[1:]:
        number, literals = row.strip().split(maxsplit=1)
        text = "".join(json.loads(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', literals))
        if text:
            texts[int(number)] = text
    return texts


def _collect(node: dict[str, Any], found: Interface) -> None:
    children: list[dict[str, Any]] = node.get("inner", [])
    if node["kind"] == "RecordDecl" and node.get("name", "").startswith("isotok_"):
        members = [(c["name"], c["type"]["qualType"]) for c in children if c["kind"] == "FieldDecl"]
        if members:
            found.structs[node["name"]] = members
    elif node["kind"] == "EnumDecl":
        names = [c["name"] for c in children if c["kind"] == "EnumConstantDecl"]
        if names and names[0].startswith("ISOTOK_"):
            found.enums.append(names)


def expressions(interface: Interface) -> Iterator[tuple[str, str]]:
    """Name and C expression of every number, in the order of the output."""
    for name in interface.macros:
        yield name, name
    for names in interface.enums:
        yield from ((name, name) for name in names)
    for name, members in interface.structs.items():
        yield f"sizeof {name}", f"sizeof({name})"
        for member, _ in members:
            yield f"{name}.{member}", f"offsetof({name}, {member})"


def measure(interface: Interface) -> dict[str, int]:
    """Compile all expressions into a wasm module's memory and read it."""
    names, values = zip(*expressions(interface), strict=True)
    rows = ",\n".join(f"(long long)({value})" for value in values)
    source = (
        f"{includes()}const long long numbers[] = {{\n{rows}\n}};\n"
        '__attribute__((export_name("address")))\n'
        "const long long *address(void) { return numbers; }\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        clang(["-O1", "-c", "-o", str(path / "probe.o")], source)
        link = ["wasm-ld-19", "--no-entry", "-o", str(path / "probe.wasm"), str(path / "probe.o")]
        subprocess.run(link, check=True)
        store = wasmtime.Store()
        module = wasmtime.Module.from_file(store.engine, str(path / "probe.wasm"))
        exports = wasmtime.Instance(store, module, []).exports(store)
    address = exports["address"](store)
    raw = exports["memory"].read(store, address, address + 8 * len(names))
    words = memoryview(raw).cast("q")
    return dict(zip(names, words, strict=True))


def short(name: str) -> str:
    return re.sub(r"^isotok_", "", name, flags=re.I).upper()


def struct_format(name: str, members: list[tuple[str, str]], numbers: dict[str, int]) -> str:
    """Format of the whole struct for Python's struct module, with its padding."""
    format_, at = "<", 0
    for member, c_type in members:
        offset = numbers[f"{name}.{member}"]
        letter = "I" if c_type.endswith("*") else LETTERS.get(c_type)
        if letter is None:
            raise SystemExit(f"layout.py: {name}.{member}: type {c_type} is not in LETTERS")
        format_ += f"{offset - at}x" if offset > at else ""
        format_ += letter
        at = offset + {"I": 4, "i": 4, "f": 4, "Q": 8, "d": 8}[letter]
    end = numbers[f"sizeof {name}"]
    return format_ + (f"{end - at}x" if end > at else "")


def emit(interface: Interface, numbers: dict[str, int]) -> str:
    lines = [
        '"""The C interface in wasm32. Generated by wasm/layout.py; fix: ./build.sh gen.',
        "",
        "For a struct isotok_x: SIZEOF_X bytes, member m at X_M, and X_FORMAT for the struct",
        "module (all members in order). Pointers and size_t are 32-bit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Final",
    ]
    lines += ["", "# Macros"]
    lines += [f"{short(name)}: Final = {numbers[name]}" for name in interface.macros]
    for names in interface.enums:
        lines += ["", f"# enum of {names[0]}"]
        lines += [f"{short(name)}: Final = {numbers[name]}" for name in names]
    for table, enum in (("STATUS_NAMES", "ISOTOK_OK"), ("WHAT_NAMES", "ISOTOK_WHAT_NOTHING")):
        names = next(names for names in interface.enums if names[0] == enum)
        lines += ["", f"{table}: Final[dict[int, str]] = {{"]
        for name in names:
            label = short(name).removeprefix("WHAT_")
            lines.append(f'    {numbers[name]}: "{label}",')
        lines.append("}")
    for table, texts in interface.texts.items():
        lines += ["", f"{table}: Final[dict[int, str]] = {{"]
        lines += [f"    {number}: {json.dumps(text)}," for number, text in texts.items()]
        lines.append("}")
    for name, members in interface.structs.items():
        prefix = short(name)
        lines += ["", f"# struct {name}"]
        lines.append(f"SIZEOF_{prefix}: Final = {numbers[f'sizeof {name}']}")
        lines.append(f'{prefix}_FORMAT: Final = "{struct_format(name, members, numbers)}"')
        for member, _ in members:
            lines.append(f"{prefix}_{member.upper()}: Final = {numbers[f'{name}.{member}']}")
    defined = re.findall(r"^(\w+): Final", "\n".join(lines), re.M)
    twice = {name for name in defined if defined.count(name) > 1}
    if twice:
        raise SystemExit(f"layout.py: two C names become one Python name: {sorted(twice)}")
    return "\n".join([*lines, ""])


def _key(number: int) -> str:
    return f'"{number}"' if number < 0 else str(number)


def _typescript_tables(
    interface: Interface, names: dict[int, str], numbers: dict[str, int]
) -> dict[str, dict[int, str]]:
    """Return what a page downloads, so only what its calls can give, and apart from that what
    the opening of a model can.
    """
    unseen = {numbers[f"ISOTOK_WHAT_{name}"] for name in UNSEEN}
    whats = {k: text for k, text in interface.texts["WHAT_TEXTS"].items() if k not in unseen}
    statuses = {
        k: "; ".join(filter(None, (interface.texts["STATUS_TEXTS"][k], TODO.get(name))))
        for k, name in names.items()
        if name != "E_ID_RANGE"  # has a message of its own
    }
    opening = {k for k, name in names.items() if name in OPENING_STATUSES}
    return {
        "STATUS_NAMES": names,
        "STATUS_TEXTS": {k: text for k, text in statuses.items() if k not in opening},
        "WHAT_TEXTS": {k: text for k, text in whats.items() if k not in OPENING},
        "OPENING_STATUS_TEXTS": {k: text for k, text in statuses.items() if k in opening},
        "OPENING_WHAT_TEXTS": {k: text for k, text in whats.items() if k in OPENING},
    }


def emit_typescript(interface: Interface, numbers: dict[str, int]) -> str:
    """Emit the same names as constants; struct members have their offset."""
    lines = [
        "// The C interface in wasm32. Generated by wasm/layout.py; fix: ./build.sh gen.",
        "// For a struct isotok_x: SIZEOF_X bytes, member m at X_M. Pointers are 32-bit.",
        "",
        "// Macros",
    ]
    lines += [f"export const {short(name)} = {numbers[name]};" for name in interface.macros]
    for names in interface.enums:
        lines += ["", f"// enum of {names[0]}"]
        lines += [f"export const {short(name)} = {numbers[name]};" for name in names]
    statuses = next(names for names in interface.enums if names[0] == "ISOTOK_OK")
    names = {numbers[name]: short(name) for name in statuses if numbers[name] < 0}
    for table, texts in _typescript_tables(interface, names, numbers).items():
        lines += ["", f"export const {table}: Readonly<Record<number, string>> = {{"]
        lines += [f"  {_key(k)}: {json.dumps(text)}," for k, text in texts.items()]
        lines.append("};")
    for name, members in interface.structs.items():
        prefix = short(name)
        lines += ["", f"// struct {name}"]
        lines.append(f"export const SIZEOF_{prefix} = {numbers[f'sizeof {name}']};")
        for member, _ in members:
            offset = numbers[f"{name}.{member}"]
            lines.append(f"export const {prefix}_{member.upper()} = {offset};")
    return "\n".join([*lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description="Generate the layouts of the C interface.")
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args().check
    interface = read_headers()
    numbers = measure(interface)
    outputs = {
        PYTHON: emit(interface, numbers),
        TYPESCRIPT: emit_typescript(interface, numbers),
    }
    stale = [
        path
        for path, text in outputs.items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    for path in stale:
        name = path.relative_to(ROOT)
        if check:
            print(f"{name}: out of date; fix: ./build.sh gen", file=sys.stderr)
        else:
            path.write_text(outputs[path], "utf-8")
            print(f"wrote {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
