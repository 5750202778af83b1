"""Output files: checked before the work starts, written completely or not at all.

A file is written under a temporary name in its folder and renamed when it is complete, so that
after a full disk or a kill there is the old file or the new one. A symbolic link stays, and its
target is replaced. A replaced file keeps its mode.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from raytracer.config.errors import OutputError, WriteError
from raytracer.files.access import check_path, is_file
from raytracer.files.inputs import Identity, file_identity, find_input, note_written

PREFIX = ".raytracer-"

_live: set[Path] = set()  # temporary files


class OutputSet:
    """The files that a command writes, declared before the work starts.

    force: False refuses existing files, for commands that write texts and data.
    """

    def __init__(self, force: bool = True) -> None:
        self._force = force
        self._written: dict[Identity, str] = {}  # the option or the kind of file

    def declare(self, path: str | Path, what: str) -> Path:
        """Declare an output, an option or a kind of file in messages, and return its path. Raises
        OutputError: it is an input or another output, or it exists already."""
        path = check_path(path)
        if (read := find_input(path)) is not None:
            raise _overwrites(read, what)
        other = self._written.setdefault(file_identity(path), what)
        if other is not what:
            raise OutputError(f"{path}: is written by {other} and by {what}: give two names")
        if not self._force and is_file(path):
            raise OutputError(
                f"{path}: exists already: give another name, or --force to replace it"
            )
        return path


def check_picture(path: str | Path) -> Path:
    """Check that a PNG can be written to a path, and return it. Raises OutputError."""
    path = check_path(path)
    if path.suffix.lower() != ".png":
        raise OutputError(f"{path}: the picture is written as PNG: give a name that ends in .png")
    return check_file(path)


def check_file(path: str | Path, replaces: str | Path | None = None) -> Path:
    """Check that a file can be written to a path, and return it. Raises OutputError.

    replaces: the only file that was read and may be replaced.
    """
    path = check_path(path)
    try:
        target = _find_target(path, replaces)
        if not target.parent.is_dir():
            raise OutputError(f"{path}: there is no folder {target.parent}: create it first")
        with temporary_file(target.parent):
            pass
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise OutputError(f"{path}: cannot be written ({why})") from error
    return path


def write(path: str | Path, data: bytes | str) -> Path:
    """Write a file under a temporary name in its folder, then rename it; return its path. Raises
    OutputError: an old file is unchanged."""
    with replace_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)
    return Path(path)


@contextmanager
def replace_file(path: str | Path, replaces: str | Path | None = None) -> Iterator[BinaryIO]:
    """Open a temporary file for the block to write, and rename it to `path` afterwards. Its `name`
    is the temporary path, for libraries that open files by name.

    replaces: the only file that was read and may be replaced. Raises OutputError: an old file is
    unchanged.
    """
    path = check_path(path)
    try:
        target = _find_target(path, replaces)
        old = stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else None
        with temporary_file(target.parent, 0o666 if old is None else 0o600) as new:
            if old is not None:
                new.chmod(old)
            with open(str(new), "r+b") as file:  # noqa: PTH123 - libraries ask for its name as text
                yield file
            target = _find_target(path, replaces)  # it may have been read meanwhile
            status = new.stat()
            note_written((status.st_dev, status.st_ino))
            new.replace(target)
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror or error})") from error


@contextmanager
def temporary_file(folder: Path, mode: int = 0o666) -> Iterator[Path]:
    """Create a temporary file in a folder; it is removed after the block, unless renamed.
    mode: permissions, before the umask. Raises OSError."""
    path = folder / f"{PREFIX}{secrets.token_hex(8)}.tmp"
    # Before the file exists: a signal during a system call raises as soon as that returns.
    _live.add(path)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode))
        yield path
    finally:
        with suppress(OSError):
            path.unlink()
        _live.discard(path)


def cache_folder(kind: str) -> Path:
    """Return the folder for cached files of a kind, in $RAYTRACER_CACHE or else in the user's cache
    folder, created for the user alone.

    Raises OSError: there is no home folder, or others could put files into the folder, which the
    program would trust.
    """
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(os.environ.get("RAYTRACER_CACHE") or f"{base}/raytracer", kind)
    try:
        folder = folder.expanduser()
    except RuntimeError as error:  # no home folder
        raise FileNotFoundError(str(error)) from error
    folder.mkdir(0o700, parents=True, exist_ok=True)
    _require_own(folder.lstat(), folder, stat.S_ISDIR)
    return folder


def read_cached(path: Path, most: int | None = None) -> bytes:
    """Return the content of a file in `cache_folder`. Raises OSError: there is none, others could
    have written it, or it has more than `most` bytes."""
    # A link is refused, and a pipe does not block.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        _require_own(status, path, stat.S_ISREG)
        if most is not None and status.st_size > most:
            raise OSError(f"{path} is too large")
        return file.read()


def _require_own(status: os.stat_result, path: Path, is_kind: Callable[[int], bool]) -> None:
    if not is_kind(status.st_mode):
        raise PermissionError(f"{path} is a link or of another kind")
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"others may write {path}: use chmod go-w")


def remove_temporary_files() -> None:
    for path in list(_live):
        with suppress(OSError):
            path.unlink()
    _live.clear()


def _find_target(path: Path, replaces: str | Path | None) -> Path:
    """Return the file to replace, with symbolic links followed."""
    try:
        is_link = stat.S_ISLNK(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return path
    target = Path(os.path.realpath(path)) if is_link else path
    if target.is_symlink():
        raise OutputError(f"{path}: is a symbolic link that points at itself")
    if not target.exists():
        return target
    mode = target.stat().st_mode
    if stat.S_ISDIR(mode):
        raise OutputError(f"{path}: is a folder: give the name of a file")
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: is a device, a pipe or a socket: give the name of a file")
    if not os.access(target, os.W_OK):
        raise OutputError(f"{path}: is write-protected: give another name, or change its mode")
    read = find_input(target)
    if read is not None and (replaces is None or file_identity(replaces) != file_identity(target)):
        raise _overwrites(read, str(path))
    return target


def _overwrites(name: str, what: str) -> OutputError:
    by = "" if what == name else f" by {what}"
    return OutputError(
        f"{name}: is read by this command and would be overwritten{by}: give another name"
    )
