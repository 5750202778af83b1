"""Output files: checked before the work starts, written whole or not at all.

A new file is written under a temporary name in its folder and renamed when it is complete, so that
a reader, a full disk or a kill meets the old file or the new one, never a part. A symbolic link
stays: the file it points at is replaced. Permissions of a replaced file stay too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from raytracer.errors import OutputError, WriteError
from raytracer.files.temporary import Temporary, remove_all, remove_stale

# The one folder that is made when it is missing: scripts rely on it, because pictures went there
# by default.
PICTURES = "renders"

# Device and inode, or, where there is no file yet, the path without symbolic links.
Identity = tuple[int, int] | str

# Files that were renamed to their targets, each with its device and inode, and folders made.
_renamed: list[tuple[Path, Identity]] = []
_made: list[Path] = []


class OutputSet:
    """The files that one command reads and writes, compared before the work starts.

    Two names are the same file if device and inode are, through links of either kind. A film may
    take the place of the one that it continues, which has been read by then.
    """

    def __init__(self) -> None:
        self._inputs: dict[Identity, str] = {}
        self._outputs: dict[Identity, str] = {}

    def reads(self, *paths: str | Path) -> None:
        """Declare inputs. Raises OutputError for one that an output would overwrite."""
        for path in paths:
            # "-" is standard input, which may be a file too.
            stream = Path(path).name == "-" and not Path(path).exists()
            key = identity("/dev/stdin" if stream else path)
            if key in self._outputs:
                raise OutputError(_overwrites(path, self._outputs[key]))
            self._inputs.setdefault(key, str(path))

    def writes(
        self, path: str | Path, what: str, *, replaces: str | Path | None = None, force: bool = True
    ) -> Path:
        """Declare an output.

        what: the option or the name of the file, for messages.
        replaces: the one input that it may replace.
        force: False refuses a file that exists.
        Raises OutputError for an input, for another output, and for a file that exists.
        """
        path = _path(path)
        key = identity(path)
        if key in self._inputs and (replaces is None or key != identity(replaces)):
            raise OutputError(_overwrites(self._inputs[key], what))
        if key in self._outputs:
            raise OutputError(
                f"{path}: is written by {self._outputs[key]} and by {what}: give two names"
            )
        if not force and os.path.lexists(path):
            raise OutputError(
                f"{path}: exists already: give another name, or --force to replace it"
            )
        self._outputs[key] = what
        return path


class Batch:
    """Files that take their places together: the first rename comes when the last is complete.

    >>> with output.Batch() as batch:
    ...     with batch.step():
    ...         film.save("galaxy.npz", batch=batch)
    ...     with batch.step():
    ...         image.save("galaxy.png", batch=batch)

    A step that fails, on a full disk for example, keeps none of the others from its place, and its
    error is raised after that. A file that is complete is kept whatever ends the block.
    """

    def __init__(self) -> None:
        self._complete: list[tuple[Temporary, Path, Path]] = []
        self._failed: list[OutputError] = []

    @contextmanager
    def step(self) -> Iterator[None]:
        """Write one file; its OutputError waits for the end of the batch."""
        try:
            yield
        except OutputError as error:
            self._failed.append(error)

    def add(self, temporary: Temporary, target: Path, name: Path) -> None:
        """Take a complete file. name: of the target in messages."""
        self._complete.append((temporary, target, name))

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Rename all that is complete, in its order. Raises WriteError."""
        for temporary, target, name in self._complete:
            try:
                _rename(temporary, target, name)
            except OSError as error:
                self._failed.append(_unwritten(name, error))
        self._complete = []
        if self._failed and kind is None:
            raise self._merged()

    def _merged(self) -> OutputError:
        """One error with a line for each."""
        if len(self._failed) == 1:
            return self._failed[0]
        return WriteError(*(sentence for error in self._failed for sentence in error.sentences))


def identity(path: str | Path) -> Identity:
    """Device and inode of a file, or its path without symbolic links where there is none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            return os.path.realpath(path)
        return str(path)
    return found.st_dev, found.st_ino


def check_picture(path: str | Path) -> Path:
    """Make sure that a PNG can be written to `path`, before minutes are spent on its content.

    Creates the folder if it is called `renders`. Raises OutputError otherwise.
    """
    path = _path(path)
    if path.suffix.lower() != ".png":
        raise OutputError(f"{path}: pictures are written as PNG: give a name that ends in .png")
    return check_file(path)


def check_file(path: str | Path) -> Path:
    """Make sure that a file can be written to `path`. Raises OutputError otherwise.

    Temporary files that killed processes left in its folder are removed.
    """
    path = _path(path)
    try:
        target = _target(path)
        _make_folder(path, target.parent)
        remove_stale(target.parent)
        Temporary(target.parent).remove()
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise OutputError(f"{path}: cannot be written ({why})") from error
    return path


def require_space(path: str | Path, size: int) -> None:
    """Refuse a file for which its disk has no room. size: bytes. Raises OutputError."""
    try:
        disk = os.statvfs(Path(os.path.realpath(path)).parent)
    except OSError:
        return  # what is wrong there is said when it is written
    free = disk.f_bavail * disk.f_frsize
    if size > free:
        from raytracer.memory import size_text

        raise OutputError(
            f"{path}: needs {size_text(size)} and its disk has {size_text(free)} free: make room, "
            "or give a name on another disk"
        )


def write(path: str | Path, data: bytes | str, batch: Batch | None = None) -> Path:
    """Write a file under a temporary name in its folder, then rename it.

    Text is written as UTF-8. batch: rename it together with others.
    Raises OutputError; the old file, if any, is then untouched.
    """
    content = data.encode() if isinstance(data, str) else data
    with replacing(path, batch) as file:
        file.write(content)
    return Path(path)


@contextmanager
def replacing(path: str | Path, batch: Batch | None = None) -> Iterator[BinaryIO]:
    """A file for the block to write, which then takes the place of `path`.

    Its `name` is the temporary one, for libraries that open files by name.
    batch: rename it together with others.
    Raises OutputError; the old file, if any, is then untouched.
    """
    path = _path(path)
    temporary = None
    try:
        target = _target(path)
        temporary = _temporary(target)
        with _opened(temporary) as file:  # closed before the rename: some disks are full only then
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


def written() -> list[Path]:
    """The files that this process has written and that are still there, in their order."""
    return [path for path, key in dict(_renamed).items() if identity(path) == key]


def tidy() -> None:
    """Remove what an ending process leaves: temporary files, and a folder made for nothing."""
    remove_all()
    while _made:
        with suppress(OSError):
            _made.pop().rmdir()  # which fails if there is something in it


def _path(path: str | Path) -> Path:
    """An argument as a path; its module is imported late. Raises UserError if it is none."""
    from raytracer.files.access import path_of

    return path_of(path)


def _opened(temporary: Temporary) -> BinaryIO:
    """A file object of its own on the temporary file; closing it keeps the lock."""
    return open(temporary.path, "r+b", opener=lambda *_: os.dup(temporary.descriptor))


def _rename(temporary: Temporary, target: Path, name: Path) -> None:
    # Noted first: `written` compares, so that a Ctrl-C in between leaves no wrong note.
    _renamed.append((name, temporary.identity()))
    try:
        temporary.replace(target)
    finally:
        temporary.remove()


def _unwritten(path: Path, error: OSError) -> WriteError:
    return WriteError(f"{path}: cannot be written ({error.strerror or error})")


def _overwrites(path: str | Path, what: str) -> str:
    return f"{path}: is read by this command and would be overwritten by {what}: give another name"


def _target(path: Path) -> Path:
    """The file that is replaced: what symbolic links point at.

    Raises OutputError for what is no regular file or may not be changed, OSError for a bad path.
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
    return target


def _require_own_link(path: Path, link: os.stat_result) -> None:
    """The kernel's rule for links in /tmp (protected_symlinks): not those of other users."""
    folder = path.parent.stat()
    shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if shared and link.st_uid not in (os.geteuid(), folder.st_uid):
        raise OutputError(f"{path}: is a symbolic link of another user in a folder for everybody")


def _temporary(target: Path) -> Temporary:
    """A temporary file with the mode of the old one and, where that is allowed, its owner."""
    try:
        old = target.stat()
    except FileNotFoundError:
        return Temporary(target.parent)
    made = Temporary(target.parent, 0o600)
    new = os.fstat(made.descriptor)
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(made.descriptor, old.st_uid, old.st_gid)
        except OSError:  # what its group was allowed is not for ours
            mode &= ~0o070
    os.fchmod(made.descriptor, mode)
    return made


def _make_folder(path: Path, folder: Path) -> None:
    """Make sure that there is a folder. Raises OutputError."""
    if folder.is_dir():
        return
    if folder.name != PICTURES or folder.exists():
        raise OutputError(f"{path}: there is no folder {folder}: create it first")
    try:
        folder.mkdir()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({error.strerror})") from error
    _made.append(folder)
