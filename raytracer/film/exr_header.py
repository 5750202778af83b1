"""Headers of OpenEXR files, checked before the pixels are read.

The library allocates memory by the header. Windows, channels and the table of offsets are therefore
compared with the size of the file first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile, copy_limited, reading
from raytracer.settings import MAX_SIDE

MAGIC = b"\x76\x2f\x31\x01"

HEADER_BYTES = 1 << 24
"""Largest header: that of a film holds a few kilobytes of metadata."""

CHANNELS = 64
"""Most channels; a film has at most 20."""

# Rows in a block of pixels, by the number of the compression.
_ROWS = (1, 1, 1, 16, 32, 16, 32, 32, 32, 256)

_SIZES = (4, 2, 4)  # bytes of a number, by its type: uint32, half, float32

_TILED, _LONG_NAMES, _DEEP, _MULTIPART = 0x200, 0x400, 0x800, 0x1000


@dataclass(frozen=True)
class ExrHeader:
    """The fields of a header that films need.

    Args:
        width, height: of the data window, pixels.
        channels: bytes of a number of each channel, by name.
        compression: number of the method.
    """

    width: int
    height: int
    channels: dict[str, int]
    compression: int

    @property
    def row(self) -> int:
        """Bytes of a row of all channels."""
        return self.width * sum(self.channels.values())

    def reading(self, size: int) -> int:
        """Return the bytes of memory that OpenEXR needs to read all channels.

        Beside the channels it holds a block of rows three times: decoded, as separate bytes, and
        compressed.

        Args:
            size: of the file in bytes.
        """
        block = self.row * min(_ROWS[self.compression], self.height)
        return self.row * self.height + 2 * block + min(block, size)


def check(file: OpenFile, tiles: bool = False) -> ExrHeader:
    """Read the header of an OpenEXR file.

    Args:
        file: the file.
        tiles: whether it may be one of tiles, as other programs write them.

    Raises:
        DataFileError: it is no OpenEXR file of rows, or its header contradicts the file.
    """
    with reading(file.source, "OpenEXR"):
        header = _read(file, _TILED if tiles else 0)
        pixels = header.row * header.height
        rows = _ROWS[header.compression]
        blocks = -(-header.height // rows)
        # Each block has an entry in the table and a header.
        if (blocks * 16 > file.size and not tiles) or pixels > file.size * 4096:
            raise DataFileError(
                f"{file.source}: is cut short: {file.size:,} bytes are too few for the "
                f"{header.width}x{header.height} pixels that it says"
            )
    return header


def _read(file: OpenFile, allowed: int) -> ExrHeader:
    stream = file.file
    stream.seek(0)
    if stream.read(4) != MAGIC:
        raise DataFileError(f"{file.source}: is not an OpenEXR file")
    (version,) = struct.unpack("<I", copy_limited(stream, 4, file.source))
    if version & 0xFF != 2 or version & (_TILED | _DEEP | _MULTIPART) & ~allowed or version >> 13:
        raise DataFileError(
            f"{file.source}: is an OpenEXR file of several parts, or deep: save it as one image"
            if allowed
            else f"{file.source}: is an OpenEXR file of another program, not a film"
        )
    values = _attributes(stream.read(min(file.size, HEADER_BYTES)), file.source)
    try:
        (compression,) = values["compression"]
        x0, y0, x1, y1 = struct.unpack("<4i", values["dataWindow"])
        channels = _channels(values["channels"])
    except (KeyError, ValueError, struct.error):
        raise DataFileError(f"{file.source}: its header is damaged") from None
    width, height = x1 - x0 + 1, y1 - y0 + 1
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise DataFileError(f"{file.source}: its header says {width}x{height} pixels")
    if compression >= len(_ROWS) or not 1 <= len(channels) <= CHANNELS:
        raise DataFileError(
            f"{file.source}: its header says compression {compression} and {len(channels)} channels"
        )
    return ExrHeader(width, height, channels, compression)


def _attributes(data: bytes, source: str) -> dict[str, bytes]:
    """Return the values of all attributes by name."""
    values: dict[str, bytes] = {}
    at = 0
    while True:
        end = data.find(b"\0", at, at + 256)
        if end == at:
            return values
        kind_end = data.find(b"\0", end + 1, end + 257)
        if end < 0 or kind_end < 0 or kind_end + 5 > len(data):
            raise DataFileError(f"{source}: its header is damaged or cut short")
        (size,) = struct.unpack_from("<I", data, kind_end + 1)
        name, start = data[at:end].decode("latin-1"), kind_end + 5
        if start + size > len(data):
            raise DataFileError(f"{source}: its header is damaged at '{shown(name)}', or cut short")
        if name in values:
            raise DataFileError(f"{source}: its header is damaged: '{shown(name)}' stands twice")
        values[name] = data[start : start + size]
        at = start + size


def _channels(data: bytes) -> dict[str, int]:
    """Return the bytes of a number of each channel. Raises ValueError or struct.error."""
    values: dict[str, int] = {}
    at = 0
    while data[at : at + 1] != b"\0":
        end = data.index(b"\0", at)
        kind, _, x_step, y_step = struct.unpack_from("<4i", data, end + 1)
        if not 0 <= kind < len(_SIZES) or (x_step, y_step) != (1, 1) or len(values) > CHANNELS:
            raise ValueError
        name = data[at:end].decode("utf-8")
        if name in values:
            raise ValueError
        values[name] = _SIZES[kind]
        at = end + 17
    return values
