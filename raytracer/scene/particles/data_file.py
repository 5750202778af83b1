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

    @classmethod
    def at(
        cls,
        path: Path,
        frame: int | None = None,
        name: str | None = None,
        ending: str = "",
        topology: Path | None = None,
    ) -> DataFile:
        """Return the file of a frame; of a series of files, that of its number.

        Args:
            path: perhaps a pattern or a folder, or with the path of the particles behind a colon.
            frame, name, ending, topology: as above.

        Raises:
            DataFileError: no file matches, or there is no such frame.
        """
        series, is_chosen = 0, frame is not None
        if may_be_series(path, frame):
            from raytracer.scene.particles.series import series_of

            if files := series_of(path, folders=is_chosen):
                path, series = files.file(frame or 0), len(files.files)
                frame, name = None, str(path)
        file, inner = split_inner(path)
        if inner and name is None:
            name = str(path)
        return cls(file, name, inner, frame, series, is_chosen, ending, topology)

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


_PATTERN = frozenset("*?[%")
"""Characters one of which is in the pattern of a series of files."""


def may_be_series(path: Path, frame: int | None) -> bool:
    """Whether a path may be a pattern, or the folder, of a series of files with a frame each."""
    if frame is not None or not _PATTERN.isdisjoint(str(path)):
        return True
    try:
        return path.is_dir()
    except (OSError, ValueError):  # opening it tells what is wrong with the name
        return False


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
