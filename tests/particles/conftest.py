"""One folder for the files of all tests."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def tmp_path(files: Path) -> Path:
    """The same empty folder for each test: a process in which libraries read is kept for files of
    its folder, and imports them once."""
    for each in files.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    return files
