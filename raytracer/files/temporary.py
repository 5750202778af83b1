"""Temporary files beside their targets: exclusive, locked while in use, removed after a kill.

A name is `.raytracer-BOOT-RANDOM.tmp`, without the name of the target, which may be too long to
extend. A process holds a lock (`flock`) on its temporary file, and the kernel releases the lock
when the process ends in any way. A file without a lock is therefore one of a killed process. A
process number would not do: numbers repeat in containers. BOOT tells which kernel has the lock.
Files of other machines in a shared folder are kept for a day.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX, SUFFIX, CLAIM = ".raytracer-", ".tmp", ".lock"
ABANDONED = 24 * 3600.0
"""Seconds after which a file of another machine, whose locks are not visible, is removed."""

_TRIES = 100
_PAUSE = 0.01
_OPEN = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

# The temporary files of this process, for `remove_all`.
_live: set[Temporary] = set()


class Temporary:
    """A new file in the folder of its target.

    Args:
        folder: of the target.
        mode: permissions; None takes those of a new file.

    Attributes:
        path: of the file.
        descriptor: open for reading and writing, and locked.

    Raises:
        OSError: the file cannot be created.
    """

    def __init__(self, folder: Path, mode: int | None = None) -> None:
        self.descriptor = -1
        for _ in range(_TRIES):
            self.path = folder / f"{PREFIX}{_boot()}-{os.urandom(8).hex()}{SUFFIX}"
            # Before the file exists: a signal during a system call raises as soon as that returns,
            # when its result is not stored yet.
            _live.add(self)
            try:
                if self._create(mode):
                    return
            except FileExistsError:
                _live.discard(self)
            except BaseException:
                self.remove()
                raise
            else:
                self._forget()
        raise FileExistsError(f"no free name for a temporary file in {folder}")

    def identity(self) -> tuple[int, int]:
        """Return device and inode, which a rename does not change."""
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def replace(self, target: Path) -> None:
        """Rename the file to `target`, which has the complete old or new content at any time."""
        self.path.replace(target)
        self._forget()

    def remove(self) -> None:
        """Remove the file, unless it was renamed or removed before."""
        if self in _live:
            with suppress(OSError):
                self.path.unlink()
            self._forget()

    def _create(self, mode: int | None) -> bool:
        """Create and lock the file; False if another process has removed it before its lock."""
        # A replaced file may have narrower permissions than a new one.
        self.descriptor = os.open(self.path, _OPEN, 0o666 if mode is None else 0o600)
        if not (_lock(self.descriptor) and os.fstat(self.descriptor).st_nlink):
            return False
        if mode is not None:
            os.fchmod(self.descriptor, mode)
        return True

    def _forget(self) -> None:
        _live.discard(self)
        # Last, because without its lock another process would remove the file.
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)


class Claim:
    """The right to write a file, which one process has at a time: a locked file beside it.

    Args:
        target: the file.

    Attributes:
        other: the process that has the right, and its machine; "" if this one has it.

    Raises:
        OSError: the folder cannot be written.
    """

    def __init__(self, target: Path) -> None:
        import hashlib  # which is slow to import

        folder, name = os.path.split(os.path.realpath(target))
        digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
        self.path = Path(folder, f"{PREFIX}claim-{digest}{CLAIM}")
        self.other = ""
        for _ in range(_TRIES):
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            if not _lock(self._descriptor):
                self.other = os.read(self._descriptor, 1000).decode(errors="replace")
                os.close(self._descriptor)
                if self.other:
                    return
                time.sleep(_PAUSE)  # it has no name yet, or is being removed
            elif os.fstat(self._descriptor).st_nlink:
                os.truncate(self._descriptor, 0)
                os.write(
                    self._descriptor, f"process {os.getpid()} on {os.uname().nodename}".encode()
                )
                return
            else:  # another process has removed it before its lock
                os.close(self._descriptor)
        self.other = "a process without a name"

    def release(self) -> None:
        """Give the right back."""
        if not self.other:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)


def remove_all() -> None:
    """Remove all temporary files of this process, at its end."""
    for each in list(_live):
        each.remove()


def remove_stale(folder: Path) -> None:
    """Remove the temporary files of killed processes of this user in a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.name.endswith((SUFFIX, CLAIM)):
                with suppress(OSError):
                    _remove_if_stale(Path(entry.path))


def _remove_if_stale(path: Path) -> None:
    """Remove a temporary file that no process has locked."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        own_boot = path.name.removeprefix(PREFIX).partition("-")[0] == _boot()
        abandoned = own_boot or time.time() - status.st_mtime > ABANDONED
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and abandoned:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a new file; False if another process has locked it. File systems may lack locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@cache
def _boot() -> str:
    """Return an identifier of this boot of the system, the same in all of its containers."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        return "0"  # not Linux: lock and owner of a file decide
    return text.strip().replace("-", "")[:8] or "0"
