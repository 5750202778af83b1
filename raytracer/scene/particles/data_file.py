"""Particle files: where one is, how a frame of it is read, and its state when it was read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from raytracer.files.access import is_file


class DataFile(NamedTuple):
    """A particle file, how a frame of it is read, and its state when it was read.

    Args:
        path: of the file; absolute once it was read.
        name: in messages; None takes the path.
        inner: path of the particles in the file, for formats with several sets, or "".
        frame: number of the frame, from 0, or from -1 backwards; None is the first one.
        series: number of files of the series of which this is one; 0 if it is no part of one.
        is_chosen: whether the user chose the frame of the series.
        ending: the ending that states its format, ".xyz"; "" leaves it to the name and the content.
        topology: the file that lists its atoms; None where it does so itself.
        size: bytes.
        modified: time of the last change, nanoseconds.
        used: its arrays, properties or columns that became centres, radii and colours.
        converted: the unit from which its positions were converted to angstrom, or "".
    """

    path: Path
    name: str | None = None
    inner: str = ""
    frame: int | None = None
    series: int = 0
    is_chosen: bool = True
    ending: str = ""
    topology: Path | None = None
    size: int = 0
    modified: int = 0
    used: frozenset[str] = frozenset()
    converted: str = ""

    @property
    def named(self) -> Path:
        """The path, with that of the particles behind a colon."""
        return Path(f"{self.path}:{self.inner}") if self.inner else self.path

    def using(self, names: Iterable[str]) -> DataFile:
        """Return the same file with other arrays, properties or columns in use."""
        return self._replace(used=frozenset(names))

    def problem(self) -> str:
        """Return why its rows need not be those that were loaded, or ""."""
        try:
            now = self.path.stat()
        except OSError:
            return "is no longer there"
        same = (now.st_size, now.st_mtime_ns) == (self.size, self.modified)
        return "" if same else "has changed since it was loaded"


def split_inner(path: Path) -> tuple[Path, str]:
    """Return a file and the path in it that follows a colon, as in "snapshot.hdf5:PartType1".

    A file whose own name has a colon goes first.
    """
    text = str(path)
    if text.startswith("-:") and not is_file(path):  # of standard input
        return Path("-"), text[2:]
    place = text.find(":")
    while place >= 0 and not is_file(path):
        if is_file(text[:place]) and text[place + 1 :]:
            return Path(text[:place]), text[place + 1 :]
        place = text.find(":", place + 1)
    return path, ""
