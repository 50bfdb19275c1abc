#!/usr/bin/env python3
"""Writes the amalgamation: the runtime as two files, the model compiler as two more.

python tools/amalgamate.py [FOLDER]     default: dist

isotok.{h,c} are core/include and core/src; isotok_build.{h,c}, which need isotok.h and a
program linked with isotok.c, are core/build and what it uses of core/src. Headers come first,
in the order in which they include each other, then the sources, layer by layer. What is
private to the library becomes static. A name that two sources use for different things of their
own gets its source's name in front; a macro of a source ends with it. Everything else is as it
is in the tree, so that a line of the one is found in the other.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from check_tree import STANDARD_HEADERS, layer_of

ROOT = Path(__file__).resolve().parents[1]
CORE, BUILD = ROOT / "core/src", ROOT / "core/build"
PUBLIC = ("isotok.h", "isotok_build.h")
FIELDS = "ISOTOK__BLOB_FIELDS"  # defined by a source that wants blob_gen.h's table

# Ours and the standard ones come once; others, of one processor, stay where they are.
INCLUDE = re.compile(rf'^#include ([<"])({"|".join(STANDARD_HEADERS)}|(?<=")[^"]+)[>"].*\n', re.M)
# Comments and literals, which are skipped, or an identifier.
WORD = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|\b[A-Za-z_]\w*", re.S)
# Declaration or head of a function that is private to the library.
PRIVATE = re.compile(r"^(?!static|typedef|return)[a-z][\w \*]*?\bisotok__\w+\([^;{]*", re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)
UNDEF = re.compile(r"^#undef (\w+)", re.M)
LOCAL = (
    re.compile(
        r"^(?:static|ISOTOK_INLINE|ISOTOK_NOINLINE)\b[^=;{}()]*?\b(\w+)(?:\(|\[| =|;)", re.M
    ),
    re.compile(r"^(?:typedef )?(?:struct|enum|union) (\w+)(?: \{|;)", re.M),
    re.compile(r"^typedef [^{}()]*?\b(\w+)(?: __attribute__.*)?;", re.M),
    re.compile(r"^typedef [\w ]+?(\w+)\(", re.M),
    re.compile(r"^\} (\w+);", re.M),
)
ENUMERATION = re.compile(r"^(?:typedef )?enum(?: \w+)? \{(.*?)\}", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# What C and C++ write differently, see LANGUAGE.
IN_BOTH_LANGUAGES = (
    (re.compile(r"\b_Static_assert\("), "ISOTOK__STATIC_ASSERT("),
    (re.compile(r"\((\w+)\)\{"), r"ISOTOK__VALUE(\1){"),
    (re.compile(r"(?<== )\{0\};"), "ISOTOK__ZERO;"),
)


@dataclass(slots=True)
class Unit:
    """One file of the tree, without its includes."""

    path: Path
    text: str
    includes: list[str]

    @property
    def name(self) -> str:
        return self.path.stem


def read(path: Path) -> Unit:
    text = path.read_text("utf-8")
    names = [name for quote, name in INCLUDE.findall(text) if quote == '"']
    return Unit(path, INCLUDE.sub("", text), names)


def find(name: str, folders: Iterable[Path]) -> Path:
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    sys.exit(f"tools/amalgamate.py: no header {name}")


def headers_of(units: list[Unit], folders: Iterable[Path]) -> list[Unit]:
    """Headers that the sources include, each behind those that it includes."""
    found: dict[str, Unit] = {}

    def visit(name: str) -> None:
        if name in PUBLIC or name in found:
            return
        header = read(find(name, folders))
        for other in header.includes:
            visit(other)
        found[name] = header

    for unit in units:
        for name in unit.includes:
            visit(name)
    return list(found.values())


def order(path: Path) -> int:
    """Index of the layer; core/build comes behind all of them."""
    layer = layer_of(path.stem)
    if layer is None and path.parent == CORE:
        sys.exit(f"tools/amalgamate.py: {path.name} is in no layer of tools/check_tree.py")
    return 1000 if layer is None or path.parent != CORE else layer


def by_layer(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (order(path), path.name))


def without_guard(text: str) -> str:
    """A header without `#ifndef NAME_H … #endif`."""
    match = re.search(r"^#ifndef (\w+_H)\n#define \1\n(.*)^#endif\n?\Z", text, re.M | re.S)
    return text[: match.start()] + match[2] if match else text


def system_headers(units: Iterable[Unit]) -> list[str]:
    names: set[str] = set()
    for unit in units:
        found = INCLUDE.findall(unit.path.read_text("utf-8"))
        names |= {name for quote, name in found if quote == "<"}
    return sorted(names)


def words(text: str) -> Iterator[str]:
    return (match[0] for match in WORD.finditer(text) if match[0][0] not in "/\"'")


def own_names(text: str) -> set[str]:
    """What a source defines at file scope for itself, macros aside."""
    plain = COMMENT.sub("", text)
    names = {name for pattern in LOCAL for name in pattern.findall(plain)}
    for body in ENUMERATION.findall(plain):
        names |= {item.split("=")[0].strip() for item in body.split(",")} - {""}
    return {name for name in names if not name.startswith(("isotok_", "ISOTOK_"))}


def rename(text: str, names: set[str], unit: str) -> str:
    def replace(match: re.Match[str]) -> str:
        word = match[0]
        if word not in names:
            return word
        return f"{unit.upper()}_{word}" if word.isupper() else f"{unit}_{word}"

    return WORD.sub(replace, text) if names else text


def distinct(sources: list[Unit]) -> None:
    """Renames what several sources call the same, and ends each source's macros."""
    owners = Counter(name for unit in sources for name in own_names(unit.text))
    used = [set(words(unit.text)) for unit in sources]
    for index, unit in enumerate(sources):
        names = own_names(unit.text)
        unit.text = rename(unit.text, {name for name in names if owners[name] > 1}, unit.name)
        macros = set(MACRO.findall(unit.text)) - set(UNDEF.findall(unit.text)) - {FIELDS}
        others: set[str] = set().union(*used[:index], *used[index + 1 :])
        ended = "".join(f"#undef {name}\n" for name in sorted(macros & others))
        unit.text += f"\n{ended}" if ended else ""


def tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def section(unit: Unit) -> str:
    text = unit.text
    for pattern, replacement in IN_BOTH_LANGUAGES:
        text = pattern.sub(replacement, text)
    text = re.sub(rf"^#define {FIELDS}\n", "", text, flags=re.M)
    text = PRIVATE.sub(lambda match: "static " + match[0].replace("\n ", "\n        "), text)
    name = unit.path.relative_to(ROOT).as_posix()
    return f"/* ==== {name} {'=' * (86 - len(name))} */\n\n{tidy(text)}\n"


def amalgamate(sources: list[Unit], folders: Iterable[Path], head: str) -> str:
    headers = sorted(headers_of(sources, folders), key=lambda unit: order(unit.path))
    for header in headers:
        header.text = without_guard(header.text)
    system = system_headers([*headers, *sources])
    distinct(sources)
    table = any(f"#define {FIELDS}\n" in unit.text for unit in sources)
    parts = [head, *(f"#include <{name}>\n" for name in system), "\n"]
    parts += [f"#define {FIELDS}\n\n"] if table else []
    return "".join([*parts, *map(section, [*headers, *sources])])


HEAD = """\
/* isotok {version}, {title}
 * SPDX-License-Identifier: Apache-2.0 (https://www.apache.org/licenses/LICENSE-2.0)
 * Made by tools/amalgamate.py (./build.sh amalgamation) of the files named below; change those.
 *
{text} */
"""
RUNTIME_TEXT = """\
 * Compile it as C11 (cc -O2 -c isotok.c) or as C++17; it needs no flag. See isotok.h.
"""
BUILD_TEXT = """\
 * The model compiler, an addition to isotok.c: compile it the same way. See isotok_build.h.
"""
LANGUAGE = """
#if defined(__cplusplus)
#define ISOTOK__STATIC_ASSERT(condition, text) static_assert(condition, text)
#define ISOTOK__VALUE(type) type
#define ISOTOK__ZERO {}
#else
#define ISOTOK__STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#define ISOTOK__VALUE(type) (type)
#define ISOTOK__ZERO {0}
#endif

/* Of shared headers each file uses some functions. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
"""


def head(title: str, text: str, header: str) -> str:
    version = (ROOT / "VERSION").read_text("utf-8").strip()
    top = HEAD.format(version=version, title=title, text=text)
    return f'{top}#include "{header}"\n{LANGUAGE}'


def public_header(path: Path, title: str) -> str:
    version = (ROOT / "VERSION").read_text("utf-8").strip()
    first = f"/* isotok {version}, {title}. SPDX-License-Identifier: Apache-2.0 */\n"
    return first + path.read_text("utf-8")


def runtime() -> str:
    sources = [read(path) for path in by_layer(CORE.glob("*.c"))]
    return amalgamate(sources, [CORE], head("the runtime", RUNTIME_TEXT, "isotok.h"))


CHECKED = {"pretokenize": "pretokenize_check"}
"""Of these the compiler calls only the checks."""


def compiler() -> str:
    """core/build, with the sources of core/src whose headers it includes."""
    sources = [read(path) for path in sorted(BUILD.glob("*.c"))]
    used = headers_of(sources, [BUILD, CORE])
    names = [unit.path.stem for unit in used if unit.path.parent == CORE]
    core = [CORE / f"{CHECKED.get(name, name)}.c" for name in names]
    sources = [*(read(path) for path in by_layer(core) if path.is_file()), *sources]
    top = head("the model compiler", BUILD_TEXT, "isotok_build.h")
    return amalgamate(sources, [BUILD, CORE], top)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the amalgamation.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "isotok.h": public_header(ROOT / "core/include/isotok.h", "the runtime"),
        "isotok.c": runtime(),
        "isotok_build.h": public_header(BUILD / "isotok_build.h", "the model compiler"),
        "isotok_build.c": compiler(),
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
        print(f"{name}: {text.count(chr(10)):,} lines, {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
