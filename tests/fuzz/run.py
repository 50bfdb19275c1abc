"""`./build.sh fuzz [TARGET …] [--time=60]`: libFuzzer targets with ASan and UBSan.

Targets: open, build, encode, decode, pretok. Everything is made in build/fuzz: programs, corpora
(which grow from run to run) and the inputs of failures.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "py_host")]

from support import texts  # noqa: E402

OUT = ROOT / "build/fuzz"
TARGETS = ("open", "build", "encode", "decode", "pretok")
LONGEST = {"open": 65536, "build": 16384, "encode": 4096, "decode": 4096, "pretok": 65536}
CLANG = os.environ.get("FUZZ_CC", "clang-19")
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all"
FLAGS = f"-g -O1 -fno-omit-frame-pointer -DISOTOK_DEBUG {SANITIZE}".split()
FLAGS += ["-mssse3"] if platform.machine() == "x86_64" else []
INCLUDES = [f"-I{name}" for name in ("core/include", "core/src", "core/build", "tests/c")]


def compile_one(job: tuple[Path, Path, list[str]]) -> None:
    source, target, extra = job
    command = [CLANG, "@core/cflags.txt", *FLAGS, *INCLUDES, *extra, "-c", str(source)]
    subprocess.run([*command, "-o", str(target)], cwd=ROOT, check=True)


def objects(folder: Path, extra: list[str]) -> list[str]:
    """Compile the core, the model compiler and what the targets share."""
    sources = [*ROOT.glob("core/src/*.c"), *ROOT.glob("core/build/*.c")]
    shared = ("drive", "drive_nbest", "make_model")
    sources += [ROOT / f"tests/c/{name}.c" for name in shared]
    sources += [ROOT / "tests/fuzz/exercise.c"]
    headers = [*ROOT.glob("core/*/*.h"), *ROOT.glob("tests/[cf]*/*.h"), Path(__file__)]
    newest = max(header.stat().st_mtime for header in headers)
    folder.mkdir(parents=True, exist_ok=True)
    jobs: list[tuple[Path, Path, list[str]]] = []
    targets: list[str] = []
    for source in sorted(sources):
        target = folder / f"{source.parent.name}_{source.stem}.o"
        targets.append(str(target))
        needed = max(newest, source.stat().st_mtime)
        if not target.exists() or target.stat().st_mtime < needed:
            jobs.append((source, target, extra))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, jobs))
    return targets


def program(name: str, source: str, extra: list[str]) -> Path:
    """Compile and link tests/fuzz/SOURCE with everything else."""
    folder = OUT / ("libfuzzer" if extra else "plain")
    shared = objects(folder, [each.replace("fuzzer", "fuzzer-no-link") for each in extra])
    target = OUT / name
    command = [CLANG, "@core/cflags.txt", *FLAGS, *INCLUDES, *extra, f"tests/fuzz/{source}"]
    subprocess.run([*command, *shared, "-o", str(target)], cwd=ROOT, check=True)
    return target


def replay_program() -> Path:
    return program("replay", "replay.c", [])


def blob_of(path: Path) -> bytes:
    from isotok.compile import compile_model

    return bytes(compile_model(path.read_bytes()))


def old_blob_of(path: Path) -> bytes:
    """The model for sentencepiece 0.2.1; empty where that has it not."""
    from isotok.compile import compile_model
    from isotok.errors import TokenizerError

    try:
        return compile_model(path.read_bytes(), compat="0.2.1")
    except TokenizerError:
        return b""


def spm_fb_of(path: Path) -> bytes:
    """The model as an `.spm.fb`; empty if there is none for it."""
    from isotok.compile import compile_model
    from isotok.errors import TokenizerError

    try:
        return compile_model(path.read_bytes(), "spm.fb")
    except TokenizerError:
        return b""


def write_seeds(target: str, folder: Path) -> None:
    """Start a corpus: models as files and blobs, corner texts, ids."""
    folder.mkdir(parents=True, exist_ok=True)
    if target == "pretok":
        write_pretokenizers(folder)
        return
    models = sorted((ROOT / "tests/vectors/models").glob("*.model"))
    generator = random.Random(target)
    for number, path in enumerate(models):  # of most the C targets have two, see exercise.h
        if target == "build":
            (folder / path.name).write_bytes(path.read_bytes())
            (folder / f"{path.stem}.spm.fb").write_bytes(spm_fb_of(path))
        elif target == "open":
            (folder / path.stem).write_bytes(b"\1" + blob_of(path))
            (folder / f"{path.stem}.0.2.1").write_bytes(b"\1" + old_blob_of(path))
        else:
            for index in (2 * number, 2 * number + 1):
                head = bytes([index, *generator.randbytes(3)])
                text = b" ".join(texts.CORNERS) if target == "encode" else generator.randbytes(40)
                (folder / f"{path.stem}.{index}").write_bytes(head + text)


def write_pretokenizers(folder: Path) -> None:
    """Start a corpus: the smaller ones of the known pre-tokenizers, each with a text."""
    from isotok.compile.pretok import table

    found = (ROOT / "py_host/isotok/data/pretok_known.bin").read_bytes()
    for number, arrays in enumerate(table.unpack(found).values()):
        header, tables, classes = arrays.to_bytes()
        sizes = (len(arrays.header), len(arrays.tables), len(arrays.classes))
        for windows in (0, 64):
            head = struct.pack("<BHHBBB", *sizes, number, number, windows)
            answers = random.Random(number).randbytes(windows)
            text = b" ".join(texts.CORNERS)[:2000]
            seed = head + header + tables + classes + answers + text
            if len(seed) <= LONGEST["pretok"]:
                (folder / f"known_{number}_{windows}").write_bytes(seed)


def fuzz(target: str, seconds: int) -> int:
    """Run one target; its exit code."""
    executable = program(f"fuzz_{target}", f"fuzz_{target}.c", ["-fsanitize=fuzzer"])
    corpus, artifacts = OUT / "corpus" / target, OUT / "artifacts"
    artifacts.mkdir(parents=True, exist_ok=True)
    write_seeds(target, corpus)
    command = [
        str(executable), str(corpus), f"-max_total_time={seconds}", "-timeout=20",
        f"-max_len={LONGEST[target]}", "-rss_limit_mb=2560", "-print_final_stats=1",
        f"-artifact_prefix={artifacts}/{target}-", "-use_value_profile=0", "-close_fd_mask=0",
    ]  # fmt: skip
    kept = [*sorted((ROOT / "tests/fuzz/crashes").glob(f"{target}-*"))]
    if kept and subprocess.run([str(executable), *map(str, kept)], cwd=ROOT).returncode:
        print(f"fuzz {target}: an input of tests/fuzz/crashes fails again")
        return 1
    print(f"fuzz {target}: {seconds} s", flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = done.stdout.decode(errors="replace").splitlines()
    print("\n".join(lines[-60:] if done.returncode else lines[-8:]), flush=True)
    if done.returncode:
        print(f"again: {executable.relative_to(ROOT)} build/fuzz/artifacts/{target}-…")
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--time", type=int, default=60, help="seconds for each target")
    parser.add_argument("--replay", action="store_true", help="only build build/fuzz/replay")
    options = parser.parse_args()
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"unknown target {sorted(unknown)[0]}; one of {', '.join(TARGETS)}")
    if options.replay:
        print(replay_program())
        return 0
    results = {each: fuzz(each, options.time) for each in options.targets or TARGETS}
    failed = [name for name, code in results.items() if code]
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
