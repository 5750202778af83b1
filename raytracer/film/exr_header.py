"""Headers of OpenEXR files, checked before the pixels are read.

The library reads a header with its own checks, and then allocates memory by it: the window is
compared with the size of the file first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile, printed, reading
from raytracer.settings import MAX_SIDE

MAGIC = b"\x76\x2f\x31\x01"

CHANNELS = 64
"""Most channels; a film has at most 26."""

NUMBER = 4
"""Bytes of a number of a channel, at most."""

ROWS, COPIES = 32, 3
"""Rows that the library decodes at a time as a rule, and how often it has them in memory."""

RATIO = 4096
"""Pixels in bytes beyond the bytes of the file, at most: compression does not reach that."""


@dataclass(frozen=True)
class ExrHeader:
    """The fields of a header that films need.

    Args:
        width, height: of the data window, pixels.
        channels: names.
        attributes: by name, as the library gives them.
    """

    width: int
    height: int
    channels: frozenset[str]
    attributes: dict[str, Any]

    def reading(self) -> int:
        """Return the bytes of memory that OpenEXR needs to read all channels."""
        return NUMBER * len(self.channels) * self.width * (self.height + COPIES * ROWS)


def check(file: OpenFile, tiles: bool = False) -> ExrHeader:
    """Read the header of an OpenEXR file. The library is installed.

    Args:
        file: the file.
        tiles: whether it may be one of tiles, as other programs write them.

    Raises:
        DataFileError: it is no OpenEXR file of rows, or its header contradicts the file.
    """
    import OpenEXR

    file.file.seek(0)
    if file.file.read(4) != MAGIC:
        raise DataFileError(f"{file.source}: is not an OpenEXR file")
    with reading(file.source, "OpenEXR"), printed():
        with OpenEXR.File(file.name, header_only=True) as stored:
            parts, values = len(stored.parts), dict(stored.header())
        (x0, y0), (x1, y1) = (tuple(map(int, end)) for end in values["dataWindow"])
        channels = {each.name: (each.xSampling, each.ySampling) for each in values["channels"]}
    width, height = x1 - x0 + 1, y1 - y0 + 1
    kinds = (OpenEXR.scanlineimage, OpenEXR.tiledimage) if tiles else (OpenEXR.scanlineimage,)
    if parts != 1 or values.get("type", OpenEXR.scanlineimage) not in kinds:
        raise DataFileError(
            f"{file.source}: is an OpenEXR file of several parts, or deep: save it as one image"
            if tiles
            else f"{file.source}: is an OpenEXR file of another program, not a film"
        )
    subsampled = any(sampling != (1, 1) for sampling in channels.values())
    if subsampled or not 1 <= len(channels) <= CHANNELS or max(width, height) > MAX_SIDE:
        raise DataFileError(
            f"{file.source}: its header says {width}x{height} pixels of {len(channels)} channels"
        )
    if 2 * len(channels) * width * height > file.size * RATIO:
        raise DataFileError(
            f"{file.source}: is cut short: {file.size:,} bytes are too few for the "
            f"{width}x{height} pixels that it says"
        )
    return ExrHeader(width, height, frozenset(channels), values)
