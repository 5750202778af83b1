"""Output files: checked before the work starts, written completely or not at all.

A new file is written under a temporary name in its folder and renamed when it is complete. Readers,
and users after a full disk or a kill, see the old file or the new one, never a part. A symbolic
link stays and the file that it points at is replaced. A replaced file keeps its permissions.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from raytracer.errors import BusyError, OutputError, WriteError
from raytracer.files.inputs import Identity, Outputs, identity, input_at, note_own, overwrites
from raytracer.files.temporary import Claim, Temporary, remove_all, remove_stale

PICTURES = "renders"
"""The only folder that is created if it is missing; it was the default of earlier versions."""

# Files that were renamed to their targets, each with its identity, and folders that were created.
_renamed: list[tuple[Path, Identity]] = []
_created_folders: list[Path] = []


class OutputSet(Outputs):
    """The files that a command writes, checked before the work starts.

    A film may replace the one that it continues, because that has been read by then.

    Args:
        force: False refuses outputs that exist. Commands that write texts and data take it from
            their option --force; pictures, films and movies are replaced.
    """

    def __init__(self, force: bool = True) -> None:
        super().__init__()
        self._force = force

    def writes(self, path: str | Path, what: str, *, replaces: str | Path | None = None) -> Path:
        """Declare an output.

        Args:
            path: of the file.
            what: the option or the kind of file, for messages.
            replaces: the only input that the output may replace.

        Returns:
            The path.

        Raises:
            OutputError: it is an input or another output, or it exists and must not.
        """
        from raytracer.files.access import is_file

        path = _path(path)
        key, own = identity(path), None if replaces is None else identity(replaces)
        read = input_at(path)
        if read is not None and key != own:
            raise OutputError(overwrites(read, what))
        if (other := self.owner(key)) is not None:
            raise OutputError(f"{path}: is written by {other} and by {what}: give two names")
        if not self._force and is_file(path):
            raise OutputError(
                f"{path}: exists already: give another name, or --force to replace it"
            )
        self.add(key, what, own)
        return path


class Batch:
    """Files that are renamed together, after the last of them is complete.

    >>> with output.Batch() as batch:
    ...     with batch.step():
    ...         film.save("galaxy.npz", batch=batch)
    ...     with batch.step():
    ...         image.save("galaxy.png", batch=batch)

    If a step fails, on a full disk for example, the complete files are renamed nevertheless, and
    the error is raised afterwards. Complete files are renamed whatever ends the block.
    """

    def __init__(self) -> None:
        self._complete: list[tuple[Temporary, Path, Path]] = []
        self._failed: list[OutputError] = []

    @contextmanager
    def step(self) -> Iterator[None]:
        """Write one file in the block; its OutputError is raised at the end of the batch."""
        try:
            yield
        except OutputError as error:
            self._failed.append(error)

    def add(self, temporary: Temporary, target: Path, name: Path) -> None:
        """Add a complete file.

        Args:
            temporary: the file.
            target: its final path.
            name: of the target in messages.
        """
        self._complete.append((temporary, target, name))

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Rename the complete files in their order. Raises WriteError."""
        for temporary, target, name in self._complete:
            try:
                _rename(temporary, target, name)
            except OSError as error:
                self._failed.append(_unwritten(name, error))
        self._complete = []
        if self._failed and kind is None:
            raise self._merged()

    def _merged(self) -> OutputError:
        """Return one error with a line for each failed step."""
        if len(self._failed) == 1:
            return self._failed[0]
        return WriteError(*(sentence for error in self._failed for sentence in error.sentences))


def check_picture(path: str | Path) -> Path:
    """Check that a PNG can be written to a path, before its content is rendered.

    A missing folder is created if its name is `renders`.

    Raises:
        OutputError: another suffix than .png, or the file cannot be written.
    """
    path = _path(path)
    if path.suffix.lower() != ".png":
        raise OutputError(f"{path}: pictures are written as PNG: give a name that ends in .png")
    return check_file(path)


def check_file(path: str | Path, replaces: str | Path | None = None) -> Path:
    """Check that a file can be written to a path, and return the path.

    Temporary files of killed processes in its folder are removed.

    Args:
        path: of the file.
        replaces: the only file that was read and may be replaced.

    Raises:
        OutputError: the file cannot be written.
    """
    path = _path(path)
    try:
        target = _target(path, replaces)
        _make_folder(path, target.parent)
        remove_stale(target.parent)
        Temporary(target.parent).remove()
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise OutputError(f"{path}: cannot be written ({why})") from error
    return path


def require_space(path: str | Path, size: int) -> None:
    """Refuse a file of `size` bytes for which its disk has no room. Raises OutputError."""
    try:
        disk = os.statvfs(Path(os.path.realpath(path)).parent)
    except OSError:
        return  # writing reports the error
    free = disk.f_bavail * disk.f_frsize
    if size > free:
        from raytracer.memory import size_text

        raise OutputError(
            f"{path}: needs {size_text(size)} and its disk has {size_text(free)} free: make room, "
            "or give a name on another disk"
        )


def write(path: str | Path, data: bytes | str, batch: Batch | None = None) -> Path:
    """Write a file under a temporary name in its folder, then rename it.

    Args:
        path: of the file.
        data: its content; text is written as UTF-8.
        batch: rename the file together with others.

    Returns:
        The path.

    Raises:
        OutputError: the file cannot be written; an old file is unchanged.
    """
    content = data.encode() if isinstance(data, str) else data
    with replacing(path, batch) as file:
        file.write(content)
    return Path(path)


@contextmanager
def replacing(
    path: str | Path, batch: Batch | None = None, replaces: str | Path | None = None
) -> Iterator[BinaryIO]:
    """Open a temporary file for the block to write, and rename it to `path` afterwards.

    Args:
        path: of the file.
        batch: rename the file together with others.
        replaces: the only file that was read and may be replaced.

    Yields:
        The open file; its `name` is the temporary path, for libraries that open files by name.

    Raises:
        OutputError: the file cannot be written; an old file is unchanged.
    """
    path = _path(path)
    temporary = None
    try:
        target = _target(path, replaces)
        temporary = _temporary(target)
        with _opened(temporary) as file:  # closed before the rename: closing may report a full disk
            yield file
        if batch is None:
            _rename(temporary, target, path)
        else:
            batch.add(temporary, target, path)
            temporary = None
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        if temporary is not None:
            temporary.remove()


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Keep other processes from writing the same file in a block that takes long.

    Raises:
        BusyError: another process is writing it; the sentence names it.
    """
    try:
        claim = Claim(path)
    except OSError as error:
        raise _unwritten(path, error) from error
    if claim.other:
        raise BusyError(
            f"{path}: is being written by another raytracer, {claim.other}: wait until that has "
            "ended, or give another name"
        )
    try:
        yield
    finally:
        claim.release()


def written() -> list[Path]:
    """Return the files that this process has written and that still exist, in their order."""
    return [path for path, key in dict(_renamed).items() if identity(path) == key]


def tidy() -> None:
    """Remove temporary files and empty created folders at the end of the process."""
    remove_all()
    while _created_folders:
        with suppress(OSError):
            _created_folders.pop().rmdir()  # fails if the folder is not empty


def _path(path: str | Path) -> Path:
    """Return an argument as a path; the module is imported late. Raises UserError if it is none."""
    from raytracer.files.access import path_of

    return path_of(path)


def _opened(temporary: Temporary) -> BinaryIO:
    """Return a new file object for the temporary file; closing it keeps the lock."""
    return open(temporary.path, "r+b", opener=lambda *_: os.dup(temporary.descriptor))


def _rename(temporary: Temporary, target: Path, name: Path) -> None:
    # Recorded before the rename: `written` compares identities, so Ctrl-C between does no harm.
    _renamed.append((name, temporary.identity()))
    note_own(temporary.identity())
    try:
        temporary.replace(target)
    finally:
        temporary.remove()


def _unwritten(path: Path, error: OSError) -> WriteError:
    return WriteError(f"{path}: cannot be written ({error.strerror or error})")


def _target(path: Path, replaces: str | Path | None) -> Path:
    """Return the file that is replaced, with symbolic links followed.

    Args:
        path: of the output.
        replaces: the only file that was read and may be replaced.

    Raises:
        OutputError: it is no regular file, is write-protected, or was read.
        OSError: the path is invalid.
    """
    try:
        link = path.lstat()
    except FileNotFoundError:
        return path
    except NotADirectoryError:
        raise OutputError(f"{path}: there is no folder {path.parent}: create it first") from None
    target = path
    if stat.S_ISLNK(link.st_mode):
        _require_own_link(path, link)
        target = Path(os.path.realpath(path))
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
    read = input_at(target)
    if read is not None and (replaces is None or identity(replaces) != identity(target)):
        raise OutputError(overwrites(read, str(path)))
    return target


def _require_own_link(path: Path, link: os.stat_result) -> None:
    """Refuse links of other users in /tmp, as the kernel does (protected_symlinks)."""
    folder = path.parent.stat()
    shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if shared and link.st_uid not in (os.geteuid(), folder.st_uid):
        raise OutputError(f"{path}: is a symbolic link of another user in a folder for everybody")


def _temporary(target: Path) -> Temporary:
    """Return a temporary file with the mode of the old file and, if that is allowed, its owner."""
    try:
        old = target.stat()
    except FileNotFoundError:
        return Temporary(target.parent)
    temporary = Temporary(target.parent, 0o600)
    new = os.fstat(temporary.descriptor)
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(temporary.descriptor, old.st_uid, old.st_gid)
        except OSError:  # the new group must not get the rights of the old one
            mode &= ~0o070
    os.fchmod(temporary.descriptor, mode)
    return temporary


def _make_folder(path: Path, folder: Path) -> None:
    """Check that a folder exists, or create it if its name is `renders`. Raises OutputError."""
    if folder.is_dir():
        return
    if folder.name != PICTURES or folder.exists():
        raise OutputError(f"{path}: there is no folder {folder}: create it first")
    try:
        folder.mkdir()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({error.strerror})") from error
    _created_folders.append(folder)
