"""A particle file: where it is, also in a series, how a frame is read, and its state when read."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from raytracer.files.access import is_file

CASE = ".foam"
"""Ending of the empty file that marks a case of OpenFOAM, with its clouds in folders beside it."""

_PATTERN = frozenset("*?[%")  # characters of patterns for series of files


class DataFile(NamedTuple):
    """A particle file, how a frame of it is read, and its state when it was read."""

    path: Path  # the file; absolute once it was read
    name: str | None = None  # name in messages; None: the path
    inner: str = ""  # path of the particles in the file, for formats with several sets, or ""
    # number of the frame, from 0, or from -1 backwards; None is the first one
    frame: int | None = None
    series: Sequence[Path] = ()  # the files of its series, in order, one per frame
    is_chosen: bool = True  # whether the user chose the frame of the series
    ending: str = ""  # the ending that states its format, ".xyz"; "" decides by name and content
    topology: Path | None = None  # file that lists its atoms; None if the file does
    stated: bool = False  # whether the user named the columns of its positions
    size: int = 0  # bytes
    modified: int = 0  # time of the last change, nanoseconds
    number: int = 0  # of the file in its series, from 0
    used: frozenset[str] = frozenset()  # columns that became centres, radii and colours
    converted: str = ""  # the unit from which its positions were converted to angstrom, or ""

    @property
    def named(self) -> Path:
        """The path, with `inner` behind a colon."""
        return Path(f"{self.path}:{self.inner}") if self.inner else self.path

    def frame_of(self, count: int) -> int:
        """Return the number of the frame, from 0 to `count` - 1, that it was read for."""
        return self.number if len(self.series) > 1 else (self.frame or 0) % count

    def problem(self) -> str:
        """Return why the file may differ from what was loaded, or ""."""
        try:
            now = self.path.stat()
        except OSError:
            return "is no longer there"
        same = (now.st_size, now.st_mtime_ns) == (self.size, self.modified)
        return "" if same else "has changed since it was loaded"


def split_inner(path: Path) -> tuple[Path, str]:
    """Split "snapshot.hdf5:PartType1" into file and inner path.

    An existing file whose name has the colon takes precedence.
    """
    text = str(path)
    if text.startswith("-:") and not is_file(path):  # standard input
        return Path("-"), text[2:]
    ends = [] if is_file(path) else [place for place, each in enumerate(text[:-1]) if each == ":"]
    place = next((place for place in ends if is_file(text[:place])), None)
    return (path, "") if place is None else (Path(text[:place]), text[place + 1 :])


def may_be_series(path: Path, frame: int | None) -> bool:
    """Whether a path may be a pattern, folder or case of a series with one frame per file."""
    if frame is not None or path.suffix == CASE or not _PATTERN.isdisjoint(str(path)):
        return True
    try:
        return path.is_dir()
    except (OSError, ValueError):  # opening it reports the error
        return False


def locate(
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
        from raytracer.scene.particles.series import series_of  # most paths are plain files

        if files := series_of(path, folders=is_chosen):
            path, series = files.file(frame or 0), files.files
            frame, name, number = None, str(path), (frame or 0) % len(series)
    file, inner = split_inner(path)
    if inner and name is None:
        name = str(path)
    return DataFile(file, name, inner, frame, series, is_chosen, ending, topology, number=number)
