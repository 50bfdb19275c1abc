"""The command `isotok`: output, exit codes, broken pipes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import isotok
import pytest
from isotok import cli
from isotok.compile import compile_model
from support import oracle
from support.arrays import np
from support.toy import byte_model, toy_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "toy.model"
    path.write_bytes(toy_model())
    return path


class Result:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: bytes, err: str) -> None:
        self.code, self.raw, self.err = code, out, err
        self.out = out.decode(errors="replace")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    """Run a command in this process."""

    def run_command(*arguments: object, stdin: bytes = b"") -> Result:
        out, err = io.BytesIO(), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8"))
            patch.setattr(sys, "stderr", err)
            code = cli.run([str(argument) for argument in arguments])
            sys.stdout.flush()
            return Result(code, out.getvalue(), err.getvalue())

    return run_command


def test_encode(run, model: Path, backend: str) -> None:
    options = ("--model", model, "--backend", backend)
    assert run("encode", *options, "--text", "hello world").out == "3 4\n"
    assert run("encode", *options, "-t", "hello", "-t", "world", "--bos").out == "1 3\n1 4\n"
    assert run("encode", *options, stdin=b"hello\nworld").out.split()[0] == "3"
    assert run("encode", *options, "--lines", stdin=b"hello\nhello world\n").out == "3\n3 4\n"
    assert run("encode", *options, "--lines", stdin=b"hello\n\nworld").out == "3\n\n4\n"
    assert run("encode", *options, "--format", "pieces", "-t", "hello").out == "▁hello\n"
    found = run("encode", *options, "--format", "json", "-t", "hello")
    assert json.loads(found.out) == {"ids": [3], "pieces": ["▁hello"], "offsets": [[0, 5]]}
    found = run("encode", *options, "--format", "numpy", "-t", "hello", "-t", "hello world")
    assert np.load(io.BytesIO(found.raw)).tolist() == [3, 3, 4]
    assert (found.code, found.err) == (0, "")


def test_encode_files(run, model: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("hello")
    second.write_text("hello world")
    assert run("encode", "-m", model, first, second).out == "3\n3 4\n"
    assert run("count", "-m", model, first, second).out == f"1\t{first}\n2\t{second}\n3\ttotal\n"
    assert run("count", "-m", model, second).out == "2\n"
    assert run("count", "-m", model, "-", stdin=b"hello").out == "1\n"


def test_decode(run, model: Path, tmp_path: Path) -> None:
    assert (
        run("decode", "-m", model, stdin=b"3 4\n[3, 4]\n3,4\n\n").out == "hello world\n" * 3 + "\n"
    )
    file = tmp_path / "ids"
    file.write_text("4")
    assert run("decode", "-m", model, file).out == "world\n"
    bytes_model = tmp_path / "bytes.model"
    bytes_model.write_bytes(byte_model())
    raw = isotok.load(bytes_model).piece_to_id("<0xFF>")
    assert run("decode", "-m", bytes_model, "--raw", stdin=str(raw).encode()).raw == b"\xff\n"
    assert run("decode", "-m", bytes_model, stdin=str(raw).encode()).out == "\ufffd\n"


def test_count_with_a_limit(run, model: Path) -> None:
    assert run("count", "-m", model, "-t", "hello world", "--limit", 2).code == 0
    assert run("count", "-m", model, "-t", "hello world", "--limit", 1).code == 1


def test_compile(run, model: Path, tmp_path: Path, backend: str) -> None:
    found = run("compile", model, "--backend", backend)
    assert found.code == 0
    blob = tmp_path / "toy.isotok"
    assert blob.read_bytes() == compile_model(toy_model())
    assert str(blob) in found.out
    assert run("compile", model, "--packed", "-o", tmp_path / "p", "--backend", backend).code == 0
    assert (tmp_path / "p").read_bytes() == compile_model(toy_model(), "packed")
    blob.unlink()
    assert run("compile", tmp_path / "p", "-o", blob).code == 0
    assert blob.read_bytes() == compile_model(toy_model())
    found = run("compile", blob)
    assert (found.code, "is a blob already" in found.err) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "toy.isotok", "toy.model"]


@pytest.mark.parametrize("form", ["source", "blob", "packed"])
def test_inspect(run, tmp_path: Path, form: str) -> None:
    path = tmp_path / "model"
    data = byte_model()
    path.write_bytes(data if form == "source" else compile_model(data, form))  # type: ignore[arg-type]
    found = json.loads(run("inspect", path, "--json").out)
    size = len(isotok.load(data))
    assert found["kind"] == form
    assert found["vocabulary"]["size"] == size
    assert found["vocabulary"]["types"] == {
        "normal": size - 261, "unknown": 1, "control": 3, "user_defined": 1, "byte": 256,
    }  # fmt: skip
    assert found["algorithm"] == "unigram"
    assert "byte_fallback" in found["features"]
    sections = {section["name"]: section for section in found["sections"]}
    assert all(section["offset"] % 64 == 0 for section in sections.values())
    if form != "packed":
        assert found["trie"]["pieces"] == size - 260
        assert 0 < found["trie"]["used"] <= found["trie"]["slots"]
        assert sections["byte_ids"]["count"] == 256
    shown = run("inspect", path)
    assert shown.code == 0
    assert f"{size}" in shown.out
    assert all(name in shown.out for name in sections)


def test_used_slots_are_those_that_walks_reach() -> None:
    """The count of `inspect` against a walk through the trie from its root."""
    from isotok._blob_gen import BlobView
    from isotok._inspect import describe

    blob = compile_model(byte_model())
    links = BlobView(blob).trie[::2].tolist()
    reached = {0}
    todo = [0]
    while todo:
        base = links[todo.pop()] >> 8
        if base:
            found = {base ^ c for c in range(1, 256) if links[base ^ c] & 0xFF == c}
            reached |= found
            todo += found
    trie = describe(blob)["trie"]
    assert trie["branching"] == sum(links[slot] >> 8 > 0 for slot in reached)
    assert trie["used"] in (len(reached), len(reached) - 1)  # the root is nobody's child


@pytest.mark.usefixtures("sentencepiece")
def test_verify(run, model: Path, tmp_path: Path, backend: str) -> None:
    text = tmp_path / "text"
    text.write_text("hello world\nwörld\n\nhello\n")
    found = run("verify", model, text, "--backend", backend)
    assert found.code == 0
    assert "lines: 4 texts" in found.out and "whole: 1 texts" in found.out
    other = tmp_path / "other.isotok"
    swapped = toy_model().replace(b"hello", b"hellx").replace(b"world", b"hello")
    other.write_bytes(compile_model(swapped))
    found = run("verify", model, text, "--blob", other, "--backend", backend)
    assert found.code == 1
    assert "first: text 1" in found.out
    assert "token 0, byte 0" in found.out
    assert "4 '▁hello'" in found.out


def test_verify_without_sentencepiece(run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    found = run("verify", model, model)
    assert (found.code, "pip install sentencepiece" in found.err) == (2, True)


def test_demo(run, model: Path) -> None:
    found = run("demo", "-m", model, "--seconds", 0.01)
    assert found.code == 0
    assert "ids equal: native = wasm" in found.out
    assert found.out.count("MB/s") == 2
    assert "Japanese" in found.out


def test_errors(run, model: Path, tmp_path: Path) -> None:
    cases = [
        (("encode", "-m", tmp_path / "none", "-t", "x"), "cannot be opened"),
        (("encode", "-m", model, tmp_path / "none"), "none"),
        (("encode", "--nothing"), "--nothing"),
        (("nothing",), "nothing"),
        (("encode", "-m", model, "-t", "x", "--format", "xml"), "xml"),
        (("compile", tmp_path / "none"), "none"),
        (("inspect", tmp_path), "directory"),
        (("count", "-m", model, "-t", "x", "--limit", "-1"), "limit"),
        (("encode", "-m", model, "-t", "x", "--backend", "gpu"), "gpu"),
    ]
    for arguments, part in cases:
        found = run(*arguments)
        assert found.code == 2, arguments
        assert part in found.err, arguments
        assert found.out == ""


def test_errors_name_the_file(run, model: Path, tmp_path: Path) -> None:
    """What is wrong in a file begins with its name; "-" is standard input."""
    ids = tmp_path / "ids"
    wrong = ((b"3\n3\n99\n", "line 3: token id out"), (b"3\nx", "line 2: ids must be"))
    for lines, part in wrong:
        ids.write_bytes(lines)
        found = run("decode", "-m", model, ids)
        assert (found.code, f"{ids}, {part}" in found.err) == (2, True), found.err
        found = run("decode", "-m", model, stdin=ids.read_bytes())
        assert (found.code, f"standard input, {part}" in found.err) == (2, True), found.err
    # A name that is a word of the message, too.
    bad = tmp_path / "model"
    bad.write_bytes(toy_model()[:-1])
    for arguments in (
        ("inspect", bad),
        ("compile", bad),
        ("encode", "-m", bad, "-t", "x"),
    ):
        found = run(*arguments)
        assert (found.code, found.err.count(str(bad))) == (2, 1), (arguments, found.err)
        assert found.err.startswith(f"isotok: {bad}: "), arguments
    found = run("inspect", "-", stdin=bad.read_bytes())
    assert (found.code, found.err.startswith("isotok: standard input: ")) == (2, True)


@pytest.mark.usefixtures("sentencepiece")
def test_verify_of_files_that_cannot_be_opened(run, model: Path, tmp_path: Path) -> None:
    blob = tmp_path / "blob"
    blob.write_bytes(compile_model(toy_model()))
    found = run("verify", blob, model)
    assert found.code == 2
    assert found.err.startswith(f"isotok: {blob}: sentencepiece refuses it")
    assert "a blob goes to --blob" in found.err
    blob.write_bytes(blob.read_bytes()[:-1])
    found = run("verify", model, model, "--blob", blob)
    assert (found.code, found.err.startswith(f"isotok: {blob}: model: ")) == (2, True)


def test_help_and_version(run) -> None:
    assert run("--help").code == 0
    assert run("--version").out == f"isotok, version {isotok.__version__}\n"
    for command in ("compile", "inspect", "encode", "decode", "count", "verify", "demo"):
        found = run(command, "-h")
        assert (found.code, found.out.startswith(f"Usage: isotok {command}")) == (0, True)


def test_without_the_extras(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "click", None)
    found = run("encode", "-t", "x")
    assert (found.code, "isotok[cli]" in found.err) == (2, True)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_as_a_module_and_a_broken_pipe(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("hello world\n" * 100_000)
    command = [sys.executable, "-m", "isotok", "encode", "-m", model, "--lines", text]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == b"3 4\n"
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (cli.EXIT_PIPE, b"")


@pytest.mark.parametrize("options", [["inspect"], ["inspect", "--json"], ["decode"], ["demo"]])
def test_nobody_reads_the_output(model: Path, tmp_path: Path, options: list[str]) -> None:
    """A pipe that is closed before anything is written: one exit code, nothing to read."""
    ids = tmp_path / "ids"
    ids.write_text("3\n" * 10_000)
    arguments = {"inspect": [model], "decode": ["-m", model, ids], "demo": ["-m", model]}
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "isotok", *options, *map(str, arguments[options[0]])]
    found = subprocess.run(
        command, stdout=write, stderr=subprocess.PIPE, env=environment(), check=False
    )
    os.close(write)
    assert (found.returncode, found.stderr) == (cli.EXIT_PIPE, b"")


@pytest.mark.parametrize("stream", ["input", "output"])
def test_closed_streams(model: Path, stream: str) -> None:
    redirect = "<&-" if stream == "input" else ">&-"
    command = f'exec "$0" -m isotok encode -m "$1" {redirect}'
    found = subprocess.run(
        ["sh", "-c", command, sys.executable, model],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert found.returncode == cli.EXIT_INPUT
    assert found.stderr.startswith(f"isotok: standard {stream} is closed; ".encode())


def test_progress_goes_to_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from isotok._commands import progress

    assert list(progress([1, 2], 2, "x")) == [1, 2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = progress([1, 2], 2, "x")
    assert list(bar) == [1, 2]
    assert type(bar).__name__ == "tqdm"
    assert capfd.readouterr().err == "", "nothing within the first second"


def test_oracle_version_is_the_one_compared_with() -> None:
    assert oracle.VERSION == "0.2.3"
