"""Files, forms of models, mapping, and what importing costs."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import isotok
import pytest
from isotok import TokenizerError, _blob_gen, _files
from isotok.compile import compile_model
from support.toy import HELLO, WORLD, byte_model, toy_model

IDS = [HELLO, WORLD]


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    path.chmod(0o644)
    path.parent.chmod(0o755)
    return path


@pytest.mark.parametrize("form", ["source", "blob", "packed"])
def test_every_form(backend: str, form: str, tmp_path: Path) -> None:
    data = toy_model() if form == "source" else compile_model(toy_model(), form)  # type: ignore[arg-type]
    assert _files.kind_of(data[:64]) == form
    path = write(tmp_path / "model", data)
    for source in (data, path, str(path)):
        assert isotok.load(source, backend=backend).encode("hello world") == IDS  # type: ignore[arg-type]


def test_both_compilers_write_the_same_bytes() -> None:
    for source in (toy_model(), byte_model()):
        for form in ("blob", "packed"):
            native = compile_model(source, form, backend="native")  # type: ignore[arg-type]
            assert native == compile_model(source, form, backend="wasm")  # type: ignore[arg-type]
        packed = compile_model(source, "packed")
        assert compile_model(packed) == compile_model(source)
        assert compile_model(packed, "packed") == packed


def test_blob_bytes_come_back(backend: str) -> None:
    blob = compile_model(toy_model())
    tok = isotok.load(blob, backend=backend)
    assert tok._backend.blob() == blob


@pytest.mark.parametrize("choice", [True, False, None])
@pytest.mark.parametrize("verify", ["safe", "full"])
def test_mapping(backend: str, choice: bool | None, verify: str, tmp_path: Path) -> None:
    path = write(tmp_path / "toy.isotok", compile_model(toy_model()))
    tok = isotok.load(path, backend=backend, map=choice, verify=verify)  # type: ignore[arg-type]
    assert tok.encode("hello world") == IDS
    path.unlink()
    assert tok.encode("hello world") == IDS


def is_mapped(path: Path, choice: bool | None = None) -> bool:
    """Whether the native back end maps the file; reading also gives an mmap, a nameless one."""
    tok = isotok.load(path, backend="native", map=choice)
    assert isinstance(tok._backend.blob().obj, mmap.mmap)
    maps = Path("/proc/self/maps").read_text()
    return str(path.resolve()) in maps


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_maps_only_what_nobody_else_can_write(tmp_path: Path) -> None:
    path = write(tmp_path / "toy.isotok", compile_model(toy_model()))
    assert is_mapped(path)
    assert not is_mapped(path, False)
    path.chmod(0o664)
    assert not is_mapped(path)
    assert is_mapped(path, True)
    path.chmod(0o644)
    tmp_path.chmod(0o777)
    assert not is_mapped(path)
    tmp_path.chmod(0o755)
    assert is_mapped(path)


def test_trusted(backend: str) -> None:
    tok = isotok.load(compile_model(toy_model()), backend=backend, trusted=True)
    assert tok.encode("hello world") == IDS


def test_file_that_changes_under_wasm(tmp_path: Path) -> None:
    """A second instance reads the file again: it must be the same one."""
    path = write(tmp_path / "toy.isotok", compile_model(toy_model()))
    tok = isotok.load(path, backend="wasm")
    first = tok._backend._take(0)  # type: ignore[attr-defined]
    assert tok.encode("hello world") == IDS, "a second instance from the same file"
    tok._backend._free.clear()  # type: ignore[attr-defined]
    path.write_bytes(compile_model(byte_model())[: path.stat().st_size])
    with pytest.raises(TokenizerError, match=r"the file has changed|became shorter"):
        tok.encode("hello world")
    tok._backend._give(first)  # type: ignore[attr-defined]
    assert tok.encode("hello world") == IDS


def test_default_model(backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if os.path.exists(isotok._load.DEFAULT_MODEL):
        tok = isotok.load(backend=backend)
        text = "Hello world! 日本語 😀 ½"
        assert tok.decode(tok.encode(text)) == tok.normalize(text).replace("▁", " ").lstrip()
    monkeypatch.setattr(isotok._load, "DEFAULT_MODEL", str(tmp_path / "no.isotok-packed"))
    with pytest.raises(TokenizerError, match=r"no\.isotok-packed is missing"):
        isotok.load(backend=backend)


IMPORT = """
import sys, time
start = time.process_time()
import isotok
elapsed = time.process_time() - start  # other programs do not count
heavy = {"numpy", "wasmtime", "click", "rich", "tqdm", "isotok._native", "isotok.compile",
         "isotok._wasmtime", "concurrent.futures", "dataclasses", "hashlib", "ctypes"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
import threading
assert threading.active_count() == 1
print(elapsed)
"""


def test_import_is_light(tmp_path: Path) -> None:
    """Under 50 ms, without numpy, wasmtime or any thread."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # As installed packages are: with their byte code.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    times = [
        float(subprocess.check_output([sys.executable, "-c", IMPORT], env=environment))
        for _ in range(7)
    ]
    assert min(times) < 0.05


def test_native_does_not_import_wasmtime() -> None:
    code = (
        "import sys, isotok; from support.toy import toy_model\n"
        "isotok.load(toy_model(), backend='native').encode('hello')\n"
        "assert not {'wasmtime', 'numpy'} & set(sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.check_call([sys.executable, "-c", code], env=environment)


def test_version() -> None:
    root = Path(__file__).parents[2]
    assert isotok.__version__ == (root / "VERSION").read_text().strip()


def test_header_constants_are_those_of_the_format() -> None:
    assert _files.MAGIC == _blob_gen.IDENTIFIER
    assert _files.HEADER_SIZE == _blob_gen.HEADER_SIZE
    assert _files.FEATURES_OFFSET == _blob_gen.HEADER_FEATURES
    assert _blob_gen.FEATURES["packed"] == _files.PACKED_BIT
