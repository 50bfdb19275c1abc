"""The Python package in Pyodide, in Node and in Chromium, from a server on this machine.

prepare.py comes first; `./build.sh test pyodide` runs both.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import isotok
import prepare
import pytest
from playwright.sync_api import Page

Run = Callable[[dict[str, Any]], dict[str, Any]]

MICROPIP = ("micropip-", "packaging-")
TEXTS = [
    "Hello world",
    "",
    "naïve 日本語 👩‍👩‍👧 \u0627\u0644\u0633\u0644\u0627\u0645",
    "a\ud800b",
    "x" * 3000,
]
# Suites of the table of hosts (tests/web/hosts), and the file that has each.
SUITES = {
    "spine": "test_spine",
    "sentencepiece": "test_vectors",
    "cases": "test_cases",
    "samples": "test_samples",
    "native": "inside_native",
}
TESTS = [
    *("vectors/test_spine", "vectors/test_api", "vectors/test_samples"),
    *("py/test_vectors", "py/test_cases"),
    *("web/pyodide/inside_native", "web/pyodide/inside_engine"),
]
MORE_TESTS = [
    *("py/test_tokenizer", "py/test_errors", "py/test_load"),
    *("py/test_text", "py/test_docs", "py/test_threads", "py/test_cli"),
]


def run_in_node(task: dict[str, Any]) -> dict[str, Any]:
    command = ["node", "node.mjs", json.dumps({**task, "dist": str(prepare.DIST)})]
    found = subprocess.run(
        command, cwd=prepare.HERE, capture_output=True, text=True, timeout=900, check=False
    )
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-3000:]
    return json.loads(found.stdout.splitlines()[-1])


def on_page(page: Page, address: str) -> Page:
    page.goto(f"{address}/tests/pyodide/page.html")
    page.wait_for_function("globalThis.mayEvaluate !== undefined")
    return page


@pytest.fixture
def run(host: str, request: pytest.FixtureRequest, site: str) -> Run:
    """Run a task on a host."""
    if host == "node":
        return run_in_node
    page: Page = request.getfixturevalue("page")
    strict = "/strict" if "strict" in host else ""
    on_page(page, site + strict)
    assert page.evaluate("mayEvaluate") == (strict == "")
    function = "runInWorker" if "worker" in host else "runOnPage"
    return lambda task: page.evaluate(f"task => {function}(task)", task)


def wheels_in_dist() -> list[str]:
    """Names of the wheels that are not ours."""
    return sorted(p.name for p in prepare.DIST.glob("*.whl") if not p.name.startswith("isotok-"))


def binaries() -> dict[str, str]:
    folder = prepare.ROOT / "build/wasm"
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in prepare.MODULES
    }


# -- the wheel ----------------------------------------------------------------------


def test_the_wheel_is_pure_and_has_the_same_binaries(wheel: Path) -> None:
    assert wheel.name == f"isotok-{isotok.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        assert [name for name in names if name.endswith((".so", ".pyd", ".c", ".h"))] == []
        found = {
            Path(name).name: hashlib.sha256(opened.read(name)).hexdigest()
            for name in names
            if name.endswith(".wasm")
        }
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        requirements = opened.read(metadata).decode()
    assert found == binaries()
    assert 'Requires-Dist: wasmtime<51,>=50; platform_system != "Emscripten"' in requirements


def test_the_wheel_can_be_built_again(wheel: Path, tmp_path: Path) -> None:
    """The same tree gives the same bytes."""
    command = [prepare.sys.executable, str(prepare.ROOT / "tools/check_wheel.py"), "pure"]
    subprocess.run([*command, str(tmp_path)], check=True, capture_output=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_lock_file_knows_the_wheel(wheel: Path) -> None:
    lock = json.loads((prepare.DIST / "pyodide-lock.json").read_text())
    entry = lock["packages"]["isotok"]
    assert entry["file_name"] == wheel.name
    assert entry["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert entry["imports"] == ["isotok"]
    assert entry["depends"] == [], "wasmtime is not for Pyodide"


# -- ways to install ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "way"),
    [
        *(("node", way) for way in ("file", "name", "micropip", "index")),
        *(("page", way) for way in ("file", "micropip")),
        *(("strict page", way) for way in ("name", "index")),
        *(("worker", way) for way in ("file", "micropip")),
        ("strict worker", "name"),
    ],
)
def test_install(way: str, run: Run, site: str, wheel: Path) -> None:
    """Installed in any way, the package gives the ids of the native back end."""
    url = f"{site}/dist/{wheel.name}"
    report = run(
        {
            "way": way,
            "wheel": wheel.name,
            "url": url,
            "index": f"{site}/dist/simple/{{package_name}}/",
            "micropip": [name for name in wheels_in_dist() if name.startswith(MICROPIP)],
            "python": "inside_use.py",
            "argument": {"texts": TEXTS},
        }
    )
    found = report["result"]
    with isotok.load(backend="native") as tok:
        assert found["ids"] == [tok.encode(text) for text in TEXTS]
        assert found["decoded"] == [tok.decode(tok.encode(text)) for text in TEXTS]
        expected = [tok.encode_with_offsets(text, unit="utf16").offsets for text in TEXTS]
        assert found["offsets"] == [[list(span) for span in each] for each in expected]
    assert found["version"] == isotok.__version__
    assert (found["platform"], found["backend"]) == ("emscripten", "wasm")
    assert found["loaded"] == []
    assert found["sha256"] == binaries()


# -- the project's tests, inside ----------------------------------------------------


def reports_of(found: dict[str, Any], file: str, without: str = "") -> list[dict[str, Any]]:
    """Counts of the test functions of a file."""
    names = [name for name in found["tests"] if name.startswith(f"{file}.")]
    return [found["tests"][name] for name in names if name != f"{file}.{without}"]


def merge(reports: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Add up counts of test functions."""
    passed, failed = 0, 0
    not_applicable = Counter[str]()
    for report in reports:
        passed += report["passed"]
        failed += report["failed"]
        not_applicable.update(report["not_applicable"])
    return {"passed": passed, "failed": failed, "not_applicable": not_applicable}


def left_out(output: str, what: str) -> Counter[str]:
    """What `test_coverage` prints: why vectors or cases are not for the Python package."""
    match = re.search(rf"^{what}: \d+ applicable.*\n((?: +\d+ .*\n)*)", output, re.MULTILINE)
    lines = match[1].splitlines() if match else []
    pairs = (line.split(maxsplit=1) for line in lines)
    return Counter({reason: int(count) for count, reason in pairs})


def write_row(host: str, report: dict[str, Any]) -> None:
    """Leave what the table of hosts shows of this one."""
    found = report["result"]
    results: dict[str, Any] = {}
    for suite, file in SUITES.items():
        counts = merge(reports_of(found, file, without="test_coverage"))
        counts["not_applicable"] += left_out(found["output"], file.removeprefix("test_"))
        results[suite] = {
            "passed": counts["passed"],
            "failed": [],
            "notApplicable": counts["not_applicable"],
        }
    row = {"version": report["version"], "wasm": binaries()["isotok.wasm"], "results": results}
    (prepare.DIST / f"row-{host}.json").write_text(json.dumps(row))


def inner_tests(run: Run, host: str, site: str, wheel: Path, names: list[str]) -> str:
    """Run tests in Pyodide; gives the lines that say how many."""
    report = run(
        {
            "way": "file",
            "wheel": wheel.name,
            "url": f"{site}/dist/{wheel.name}",
            "files": "tests.zip",
            "wheels": wheels_in_dist(),
            "python": "inside_tests.py",
            "argument": {
                "folder": "/project",
                "files": [f"tests/{name}.py" for name in names],
                "environment": {
                    "ISOTOK_DATA": "/shared/data",
                    "ISOTOK_WASM_SHA256": json.dumps(binaries()),
                },
            },
        }
    )
    found = report["result"]
    total = merge(found["tests"].values())
    files = {Path(name).name: merge(reports_of(found, Path(name).name)) for name in names}
    counts = ", ".join(f"{name} {each['passed']}" for name, each in sorted(files.items()))
    reasons = sorted(total["not_applicable"].items())
    line = (
        f"Pyodide {report['version']} in {report['host']}: {total['passed']} passed ({counts}), "
        f"{total['failed']} failed, {total['not_applicable'].total()} not applicable"
    )
    assert set(found["codes"]) == {0}, f"{line}\n{found['output'][-6000:]}"
    assert total["failed"] == 0
    assert all(each["passed"] > 0 for each in files.values())
    write_row(host, report)
    return line + "".join(f"\n    {count}: {why}" for why, count in reasons)


def test_inside_node(site: str, wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = inner_tests(run_in_node, "Node", site, wheel, [*TESTS, *MORE_TESTS])
    with capsys.disabled():
        print(f"\n{line}")


def test_inside_chromium(
    page: Page, site: str, wheel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a worker, as a page would do it."""
    on_page(page, site)

    def run(task: dict[str, Any]) -> dict[str, Any]:
        return page.evaluate("task => runInWorker(task)", task)

    line = inner_tests(run, "Chromium", site, wheel, TESTS)
    with capsys.disabled():
        print(f"\n{line}")
