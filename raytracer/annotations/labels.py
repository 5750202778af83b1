"""Labels at spheres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Sheet, contrast
from raytracer.annotations.surface import Strip
from raytracer.drawing.fonts import CAP_HEIGHT
from raytracer.drawing.shapes import RGB, Text
from raytracer.scene.annotations import Labels
from raytracer.scene.simulation_box import triple


@dataclass(frozen=True, eq=False)
class Named:
    ids: NDArray[np.int64]  # their numbers in the scene, (N,)
    centers: NDArray[np.float64]  # (N, 3), scene space
    texts: Sequence[str]  # N labels
    colors: NDArray[np.float64]  # of the spheres, sRGB in 0..1, (N, 3)


class SeenLabels:
    """The labels whose spheres are visible."""

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
        """Find the labels whose sphere is seen at its centre in a strip."""
        inside, rays = strip.rays_at(self.points)
        self._seen[inside] |= strip.id[rays] == self._named.ids[self._rows[inside]]

    def draw(self, sheet: Sheet, labels: Labels) -> None:
        size = sheet.letters(labels.size, "labels")
        for index in np.flatnonzero(self._seen):
            row = int(self._rows[index])
            sphere: RGB = triple(self._named.colors[row])
            ink = contrast(sphere) if labels.color is None else sheet.ink(labels.color)
            x, y = self.points[index]
            place = float(x), float(y) + CAP_HEIGHT * size / 2.0
            text = self._named.texts[row]
            sheet.drawing.add(Text(text, *place, size, ink, 0.5, contrast(ink)))
