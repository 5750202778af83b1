"""Finished frames of a movie, kept beside it until it is complete, so that a run can go on.

The name of a frame has its number and the digest of everything that it depends on. It appears under
that name when it is complete. Frames of moving pictures are PNGs; those of encoders are planes,
which are half as large, need no second conversion, and of which a PNG would take two checksums.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import struct
import zlib
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.animation.movie import no_transparency
from raytracer.errors import OutputError
from raytracer.film import png
from raytracer.resources import thread_count

if TYPE_CHECKING:
    from raytracer.film.image import Image

ROOM = 1 / 16
"""Share of the free disk that all frames may take without compression."""

_NAME = re.compile(r"\d{6,}-[0-9a-f]{16}(\.png|\.yuv|\.json)(\.\d+\.new)?")

_HEAD = struct.Struct("<4sIIII")
"""Of a frame of planes: "rtY1", width, rows, whether it is compressed, CRC-32 of what follows."""

_MAGIC = b"rtY1"


def planes(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture as an encoder takes it: planes Y, U, V one after another.

    Args:
        pixels: uint8 (h, w, 3 or 4); alpha is left out.

    Returns:
        uint8 (3 H / 2, W), BT.709 4:2:0 in limited range, with h and w rounded up to even H and W.
    """
    # A picture without its alpha channel is a view of one with it, whose memory is in one piece.
    whole = pixels if pixels.flags.c_contiguous else pixels.base
    if whole is None or whole.shape[:2] != pixels.shape[:2] or not whole.flags.c_contiguous:
        whole = np.ascontiguousarray(pixels)
    height, width = (size + size % 2 for size in pixels.shape[:2])
    out = np.empty((3 * height // 2, width), np.uint8)
    core().video_planes(whole, out)
    return out


def packed(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture in one piece of memory, which encoders need.

    NumPy copies a picture without its alpha channel three bytes at a time, which takes five times
    as long as channel by channel.
    """
    if pixels.flags.c_contiguous:
        return pixels
    made = np.empty_like(pixels, order="C")
    for channel in range(pixels.shape[-1]):
        made[..., channel] = pixels[..., channel]
    return made


class FrameStore:
    """The folder of finished frames of a movie: NAME.frames beside it.

    Args:
        movie: path of the movie.
        digest: of all that the frames depend on, 16 hexadecimal digits.
        count: number of frames.
        is_planar: whether frames are planes for an encoder, or pictures.

    Raises:
        OutputError: the folder cannot be made.
    """

    def __init__(self, movie: Path, digest: str, count: int, is_planar: bool = False) -> None:
        self.folder = movie.with_name(f"{movie.name}.frames")
        self.is_planar = is_planar
        self._movie, self._digest, self._count = movie, digest, count
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{self.folder}: cannot be made ({error.strerror}): it keeps finished frames"
            ) from None

    def in_folder(self, folder: Path) -> FrameStore:
        """Return the same frames in another folder."""
        other = copy(self)
        other.folder = folder
        return other

    def path(self, index: int) -> Path:
        """Return where a frame is kept."""
        suffix = "yuv" if self.is_planar else "png"
        return self.folder / f"{index:06d}-{self._digest}.{suffix}"

    def has(self, index: int) -> bool:
        """Whether a frame is finished."""
        return self.path(index).is_file()

    def save(self, index: int, image: Image, exposure: float | None) -> None:
        """Keep a picture; the exposure is noted apart. Raises OutputError: the disk is full."""
        self.write(index, self.frame_of(image))

    def frame_of(self, image: Image) -> NDArray[np.uint8]:
        """Return a picture as it is kept: planes, or uint8 (h, w, 3 or 4).

        Raises:
            UserError: it is transparent, and a movie is not.
        """
        if self.is_planar and image.transparent:
            raise no_transparency(self._movie)
        pixels = image.to_uint8()
        return planes(pixels) if self.is_planar else packed(pixels)

    def write(self, index: int, frame: NDArray[np.uint8]) -> None:
        """Keep a frame of `frame_of`. Raises OutputError: the disk is full."""
        # Compression would take as long as the movie's own.
        compressed = frame.nbytes * self._count > ROOM * shutil.disk_usage(self.folder).free
        if self.is_planar:
            body = zlib.compress(frame.data, 1) if compressed else frame.data
            rows, width = frame.shape
            head = _HEAD.pack(_MAGIC, width, rows, compressed, zlib.crc32(body))
            self._replace(self.path(index), head, body)
        else:
            data = png.encode(frame, {}, thread_count(1), compressed=compressed)
            self._replace(self.path(index), data)

    def read(self, index: int) -> NDArray[np.uint8]:
        """Return a frame that is kept, like `frame_of`. Raises OutputError: it is damaged."""
        if self.is_planar:
            return self._read_planes(self.path(index))
        from PIL import Image

        with Image.open(self.path(index)) as picture:
            return np.asarray(picture)

    def _read_planes(self, path: Path) -> NDArray[np.uint8]:
        try:
            data = memoryview(path.read_bytes())
            magic, width, rows, compressed, crc = _HEAD.unpack(data[: _HEAD.size])
            body = data[_HEAD.size :]
            if magic != _MAGIC or zlib.crc32(body) != crc:
                raise ValueError
            plain = zlib.decompress(body) if compressed else body
            return np.frombuffer(plain, np.uint8).reshape(rows, width)
        except (OSError, ValueError, struct.error, zlib.error):
            raise OutputError(f"{path}: is damaged: run the command again with --fresh") from None

    def exposure(self) -> float | None:
        """Return the exposure that an earlier run metered in the first frame, or None."""
        found = self.noted().get("exposure")
        return float(found) if isinstance(found, (int, float)) else None

    def note(self, values: dict[str, Any]) -> None:
        """Keep what was found in the first frame and holds for all of them."""
        self._replace(self._notes, json.dumps(values).encode())

    def noted(self) -> dict[str, Any]:
        """Return what `note` kept, or {}."""
        try:
            found = json.loads(self._notes.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def remove(self) -> None:
        """Remove the frames, and the folder if nothing else is in it."""
        with suppress(OSError):
            for path in list(self.folder.iterdir()):
                if _NAME.fullmatch(path.name):
                    path.unlink(missing_ok=True)
            self.folder.rmdir()

    def discard_if_empty(self) -> None:
        """Remove the folder if no frame was finished."""
        with suppress(OSError):
            self.folder.rmdir()

    @property
    def _notes(self) -> Path:
        return self.folder / f"{0:06d}-{self._digest}.json"

    def _replace(self, path: Path, *parts: bytes | memoryview) -> None:
        # Several machines may write into the folder: numbers of processes repeat.
        new = path.with_name(f"{path.name}.{secrets.randbits(62)}.new")
        try:
            with new.open("wb", buffering=0) as file:
                for part in parts:
                    _write_all(file, part)
            new.replace(path)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise OutputError(f"{path}: cannot be written ({error.strerror})") from None


def _write_all(file: IO[bytes], data: bytes | memoryview) -> None:
    """Write bytes to a file without a buffer, which may take a part of them at a time."""
    rest = memoryview(data).cast("B")
    while rest:
        rest = rest[file.write(rest) :]
