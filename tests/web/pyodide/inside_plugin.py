"""A pytest plugin for the run inside Pyodide: what does not apply there, and why.

Pyodide has one back end, one process, one thread and no numpy of its own. A test that needs
another is not applicable; it shows that by the error that Python or isotok then raises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Per test function (`file.test_name`): how many passed and failed, and why others were left out.
RESULT: dict[str, dict[str, Any]] = {}

ERRORS = {
    "emscripten does not support processes": "starts processes",
    "Function not implemented": "starts processes",
    "/proc/self/status": "looks into /proc",
    "can't start new thread": "starts threads",
    "JavaScript cannot limit the time of a call": "limits the time of a call",
    "arrays need numpy": "needs numpy",
    "No module named 'numpy'": "needs numpy",
    "backend: native is not installed": "compares with the native back end",
    "No module named 'wasmtime'": "about wasmtime",
}
DEEP = "the reference's trie is too deep for the stack of JavaScript"
NOT_OURS = {"test_reference", "test_as_made", "test_files_in_sentencepiece"}
TESTS = {
    "test_every_piece[wasm-uni_long]": DEEP,
    "test_files[wasm-piece of 7,999 bytes]": DEEP,
    "test_demo": "compares with the native back end",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the native back end and the reference; skip what the table says."""
    others = [item for item in items if _is_not_ours(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if not _is_not_ours(item)]
    for item in items:
        reason = TESTS.get(item.name) or TESTS.get(item.name.partition("[")[0])
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def _is_not_ours(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    native = callspec is not None and callspec.params.get("backend") == "native"
    return native or item.name.partition("[")[0] in NOT_OURS


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and call.excinfo is not None:
        reason = _reason(call.excinfo.value)
        if reason is not None:
            report.outcome = "skipped"
            report.longrepr = (str(item.path), 0, f"Skipped: {reason}")
    return report


def _reason(error: BaseException | None) -> str | None:
    while error is not None:
        for text, reason in ERRORS.items():
            if text in str(error):
                return reason
        error = error.__cause__ or error.__context__
    return None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count one outcome; the reasons are printed by the host of the tests."""
    if report.when != "call" and report.passed:
        return
    file, _, name = report.location
    key = f"{Path(file).stem}.{name.partition('[')[0]}"
    fresh: dict[str, Any] = {"passed": 0, "failed": 0, "not_applicable": Counter[str]()}
    counts = RESULT.setdefault(key, fresh)
    if report.skipped:
        reason = report.longrepr[2].removeprefix("Skipped: ")  # type: ignore[index]
        counts["not_applicable"][reason] += 1
    else:
        counts["passed" if report.passed else "failed"] += 1
