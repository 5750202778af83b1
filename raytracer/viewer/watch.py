"""Files that are looked at for changes."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from raytracer.errors import RaytracerError
from raytracer.files.access import opened
from raytracer.scene.load import SCENE_SUFFIXES, read_table
from raytracer.viewer.messages import Broken, Loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from raytracer.pipeline import Notice
    from raytracer.viewer.loaded_scene import LoadedScene

EVERY = 0.25
"""Seconds between two looks."""

ABSENCE = 2
"""Looks that a file may be missing, as it is while an editor puts another in its place."""

Stamp = tuple[int, int]


class GivenUp(Exception):  # noqa: N818 - no error: the scene is not wanted any more
    """Raised between two steps of loading to leave it."""


class Watch:
    """Loads a scene anew, in a thread of its own, when one of its files changes.

    path: of a scene or particle file; changes count from now on, also while it is first loaded.
    load: gives the new stage; what it is given is called between its steps, and may raise.
    """

    def __init__(self, path: Path, load: Callable[[Notice], LoadedScene]) -> None:
        self._path, self._load = path, load
        self._seen = stamps(path)
        self._absent = 0  # looks
        self._stopped = False
        self._thread: Thread | None = None

    def check(self, _: float, tell: Callable[[Loaded | Broken], None]) -> bool:
        """Begin to load if a file changed; whether it did.

        tell: called with what comes of it, in the thread that loads.
        """
        if self._thread is not None and self._thread.is_alive():
            return False
        now = {path: stamp(path) for path in self._seen}
        gone = any(seen and not now[path] for path, seen in self._seen.items())
        self._absent = self._absent + 1 if gone else 0
        if now == self._seen or 0 < self._absent <= ABSENCE:
            return False
        self._absent = 0
        # No daemon: Python must not end while the thread is in compiled code, which would abort.
        self._thread = Thread(target=self._read, args=(tell,), name="load")
        self._thread.start()
        return True

    def give_up(self) -> None:
        """Leave a load at its next step; what it gave is closed."""
        self._stopped = True

    def join(self, seconds: float | None = None) -> None:
        """Wait for a load that is under way; None: as long as it takes."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _read(self, tell: Callable[[Loaded | Broken], None]) -> None:
        self._seen = stamps(self._path)  # before anything is read: a change meanwhile must show
        try:
            loaded_scene = self._load(self._step)
        except GivenUp:
            return
        except Exception as error:  # nobody looks at a traceback beside a window
            tell(Broken(sentence(error, self._path)))
            return
        if self._stopped:
            loaded_scene.close()
        else:
            tell(Loaded(loaded_scene))

    def _step(self, _: str) -> None:
        if self._stopped:
            raise GivenUp


def stamps(path: Path) -> dict[Path, Stamp | None]:
    """Those of a scene file and of the data files that it names, or of a particle file."""
    own = {path.absolute(): stamp(path)}  # first: the names may be others a moment later
    return own | {named: stamp(named) for named in data_files(path)}


def data_files(path: Path) -> list[Path]:
    """The data files that a scene file names, there or not, whatever else is wrong with it."""
    if path.suffix.lower() not in SCENE_SUFFIXES:
        return []
    try:
        with opened(path) as file:
            sets = read_table(file, path.suffix.lower()).get("spheres")
    except Exception:  # the load says it
        return []
    tables = [each for each in sets if isinstance(each, dict)] if isinstance(sets, list) else []
    names = [table.get("file") for table in tables]
    return [path.absolute().parent / name for name in names if isinstance(name, str)]


def stamp(path: Path) -> Stamp | None:
    """Time and size of a file; None while it is missing, as it is when an editor renames."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # the latter for what can be no name
        return None
    return found.st_mtime_ns, found.st_size


def sentence(error: Exception, path: Path) -> str:
    """What is wrong with a scene that cannot be loaded."""
    if isinstance(error, RaytracerError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"{path}: there is not enough memory to load it again"
    said = " ".join([type(error).__name__, *str(error).split()])
    return f"{path}: cannot be loaded ({said})"
