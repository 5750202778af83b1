"""Watch for changes of a scene's files."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from raytracer.config.errors import RaytracerError
from raytracer.model.data_file import split_inner
from raytracer.particles.locate import may_be_series
from raytracer.particles.series import find_series
from raytracer.scene_files.load import find_named_files, is_scene

CHECK_INTERVAL = 0.25

Stamp = tuple[int, int]


class Watch:
    """Detects changes of a scene or particle file, or a file that it names, or of `also`. Changes
    count from construction on, even during the first load."""

    def __init__(self, path: Path, also: Sequence[Path] = ()) -> None:
        self.path, self._also = path, also
        self.begin()

    def begin(self) -> None:
        """Count changes from now on; called before reading, so that no change is missed."""
        path, _ = split_inner(self.path)
        # the file first: the names in it may change meanwhile
        known = {each.absolute(): read_stamp(each) for each in (path, *self._also)}
        self._seen = known | {named: read_stamp(named) for named in _list_data_files(path)}

    def has_changed(self) -> bool:
        """Return whether a file has changed; one that is missing may just be being replaced."""
        now = {path: read_stamp(path) for path in self._seen}
        return any(now[path] is not None and now[path] != seen for path, seen in self._seen.items())


def _list_data_files(path: Path) -> list[Path]:
    """Return the data files in a scene file, even missing ones; [] if it is broken."""
    if not is_scene(path):
        return []
    try:
        files = find_named_files(path.absolute(), "file", "topology")
    except Exception:  # the load reports it
        return []
    return [split_inner(each)[0] for each in files]


def read_stamp(path: Path) -> Stamp | None:
    """Return modification time and size of a file; None if it is missing. For a series of files:
    last change of its folder, and size of its last file, which may grow."""
    try:
        if path.is_dir() or (not path.exists() and may_be_series(path, None)):
            changed = (path if path.is_dir() else path.parent).stat().st_mtime_ns
            last = _find_last(path, changed)
            return changed, last.stat().st_size if last else 0
        status = path.stat()
        return status.st_mtime_ns, status.st_size
    except (OSError, ValueError, RaytracerError):  # ValueError for an impossible name
        return None


@lru_cache(maxsize=16)
def _find_last(path: Path, _changed: int) -> Path | None:
    series = find_series(path)
    return series.files[-1] if series and series.files else None
