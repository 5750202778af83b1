"""Reference to the particle file of a sphere set, for values that were not loaded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from raytracer.files.access import OpenFile


class DataFile(NamedTuple):
    """A particle file as it was when it was read.

    Args:
        path: absolute.
        size: bytes.
        modified: time of the last change, nanoseconds.
        used: its arrays, properties or columns that became centres, radii and colours.
    """

    path: Path
    size: int
    modified: int
    used: frozenset[str] = frozenset()

    @classmethod
    def of(cls, file: OpenFile) -> DataFile:
        """Return what an open file is."""
        return cls(file.path.absolute(), file.size, file.modified)

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
