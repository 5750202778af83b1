"""Where the frames of a compressed trajectory of GROMACS (.xtc) begin."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from raytracer.errors import DataFileError

if TYPE_CHECKING:
    from raytracer.files.access import OpenFile

_HEAD = struct.Struct(">iiif9fi")
"""Magic number, atoms, step, time, box, atoms again."""

_MAGIC = (1995, 2023)
"""Magic numbers; with the second one, the size of the coordinates has 64 bits."""

_FEW = 9
"""Most atoms whose coordinates are not compressed."""

_PACKING = 4 + 12 + 12 + 4
"""Bytes between the number of atoms and the size of the coordinates: precision, least and largest
integers, an index."""


def frame_starts(file: OpenFile) -> list[int]:
    """Return the bytes at which whole frames begin, and where the last one ends.

    Raises:
        DataFileError: the file is damaged.
    """
    starts, place = [], 0
    while (end := end_of(file, place)) is not None:
        starts.append(place)
        place = end
    return [*starts, place] if starts else [0, file.size]


def end_of(file: OpenFile, place: int) -> int | None:
    """Return where a frame ends; None if it does not end within the file."""
    head = os.pread(file.file.fileno(), _HEAD.size + _PACKING + 8, place)
    if len(head) < _HEAD.size:
        return None
    magic, atoms, *_, same = _HEAD.unpack_from(head)
    if magic not in _MAGIC or atoms != same or atoms < 0:
        raise DataFileError(f"{file.source}: is damaged at byte {place:,}, where a frame begins")
    if atoms <= _FEW:
        end = place + _HEAD.size + 12 * atoms
    else:
        size = struct.Struct(">q" if magic == _MAGIC[1] else ">i")
        at = _HEAD.size + _PACKING
        if len(head) < at + size.size:
            return None
        (count,) = size.unpack_from(head, at)
        if count < 0:
            raise DataFileError(f"{file.source}: is damaged at byte {place:,}: a size is negative")
        end = place + at + size.size + -(-count // 4) * 4
    return end if end <= file.size else None
