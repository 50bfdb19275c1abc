"""The conftest.py of a run of tokenizers' own tests: files instead of downloads."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from isotok.compat import tokenizers as ours

FOLDER = Path(os.environ["ISOTOK_FILES"])
TOKENIZERS = {
    "gpt2": "gpt2",
    "bert-base-cased": "bert",
    "hf-internal-testing/Llama-3.1-8B-Instruct": "llama3",
    "hf-internal-testing/gpt-oss-20b": "llama3",  # any will do there
}


def _download(*_: object, filename: str, **__: object) -> str:
    path = FOLDER / filename
    if not path.exists():
        raise FileNotFoundError(f"{filename} would have to be downloaded")
    return str(path)


def _from_pretrained(identifier: str, revision: str = "main", token: str | None = None) -> Any:
    if revision != "main" or identifier not in TOKENIZERS:
        raise FileNotFoundError(f"{identifier} would have to be downloaded")
    return ours.Tokenizer.from_file(str(FOLDER / f"{TOKENIZERS[identifier]}.json"))


hub: Any = types.ModuleType("huggingface_hub")
hub.hf_hub_download = _download
sys.modules["huggingface_hub"] = hub
ours.Tokenizer.from_pretrained = staticmethod(_from_pretrained)  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Run coroutines, as the plugin pytest-asyncio does, which is not needed for it."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True
