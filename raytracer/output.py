"""Output files: checked before the work starts, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from raytracer.errors import OutputError

# The one folder that is made when it is missing: scripts rely on it, because pictures went there
# by default.
PICTURES = "renders"


def check_picture(path: str | Path) -> Path:
    """Make sure that a PNG can be written to `path`, before minutes are spent on its content.

    Creates the folder if it is called `renders`. Raises OutputError otherwise.
    """
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise OutputError(f"{path}: pictures are written as PNG: give a name that ends in .png")
    return check_file(path)


def check_file(path: str | Path) -> Path:
    """Make sure that a file can be written to `path`. Raises OutputError otherwise."""
    path = Path(path)
    folder = path.parent
    if path.is_dir():
        raise OutputError(f"{path}: is a folder: give the name of a file")
    if not folder.is_dir():
        if folder.name != PICTURES or folder.exists():
            raise OutputError(f"{path}: there is no folder {folder}: create it first")
        try:
            folder.mkdir()
        except OSError as error:
            raise OutputError(f"{folder}: cannot be created ({error.strerror})") from error
    trial = _temporary(path)
    try:
        trial.touch(exist_ok=False)
        trial.unlink()
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from error
    return path


def write(path: str | Path, data: bytes | str) -> Path:
    """Write a file under a temporary name in its folder, then rename it.

    Text is written as UTF-8. Raises OutputError; the old file, if any, is then untouched.
    """
    content = data.encode() if isinstance(data, str) else data
    with renamed(path) as temporary, temporary.open("xb") as file:
        file.write(content)
    return Path(path)


@contextmanager
def renamed(path: str | Path) -> Iterator[Path]:
    """A temporary name in the file's folder for the block to write to, renamed after it.

    Raises OutputError; the old file, if any, is then untouched.
    """
    path = Path(path)
    temporary = _temporary(path)
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")
