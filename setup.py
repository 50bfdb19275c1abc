"""Builds the native extension of the package; everything else is in pyproject.toml.

The extension is optional: where no C compiler is, the package runs on its wasm modules.
Those are built beforehand (./build.sh build wasm py) and only packed here.

With ISOTOK_PURE=1 in the environment there is no extension: the wheel is py3-none-any and
runs everywhere, in Pyodide too.
"""

import os
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

FOLDERS = (
    "core/src",
    "core/build",
    "core/platform",
    "core/parallel",
    "core/train",
    "core/distil",
    "py_host/native",
)
MODULES = ("isotok.wasm", "isotok-build.wasm")

for module in MODULES:
    if not Path("py_host/isotok/data", module).exists():
        raise SystemExit(f"py_host/isotok/data/{module} is missing; run ./build.sh build py first")

# Vectors of any processor of the last fifteen years; the module asks for them when it is loaded.
x86 = ["-mssse3"] if sysconfig.get_platform().endswith(("x86_64", "amd64")) else []

# Free-threaded interpreters have no stable interface: they get a module of their own.
limited = not sysconfig.get_config_var("Py_GIL_DISABLED")
extension = Extension(
    "isotok._native",
    sources=sorted(str(path) for folder in FOLDERS for path in Path(folder).glob("*.c")),
    depends=sorted(str(path) for folder in FOLDERS for path in Path(folder).glob("*.h")),
    include_dirs=["core/include", *FOLDERS[:-1]],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if limited else [],
    extra_compile_args=[*Path("core/cflags.txt").read_text("utf-8").split(), *x86, "-g0"],
    py_limited_api=limited,
    optional=True,
)
if os.environ.get("ISOTOK_PURE", "") not in ("", "0"):
    setup()
else:
    setup(
        ext_modules=[extension],
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if limited else {},
    )
