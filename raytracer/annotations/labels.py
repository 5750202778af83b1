"""Labels at spheres."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Sheet, contrast
from raytracer.annotations.surface import Strip
from raytracer.drawing.fonts import CAP_HEIGHT, width
from raytracer.drawing.shapes import Text
from raytracer.scene.annotations import Labels
from raytracer.scene.simulation_box import triple


@dataclass(frozen=True, eq=False)
class Named:
    """All spheres of a scene, in its order."""

    centers: NDArray[np.float64]  # (N, 3), scene space
    texts: Sequence[str]  # N labels
    colors: NDArray[np.float64]  # of the spheres, sRGB in 0..1, (N, 3)


class SeenLabels:
    """The labels whose spheres are visible."""

    def __init__(self, named: Named, projection: Projection) -> None:
        self._named = named
        points = projection.space.point(named.centers)
        depths = projection.depth(points)
        ahead = np.flatnonzero((depths > 0.0) | (not projection.perspective))
        self._rows, self._depths = ahead, depths[ahead]
        self.points = projection.pixels(points[ahead])
        self._seen = np.zeros(len(ahead), np.bool_)

    def find(self, strip: Strip) -> None:
        """Find the labels whose sphere is seen at its centre in a strip."""
        inside, rays = strip.rays_at(self.points)
        self._seen[inside] |= strip.id[rays] == self._rows[inside]

    def draw(self, sheet: Sheet, labels: Labels) -> None:
        """Write the labels, without those that would overlap one nearer to the camera."""
        size = sheet.letters(labels.size, "labels")
        seen = np.flatnonzero(self._seen)
        texts = [self._named.texts[self._rows[index]] for index in seen]
        sizes = np.array([(width(text, size), size) for text in texts]).reshape(-1, 2)
        for index in seen[_apart(self.points[seen], sizes, self._depths[seen])]:
            row = int(self._rows[index])
            over = contrast(triple(self._named.colors[row]))
            ink = over if labels.color is None else sheet.ink(labels.color)
            x, y = self.points[index].tolist()
            y += CAP_HEIGHT * size / 2.0
            text = Text(self._named.texts[row], x, y, size, ink, 0.5, contrast(ink))
            sheet.drawing.add(text)


def _apart(
    centers: NDArray[np.float64], sizes: NDArray[np.float64], depths: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the rectangles that overlap none of those kept with a smaller depth, ascending."""
    kept, count = np.empty((len(centers), 4)), 0
    rows = []
    for row in np.argsort(depths, kind="stable").tolist():
        apart = np.abs(kept[:count, :2] - centers[row]) >= (kept[:count, 2:] + sizes[row]) / 2.0
        if apart.any(axis=1).all():
            kept[count], count = (*centers[row], *sizes[row]), count + 1
            rows.append(row)
    return np.array(sorted(rows), np.intp)
