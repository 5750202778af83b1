"""What a sphere set keeps of its particle file, for values that were not loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.files.access import OpenFile, is_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.particles.source import Box, Column, Moment, ParticleSource


class DataFile(NamedTuple):
    """A particle file as it was when it was read.

    Args:
        path: absolute.
        size: bytes.
        modified: time of the last change, nanoseconds.
        used: its arrays, properties or columns that became centres, radii and colours.
        inner: path of the particles in the file, for formats with several sets, or "".
        frame: number of the frame, from 0; None is the first one.
        series: number of files of the series of which this is one; 0 if it is no part of one.
        ending: the ending that says its format, where the user stated it; see `OpenFile`.
        topology: the file that lists its atoms, absolute; None where it does so itself.
        converted: the unit from which its positions were converted to angstrom, or "".
    """

    path: Path
    size: int
    modified: int
    used: frozenset[str] = frozenset()
    inner: str = ""
    frame: int | None = None
    series: int = 0
    ending: str = ""
    topology: Path | None = None
    converted: str = ""

    @classmethod
    def of(
        cls,
        file: OpenFile,
        inner: str = "",
        frame: int | None = None,
        topology: Path | None = None,
    ) -> DataFile:
        """Return what an open file is."""
        return cls(file.path.absolute(), file.size, file.modified, inner=inner, frame=frame,
                   ending=file.ending,
                   topology=None if topology is None else topology.absolute())  # fmt: skip

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
"""Letters one of which is in the pattern of a series of files."""


def may_be_series(path: Path, frame: int | None) -> bool:
    """Whether a path may be a pattern, or the folder, of a series of files with a frame each."""
    return frame is not None or not _PATTERN.isdisjoint(str(path)) or _is_folder(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # the door says what is wrong with the name
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


class Data(NamedTuple):
    """What a sphere set keeps of its file, or of the object that it was made of.

    Args:
        total: number of particles of the file.
        arrays: columns in memory, for all particles, by name.
        about: the columns of the file, None as long as they were not looked up.
        origin: the object, whose columns are in memory already.
        box: the simulation box, in the unit of length of the file; None if there is none.
        time: of the frame; None if the file does not say it.
    """

    total: int
    arrays: dict[str, NDArray[Any]]
    about: Mapping[str, Column] | None = None
    origin: ParticleSource | None = None
    box: Box | None = None
    time: Moment | None = None
