"""Wheels and environments that the tests of this folder share."""

import sys
from pathlib import Path

import pytest

from support.packages import (
    EDITABLE,
    OWN,
    ROOT,
    STABLE,
    Installed,
    build,
    install,
    made_once,
    stable_pythons,
)


@pytest.fixture(scope="session", params=[OWN, STABLE])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a release: for the Python of the tests, and for all from 3.12 on."""
    return _wheel(request.param, tmp_path_factory)


@pytest.fixture(scope="session", params=[OWN, STABLE, EDITABLE])
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    """Every way to install. The latest Python there is gets the wheel that the oldest has built."""
    kind: str = request.param
    what = ("-e", ROOT) if kind == EDITABLE else (_wheel(kind, tmp_path_factory),)
    python = stable_pythons()[-1] if kind == STABLE else sys.executable
    folder = made_once(
        tmp_path_factory, f"installed-{kind}", lambda folder: install(python, what, folder)
    )
    return Installed(folder / "venv/bin", tmp_path_factory.mktemp("elsewhere"))


def _wheel(kind: str, factory: pytest.TempPathFactory) -> Path:
    python = sys.executable
    if kind == STABLE:
        python = next(iter(stable_pythons()), "")
        if not python:
            pytest.skip("Python 3.12 or later is missing")
    (path,) = made_once(factory, kind, lambda folder: build(python, folder)).glob("*.whl")
    return path
