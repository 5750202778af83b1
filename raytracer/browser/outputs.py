"""Files that actions write for a page: made in a private folder and downloaded by the browser.

Anybody with the address can be a page. No other path reaches an action: messages of pages cannot
name files, and actions get paths from `Outputs`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from raytracer.browser.link import Outlet
from raytracer.memory import size_text
from raytracer.viewer.outputs import Outputs, without_wildcards

MAX_DOWNLOAD = 256 << 20  # most bytes of a file for download, which waits in memory

MIMES = {".png": "image/png", ".toml": "application/toml"}

Send = Callable[["Outlet", str, str, bytes], None]
"""Sends a file to a client, or to another one if it has left: name, MIME type and bytes."""


class PageOutputs(Outputs):
    """Files that clients request; without a client, the user's own."""

    def __init__(self, is_user: bool, send: Send) -> None:
        self._is_user = is_user
        self._send = send
        self._asker: Outlet | None = None  # client whose message is being handled
        self._askers: dict[Path, Outlet] = {}  # by the files that are being made
        self._work = TemporaryDirectory(prefix="raytracer-", ignore_cleanup_errors=True)

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
        """Return a path in the private folder."""
        assert self._asker is not None
        path = Path(mkdtemp(dir=self._work.name)) / f"{without_wildcards(stem)}{suffix}"
        self._askers[path] = self._asker
        return path

    def name(self, path: Path) -> str:
        return path.name if path in self._askers else super().name(path)

    def finished(self, path: Path) -> str:
        """Send a complete file; return a sentence."""
        asker = self._askers.get(path)
        if asker is None:
            return super().finished(path)
        try:
            if path.stat().st_size > MAX_DOWNLOAD:
                most = size_text(MAX_DOWNLOAD)
                return f"{path.name}: downloads may have at most {most}: save fewer pixels"
            self._send(asker, path.name, MIMES[path.suffix], path.read_bytes())
            return f"sent {path.name}"
        except OSError as error:
            return f"{path.name}: cannot be read ({error.strerror})"
        finally:
            self.dropped(path)

    def dropped(self, path: Path) -> None:
        """Remove the rest of a client's file."""
        if self._askers.pop(path, None) is not None:
            shutil.rmtree(path.parent, ignore_errors=True)

    def close(self) -> None:
        self._work.cleanup()
