"""The file of a path: a plain one, one of a series, or a part of one."""

from collections.abc import Sequence
from pathlib import Path

from raytracer.model.data_file import CASE, DataFile, split_inner

_PATTERN = frozenset("*?[%")  # characters of patterns for series of files


def may_be_series(path: Path, frame: int | None) -> bool:
    """Whether a path may be a pattern, folder or case of a series with one frame per file."""
    if frame is not None or path.suffix == CASE or not _PATTERN.isdisjoint(str(path)):
        return True
    try:
        return path.is_dir()
    except (OSError, ValueError):  # opening it reports the error
        return False


def locate_frame(
    path: Path,
    frame: int | None = None,
    name: str | None = None,
    ending: str = "",
    topology: Path | None = None,
) -> DataFile:
    """Return the file of a frame, in a series by its number. Raises DataFileError: no file matches,
    or there is no such frame. path: may be a pattern or a folder, or have the path of the particles
    after a colon. frame, name, ending, topology: as in `DataFile`."""
    series: Sequence[Path] = ()
    number, is_chosen = 0, frame is not None
    if may_be_series(path, frame):
        from raytracer.particles.series import find_series  # most paths are plain files

        if files := find_series(path, folders=is_chosen):
            path, series = files.file(frame or 0), files.files
            frame, name, number = None, str(path), (frame or 0) % len(series)
    file, inner = split_inner(path)
    if inner and name is None:
        name = str(path)
    return DataFile(file, name, inner, frame, series, is_chosen, ending, topology, number=number)
