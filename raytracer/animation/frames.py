"""Finished frames of an animation on disk, from which an interrupted run continues.

Frames of a movie are kept beside it until it is complete: NumPy archives whose names have the
number of the frame and a digest of all that it depends on, and whose checksums reveal damage.
Numbered pictures are PNG or OpenEXR, and have the digest in their metadata.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.animation.encoder import Pixels, no_transparency
from raytracer.errors import OutputError, UserError
from raytracer.files import output
from raytracer.film import png
from raytracer.film.image import Image

NUMBER = re.compile(r"#+|%0?(\d*)d")  # placeholder of the number in the name of a picture

_KEPT = re.compile(rf"\d{{6,}}-[0-9a-f]{{16}}\.\S+|{re.escape(output.PREFIX)}\S+")


class FrameFiles:
    """Finished frames, one file each, with its final name once it is complete, in `folder`.

    target: path of the movie, or of numbered pictures with # or %d for the number. digest: of all
    that the frames depend on, 16 hexadecimal digits.
    """

    def __init__(self, target: Path, digest: str, count: int) -> None:
        self.target, self.digest, self.count = target, digest, count
        self.folder = target.parent

    def has(self, index: int) -> bool:
        """Whether a frame is finished."""
        raise NotImplementedError

    def exposure(self) -> float | None:
        """Return the exposure that an earlier run metered in the first frame, or None."""
        raise NotImplementedError


class MovieFrames(FrameFiles):
    """The frames of a movie, opaque or not, in the folder NAME.frames beside it, which is created;
    fresh: whether to remove frames of earlier runs."""

    def __init__(
        self, target: Path, digest: str, count: int, opaque: bool = False, fresh: bool = False
    ) -> None:
        super().__init__(target, digest, count)
        self.opaque = opaque
        self.folder = target.with_name(f"{target.name}.frames")
        if fresh:
            self.remove()
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{self.folder}: cannot be created for finished frames ({error.strerror})"
            ) from None

    def path(self, index: int) -> Path:
        return self.folder / f"{index:06d}-{self.digest}.npz"

    def has(self, index: int) -> bool:
        return self.path(index).is_file()

    def exposure(self) -> float | None:
        if not self.has(0):
            return None
        stops = float(self._array(0, "exposure"))
        return None if isnan(stops) else stops

    def pixels_of(self, image: Image) -> Pixels:
        """Return a picture in the form of storage, uint8 (h, w, 3 or 4), contiguous. Raises
        UserError: it is transparent, and the movie has no transparency."""
        if self.opaque and image.transparent:
            raise no_transparency(self.target)
        return _packed(image.to_uint8())

    def write(self, index: int, pixels: Pixels, exposure: float | None = None) -> None:
        """Store a frame, uint8 (h, w, 3 or 4). Raises OutputError: the disk is full."""
        path = self.path(index)
        stops = np.float64(nan if exposure is None else exposure)
        try:
            with output.temporary(self.folder) as new:
                with new.open("wb") as file:
                    np.savez(
                        file, frame=pixels, exposure=stops
                    )  # to compress would take as long as the encoder
                new.replace(path)
        except FileNotFoundError:
            raise OutputError(
                f"{self.folder}: was removed: another command has completed the movie"
            ) from None
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror})") from None

    def read(self, index: int) -> Pixels:
        return self._array(index, "frame")

    def _array(self, index: int, name: str) -> NDArray[Any]:
        path = self.path(index)
        try:
            with path.open("rb") as file, np.load(file) as archive:
                array: NDArray[Any] = archive[name]
        except Exception:  # of zipfile, zlib or NumPy
            raise OutputError(f"{path}: is damaged: run the command again with --fresh") from None
        return array

    def remove(self) -> None:
        """Remove the frames, and the folder if it is then empty."""
        with suppress(OSError):
            for path in list(self.folder.iterdir()):
                if _KEPT.fullmatch(path.name):
                    path.unlink(missing_ok=True)
        self.remove_folder_if_empty()

    def remove_folder_if_empty(self) -> None:
        with suppress(OSError):
            self.folder.rmdir()


class NumberedPictures(FrameFiles):
    @property
    def is_film(self) -> bool:
        return self.target.suffix.lower() == ".exr"

    def path(self, index: int) -> Path:
        digits = len(str(self.count - 1))

        def number(match: re.Match[str]) -> str:
            width = len(match[0]) if match[0].startswith("#") else int(match[1] or 0)
            return f"{index:0{max(width, digits if width else 0)}d}"

        return self.folder / NUMBER.sub(number, self.target.name, count=1)

    def has(self, index: int) -> bool:
        return bool(self._about(index))

    def exposure(self) -> float | None:
        value = self._about(0).get("exposure")
        return float(value) if isinstance(value, (int, float)) else None

    def save(self, index: int, image: Image, exposure: float | None) -> None:
        about = {
            "frame": index, "of": self.count, "digest": self.digest, "exposure": exposure,
        }  # fmt: skip
        image.metadata["animation"] = about
        if self.is_film:
            image.film.metadata |= {"animation": about}
            image.film.save(self.path(index))
        else:
            image.save(self.path(index))

    def _about(self, index: int) -> dict[str, Any]:
        """Return the metadata of a picture about the same animation, or {}."""
        path = self.path(index)
        if not path.is_file():
            return {}
        read: Callable[..., dict[str, Any] | None] = png.read_metadata
        if self.is_film:
            from raytracer.film import film_file

            read = film_file.read_metadata
        try:
            about = (read(path, is_input=False) or {}).get("animation")
        except UserError:
            return {}
        return about if isinstance(about, dict) and about.get("digest") == self.digest else {}


def _packed(pixels: Pixels) -> Pixels:
    """Return a contiguous picture, which encoders need; without alpha NumPy takes five times as
    long by pixel as by channel."""
    if pixels.flags.c_contiguous:
        return pixels
    packed = np.empty_like(pixels, order="C")
    for channel in range(pixels.shape[-1]):
        packed[..., channel] = pixels[..., channel]
    return packed
