"""Finished frames of a movie, kept beside it until it is complete, so that a run can go on.

The name of a frame has its number and the digest of everything that it depends on. It appears under
that name when it is complete: an archive of NumPy, whose checksum tells of damage.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import zipfile
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.animation.movie import no_transparency
from raytracer.errors import OutputError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from raytracer.film.image import Image

ROOM = 1 / 16
"""Share of the free disk that all frames may take without compression."""

_NAME = re.compile(r"\d{6,}-[0-9a-f]{16}(\.npz|\.png|\.yuv|\.json)(\.\d+\.new)?")


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
        opaque: whether the movie has no transparency.

    Raises:
        OutputError: the folder cannot be made.
    """

    def __init__(self, movie: Path, digest: str, count: int, opaque: bool = False) -> None:
        self.folder = movie.with_name(f"{movie.name}.frames")
        self._movie, self._digest, self._count, self._opaque = movie, digest, count, opaque
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
        return self.folder / f"{index:06d}-{self._digest}.npz"

    def has(self, index: int) -> bool:
        """Whether a frame is finished."""
        return self.path(index).is_file()

    def save(self, index: int, image: Image, exposure: float | None) -> None:
        """Keep a picture; the exposure is noted apart. Raises as `frame_of` and `write`."""
        self.write(index, self.frame_of(image))

    def frame_of(self, image: Image) -> NDArray[np.uint8]:
        """Return a picture as it is kept, uint8 (h, w, 3 or 4).

        Raises:
            UserError: it is transparent, and the movie has no transparency.
        """
        if self._opaque and image.transparent:
            raise no_transparency(self._movie)
        return packed(image.to_uint8())

    def write(self, index: int, frame: NDArray[np.uint8]) -> None:
        """Keep a frame, uint8 (h, w, 3 or 4). Raises OutputError: the disk is full."""
        # Compression would take as long as the movie's own.
        compressed = frame.nbytes * self._count > ROOM * shutil.disk_usage(self.folder).free
        method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED

        def fill(file: IO[bytes]) -> None:
            with (
                zipfile.ZipFile(file, "w", method, compresslevel=1) as archive,
                archive.open("frame.npy", "w", force_zip64=True) as member,
            ):
                np.lib.format.write_array(member, frame, allow_pickle=False)

        self._replace(self.path(index), fill)

    def read(self, index: int) -> NDArray[np.uint8]:
        """Return a frame that is kept. Raises OutputError: it is damaged."""
        from raytracer.files.access import opened
        from raytracer.files.npz import Archive

        path = self.path(index)
        try:
            with opened(path, is_input=False) as file, Archive(file) as archive:
                return archive.array("frame")
        except UserError:
            raise OutputError(f"{path}: is damaged: run the command again with --fresh") from None

    def exposure(self) -> float | None:
        """Return the exposure that an earlier run metered in the first frame, or None."""
        found = self.noted().get("exposure")
        return float(found) if isinstance(found, (int, float)) else None

    def note(self, values: dict[str, Any]) -> None:
        """Keep what was found in the first frame and holds for all of them."""
        text = json.dumps(values).encode()
        self._replace(self._notes, lambda file: file.write(text))

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

    def _replace(self, path: Path, fill: Callable[[IO[bytes]], object]) -> None:
        # Several machines may write into the folder: numbers of processes repeat.
        new = path.with_name(f"{path.name}.{secrets.randbits(62)}.new")
        try:
            with new.open("wb") as file:
                fill(file)
            new.replace(path)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
