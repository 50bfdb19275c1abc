"""Runs pytest in Pyodide on the project's own tests, against the installed isotok."""

import contextlib
import gc
import io
import json
import os
import sys


def main(argument: str) -> str:
    """Run pytest on each file, in the folder where the tests were unpacked.

    Each by itself: a fixture keeps every model open until the end of a run, and Chromium
    has addresses for some 120 memories of WebAssembly only.
    """
    task = json.loads(argument)
    os.environ.update(task["environment"])
    os.chdir(task["folder"])
    sys.path.insert(0, f"{task['folder']}/tests/web/pyodide")
    sys.dont_write_bytecode = True
    import inside_plugin
    import pytest

    options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-o", "pythonpath="]
    output = io.StringIO()
    codes: list[int] = []
    with contextlib.redirect_stdout(output):
        for file in task["files"]:
            codes.append(int(pytest.main([*options, file], plugins=[inside_plugin])))
            gc.collect()
    found = {"tests": inside_plugin.RESULT, "codes": codes, "output": output.getvalue()}
    return json.dumps(found)
