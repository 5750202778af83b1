"""Labels at spheres: where their middles are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from raytracer.annotations.sheet import contrast
from raytracer.drawing.fonts import CAP_HEIGHT
from raytracer.drawing.shapes import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raytracer.annotations.projection import Projection
    from raytracer.annotations.sheet import Sheet
    from raytracer.annotations.surface import Strip
    from raytracer.drawing.shapes import RGB
    from raytracer.scene.annotations import Labels


@dataclass(frozen=True, eq=False)
class Named:
    """The spheres that have labels.

    Args:
        ids: their numbers in the scene, (N,).
        centers: float64 (N, 3), scene space.
        texts: N labels.
        colors: of the spheres, sRGB in 0..1, (N, 3).
    """

    ids: NDArray[np.int64]
    centers: NDArray[np.float64]
    texts: Sequence[str]
    colors: NDArray[np.float64]


class SeenLabels:
    """Labels of which strip after strip tells the spheres that are in front.

    Args:
        named: the spheres.
        projection: the camera.
    """

    def __init__(self, named: Named, projection: Projection) -> None:
        self._named = named
        points = projection.to_render_space(named.centers)
        ahead = np.flatnonzero(projection.depth(points) > 0.0)
        if not projection.perspective:
            ahead = np.arange(len(points))
        self._rows = ahead
        self.points = projection.pixels(points[ahead])
        self._seen = np.zeros(len(ahead), np.bool_)

    def find(self, strip: Strip) -> None:
        """Mark the labels whose spheres are seen at their middles in a strip."""
        rays = np.floor(self.points * strip.fine).astype(np.int64) - (strip.x, strip.y)
        rows, columns = strip.id.shape
        inside = (rays >= 0).all(axis=1) & (rays[:, 0] < columns) & (rays[:, 1] < rows)
        x, y = rays[inside].T
        self._seen[inside] |= strip.id[y, x] == self._named.ids[self._rows[inside]]

    def draw(self, sheet: Sheet, labels: Labels) -> None:
        """Draw the labels of the spheres that were seen."""
        size = sheet.letters(labels.size, "labels")
        for index in np.flatnonzero(self._seen):
            row = int(self._rows[index])
            own = self._named.colors[row]
            sphere: RGB = (float(own[0]), float(own[1]), float(own[2]))
            ink = contrast(sphere) if labels.color is None else sheet.ink(labels.color)
            x, y = self.points[index]
            place = float(x), float(y) + CAP_HEIGHT * size / 2.0
            text = self._named.texts[row]
            sheet.drawing.add(Text(text, *place, size, ink, 0.5, contrast(ink)))
