"""examples/c, compiled with the amalgamation and run, against sentencepiece."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import data
from support.oracle import Oracle, available
from support.toolchain import (
    C11,
    COMPILERS,
    EXAMPLES,
    FILES,
    STRICT,
    Builds,
    Compiler,
    attempt,
    need,
    run,
)

NAMES = ("quick_start", "on_the_fly", "threads", "cache")
LEAKS = ("-O1", "-g", "-fsanitize=address")
SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
MODELS = ("trained_unigram", "trained_bpe", "uni_rules", "bpe_bytes", "char_plain", "word_plain")
REAL = ("xlmr", "gemma3", "llama2")
TEXTS = (
    "Hello, world!",
    "",
    "  naïve  café ｆｕｌｌ ①  ",
    "日本語の文章、と emoji 🦊.",
    "a" * 9000,
)
USE_SESSION = """
#include <fstream>
#include <iostream>
#include <iterator>

int main(int, char **argv)
{
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    void *blob = ::operator new(bytes.size(), std::align_val_t(64));
    std::copy(bytes.begin(), bytes.end(), static_cast<char *>(blob));
    std::vector<std::uint64_t> view(isotok_model_size() / 8 + 1);
    const isotok_model *model;
    if (isotok_model_open(blob, bytes.size(), ISOTOK_VERIFY_SAFE, view.data(), view.size() * 8,
                          &model, nullptr) != ISOTOK_OK)
        return 1;
    for (auto id : Session(model).encode(argv[2])) std::cout << ' ' << id;
    ::operator delete(blob, std::align_val_t(64));
}
"""
# Long enough for a cache to have something to remember.
CORPUS = " ".join(f"the cat and the dog saw {n % 7} birds over the hill," for n in range(2000))


@pytest.fixture(scope="module")
def programs(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The examples, under sanitizers that also find leaks. (The core has tests of its own.)"""
    need("clang-19")
    folder = tmp_path_factory.mktemp("examples")
    flags = [*C11, *STRICT, f"-I{dist}"]
    for file in FILES:
        run("clang-19", *flags, *LEAKS, "-c", dist / f"{file}.c", "-o", folder / f"{file}.o")
    objects = [folder / f"{file}.o" for file in FILES]
    for name in NAMES:
        run(
            "clang-19",
            *flags,
            *SANITIZE,
            EXAMPLES / f"{name}.c",
            *objects,
            "-o",
            folder / name,
            "-lpthread",
        )
    return {name: folder / name for name in NAMES}


@pytest.fixture(params=[*MODELS, *REAL])
def model(request: pytest.FixtureRequest) -> Path:
    name = str(request.param)
    path = (data.models_dir() if name in REAL else data.VECTOR_MODELS) / f"{name}.model"
    if not path.exists():
        pytest.skip(data.absence(path))
    return path


@pytest.fixture
def oracle(model: Path) -> Oracle:
    if not available():
        pytest.skip("sentencepiece 0.2.3 is not installed")
    return Oracle(model.read_bytes())


def said(oracle: Oracle, text: str) -> str:
    ids = oracle.encode_ids(text.encode())
    return f"ids:{''.join(f' {i}' for i in ids)}\ntext: {oracle.sp.decode(ids)}\n"


def test_encode_and_decode(
    programs: dict[str, Path], model: Path, oracle: Oracle, tmp_path: Path
) -> None:
    blob = tmp_path / "model.isotok"
    for text in TEXTS:
        assert run(programs["on_the_fly"], model, text, blob) == said(oracle, text)
        assert run(programs["quick_start"], blob, text) == said(oracle, text)
        assert run(programs["on_the_fly"], blob, text) == said(oracle, text)  # a blob is a source


def test_threads_and_cache(
    programs: dict[str, Path], model: Path, oracle: Oracle, tmp_path: Path
) -> None:
    blob, text = tmp_path / "model.isotok", tmp_path / "text"
    run(programs["on_the_fly"], model, "", blob)
    text.write_text(CORPUS.replace("hill,", "hill,\n"), "utf-8")
    lines = text.read_bytes().splitlines(keepends=True)
    total = sum(len(oracle.encode_ids(line)) for line in lines)
    for threads in ("1", "2", "5"):
        output = run(programs["threads"], blob, text, threads)
        assert output == f"{threads} threads: {total} ids, one: {total}, the same\n"

    output = run(programs["cache"], blob, text)
    count = len(oracle.encode_ids(text.read_bytes()))
    number = r"(\d+)"
    counts = rf": {count} ids; {number} of {number} chunks from the cache, {number} fit\n"
    match = re.fullmatch(rf"first{counts}again{counts}without: {count} ids, the same\n", output)
    assert match is not None, output
    hits, probes, entries, hits_again, probes_again, entries_again = map(int, match.groups())
    assert entries == entries_again
    assert hits <= probes <= probes_again and hits <= hits_again <= probes_again
    if model.stem in ("trained_unigram", "trained_bpe", *REAL):
        unigram = model.stem not in ("trained_bpe", "gemma3", "llama2")
        assert entries == 2**20 // (64 if unigram else 32)  # with weights and without
        assert hits > 1000 and hits_again - hits > hits / 2, output


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("quick_start", "header: not an isotok blob, or cut short"),
        ("threads", "header: not an isotok blob, or cut short"),
        ("cache", "header: not an isotok blob, or cut short"),
        ("on_the_fly", "model file: not a SentencePiece model, or cut short"),
    ],
)
def test_errors(programs: dict[str, Path], name: str, message: str) -> None:
    no_model = data.ROOT / "README.md"
    done = attempt(programs[name], no_model, no_model)
    assert done.returncode == 1
    assert message in done.stdout
    done = attempt(programs[name])
    assert done.returncode == 2 and done.stdout.startswith(f"usage: {name} ")


def blocks(path: Path, language: str) -> list[str]:
    """Code blocks of a document."""
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize(
    "compiler", [c for c in COMPILERS if "C++" in c.name], ids=lambda c: c.name
)
def test_the_class_of_the_manual(
    programs: dict[str, Path], builds: Builds, tmp_path: Path, compiler: Compiler
) -> None:
    """docs/c.md's C++ with the amalgamation compiled as C++."""
    (block,) = blocks(data.ROOT / "docs/c.md", "cpp")
    model, blob, source = (
        data.VECTOR_MODELS / "trained_bpe.model",
        tmp_path / "m",
        tmp_path / "s.cc",
    )
    run(programs["on_the_fly"], model, "", blob)
    source.write_text(f"#include <algorithm>\n{block}{USE_SESSION}")
    flags = [*STRICT, "-std=c++17", "-fsanitize=address,undefined", f"-I{builds.dist}"]
    program, unit = tmp_path / "program", builds.object(compiler, "isotok")
    run(compiler.command, *flags, source, unit, "-o", program)
    for text in TEXTS:
        ids = Oracle(model.read_bytes()).encode_ids(text.encode())
        assert run(program, blob, text) == "".join(f" {i}" for i in ids)


def test_the_commands_of_the_readme(dist: Path, tmp_path: Path) -> None:
    (block,) = blocks(EXAMPLES / "README.md", "sh")
    make, *commands = block.splitlines()
    assert make == "./build.sh amalgamation" and len(commands) == 4
    (tmp_path / "dist").symlink_to(dist)
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(data.ROOT / name)
    # Not optimised: half of the test's time.
    commands = [command.replace("cc -O2", "cc -O0") for command in commands]
    outputs = [run("sh", "-c", command, cwd=tmp_path) for command in commands]
    assert outputs[:2] == ["", ""]
    assert outputs[2] == outputs[3] and outputs[3].endswith("\ntext: Hello, world!\n")
