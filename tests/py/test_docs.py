"""The examples in docstrings run, and every public name has a docstring."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import isotok
import isotok.compile
import pytest
from support.toy import toy_model

MODULES = [
    module.name
    for module in pkgutil.walk_packages(isotok.__path__, "isotok.")
    # _pyodide needs the browser's module js.
    if module.name.rpartition(".")[2] not in ("__main__", "_native", "_pyodide")
]


# Interchange with protobuf's own classes, and they are not in Pyodide.
PROTOBUF = [name for name in MODULES if name.endswith(("_pb2", "._messages"))]
try:
    importlib.import_module("google.protobuf")
    HAS_PROTOBUF = True
except ImportError:
    HAS_PROTOBUF = False


def has_what_it_needs(name: str) -> bool:
    return HAS_PROTOBUF or name not in PROTOBUF


@pytest.mark.parametrize("name", ["isotok", *filter(has_what_it_needs, MODULES)])
def test_examples(name: str, tmp_path: Path) -> None:
    path = tmp_path / "toy.model"
    path.write_bytes(toy_model())
    module = importlib.import_module(name)
    names = {**vars(module), "isotok": isotok, "path": path, "tok": isotok.load(path)}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    output: list[str] = []
    for example in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(example, out=output.append)
    assert not runner.failures, "".join(output)


def test_that_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [*finder.find(isotok._tokenizer), *finder.find(isotok._vocabulary)]
    assert sum(len(example.examples) for example in found) > 20


def public_objects() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for module in (isotok, isotok.compile):
        for name in module.__all__:
            item = getattr(module, name)
            if not (inspect.isclass(item) or inspect.isfunction(item)):
                continue
            found.append((name, item))
            if inspect.isclass(item):
                found += [(f"{name}.{key}", value) for key, value in own_members(item)]
    return found


def own_members(kind: type) -> list[tuple[str, object]]:
    ours = [each for each in kind.__mro__ if each.__module__.startswith("isotok")]
    return [
        (name, value)
        for each in ours
        for name, value in vars(each).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    ]


@pytest.mark.parametrize(("name", "item"), public_objects(), ids=lambda value: str(value)[:40])
def test_every_public_name_is_described(name: str, item: object) -> None:
    assert inspect.getdoc(item), name
