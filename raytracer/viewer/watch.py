"""Watch: reloads a scene when one of its files changes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from stat import S_ISDIR
from threading import Thread
from typing import TYPE_CHECKING

from raytracer.errors import RaytracerError
from raytracer.files.access import opened
from raytracer.scene.load import is_scene, read_table
from raytracer.scene.particles.data_file import may_be_series, split_inner
from raytracer.viewer.messages import Broken, Loaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from raytracer.pipeline import Notice
    from raytracer.viewer.loaded_scene import LoadedScene

CHECK_INTERVAL = 0.25
"""Seconds between two checks."""

MAX_ABSENCE = 2
"""Checks for which a file may be missing, while an editor replaces it."""

Stamp = tuple[int, int]
Stamps = dict[Path, Stamp | None]


class Cancelled(Exception):  # noqa: N818 - no error: the scene is no longer needed
    """Ends a load between two of its steps."""


class Watch:
    """Reloads a scene in a thread when one of its files changes.

    Args:
        path: of a scene or particle file. Changes count from now on, even during the first load.
        load: loads the scene; its argument is called between the steps of loading, and may raise.
        seen: stamps of its files, from which changes count; None is now.
        also: a file that is read beside it.
    """

    def __init__(
        self,
        path: Path,
        load: Callable[[Notice], LoadedScene],
        seen: Stamps | None = None,
        also: str | PathLike[str] | None = None,
    ) -> None:
        self._path, self._load = path, load
        self._also = also
        self._seen = stamps(path, also) if seen is None else seen
        self._absent = 0  # checks
        self._stopped = False
        self._thread: Thread | None = None

    def check(self, _: float, tell: Callable[[Loaded | Broken], None]) -> bool:
        """Start a load if a file changed; returns whether one did.

        Args:
            tell: called with the result, in the thread of the load.
        """
        if self._thread is not None and self._thread.is_alive():
            return False
        now = {path: stamp(path) for path in self._seen}
        gone = any(seen and not now[path] for path, seen in self._seen.items())
        self._absent = self._absent + 1 if gone else 0
        if now == self._seen or 0 < self._absent <= MAX_ABSENCE:
            return False
        self._absent = 0
        # No daemon: Python must not end while the thread is in compiled code, which would abort.
        self._thread = Thread(target=self._read, args=(tell,), name="load")
        self._thread.start()
        return True

    def cancel(self) -> None:
        """Cancel a load at its next step, and close its scene."""
        self._stopped = True

    def join(self, seconds: float | None = None) -> None:
        """Wait for the end of a load, at most so many seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _read(self, tell: Callable[[Loaded | Broken], None]) -> None:
        # Before anything is read: a change meanwhile must show.
        self._seen = stamps(self._path, self._also)
        try:
            loaded_scene = self._load(self._step)
        except Cancelled:
            return
        except Exception as error:  # a traceback in the terminal would be overlooked
            tell(Broken(sentence(error, self._path)))
            return
        if self._stopped:
            loaded_scene.close()
        else:
            tell(Loaded(loaded_scene))

    def _step(self, _: str) -> None:
        if self._stopped:
            raise Cancelled


def stamps(path: Path, also: str | PathLike[str] | None = None) -> Stamps:
    """Return the stamps of a scene file and its data files, or of a particle file.

    also: a file that is read beside it.
    """
    path, _ = split_inner(path)
    own = {path.absolute(): stamp(path)}  # first: the names may be others a moment later
    if also is not None:
        own[Path(also).absolute()] = stamp(Path(also))
    return own | {named: stamp(named) for named in data_files(path)}


def data_files(path: Path) -> list[Path]:
    """Return the data files that a scene file names, even missing ones; none of a broken file."""
    if not is_scene(path):
        return []
    try:
        with opened(path) as file:
            sets = read_table(file, path.suffix.lower()).get("spheres")
    except Exception:  # the load reports it
        return []
    tables = [each for each in sets if isinstance(each, dict)] if isinstance(sets, list) else []
    names = [table.get(key) for table in tables for key in ("file", "topology")]
    folder = path.absolute().parent
    return [split_inner(folder / name)[0] for name in names if isinstance(name, str)]


def stamp(path: Path) -> Stamp | None:
    """Return modification time and size of a file; None if it is missing.

    Of a series of files, named by a pattern or a folder, they are the time of the last change of
    its folder and the size of its last file, which may grow.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return _series_stamp(path) if may_be_series(path, None) else None
    except (OSError, ValueError):  # the latter for an impossible name
        return None
    if S_ISDIR(status.st_mode):
        return _series_stamp(path)
    return status.st_mtime_ns, status.st_size


def _series_stamp(path: Path) -> Stamp | None:
    try:
        folder = path if path.is_dir() else path.parent
        changed = folder.stat().st_mtime_ns
        last = _last_of(path, changed)
        return changed, last.stat().st_size if last else 0
    except (OSError, ValueError, RaytracerError):
        return None


@lru_cache(maxsize=16)
def _last_of(path: Path, _changed: int) -> Path | None:
    """Return the last file of a series; found again when its folder has changed."""
    from raytracer.scene.particles.series import series_of

    found = series_of(path)
    return found.files[-1] if found and found.files else None


def sentence(error: Exception, path: Path) -> str:
    """Return why a scene cannot be loaded."""
    if isinstance(error, RaytracerError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"{path}: there is not enough memory to load it again"
    text = " ".join([type(error).__name__, *str(error).split()])
    return f"{path}: cannot be loaded ({text})"
