"""Overlays: everything that is drawn over one picture, ready to be composited with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from raytracer.annotations import raster
from raytracer.scene.colors import linear_to_srgb, srgb_to_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.annotations.drawing import RGB, Drawing
    from raytracer.film.film import Crop, Pixels


@dataclass(frozen=True, eq=False)
class Overlay:
    """What is drawn over a picture, whatever its exposure: first fog, then outlines, then shapes.

    Args:
        drawing: shapes in pixels of the whole picture.
        crop: the pixels of the picture: x0, y0, x1, y1, half open.
        dpi: pixels of an inch, as the settings state it, or None.
        point: pixels of a point.
        fog: part of its colour in each pixel, float32 (h, w), or None.
        fog_color: sRGB in 0..1 of each row, (h, 3).
        lines: coverage of outlines, float32 (h, w), or None.
        line_color: sRGB in 0..1.
    """

    drawing: Drawing
    crop: Crop
    dpi: float | None
    point: float
    fog: NDArray[np.float32] | None = None
    fog_color: NDArray[np.float32] | None = None
    lines: NDArray[np.float32] | None = None
    line_color: RGB = (0.0, 0.0, 0.0)

    def over(self, pixels: Pixels) -> Pixels:
        """Return a picture with everything drawn over it.

        Args:
            pixels: uint8 or uint16 (h, w, 4), sRGB with straight alpha; it is not changed.
        """
        drawn = self.shaded(pixels)
        raster.draw(self.drawing, drawn, self.crop[:2])
        return drawn

    def shaded(self, pixels: Pixels) -> Pixels:
        """Return a picture with fog and outlines alone, which no vector format draws."""
        drawn = pixels.copy()
        if self.fog is not None and self.fog_color is not None:
            _fade(drawn, self.fog, self.fog_color)
        if self.lines is not None:
            raster.mix(drawn, self.lines, self.line_color)
        return drawn


def _fade(pixels: Pixels, part: NDArray[np.float32], colors: NDArray[np.float32]) -> None:
    """Mix a colour into pixels, in place; alpha stays.

    Args:
        pixels: uint8 or uint16 (h, w, 4), sRGB with straight alpha.
        part: of the colour, 0..1, (h, w).
        colors: sRGB in 0..1 of each row, (h, 3).
    """
    most = np.float32(np.iinfo(pixels.dtype).max)
    for y in range(len(pixels)):
        weight = part[y][:, None]
        if weight.any():
            mixed = pixels[y, :, :3] * (1.0 - weight) + colors[y] * most * weight
            pixels[y, :, :3] = np.rint(mixed).astype(pixels.dtype)


def row_colors(bottom: RGB, top: RGB, rows: tuple[int, int], height: int) -> NDArray[np.float32]:
    """Return sRGB in 0..1 of the rows of a background, float32 (rows, 3).

    Args:
        bottom, top: sRGB of both edges; between them linear light changes evenly.
        rows: of the whole picture, half open.
        height: of the whole picture.
    """
    part = 1.0 - (np.arange(*rows)[:, None] + 0.5) / height
    low, high = srgb_to_linear([bottom, top])
    return linear_to_srgb(low + part * (high - low)).astype(np.float32)
