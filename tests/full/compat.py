"""isotok.compat.sentencepiece against two releases of sentencepiece, which pip gets.

- `compat_tests`: the tests of the 0.2.3 source distribution, in a temporary folder, only
  their import lines changed. Those that fail are listed in tests/py/compat_rows.json with a reason.
- `compat_old_names`: names that 0.2.1 had and 0.2.3 has not, against its wheel.

Nothing of either is kept. Without an index of packages both say that they were skipped, and
fail where CI is set.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.full import compat_calls
from tests.full.limits import Check
from tests.support import data

HERE = Path(__file__).parent
ROWS = json.loads((HERE.parent / "py/compat_rows.json").read_text("utf-8"))
PACKAGE, NEW, OLD = "sentencepiece", "0.2.3", "0.2.1"
TESTS = ("sentencepiece_test.py", "numpy_test.py", "gil_release_test.py")
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
TOLERANCE = 1e-4  # of entropy and scores: 0.2.1 adds in float32
TEXTS = ["", "a", "hello world", "  Hello   World ", "I saw a girl.", "é藤 ab", "ＡＢＣ ①"]

# Trained where the tests need a model: what is left is that isotok does not train yet.
WITH_TRAINER = """
import sentencepiece
from isotok.compat import sentencepiece as spm
spm.SentencePieceTrainer = sentencepiece.SentencePieceTrainer
"""


def _without_index(what: str, error: subprocess.CalledProcessError) -> Check:
    message = f"pip cannot get {what} (exit code {error.returncode})"
    print(f"skipped: {message}")
    return what, message, "needs an index of packages", not os.environ.get("CI")


# ---- The tests of 0.2.3 -------------------------------------------------------------


def compat_tests() -> Iterator[Check]:
    """Run them as they are, then with the trainer of sentencepiece."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            tests = source_tests(folder)
        except subprocess.CalledProcessError as error:
            yield _without_index(f"{PACKAGE}-{NEW}.tar.gz", error)
            return
        yield from _judged(
            "its own tests", run_tests(tests), {**ROWS["training"], **ROWS["private"]}
        )
        (tests / "conftest.py").write_text(WITH_TRAINER)
        found = run_tests(tests)
        yield from _judged("its own tests, with its trainer", found, ROWS["private"])


def source_tests(folder: Path) -> Path:
    """Get the source distribution and unpack its tests, with other imports."""
    source = [f"{PACKAGE}=={NEW}", "--no-binary", ":all:", "--no-deps", "--no-build-isolation"]
    subprocess.run([*PIP, "download", *source, "-d", folder], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (tests,) = folder.glob(f"{PACKAGE}-*/test")
    for file in tests.glob("*_test.py"):
        text = file.read_text("utf-8")
        text = re.sub(
            r"^import sentencepiece as spm", "from isotok.compat import sentencepiece as spm", text,
            flags=re.MULTILINE,
        )  # fmt: skip
        text = text.replace("from sentencepiece import", "from isotok.compat.sentencepiece import")
        file.write_text(text, "utf-8")
    return tests


def run_tests(tests: Path) -> dict[str, str]:
    """Outcome of each test: passed, failed or skipped."""
    report = tests / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    environment = {**os.environ, "PYTHONPATH": str(data.ROOT / "py_host")}
    subprocess.run(
        [*command, f"--junitxml={report}", "--rootdir", str(tests)],
        cwd=tests,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        failed = outcomes & {"failure", "error"}
        skipped = "skipped" in outcomes
        found[case.get("name", "")] = "failed" if failed else "skipped" if skipped else "passed"
    return found


def _judged(what: str, found: dict[str, str], rows: dict[str, str]) -> Iterator[Check]:
    counts = {state: list(found.values()).count(state) for state in ("passed", "failed", "skipped")}
    told = ", ".join(f"{count} {state}" for state, count in counts.items())
    failed = {name for name, state in found.items() if state == "failed"}
    for name in sorted(failed):
        print(f"  {name}: {rows.get(name, 'NOT LISTED')}")
    unlisted, stale = sorted(failed - set(rows)), sorted(set(rows) - failed)
    yield f"{what}: {told}; listed", f"{len(rows)}", "all that fail", not unlisted
    yield f"{what}: listed, but passed", f"{stale}", "none", not stale
    yield f"{what}: skipped", f"{counts['skipped']}", "none", counts["skipped"] == 0


# ---- The names of 0.2.1 -------------------------------------------------------------


def compat_old_names() -> Iterator[Check]:
    """Compare what can be compared, and distributions of what is drawn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        requests = _requests(folder)
        try:
            target = install_old(folder)
        except subprocess.CalledProcessError as error:
            yield _without_index(f"{PACKAGE} {OLD}", error)
            return
        old = ask_old(folder, target, requests)
        from isotok.compat import sentencepiece as ours

        for request, theirs, mine in zip(
            requests, old, compat_calls.answers(ours, requests), strict=True
        ):
            model = Path(request["model"]).stem
            yield from _names(model, theirs["names"], mine["names"])
            yield _equal(model, theirs["deterministic"], mine["deterministic"])
            yield from _distributions(model, theirs["draws"], mine["draws"])


def install_old(folder: Path) -> Path:
    """Install the old release in a folder of its own."""
    target = folder / "old"
    package = f"{PACKAGE}=={OLD}"
    subprocess.run([*PIP, "install", "--no-deps", "--target", target, package], check=True)
    return target


def ask_old(folder: Path, target: Path, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers of the old release to all requests."""
    file = folder / "requests.json"
    file.write_text(json.dumps(requests), "utf-8")
    command = [sys.executable, "-I", "-c", _RUN, target, HERE / "compat_calls.py", file]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["version"] == OLD, answer["version"]
    return answer["answers"]


_RUN = """
import runpy, sys
target, script, file = sys.argv[1:]
sys.path.insert(0, target)
sys.argv = [script, file]
runpy.run_path(script, run_name="__main__")
"""


def _with_many_ways(path: Path) -> list[str]:
    """Two texts that have more segmentations than are drawn at a time."""
    import isotok

    tokenizer = isotok.load(path)
    if tokenizer.info.algorithm != "unigram":
        return []
    names = (tokenizer.id_to_piece(index) for index in range(len(tokenizer)))
    pairs = zip_longest(*[iter(name.strip("▁") for name in names)] * 2, fillvalue="")
    texts = (f"{a} {b}" for a, b in pairs)
    return list(islice((text for text in texts if 5 < len(tokenizer.nbest(text, 64)) < 64), 2))


def _requests(folder: Path) -> list[dict[str, Any]]:
    vocabulary = folder / "vocabulary.tsv"
    vocabulary.write_text("▁hello\t10\n▁the\t3\n▁a\t1\nel\nlo\t0\nor\t-5\n", "utf-8")
    models = [data.VECTOR_MODELS / f"{name}.model" for name in ("trained_unigram", "trained_bpe")]
    models += [
        path
        for name in ("sp_test_model", "sp_test_ja_model")
        if (path := data.models_dir() / f"{name}.model").exists()
    ]
    return [
        {
            "model": str(path),
            "texts": TEXTS,
            "draw_texts": _with_many_ways(path),
            "draws": 5000,
            "distinct_draws": 2000,
            "distinct": 3,
            "alpha": 0.3,
            "scored": "bpe" not in path.stem,
            "vocabulary": True,
            "vocabularies": {
                "none": [],
                "some": ["▁hello", "▁h", "el", "lo", "▁w", "or"],
                "unknown": ["nonsense", "▁", "<unk>", "<s>"],
            },
            "vocabulary_file": str(vocabulary),
        }
        for path in models
    ]


def _names(model: str, theirs: list[str], mine: list[str]) -> Iterator[Check]:
    missing = sorted(set(theirs) - set(mine) - set(ROWS["names"]))
    yield (
        f"{model}: public names of {OLD}: {len(theirs)}; missing",
        f"{missing}",
        "none",
        not missing,
    )


def _equal(model: str, theirs: list[list[Any]], mine: list[tuple[str, Any]]) -> Check:
    differ: list[str] = []
    for (call, expected), (same_call, found) in zip(theirs, mine, strict=True):
        assert call == same_call
        if not _close(expected, json.loads(json.dumps(found))):
            differ.append(f"{call}: {str(expected)[:200]} != {str(found)[:200]}")
    for each in differ[:10]:
        print(f"  {each}")
    return f"{model}: {len(mine):,} calls as in {OLD}", f"{len(differ)} differ", "0", not differ


def _close(expected: Any, found: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        return abs(expected - found) <= TOLERANCE * max(1.0, abs(expected))
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(_close, expected, found))
    return bool(expected == found)


def _distributions(model: str, theirs: dict[str, Any], mine: dict[str, Any]) -> Iterator[Check]:
    for name, expected in theirs.items():
        found = mine[name]
        p = two_sample_p(expected["counts"], found["counts"])
        yield f"{model}: {name}: p of equal distributions", f"{p:.3f}", "> 0.001", p > 0.001
        if "sizes" in expected:
            sizes = {str(size): count for size, count in found["sizes"].items()}
            yield (
                f"{model}: {name}: how many",
                f"{sizes}",
                str(expected["sizes"]),
                sizes == expected["sizes"],
            )
        else:
            both = expected["scores"].keys() & found["scores"].keys()
            far = max(abs(expected["scores"][key] - found["scores"][key]) for key in both)
            yield f"{model}: {name}: scores differ by", f"{far:.1e}", "<= 1e-3", far <= 1e-3


def two_sample_p(a: dict[str, int], b: dict[str, int]) -> float:
    """Probability of counts that differ at least so much, by the chi-squared test."""
    from math import erfc, sqrt

    totals = sum(a.values()), sum(b.values())
    bins: list[tuple[int, int]] = []
    rest = (0, 0)
    for key in sorted(a.keys() | b.keys()):
        pair = a.get(key, 0), b.get(key, 0)
        if sum(pair) >= 20:
            bins.append(pair)
        else:
            rest = rest[0] + pair[0], rest[1] + pair[1]
    if sum(rest):
        bins.append(rest)
    whole = sum(totals)
    statistic = sum(
        (pair[side] - sum(pair) * totals[side] / whole) ** 2 / (sum(pair) * totals[side] / whole)
        for pair in bins
        for side in (0, 1)
    )
    free = len(bins) - 1
    if free < 1:
        return 1.0
    # Wilson and Hilferty: the cube root of chi-squared / free is nearly normal.
    z = ((statistic / free) ** (1 / 3) - (1 - 2 / (9 * free))) / sqrt(2 / (9 * free))
    return 0.5 * erfc(z / sqrt(2))


ALL = {"compat_tests": compat_tests, "compat_old_names": compat_old_names}
