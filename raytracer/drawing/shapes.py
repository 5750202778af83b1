"""Shapes and texts over a picture, which can be written as pixels, SVG and PDF.

Coordinates are pixels from the upper left corner of the whole picture; pixel (0, 0) covers 0 to 1.
Colours are sRGB in 0..1. Later shapes are drawn over earlier ones.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

POINTS = 72.0  # points of an inch
INCHES = 6.0  # length that the shorter side of a picture counts as where no dpi is given
LEGIBLE = 240  # shorter side of pictures from which a point is at least a pixel

RGB = tuple[float, float, float]
Point = tuple[float, float]


def pixels_per_point(width: int, height: int, dpi: float | None) -> float:
    """Return the pixels per point of a whole picture; without a dpi its shorter side is `INCHES`
    long, and small text is enlarged."""
    if dpi is not None:
        return dpi / POINTS
    side = min(width, height)
    return max(side / INCHES / POINTS, min(1.0, side / LEGIBLE))


@dataclass(frozen=True)
class Line:
    points: tuple[Point, ...]  # two or more; two at one place are a dot
    width: float  # in pixels
    color: RGB
    square: bool = False  # whether it ends at its first and last point, not half a width later


@dataclass(frozen=True)
class Polygon:
    """A convex polygon; points: its corners in order."""

    points: tuple[Point, ...]
    color: RGB


@dataclass(frozen=True, eq=False)
class Cells:
    """Whole pixels whose colours are not blended, as in the bar of a legend."""

    x: int  # of the upper left corner
    y: int
    colors: NDArray[np.uint8]  # (h, w, 3), sRGB


@dataclass(frozen=True)
class Text:
    text: str
    x: float  # of the anchor on the baseline
    y: float
    size: float  # of the font, pixels per em
    color: RGB
    anchor: float = 0.0  # part of the width that is left of x: 0 starts there, 1 ends there
    halo: RGB | None = None  # colour of the rim around the letters


Shape = Line | Polygon | Cells | Text

HALO = 0.09  # width of the rim around letters, in font sizes
