"""Temporary files beside their targets: exclusive, locked while in use, removed whatever happens.

A name is `.raytracer-BOOT-RANDOM.tmp`, whatever the target is called, so that long names have room
for it. A process holds a lock (`flock`) on its temporary file for as long as it needs it, and the
kernel drops the lock when the process ends, however it ends. A file without a lock is therefore one
that a killed process left. The number of the process would not tell: it repeats in containers.
BOOT says which kernel knows about the lock. Files of other machines in a shared folder are left
alone for a day.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX, SUFFIX = ".raytracer-", ".tmp"
# Seconds after which a file of another machine, whose locks cannot be seen, counts as abandoned.
ABANDONED = 24 * 3600.0
_TRIES = 100
_OPEN = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

# Those of this process that exist, for `remove_all`.
_live: set[Temporary] = set()


class Temporary:
    """A new file in the folder of its target.

    path: its name. descriptor: open for reading and writing, and locked.
    """

    def __init__(self, folder: Path, mode: int | None = None) -> None:
        """Create it. mode: permissions; None takes those of a new file. Raises OSError."""
        self.path, self.descriptor = _create(folder, mode)
        _live.add(self)

    def identity(self) -> tuple[int, int]:
        """Device and inode, which it keeps when it is renamed."""
        found = os.fstat(self.descriptor)
        return found.st_dev, found.st_ino

    def replace(self, target: Path) -> None:
        """Rename it to `target`, which thereby has all of the new content or all of the old."""
        self.path.replace(target)
        self._forget()

    def remove(self) -> None:
        """Remove it; nothing happens where it was renamed or removed before."""
        if self in _live:
            with suppress(OSError):
                self.path.unlink()
            self._forget()

    def _forget(self) -> None:
        _live.discard(self)
        with suppress(OSError):  # the lock goes last: until here no process takes it for stale
            os.close(self.descriptor)


def remove_all() -> None:
    """Remove every temporary file of this process, which is about to end."""
    for each in list(_live):
        each.remove()


def remove_stale(folder: Path) -> None:
    """Remove what killed processes left in a folder; files in use and of others are left alone."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX):
                with suppress(OSError):
                    _remove_if_stale(Path(entry.path))


def _create(folder: Path, mode: int | None) -> tuple[Path, int]:
    """A file that did not exist before, locked."""
    for _ in range(_TRIES):
        path = folder / f"{PREFIX}{_boot()}-{os.urandom(8).hex()}{SUFFIX}"
        try:
            # Permissions of a replaced file may be narrower than those of a new one.
            descriptor = os.open(path, _OPEN, 0o666 if mode is None else 0o600)
        except FileExistsError:
            continue
        try:
            if _lock(descriptor) and os.fstat(descriptor).st_nlink:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                return path, descriptor
        except BaseException:
            path.unlink()
            os.close(descriptor)
            raise
        os.close(descriptor)  # removed by another process between its creation and its lock
    raise FileExistsError(f"no free name for a temporary file in {folder}")


def _remove_if_stale(path: Path) -> None:
    """Remove a temporary file that no process has locked."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        own_boot = path.name.removeprefix(PREFIX).partition("-")[0] == _boot()
        waited = own_boot or time.time() - found.st_mtime > ABANDONED
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and waited:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a new file; False if another process was faster. File systems may have no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@cache
def _boot() -> str:
    """A word for this start of the system, the same in all of its containers."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        return "0"  # not Linux: locks decide, and the owner of the file
    return text.strip().replace("-", "")[:8] or "0"
