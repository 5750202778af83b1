"""Labels at spheres."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Sheet, contrasting_color
from raytracer.annotations.surface import Strip
from raytracer.appearance.coloring.expression import Texts
from raytracer.appearance.glyphs.shared import pick_rgb, to_scene_units
from raytracer.config.errors import SceneError, prefix_errors
from raytracer.drawing.fonts import CAP_HEIGHT, measure_width, typeset
from raytracer.drawing.shapes import Text
from raytracer.model.annotations import Labels
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import to_triple
from raytracer.model.sphere_set import SphereSet

MAX_LABELS = 20_000  # maximum number of spheres with labels; more than a few hundred cannot be read


class LabeledSpheres(NamedTuple):
    """All spheres of a scene, in its order: centres, (N, 3), labels, and colours, sRGB, (N, 3)."""

    centers: NDArray[np.float64]
    texts: list[str]
    colors: NDArray[np.float64]


def label_spheres(scene: Scene, by: str) -> LabeledSpheres:
    """Return the spheres of a scene with their labels. Raises SceneError: a file has no such
    column, or there are too many spheres."""
    if scene.count > MAX_LABELS:
        raise SceneError(
            f"labels: the scene has {scene.count:,} spheres, and at most {MAX_LABELS:,} can be "
            "labelled: show fewer spheres, or leave the labels out"
        )
    texts: list[str] = []
    for spheres in scene.spheres:
        texts += _texts(spheres, by, len(texts))
    sets = [each for each in scene.spheres if each.count]
    none = np.zeros((0, 3))
    centers = np.concatenate([none, *map(to_scene_units, sets)])
    return LabeledSpheres(
        centers, texts, np.concatenate([none, *(pick_rgb(s, space="srgb") for s in sets)])
    )


def _texts(spheres: SphereSet, by: str, first: int) -> list[str]:
    if by == "index" and spheres.file is None:
        return [str(first + row) for row in range(spheres.count)]
    with prefix_errors("labels.by"):
        values = spheres.columns.value(by)
    if isinstance(values, Texts):
        return [values.names[index] for index in values.ids.tolist()]
    return [_word(value) for value in values.tolist()]


def _word(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip()
    if isinstance(value, list):
        return ", ".join(map(_word, value))
    return typeset(f"{value:.4g}") if isinstance(value, float) else str(value)


class SeenLabels:
    """The labels whose spheres are visible."""

    def __init__(
        self, named: LabeledSpheres, labels: Labels, sheet: Sheet, projection: Projection
    ) -> None:
        self._named, self._labels, self._sheet = named, labels, sheet
        points = projection.space.point(named.centers)
        depths = projection.depth(points)
        ahead = np.flatnonzero((depths > 0.0) | (not projection.perspective))
        self._rows, self._depths = ahead, depths[ahead]
        self._points = projection.pixels(points[ahead])
        self._seen = np.zeros(len(ahead), np.bool_)

    def update_visibility(self, strip: Strip) -> None:
        """Find the labels whose sphere is seen at its centre in a strip."""
        inside, rays = strip.rays_at(self._points)
        self._seen[inside] |= strip.id[rays] == self._rows[inside]

    def draw(self) -> None:
        """Write the labels, without those that would overlap one nearer to the camera."""
        sheet, labels, named = self._sheet, self._labels, self._named
        size = sheet.choose_font_size(labels.size, "labels")
        seen = np.flatnonzero(self._seen)
        sizes = [(measure_width(named.texts[self._rows[index]], size), size) for index in seen]
        boxes = self._points[seen], np.array(sizes).reshape(-1, 2)
        for index in seen[_select_separate(*boxes, self._depths[seen])]:
            row = int(self._rows[index])
            ink = contrasting_color(to_triple(named.colors[row]))
            ink = ink if labels.color is None else sheet.choose_ink(labels.color)
            x, y = self._points[index].tolist()
            y += CAP_HEIGHT * size / 2.0
            sheet.shapes.append(
                Text(named.texts[row], x, y, size, ink, 0.5, contrasting_color(ink))
            )


def _select_separate(
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
