"""The files that this process has read, which no output may replace.

`access` notes each file that it opens, and `output` checks before it replaces one. Files are
compared by device and inode, through symbolic and hard links.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

Identity = tuple[int, int] | str  # device and inode of a file; of a missing file, its path


class Input(NamedTuple):
    name: str  # in messages
    path: Path  # absolute
    size: int  # bytes


_inputs: dict[Identity, Input] = {}
_written: set[Identity] = set()


def note_input(status: os.stat_result, path: Path, name: str) -> None:
    """Note that a file is read; name: in messages."""
    key = status.st_dev, status.st_ino
    if key not in _written:
        _inputs.setdefault(key, Input(name, path.absolute(), status.st_size))


def list_inputs() -> list[Input]:
    return list(_inputs.values())


def find_input(path: str | Path) -> str | None:
    """Return the name in messages of the file at a path if it was read, or None; the inode of a
    removed file may belong to another one now."""
    key = file_identity(path)
    read = _inputs.get(key)
    return read.name if read and file_identity(read.path) == key else None


def note_written(key: tuple[int, int]) -> None:
    """Note that this process has written a file, which it may replace though it reads it."""
    _written.add(key)
    _inputs.pop(key, None)


def forget_files() -> None:
    _inputs.clear()
    _written.clear()


def file_identity(path: str | Path) -> Identity:
    """Return device and inode of a file; for a missing file, its path without symbolic links."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            return os.path.realpath(path)
        return str(path)
    return status.st_dev, status.st_ino
