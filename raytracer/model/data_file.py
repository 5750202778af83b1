"""A particle file: where it is, how a frame is read, and its state when read."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from raytracer.files.access import is_file

CASE = ".foam"
"""Ending of the empty file that marks a case of OpenFOAM, with its clouds in folders beside it."""


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
    redshift: str = ""  # column whose redshifts are distances of celestial coordinates, or ""
    size: int = 0  # bytes
    modified: int = 0  # time of the last change, nanoseconds
    number: int = 0  # of the file in its series, from 0
    used: frozenset[str] = frozenset()  # columns that became centres, radii and colours
    converted: str = ""  # the unit from which its positions were converted to angstrom, or ""

    @property
    def named(self) -> Path:
        """The path, with `inner` behind a colon."""
        return Path(f"{self.path}:{self.inner}") if self.inner else self.path

    def resolve_frame(self, count: int) -> int:
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
