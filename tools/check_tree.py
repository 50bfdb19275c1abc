#!/usr/bin/env python3
"""Checks the rules of the tree that no linter knows.

Layers of the core, symbols of its objects (after ./build.sh build native), generated
files, paths that only exist on one machine, and the length of files.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Layer(NamedTuple):
    """Modules (file names without suffix) that may use those of the layers above it here."""

    name: str
    modules: tuple[str, ...]
    mutual: bool = False
    """Whether modules of this layer may use each other."""


# Lowest first. A module may use itself, its parts (blob: blob_check) and lower layers.
LAYERS = (
    Layer("L0", ("exact", "base", "vector", "blob_gen", "xxh64", "philox", "exp_log"), mutual=True),
    Layer("L1", ("utf8", "trie", "cache", "pretokenize")),
    Layer("L1 blob", ("blob",)),
    Layer("L2 pieces", ("special",)),
    Layer("L2", ("normalize", "cuts", "lattice", "bpe_queue", "certify")),
    Layer("L2 unicode", ("unicode",)),
    Layer("L2 session", ("session", "normalized", "chunk")),
    Layer("L3", ("unigram", "best_paths", "bpe", "wordpiece", "greedy", "words")),
    Layer(
        "L4",
        (
            "model",
            "verify",
            "names",
            "options",
            "emit",
            "special_tokens",
            "encode",
            "pretokens",
            "boundaries",
            "nbest",
            "normalize_text",
            "decode",
        ),
        mutual=True,
    ),
)
STANDARD_HEADERS = {"float.h", "limits.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}
SIMD_HEADERS = {"immintrin.h", "emmintrin.h", "arm_neon.h", "wasm_simd128.h"}
# What `import isotok` must not load: it is imported when it is needed.
LATE = (
    "isotok.compile",
    "isotok.compat",
    "isotok.train",
    "isotok.cli",
    "numpy",
    "wasmtime",
    "click",
    "rich",
    "tqdm",
)
# What the objects of the core may take from outside.
MEMORY_FUNCTIONS = {"memcpy", "memmove", "memset", "memcmp"}
HEAP_FUNCTIONS = {"malloc", "calloc", "realloc", "free"}  # of ALLOCATING only
ALLOCATING = ("core/parallel", "core/train", "core/distil")
LIBRARY_FUNCTIONS = {"aligned_alloc", "memchr", "qsort"}  # of core/distil only
COMPILER_HELPERS = {"_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}

MAX_LINES = 600
PLACES = re.compile(r"(?<![\w.~}*-])/(?:work|root|home|tmp)/\w")
HOSTS = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs|deb\.debian\.org)")
TEXT_SUFFIXES = {
    ".c",
    ".cfg",
    ".cmake",
    ".fbs",
    ".h",
    ".json",
    ".md",
    ".py",
    ".sh",
    ".toml",
    ".ts",
    ".txt",
}


def layer_of(module: str) -> int | None:
    """Index in LAYERS of a module, or of the one with the longest name that it is a part of."""
    matches = [
        (len(name), index)
        for index, layer in enumerate(LAYERS)
        for name in layer.modules
        if module == name or module.startswith(f"{name}_")
    ]
    return max(matches)[1] if matches else None


def same_module(a: str, b: str) -> bool:
    related = a == b or a.startswith(f"{b}_") or b.startswith(f"{a}_")
    return related and layer_of(a) == layer_of(b)


def includes(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line number, name, and whether in quotes, of every #include."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match[2], match[1] == '"'


def check_core_includes() -> Iterator[str]:
    for path in sorted((ROOT / "core/src").glob("*.[ch]")):
        layer = layer_of(path.stem)
        if layer is None:
            yield f"core/src/{path.name}: in no layer; add it to LAYERS in tools/check_tree.py"
            continue
        for number, name, quoted in includes(path):
            problem = (
                _quoted_problem(path.stem, layer, name)
                if quoted
                else _system_problem(name, STANDARD_HEADERS | SIMD_HEADERS)
            )
            if problem:
                yield f"core/src/{path.name}:{number}: {problem}"


def _quoted_problem(module: str, layer: int, name: str) -> str | None:
    used = name.removesuffix(".h")
    if name == "isotok.h" or same_module(module, used):
        return None
    other = layer_of(used)
    if other is None or "/" in name:
        return f"includes {name}, which is not a header of core/src"
    if other < layer or (other == layer and LAYERS[layer].mutual):
        return None
    return f"{LAYERS[layer].name} includes {name} of {LAYERS[other].name}; only lower layers"


def _system_problem(name: str, allowed: set[str]) -> str | None:
    return None if name in allowed else f"includes <{name}>; allowed: {', '.join(sorted(allowed))}"


def check_other_includes() -> Iterator[str]:
    """core/build has no operating system; the hosts see only public headers."""
    for path in sorted((ROOT / "core/build").glob("*.[ch]")):
        for number, name, quoted in includes(path):
            problem = None if quoted else _system_problem(name, STANDARD_HEADERS)
            if quoted and "platform" in name:
                problem = "includes platform"
            if problem:
                yield f"core/build/{path.name}:{number}: {problem}"
    allocating = [path for name in ALLOCATING for path in (ROOT / name).glob("*.[ch]")]
    for path in sorted(allocating):
        for number, name, quoted in includes(path):
            problem = None if quoted else _system_problem(name, {*STANDARD_HEADERS, "stdlib.h"})
            if problem:
                yield f"{path.relative_to(ROOT)}:{number}: {problem}"
    private = {path.name for path in (ROOT / "core/src").glob("*.h")}
    for path in sorted((ROOT / "py_host/native").glob("*.[ch]")):
        for number, name, quoted in includes(path):
            if quoted and (name in private or "src/" in name):
                yield f"py_host/native/{path.name}:{number}: includes {name}, private to the core"


def eager_imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute name of what a module of the package imports when it is loaded."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = path.relative_to(ROOT / "py_host").parts[: -node.level]
                base = ".".join([*parents, *([base] if base else [])])
            yield node.lineno, base
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def module_file(name: str) -> Path | None:
    path = ROOT.joinpath("py_host", *name.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def check_python_imports() -> Iterator[str]:
    """`import isotok` loads nothing heavy and nothing that only some calls need."""
    waiting, seen = ["isotok"], {"isotok"}
    while waiting:
        path = module_file(waiting.pop())
        if path is None:
            continue
        for number, name in eager_imports(path):
            heavy = next((h for h in LATE if name == h or name.startswith(f"{h}.")), None)
            if heavy:
                where = f"{path.relative_to(ROOT)}:{number}"
                yield f"{where}: import isotok loads {heavy}; import it where it is used"
            elif name not in seen:
                seen.add(name)
                waiting.append(name)


def objects(folder: str) -> list[Path]:
    """Objects of the native build that belong to a source still in `folder`."""
    prefix = folder.replace("/", "_")
    names = {f"{prefix}_{path.stem}.o" for path in (ROOT / folder).glob("*.c")}
    built = sorted((ROOT / "build/native/core").glob("*.o"))
    return [path for path in built if path.name in names]


class Symbol(NamedTuple):
    """An external symbol of an object."""

    object: str
    name: str
    defined: bool


def symbols(paths: list[Path]) -> list[Symbol]:
    """External symbols of the objects."""
    command = ["nm", "--extern-only", "--format=posix", "--print-file-name", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = (line.rsplit(": ", 1) for line in done.stdout.splitlines())
    parts = ((Path(path).name, *rest.split()[:2]) for path, rest in rows)
    return [Symbol(file, name, letter != "U") for file, name, letter in parts]


def check_symbols() -> Iterator[str]:
    """Names of our symbols, and nothing from outside but the memory functions."""
    found: dict[str, list[Symbol]] = {}
    for folder in ("core/src", "core/build", "core/platform", *ALLOCATING):
        paths = objects(folder)
        found[folder] = symbols(paths) if paths else []
        yield from check_no_globals(paths if folder != "core/platform" else [])
    if not found["core/src"]:
        yield "build/native: no objects; run ./build.sh build native"
    for symbol in (symbol for group in found.values() for symbol in group):
        if symbol.defined and not symbol.name.startswith("isotok_"):
            yield f"{symbol.object}: global symbol {symbol.name} does not begin with isotok_"
    usable = MEMORY_FUNCTIONS | COMPILER_HELPERS
    for folder in ("core/src", "core/build", *ALLOCATING):
        if folder in ALLOCATING:
            usable |= HEAP_FUNCTIONS
        if folder == "core/distil":
            usable |= LIBRARY_FUNCTIONS
        usable |= {symbol.name for symbol in found[folder] if symbol.defined}
        for symbol in found[folder]:
            if not symbol.defined and symbol.name not in usable:
                yield f"{symbol.object}: needs {symbol.name} from outside the core"


def check_no_globals(paths: list[Path]) -> Iterator[str]:
    """Neither initialised nor zeroed variables: the core keeps no state."""
    if not paths:
        return
    command = ["size", "--format=sysv", *map(str, paths)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # .data.rel.ro holds constants with addresses: read-only once loaded.
    variables = re.compile(r"(\.(?:data|bss|tdata|tbss)(?!\.rel\.ro)\S*)\s+([1-9]\d*)")
    name = ""
    for line in text.splitlines():
        if line.endswith(":"):
            name = Path(line.split(" ")[0]).name
        elif match := variables.match(line):
            yield f"{name}: {match[2]} bytes of writable data ({match[1]})"


def tree_files() -> list[Path]:
    """Files that git tracks or would track; without git, all but those made by build.sh."""
    if shutil.which("git") and (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 0:
            names = {name for name in done.stdout.split("\0") if name}
            return sorted(ROOT / name for name in names if (ROOT / name).is_file())
    made = {"build", "dist", ".venv", ".git", "node_modules", "__pycache__"}
    return sorted(
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not (made & {*path.relative_to(ROOT).parts[:1], path.parent.name})
    )


def is_text(path: Path) -> bool:
    return path.suffix in TEXT_SUFFIXES or path.name in ("run", "Makefile", "VERSION")


def check_texts() -> Iterator[str]:
    for path in tree_files():
        name = path.relative_to(ROOT)
        if not is_text(path):
            continue
        text = path.read_text("utf-8", errors="replace")
        generated = "_gen." in path.name and not path.name.endswith(".d.ts")
        if generated and "fix: ./build.sh gen" not in text[:200]:
            yield f"{name}: a generated file must say so in its first line"
        for number, line in enumerate(text.splitlines(), 1):
            if PLACES.search(line):
                yield f"{name}:{number}: absolute path of one machine: {line.strip()[:80]}"
            if HOSTS.search(line) and name.parts[0] != "docs":
                yield f"{name}:{number}: host name of a package registry"


def warnings() -> Iterator[str]:
    for path in tree_files():
        if path.suffix in (".c", ".h", ".py", ".sh", ".ts") and "_gen." not in path.name:
            lines = path.read_text("utf-8", errors="replace").count("\n")
            if lines > MAX_LINES:
                yield f"{path.relative_to(ROOT)}: {lines} lines; look for the seam ({MAX_LINES})"


CHECKS = (
    check_core_includes,
    check_other_includes,
    check_python_imports,
    check_symbols,
    check_texts,
)


def main() -> int:
    found: list[str] = []
    for check in CHECKS:
        found += check()
    for text in warnings():
        print(f"warning: {text}")
    for text in found:
        print(f"error: {text}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
