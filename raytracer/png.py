"""PNG files, 8 or 16 bits a channel, with the metadata of the program.

Pillow cannot write 16-bit colour. For 8 bits it gives files of the same size in twice the time, and
importing it takes longer than encoding most pictures, so all depths are written here.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.resources import thread_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from raytracer.tone import Pixels

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Key of the text chunk that holds the metadata as JSON.
KEY = "raytracer"
# Fastest; noise of ray-traced pictures gains little from more effort.
COMPRESSION = 1
# Bytes that a thread compresses at a time; cutting there costs less than 0.1% of size.
BLOCK = 1 << 19
# What the two bytes at the start of a zlib stream say: deflate, 32 KiB window, fastest.
_ZLIB_HEADER = b"\x78\x01"
_COLOR_TYPE = {3: 2, 4: 6}
_FILTER_UP = 2
# Bytes at the start of a file that hold the chunks before the text.
_HEAD = 256


def chunk(kind: bytes, data: bytes) -> bytes:
    """One PNG chunk: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encode(pixels: Pixels, text: dict[str, str], threads: int = 0) -> bytes:
    """A whole PNG file; its bytes do not depend on the number of threads.

    pixels: uint8 or uint16 (h, w, 3 or 4), sRGB, straight alpha.
    text: keys and ASCII values of the text chunks.
    threads: 0 takes every core that the process may use.
    """
    height, width, channels = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPE[channels], 0, 0, 0)
    parts = [SIGNATURE, chunk(b"IHDR", header), chunk(b"sRGB", b"\0")]
    parts += [chunk(b"tEXt", f"{key}\0{value}".encode("latin-1")) for key, value in text.items()]
    parts += [chunk(b"IDAT", _compressed(_filtered(pixels), threads)), chunk(b"IEND", b"")]
    return b"".join(parts)


def _filtered(pixels: Pixels) -> NDArray[np.uint8]:
    """Rows with the filter "up" (difference to the row above, byte by byte) and its tag in front.

    16-bit samples are stored with the high byte first.
    """
    import numpy as np

    height = pixels.shape[0]
    big_endian = pixels.astype(pixels.dtype.newbyteorder(">"), order="C", copy=False)
    rows = np.ascontiguousarray(big_endian).view(np.uint8).reshape(height, -1)
    out = np.empty((height, rows.shape[1] + 1), np.uint8)
    out[:, 0] = _FILTER_UP
    out[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=out[1:, 1:])
    return out


def _compressed(rows: NDArray[np.uint8], threads: int) -> bytes:
    """A zlib stream of blocks that were compressed side by side."""
    data = rows.reshape(-1).data
    blocks = [(data[at : at + BLOCK], at + BLOCK >= len(data)) for at in range(0, len(data), BLOCK)]
    if len(blocks) == 1:
        parts = [_deflate(*blocks[0])]
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(thread_count(threads)) as pool:
            parts = list(pool.map(_deflate, *zip(*blocks, strict=True)))
    return b"".join([_ZLIB_HEADER, *parts, struct.pack(">I", zlib.adler32(data))])


def _deflate(block: memoryview, last: bool) -> bytes:
    """One block as raw deflate that ends on a byte, so that blocks can be joined."""
    stream = zlib.compressobj(COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
    start = stream.compress(block)
    return start + stream.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)


def read_metadata(path: Path) -> dict[str, Any] | None:
    """What `raytracer` wrote about a picture; None if the file has no such chunk.

    Raises DataFileError for a file that cannot be read or is no PNG.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read ({error.strerror})") from error
    if not data.startswith(SIGNATURE):
        raise DataFileError(f"{path}: is not a PNG file")
    for kind, body in _chunks(data):
        key, _, value = body.partition(b"\0")
        if kind == b"tEXt" and key == KEY.encode():
            try:
                found = json.loads(value.decode("latin-1"))
            except ValueError as error:
                raise DataFileError(f"{path}: its metadata are damaged ({error})") from error
            return found if isinstance(found, dict) else None
    return None


def is_foreign(path: Path) -> bool:
    """Whether a file is anything but a PNG of `raytracer`, judged by its first text chunks.

    Raises DataFileError for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read ({error.strerror})") from error
    return not head.startswith(SIGNATURE) or b"tEXtSoftware\0raytracer " not in head


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and body of every complete chunk."""
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12
