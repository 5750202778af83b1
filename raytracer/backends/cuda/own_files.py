"""Files of the cache: they hold code, and are loaded only if they belong to the user.

Their folder is open to the user alone. A file counts as the user's own if the user owns it and
nobody else may write to it; any other file is as good as missing.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_PRIVATE = 0o700
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private(folder: Path) -> Path:
    """Create a folder that only the user can access. Raises OSError if that is not possible."""
    folder.mkdir(_PRIVATE, parents=True, exist_ok=True)
    if not is_private(folder):
        raise PermissionError(f"{folder} is not a folder that only you can access")
    return folder


def is_private(folder: Path) -> bool:
    """Whether a folder is the user's; one that others may read is closed to them."""
    try:
        status = folder.stat()
        if status.st_uid != os.geteuid():
            return False
        if stat.S_IMODE(status.st_mode) & ~_PRIVATE:
            folder.chmod(_PRIVATE)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode)


def read(path: Path, shipped: bool = False) -> bytes | None:
    """Return the content of a regular file that belongs to the user, or None. A shipped one may
    belong to another user, but not be open to everybody for writing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW * (not shipped))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        if shipped:
            trusted = not status.st_mode & stat.S_IWOTH
        else:
            trusted = status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE
        try:
            return file.read() if trusted else None
        except OSError:
            return None
