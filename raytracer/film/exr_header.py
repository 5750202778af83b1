"""Checks the headers of OpenEXR files before the pixels are read.

The library allocates memory by the header, so its window is compared with the size of the file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile, printed, reading

MAGIC = b"\x76\x2f\x31\x01"

NUMBER = 4  # maximum size of a number of a channel in bytes
ROWS, COPIES = 32, 3  # rows that the library decodes at a time, and copies that it has of them
MAX_RATIO = 4096  # maximum ratio of the sizes of pixels and file, which compression does not reach


class ExrHeader(NamedTuple):
    """Width and height of the data window in pixels, number of channels, and all attributes."""

    width: int
    height: int
    channels: int
    attributes: dict[str, Any]

    def reading(self) -> int:
        """Bytes of memory that OpenEXR needs to read all channels."""
        return NUMBER * self.channels * self.width * (self.height + COPIES * ROWS)


def check(file: OpenFile, tiles: bool = False) -> ExrHeader:
    """Read the header of an OpenEXR file; the library must be installed.

    tiles: whether tiled files, which other programs write, are accepted. Raises DataFileError: it
    is not an OpenEXR file of rows, or its header contradicts the file.
    """
    import OpenEXR

    file.file.seek(0)
    if file.file.read(4) != MAGIC:
        raise DataFileError(f"{file.source}: is not an OpenEXR file")
    with reading(file.source, "OpenEXR"), printed():
        with OpenEXR.File(file.name, header_only=True) as stored:
            parts, values = len(stored.parts), dict(stored.header())
        (x0, y0), (x1, y1) = (tuple(map(int, end)) for end in values["dataWindow"])
    header = ExrHeader(x1 - x0 + 1, y1 - y0 + 1, len(values["channels"]), values)
    kinds = (OpenEXR.scanlineimage, OpenEXR.tiledimage) if tiles else (OpenEXR.scanlineimage,)
    if parts != 1 or values.get("type", OpenEXR.scanlineimage) not in kinds:
        raise DataFileError(
            f"{file.source}: is an OpenEXR file of several parts, or deep: save it as one image"
            if tiles
            else f"{file.source}: is an OpenEXR file of another program, not a film"
        )
    if 2 * header.channels * header.width * header.height > file.size * MAX_RATIO:
        raise DataFileError(
            f"{file.source}: is incomplete: {file.size:,} bytes are too few for "
            f"{header.width}x{header.height} pixels"
        )
    return header
