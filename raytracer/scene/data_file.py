"""Which file a sphere set came from, so that what was not loaded can be looked up later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class DataFile:
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
    def of(cls, path: Path) -> DataFile:
        """Return what a file is now. Raises OSError where there is none."""
        found = path.stat()
        return cls(path.absolute(), found.st_size, found.st_mtime_ns)

    def using(self, names: Iterable[str]) -> DataFile:
        """Return the same file with other arrays, properties or columns in use."""
        return replace(self, used=frozenset(names))

    def problem(self) -> str:
        """Return why its rows need not be those that were loaded, or ""."""
        try:
            now = DataFile.of(self.path)
        except OSError:
            return "is no longer there"
        same = (now.size, now.modified) == (self.size, self.modified)
        return "" if same else "has changed since it was loaded"
