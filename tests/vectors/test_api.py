"""The table of operations (api.json) and the Python package have the same names."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import isotok
import isotok.compile
import pytest
from support import api
from support.toy import byte_model

HOSTS = ("python", "typescript", "c")
REFUSED = {"Encoder.__reduce_ex__", "Decoder.__reduce_ex__"}  # a text under way is not copied
PROTOCOL = {"__new__", "__init__", "__bool__", "__repr__"}  # of any Python object, no operations
MADE_BY_PYTHON = {
    *("__module__", "__doc__", "__slots__", "__annotations__", "__weakref__"),
    *("__firstlineno__", "__static_attributes__", "__orig_bases__", "__parameters__"),
}


def find(name: str) -> Any:
    """Resolve a name as a user writes it."""
    path = name if name.startswith("isotok.") else f"isotok.{name}"
    if path.startswith("isotok.train."):
        importlib.import_module("isotok.train")
    module, _, rest = path.partition(".")
    found: Any = importlib.import_module(module)
    for part in rest.split("."):
        found = getattr(found, part)
    return found


def public_names() -> set[str]:
    """Whatever a user of the package can reach by a public name."""
    found = {f"isotok.{name}" for name in isotok.__all__}
    found |= {f"isotok.compile.{name}" for name in isotok.compile.__all__}
    for kind in (isotok.Tokenizer, isotok.Encoder, isotok.Decoder):
        for base in kind.__mro__:
            if base.__module__.startswith("isotok"):
                found |= {f"{kind.__name__}.{name}" for name in vars(base) if is_public(name)}
    return found - REFUSED


def reachable_names() -> list[str]:
    """The table's names that can be here: training needs numpy, which Pyodide may be without."""
    numpy = importlib.util.find_spec("numpy") is not None
    return [n for n in api.names("python") if numpy or not n.startswith("isotok.train.")]


def is_public(name: str) -> bool:
    if name.startswith("__"):
        return name not in PROTOCOL | MADE_BY_PYTHON
    return not name.startswith("_")


def test_form_of_the_table() -> None:
    """A row has a name or a reason for every host, and no two rows are about the same."""
    operations = [row["operation"] for row in api.rows()]
    assert len(operations) == len(set(operations))
    for row in api.rows():
        assert set(row) - {"worker"} == {"operation", *HOSTS}, row
        for host in set(row) - {"operation"}:
            value = row[host]
            if isinstance(value, dict):
                assert list(value) == ["none"] and value["none"], row
            else:
                assert api.names_in(row, host) and all(api.names_in(row, host)), row
        assert any(api.names_in(row, host) for host in {*HOSTS, "worker"} & set(row)), row


def test_every_name_of_the_table_exists() -> None:
    for name in reachable_names():
        assert find(name) is not None, name


def test_every_public_name_is_in_the_table() -> None:
    ours = [name for name in api.names("python") if not name.startswith("isotok.train.")]
    assert sorted(public_names()) == ours  # isotok.train has more than the C core: training.md


def test_every_name_works_on_an_opened_model(backend: str) -> None:
    """Also those that are no functions: a property has a value on each back end."""
    with isotok.load(byte_model(), backend=backend) as tok:  # type: ignore[arg-type]
        for name in api.names("python"):
            owner, _, member = name.rpartition(".")
            if owner == "Tokenizer":
                assert getattr(tok, member) is not None, name


@pytest.mark.parametrize("host", HOSTS)
def test_that_there_are_names(host: str) -> None:
    assert len(api.names(host)) > 30
