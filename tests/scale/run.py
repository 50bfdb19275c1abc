"""`./build.sh test scale`: the examples of docs/scale.md with their engines, against a plain loop.

    ./build.sh test scale [ENGINE …] [--documents N]

Each engine gets an environment of its own in build/scale, made with pip. Exits with 1 if counts or
shards differ.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENGINES = {
    "Ray Data": ["ray[data]==2.60.0", "pandas", "fsspec[http]"],
    "Hugging Face datasets": ["datasets==5.2.0"],
    "PySpark": ["pyspark==4.3.0", "pandas"],
    "Daft": ["daft==0.7.26"],
}
PARTS = 5
ALWAYS = ["numpy", "pyarrow"]


def python_of(engine: str) -> Path:
    """The interpreter of the engine's environment, which is made if it is not there."""
    folder = ROOT / "build/scale" / engine.split()[-1 if "Face" in engine else 0].lower()
    python = folder / "bin/python"
    wanted = " ".join([*ALWAYS, *ENGINES[engine]])
    done = folder / "installed.txt"
    if not done.exists() or done.read_text() != wanted:
        if not python.exists():
            venv.create(folder, with_pip=True)
        command = [python, "-m", "pip", "install", "-q", *ALWAYS, *ENGINES[engine]]
        subprocess.run(command, check=True)
        done.write_text(wanted)
    return python


def pyarrow() -> tuple[Any, Any]:
    """The modules, which have no types."""
    return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")


def write_corpus(folder: Path, documents: int) -> list[str]:
    """Parquet files of texts; the last has few."""
    made: Any = importlib.import_module("texts")
    pa, pq = pyarrow()

    texts = [text for name in made.ALPHABETS for text in made.corpus(name, texts=documents)]
    size = len(texts) // (PARTS - 1) - 1
    paths: list[str] = []
    for number in range(PARTS):
        path = folder / f"part-{number}.parquet"
        part = pa.table({"text": pa.array(texts[number * size : (number + 1) * size], pa.string())})
        pq.write_table(part, path)
        paths.append(str(path))
    return paths


def plain_loop(paths: list[str], model: Any, cutter: Any, folder: Path) -> tuple[bytes, bytes]:
    """Counts of words and pairs, and shards in the folder."""
    from isotok.train import BigramCounter, WordCounter, write_shard

    _, pq = pyarrow()
    words, bigrams = WordCounter(cutter), BigramCounter(cutter)
    for number, path in enumerate(paths):
        texts = pq.read_table(path)["text"].to_pylist()
        words.add_batch(texts)
        bigrams.add_batch(texts)
        write_shard(texts, model, folder, number)
    return words.to_bytes(), bigrams.to_bytes()


def code_of(engine: str) -> str:
    """The blocks of the guide: what all have, and the engine's."""
    text = (ROOT / "docs/scale.md").read_text("utf-8")
    shared = re.search(r"```python\n(def shard.*?)```", text, re.DOTALL)
    own = re.search(rf"### {engine}\n\n```python\n(.*?)```", text, re.DOTALL)
    assert shared and own, engine
    return shared[1] + "\n" + own[1]


PROGRAM = """
import hashlib, json, logging, os, sys, time, warnings
from pathlib import Path
import pyarrow, pyarrow.parquet
from isotok.train import *

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

if __name__ == "__main__":
    start = time.perf_counter()
    paths, folder, cutter = json.loads(sys.argv[1]), sys.argv[2], PreTokenizer(["<|endoftext|>"])
    model = BpeModel.from_pretrained(sys.argv[3])
    {prepare}
    ready = time.perf_counter()
{code}
    digests = [hashlib.sha256(found).hexdigest() for found in (words, bigrams)]
    end = time.perf_counter()
    seconds = {{"start": ready - start, "work": end - ready}}
    print("RESULT" + json.dumps({{"digests": digests, "tokens": int(tokens), **seconds}}))
"""
PREPARE = {
    "Ray Data": "import ray; ray.init(num_cpus=2, log_to_driver=False, logging_level='ERROR')",
    "Hugging Face datasets": "import datasets; datasets.disable_progress_bars()",
    "PySpark": "from pyspark.sql import SparkSession; spark = SparkSession.builder"
    ".master('local[2]').config('spark.ui.enabled', 'false').getOrCreate()",
    "Daft": "import daft",
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def run_engine(engine: str, paths: list[str], model: Path, folder: Path) -> dict[str, Any]:
    """Run the example in the engine's environment."""
    code = "\n".join("    " + line for line in code_of(engine).splitlines())
    program = folder.with_name("program.py")
    program.write_text(PROGRAM.format(prepare=PREPARE[engine], code=code))
    python = python_of(engine)
    variables = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "py_host"),
        "PYSPARK_PYTHON": str(python),
        "HF_HOME": str(folder.with_name("cache")),
        "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
        "DAFT_PROGRESS_BAR": "0",
    }
    command = [str(python), str(program), json.dumps(paths), str(folder), str(model)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    found = re.search(r"RESULT(.*)", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"{engine}: {done.stdout[-500:]}\n{done.stderr[-3000:]}")
    return json.loads(found[1])


def compare(engine: str, documents: int) -> bool:
    """Print a line; whether all is equal."""
    from isotok.train import PreTokenizer, files, train_bpe

    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        paths = write_corpus(base, documents)
        model = train_bpe(files(*paths), vocab_size=600, special_tokens=["<|endoftext|>"])
        model.save_pretrained(base / "model")
        begin = time.perf_counter()
        counts = plain_loop(paths, model, PreTokenizer(["<|endoftext|>"]), base / "wanted")
        seconds = time.perf_counter() - begin
        (base / "found").mkdir()
        found = run_engine(engine, paths, base / "model", base / "found")
        equal = {
            "counts": found["digests"] == [hashlib.sha256(each).hexdigest() for each in counts],
            "shards": contents(base / "found") == contents(base / "wanted"),
        }
        told = ", ".join(f"{what} {'equal' if same else 'DIFFER'}" for what, same in equal.items())
        print(
            f"{engine:24} {told}; start {found['start']:.1f} s, work {found['work']:.1f} s "
            f"(plain loop {seconds:.2f} s), {found['tokens']:,} tokens",
            flush=True,
        )
        return all(equal.values())


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", metavar="ENGINE", help=", ".join(ENGINES))
    parser.add_argument("--documents", type=int, default=400, help="of each of ten alphabets")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "py_host"), str(ROOT / "tests/train")]
    failed = 0
    for engine in options.engines or ENGINES:
        try:
            failed += not compare(engine, options.documents)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"{engine:24} FAILED\n{error}", flush=True)
            failed += 1
    print(f"{len(options.engines or ENGINES) - failed} passed, {failed} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
