"""Snapshots in several files, whose names have a number after a point: snap.0.hdf5, snap_003.1."""

from __future__ import annotations

import re
from pathlib import Path

from raytracer.files.access import is_file

MAX_PARTS = 10_000  # most files of a snapshot


def parts_of(path: Path, count: int) -> list[Path]:
    """Return the files of a snapshot in the order of their numbers, which are 0 to `count` - 1.

    The list is empty for a snapshot in one file, or if a file is missing.
    """
    named = re.fullmatch(r"(.+\.)\d+((?:\.[A-Za-z]\w*)?)", path.name)
    if named is None or not 1 < count <= MAX_PARTS:
        return []
    files = [path.with_name(f"{named[1]}{part}{named[2]}") for part in range(count)]
    return files if path in files and all(map(is_file, files)) else []
