"""The film: sums of linear radiance to which kernels add samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import MOST, is_a, items, whole
from raytracer.errors import UserError, counted, shown_value
from raytracer.settings import MAX_SIDE

if TYPE_CHECKING:
    from raytracer.files.output import Batch
    from raytracer.film.statistics import Statistics
    from raytracer.film.tone import Pixels

Crop = tuple[int, int, int, int]


class Backdrop(NamedTuple):
    """The opaque background of a picture: a vertical gradient.

    Args:
        bottom: linear RGB at the lower edge of the full picture.
        top: linear RGB at the upper edge.
    """

    bottom: tuple[float, float, float]
    top: tuple[float, float, float]


@dataclass(repr=False)
class Film:
    """Sums of linear radiance over samples, for the whole picture or a rectangle of it.

    Args:
        sums: float32 (h, w, 4), row 0 is the top: linear RGB summed over the samples, and how many
            of the samples hit a sphere. Without a backdrop RGB is premultiplied by coverage; with
            one it holds the backdrop where samples hit nothing.
        samples: how many samples per pixel the sums hold.
        x0: column of the full picture that sums[0, 0] is.
        y0: row of the full picture that sums[0, 0] is.
        width: width of the full picture in pixels.
        height: height of the full picture in pixels.
        aovs: arbitrary output variables by name, of the ray through each pixel's centre, (h, w) or
            (h, w, 3): float32 `depth` (scene units along the ray, infinite without a hit), `normal`
            (unit, towards the viewer), `albedo` (linear RGB), `position` (scene units), and uint32
            `id` (number of the sphere, 2**32 - 1 without a hit) and `samples`.
        metadata: version, scene, settings, device and date of the render, as JSON types; `digest`
            is the hash of scene, camera and settings.
        inputs: the scene file and its data files, which `save` does not overwrite.
        backdrop: the background in the sums; None if it is transparent.
        source: the file it was loaded from, for messages.
    """

    sums: NDArray[np.float32]
    samples: int
    x0: int
    y0: int
    width: int
    height: int
    aovs: dict[str, NDArray[Any]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[Path, ...] = field(default=(), repr=False, compare=False)
    backdrop: Backdrop | None = None
    source: str = field(default="", repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Film: {outline(self, self.metadata)}>"

    @classmethod
    def blank(cls, width: int, height: int, crop: Crop | None = None) -> Film:
        """Return a film without samples.

        Args:
            width: width of the full picture in pixels.
            height: height of the full picture in pixels.
            crop: x0, y0, x1, y1 in pixels, half open: the part that the film holds.

        Raises:
            UserError: the size or the crop is invalid.
        """
        width, height = (whole(side, "size", 1, MAX_SIDE, UserError) for side in (width, height))
        x0, y0, x1, y1 = checked_crop(width, height, crop)
        sums = np.zeros((y1 - y0, x1 - x0, 4), np.float32)
        return cls(sums, 0, x0, y0, width, height)

    @property
    def crop(self) -> Crop:
        """x0, y0, x1, y1 of the rectangle that the film holds, half open, in pixels."""
        height, width = self.sums.shape[:2]
        return self.x0, self.y0, self.x0 + width, self.y0 + height

    def require_whole(self) -> None:
        """Check the fields, which a program may have replaced.

        Raises:
            UserError: a field is not what a film needs; the message names it.
        """
        if is_a(self.sums, np.ndarray):
            self.sums = np.asarray(self.sums)  # no subclass
        shape: tuple[int, ...] = getattr(self.sums, "shape", ())
        if not is_a(self.sums, np.ndarray) or (
            self.sums.dtype != np.float32 or len(shape) != 3 or shape[2] != 4 or not self.sums.size
        ):
            raise UserError(
                f"sums: {shown_value(self.sums)} are no sums of a film: they are float32 (h, w, 4)"
            )
        if not self.sums.flags.c_contiguous:
            self.sums = np.ascontiguousarray(self.sums)
        for name in ("samples", "x0", "y0", "width", "height"):
            setattr(self, name, whole(getattr(self, name), name, 0, 2**31 - 1, UserError))
        height, width = shape[0], shape[1]
        if self.x0 + width > self.width or self.y0 + height > self.height:
            raise UserError(
                f"sums: {width}x{height} pixels at {self.x0},{self.y0} reach beyond the picture of "
                f"{self.width}x{self.height}"
            )

    @property
    def is_of_old_format(self) -> bool:
        """Whether an earlier version rendered the film, without a record of the hits.

        Its background is opaque and counts as hit.
        """
        return self.backdrop is None and self.metadata.get("transparent") is False

    def mean(self) -> NDArray[np.float32]:
        """Return the linear picture, float32 (h, w, 4): RGB premultiplied by alpha, and alpha.

        Alpha is 1 with a backdrop and `coverage` without.
        """
        mean = self.sums / np.float32(max(self.samples, 1))
        if self.backdrop is not None:
            mean[..., 3] = 1.0
        return mean

    @property
    def coverage(self) -> NDArray[np.float32]:
        """Fraction of each pixel's samples that hit a sphere, float32 (h, w)."""
        return self.sums[..., 3] / np.float32(max(self.samples, 1))

    def copy(self) -> Film:
        """Return a copy of the film; only the output variables share memory with it."""
        return Film(
            self.sums.copy(),
            self.samples,
            self.x0,
            self.y0,
            self.width,
            self.height,
            dict(self.aovs),
            dict(self.metadata),
            self.inputs,
            self.backdrop,
            self.source,
        )

    def tonemap(self, *, bits: int = 8, threads: int = 0, **settings: Any) -> Pixels:
        """Return the film as a picture.

        Args:
            bits: 8 or 16 per channel.
            threads: 0 takes every core that the process may use.
            **settings: `exposure`, `tone`, `white`, `dither`, `meter` and `meter_range`, as
                `ToneSettings` describes them; the defaults leave colours alone.

        Returns:
            uint8 or uint16 (h, w, 4), sRGB with straight alpha.

        Raises:
            UserError: a setting is invalid.
        """
        from raytracer.film.tone import develop
        from raytracer.film.tone_settings import ToneSettings

        return develop(self, ToneSettings(**settings), bits, threads)

    def statistics(self, *, threads: int = 0, **settings: Any) -> Statistics:
        """Return the statistics of the film, and of its picture with 8 bits.

        Args:
            threads: 0 takes every core that the process may use.
            **settings: as for `tonemap`.

        Raises:
            UserError: a setting is invalid.
        """
        from raytracer.film.tone import statistics
        from raytracer.film.tone_settings import ToneSettings

        return statistics(self, ToneSettings(**settings), threads)

    def save(self, path: str | Path, *, half: bool = False, batch: Batch | None = None) -> Path:
        """Write the film to `.npz`, or to OpenEXR (`.exr`, with the extra `exr`).

        Args:
            path: the file, `.npz` or `.exr`.
            half: 16-bit floats in OpenEXR; such a file cannot be resumed.
            batch: a `raytracer.files.output.Batch`, to rename it together with other files.

        Returns:
            The path.

        Raises:
            OutputError: the file cannot be written.
            UserError: another suffix, or the film is invalid.
        """
        from raytracer.film import film_file

        return film_file.save(self, path, half, batch)

    @classmethod
    def load(cls, path: str | Path, aovs: Sequence[str] | None = None) -> Film:
        """Read a film that `save` wrote.

        Args:
            path: the file, `.npz` or `.exr`.
            aovs: names of the output variables to keep, where the file has them; None keeps all.

        Returns:
            The film.

        Raises:
            DataFileError: the file is no film, or cannot be read.
        """
        from raytracer.film import film_file

        stored = film_file.read(path, aovs)
        film = cls(*stored[:8], source=stored.source)
        if stored.backdrop is not None:
            film.backdrop = Backdrop(*stored.backdrop)
        return film


def outline(film: Film, metadata: dict[str, Any]) -> str:
    """Return size, samples, number of spheres and output variables of a film as one line.

    Args:
        film: the film.
        metadata: of the film or of its picture.
    """
    height, width = film.sums.shape[:2]
    parts = [f"{width}x{height}"]
    if (width, height) != (film.width, film.height):
        parts[0] += f" at {film.x0},{film.y0} of {film.width}x{film.height}"
    parts.append(counted(film.samples, "sample", " per pixel"))
    spheres = metadata.get("spheres")
    if type(spheres) is int and 0 <= spheres <= MOST:  # files may say anything
        parts.append(counted(spheres, "sphere"))
    if film.aovs:
        parts.append("with " + ", ".join(film.aovs))
    return ", ".join(parts)


def checked_crop(width: int, height: int, crop: Crop | None) -> Crop:
    """Return the rectangle to render.

    Args:
        width, height: of the picture in pixels.
        crop: x0, y0, x1, y1 in pixels, half open; None is the whole picture.

    Raises:
        UserError: the rectangle is empty, or not within the picture.
    """
    if crop is None:
        return 0, 0, width, height
    ends = items(crop, "crop", UserError)
    if len(ends) != 4:
        raise UserError(f"crop: {shown_value(crop)} is not x0, y0, x1, y1")
    x0, y0, x1, y1 = (whole(end, "crop", error=UserError) for end in ends)
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise UserError(
            f"crop {x0},{y0},{x1},{y1} is not a rectangle within the picture: give x0,y0,x1,y1 "
            f"with 0 <= x0 < x1 <= {width} and 0 <= y0 < y1 <= {height}"
        )
    return x0, y0, x1, y1
