"""The film: what the kernels add samples to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import UserError

Crop = tuple[int, int, int, int]


@dataclass
class Film:
    """Sums of linear radiance over samples, for the whole picture or a rectangle of it.

    sums: float32 (h, w, 4), linear RGB (premultiplied by coverage) and coverage, summed over the
        samples; row 0 is the top.
    samples: how many samples a pixel the sums hold.
    x0, y0: the pixel of the full picture that sums[0, 0] is.
    width, height: the size of the full picture in pixels.
    """

    sums: NDArray[np.float32]
    samples: int
    x0: int
    y0: int
    width: int
    height: int

    @classmethod
    def blank(cls, width: int, height: int, crop: Crop | None = None) -> Film:
        """A film without samples; `crop` is x0, y0, x1, y1 in pixels, half open."""
        x0, y0, x1, y1 = checked_crop(width, height, crop)
        sums = np.zeros((y1 - y0, x1 - x0, 4), np.float32)
        return cls(sums, 0, x0, y0, width, height)

    @property
    def crop(self) -> Crop:
        """x0, y0, x1, y1 of the rectangle that the film holds, half open, in pixels."""
        height, width = self.sums.shape[:2]
        return self.x0, self.y0, self.x0 + width, self.y0 + height

    def mean(self) -> NDArray[np.float32]:
        """The linear picture, float32 (h, w, 4): the sums divided by the number of samples."""
        return self.sums / np.float32(max(self.samples, 1))

    def copy(self) -> Film:
        """A film of its own memory, to add samples to."""
        return Film(self.sums.copy(), self.samples, self.x0, self.y0, self.width, self.height)


def checked_crop(width: int, height: int, crop: Crop | None) -> Crop:
    """The rectangle to render, within the picture and not empty.

    Raises UserError for one that is empty or reaches outside.
    """
    if crop is None:
        return 0, 0, width, height
    x0, y0, x1, y1 = crop
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise UserError(
            f"crop {x0},{y0},{x1},{y1} is not a rectangle within the picture: give x0,y0,x1,y1 "
            f"with 0 <= x0 < x1 <= {width} and 0 <= y0 < y1 <= {height}"
        )
    return crop
