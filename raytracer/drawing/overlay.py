"""Overlays: all that is drawn over a picture, ready for compositing."""

from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from raytracer.drawing import raster
from raytracer.drawing.shapes import RGB, Shape
from raytracer.film.film import Crop, Pixels


@dataclass(frozen=True, eq=False)
class Overlay:
    """What is drawn over a picture after the tone curve: fog, then outlines, then shapes."""

    shapes: list[Shape]  # in pixels of the whole picture, from the bottom to the top
    crop: Crop  # the pixels of the picture: x0, y0, x1, y1, half open
    point: float  # pixels of a point
    fog: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
    """Part of its colour in each pixel, (h, w), and this in each row, sRGB in 0..1, (h, 3)."""
    lines: tuple[NDArray[np.float32], RGB] | None = None  # coverage of outlines, (h, w), colour

    def draw_over(self, pixels: Pixels) -> Pixels:
        """Return a copy of a picture (h, w, 4) with the overlay."""
        result = self.draw_shading(pixels)
        raster.draw(self.shapes, result, self.crop[:2])
        return result

    def write(self, file: BinaryIO, pixels: Pixels | None, kind: str, description: str) -> None:
        """Write a picture of `shaded`, or none, with shapes and texts over it as vectors; kind:
        "SVG" or "PDF"."""
        from raytracer.drawing.vector import format_svg, write_pdf

        parts = self.shapes, pixels, self.point, self.crop, description
        if kind == "PDF":
            write_pdf(file, *parts)
        else:
            file.write(format_svg(*parts).encode())

    def draw_shading(self, pixels: Pixels) -> Pixels:
        """Return a picture with only fog and outlines, which vector formats cannot draw."""
        result = pixels.copy()
        if self.fog is not None:
            _fade(result, *self.fog)
        if self.lines is not None:
            raster.blend_color(result, *self.lines)
        return result


def _fade(pixels: Pixels, part: NDArray[np.float32], colors: NDArray[np.float32]) -> None:
    """Blend pixels with the colour of their row, (h, 3), by a share 0..1, (h, w), in place."""
    most = np.float32(np.iinfo(pixels.dtype).max)
    for y in range(len(pixels)):
        weight = part[y][:, None]
        if weight.any():
            mixed = pixels[y, :, :3] * (1.0 - weight) + colors[y] * most * weight
            pixels[y, :, :3] = np.rint(mixed).astype(pixels.dtype)
