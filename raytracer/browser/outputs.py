"""Files that actions write for a page: only new files, limited in number and size.

Anybody with the address can be a page. Whatever an action writes for one is made in a private
folder of this process. When it is complete the browser downloads it, or it becomes a new file in
the output folder of the server. No other path reaches an action: messages of pages cannot name
files, and actions get paths from `Outputs`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from raytracer.browser.link import Outlet
from raytracer.errors import OutputError, UserError
from raytracer.files.access import path_of
from raytracer.memory import size_text
from raytracer.viewer.outputs import Outputs, numbered, without_wildcards

MAX_FILES = 100  # most files that pages can write into the output folder of a server
MAX_BYTES = 4 << 30  # most bytes of all these files and of unfinished ones
MAX_DOWNLOAD = 256 << 20  # most bytes of a file for download, which waits in memory

MIMES = {".png": "image/png", ".toml": "application/toml", ".mp4": "video/mp4"}

Send = Callable[["Outlet", str, str, bytes], None]
"""Sends a file to a client, or to another one if it has left: name, MIME type and bytes."""


class PageOutputs(Outputs):
    """Files that clients request; without a client, the user's own."""

    def __init__(self, folder: str | PathLike[str] | None, is_user: bool, send: Send) -> None:
        self._folder = None if folder is None else require_folder(folder)
        self._is_user = is_user
        self._send = send
        self._asker: Outlet | None = None  # client whose message is being handled
        self._askers: dict[Path, Outlet] = {}  # by the files that are being made
        self._count, self._bytes = 0, 0  # of the files that were kept
        # Frames of a movie need the space of the folder's disk, and are renamed there.
        prefix = "raytracer-" if folder is None else ".raytracer-"
        self._work = TemporaryDirectory(prefix=prefix, dir=self._folder, ignore_cleanup_errors=True)

    @contextmanager
    def asked_by(self, outlet: Outlet) -> Iterator[None]:
        before = set(self._askers)
        self._asker = outlet
        try:
            yield
        except BaseException:
            for path in set(self._askers) - before:
                self.dropped(path)
            raise
        finally:
            self._asker = None

    def path(self, folder: Path, stem: str, suffix: str) -> Path:
        """Return a path in the private folder for a client, and one in `folder` for the user."""
        if self._asker is None or self._is_user:
            return super().path(folder, stem, suffix)
        return self.private(stem, suffix)

    def private(self, stem: str, suffix: str) -> Path:
        """Return a path in the private folder. Raises UserError if no more files may be written."""
        assert self._asker is not None
        if sentence := self.refusal():
            raise UserError(sentence)
        path = Path(mkdtemp(dir=self._work.name)) / f"{without_wildcards(stem)}{suffix}"
        self._askers[path] = self._asker
        return path

    def name(self, path: Path) -> str:
        return path.name if path in self._askers else super().name(path)

    def refusal(self) -> str:
        """Return why no more files may be written, or ""."""
        if self._count >= MAX_FILES:
            return f"this server has written {MAX_FILES} files for pages: restart it"
        if self._bytes + _size(Path(self._work.name)) > MAX_BYTES:
            return f"files for pages may have at most {size_text(MAX_BYTES)}: restart the server"
        return ""

    def finished(self, path: Path) -> str:
        """Keep or send a complete file; return a sentence."""
        asker = self._askers.get(path)
        if asker is None:
            return super().finished(path)
        try:
            if self._folder is not None and path.suffix == ".mp4":
                return f"saved {self._kept(path, self._folder)}"
            if path.stat().st_size > MAX_DOWNLOAD:
                return (
                    f"{path.name}: downloads may have at most {size_text(MAX_DOWNLOAD)}: start the "
                    "server with --output-folder FOLDER"
                )
            self._send(asker, path.name, MIMES[path.suffix], path.read_bytes())
            return f"sent {path.name}"
        except OSError as error:
            return f"{path.name}: cannot be written ({error.strerror})"
        finally:
            self.dropped(path)

    def dropped(self, path: Path) -> None:
        """Remove the rest of a client's file."""
        if self._askers.pop(path, None) is not None:
            shutil.rmtree(path.parent, ignore_errors=True)

    def close(self) -> None:
        self._work.cleanup()

    def _kept(self, path: Path, folder: Path) -> Path:
        """Move a file into the output folder under a new name, and return it."""
        for target in numbered(folder, path.stem, path.suffix):
            with suppress(FileExistsError):  # never replace a file
                os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                break
        path.replace(target)
        self._count, self._bytes = self._count + 1, self._bytes + target.stat().st_size
        return target


def require_folder(folder: str | PathLike[str]) -> Path:
    path = path_of(folder, "output_folder")
    if not path.is_dir():
        raise OutputError(f"{path}: there is no such folder: create it first")
    if not os.access(path, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: is not writeable: change its mode")
    return path.resolve()


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_size
    return total
