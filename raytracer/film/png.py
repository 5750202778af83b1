"""PNG files, 8 or 16 bits per channel, with metadata.

Pillow cannot write 16-bit colour. With 8 bits it takes twice as long for files of the same size,
and its import takes longer than encoding most pictures.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from raytracer.system.resources import choose_busy_threads

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.film.film import Pixels

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEY = "raytracer"  # key of the text chunk with the metadata as JSON

INCH = 0.0254  # metres of an inch
COMPRESSION = 1  # level of zlib: the fastest, because noise compresses little better at others
BLOCK = 1 << 19  # bytes that a thread compresses at a time; the cuts add less than 0.1% to the size
IDAT_BYTES = 1 << 26  # maximum size of an IDAT chunk in bytes (of 2^31 - 1 in the format)

# The first two bytes of a zlib stream: deflate, 32 KiB window, fastest level.
_ZLIB_HEADER = b"\x78\x01"
_COLOR_TYPE = {3: 2, 4: 6}
_FILTER_UP = 2
# The largest prime below 2^16, the modulus of Adler-32.
_ADLER = 65521


def chunk(kind: bytes, data: bytes | bytearray) -> bytes:
    """Return a PNG chunk: length, type, data, checksum."""
    check = struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))
    return b"".join((struct.pack(">I", len(data)), kind, data, check))


def encode(pixels: Pixels, text: dict[str, str], threads: int = 0) -> bytes:
    """Return a PNG file as bytes; arguments as for `write`."""
    file = io.BytesIO()
    write(file, pixels, text, threads)
    return file.getvalue()


def write(
    file: BinaryIO,
    pixels: Pixels,
    text: dict[str, str],
    threads: int = 0,
    dpi: float | None = None,
) -> None:
    """Write a PNG file; its bytes do not depend on the number of threads.

    pixels: uint8 or uint16 (h, w, 3 or 4), sRGB with straight alpha. text: keys and ASCII values of
    the text chunks. dpi: pixels per inch, or None.
    """
    height, width, channels = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPE[channels], 0, 0, 0)
    file.write(SIGNATURE + chunk(b"IHDR", header) + chunk(b"sRGB", b"\0"))
    if dpi is not None:
        per_meter = round(dpi / INCH)
        file.write(chunk(b"pHYs", struct.pack(">IIB", per_meter, per_meter, 1)))
    for key, value in text.items():
        file.write(chunk(b"tEXt", f"{key}\0{value}".encode("latin-1")))
    data = bytearray()
    for part in _compress_blocks(pixels, threads):
        data += part
        while len(data) > IDAT_BYTES:
            file.write(chunk(b"IDAT", data[:IDAT_BYTES]))
            del data[:IDAT_BYTES]
    file.write(chunk(b"IDAT", data) + chunk(b"IEND", b""))


def _compress_blocks(pixels: Pixels, threads: int) -> Iterator[bytes]:
    """Yield a zlib stream of blocks that several threads compress."""
    height, row = pixels.shape[0], pixels[0].nbytes + 1  # with the filter type of the row
    total = height * row
    blocks = [(at, min(at + BLOCK, total)) for at in range(0, total, BLOCK)]
    yield _ZLIB_HEADER
    check = 1
    parts = _deflate_in_order(pixels, blocks, threads)
    for (begin, end), (data, block_check) in zip(blocks, parts, strict=True):
        check = _joined_adler(check, block_check, end - begin)
        yield data
    yield struct.pack(">I", check)


def _deflate_in_order(
    pixels: Pixels, blocks: list[tuple[int, int]], threads: int
) -> Iterator[tuple[bytes, int]]:
    """Yield the compressed blocks and their checksums; at most four blocks per thread wait."""
    last = blocks[-1]
    if len(blocks) == 1:
        yield _deflate(pixels, *last, True)
        return
    from collections import deque
    from concurrent.futures import Future, ThreadPoolExecutor

    count = choose_busy_threads(threads)
    waiting: deque[Future[tuple[bytes, int]]] = deque()
    pool = ThreadPoolExecutor(count)
    try:
        for block in blocks:
            waiting.append(pool.submit(_deflate, pixels, *block, block == last))
            if len(waiting) > 4 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _deflate(pixels: Pixels, begin: int, end: int, last: bool) -> tuple[bytes, int]:
    """Return bytes begin to end of the filtered picture as raw deflate, and their Adler-32."""
    block = _filter_rows(pixels, begin, end).data
    stream = zlib.compressobj(COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
    start = stream.compress(block)
    rest = stream.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)  # to the end of a byte
    return start + rest, zlib.adler32(block)


def _filter_rows(pixels: Pixels, begin: int, end: int) -> NDArray[np.uint8]:
    """Return bytes begin to end of all rows, each with its filter type, as differences to the row
    above ("up"), with the high byte first."""
    import numpy as np

    row = pixels[0].nbytes + 1
    first, stop = begin // row, -(-end // row)
    part = pixels[max(first - 1, 0) : stop]
    big_endian = part.astype(part.dtype.newbyteorder(">"), order="C", copy=False)
    rows = np.ascontiguousarray(big_endian).view(np.uint8).reshape(len(part), -1)
    out = np.empty((stop - first, row), np.uint8)
    out[:, 0] = _FILTER_UP
    np.subtract(rows[1:], rows[:-1], out=out[len(out) - len(rows) + 1 :, 1:])
    if first == 0:
        out[0, 1:] = rows[0]
    return out.reshape(-1)[begin - first * row : end - first * row]


def _joined_adler(first: int, second: int, length: int) -> int:
    """Return the Adler-32 of two joined pieces of data (RFC 1950); length: of the second, bytes."""
    low, high = first & 0xFFFF, first >> 16
    sums = (second >> 16) + high + length * (low - 1)
    return (sums % _ADLER) << 16 | (low + (second & 0xFFFF) - 1) % _ADLER
