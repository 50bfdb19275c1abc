"""What the tests of the C distribution share: the amalgamated files and what is built of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.toolchain import AARCH64, COMPILERS, Builds, Compiler, amalgamate


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return amalgamate(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def builds(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return Builds(dist, tmp_path_factory.mktemp("builds"))


@pytest.fixture(params=COMPILERS, ids=lambda compiler: compiler.name)
def compiler(request: pytest.FixtureRequest) -> Compiler:
    found = request.param
    assert isinstance(found, Compiler)
    return found


@pytest.fixture(scope="session")
def default_aarch64() -> Compiler:
    """A cross compiler with no flags but -O2: it fuses multiply-adds where it may."""
    return Compiler("gcc for aarch64, defaults", AARCH64, (), ("-O2",))
