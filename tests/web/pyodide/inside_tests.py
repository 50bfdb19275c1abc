"""Runs pytest in Pyodide on the project's own tests, against the installed isotok."""

import contextlib
import io
import json
import os
import sys


def main(argument: str) -> str:
    """Run pytest with `arguments` in the folder where the tests were unpacked."""
    task = json.loads(argument)
    os.environ.update(task["environment"])
    os.chdir(task["folder"])
    sys.path.insert(0, f"{task['folder']}/tests/web/pyodide")
    sys.dont_write_bytecode = True
    import inside_plugin
    import pytest

    options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-o", "pythonpath="]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = pytest.main([*options, *task["arguments"]], plugins=[inside_plugin])
    return json.dumps({**inside_plugin.RESULT, "code": int(code), "output": output.getvalue()})
