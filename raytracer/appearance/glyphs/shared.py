"""Common functions of glyphs: positions, conditions, columns, colours."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring.by_scale import color_by_scale
from raytracer.appearance.coloring.expression import select_rows
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.style import SetStyle, StyleSettings
from raytracer.appearance.columns import Columns
from raytracer.config.errors import SceneError, quote
from raytracer.model.colors import Color, linear_to_srgb, parse_color
from raytracer.model.particle_source import Box, Column, column_kind
from raytracer.model.render_space import transform_rows
from raytracer.model.simulation_box import nearest_boxes
from raytracer.model.sphere_set import SphereSet
from raytracer.system.memory import require_room

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]
ROW = 320  # most bytes per capsule during construction


class GlyphSet(NamedTuple):
    """Glyphs of one type in scene units, and their colour scales."""

    solids: list[Any]
    scales: Sequence[ColorScale] = ()


def to_scene_units(spheres: SphereSet, centers: NDArray[Any] | None = None) -> Doubles:
    """Return the centres of a set, or other points in its units, in scene units, (N, 3)."""
    points = spheres.centers if centers is None else centers
    return transform_rows(points, spheres.transform.linear(), spheres.transform.translate)


def broadcast_radii(spheres: SphereSet) -> Doubles:
    radii = np.asarray(spheres.radius, np.float64) * spheres.transform.scale
    return np.broadcast_to(radii, (spheres.count,))


def find_image_shifts(steps: Doubles, box: Box | None) -> Doubles:
    """Return the lattice vectors of a periodic box nearest to steps, (M, 3); 0 for NaN."""
    boxes = nearest_boxes(steps, box)
    return boxes if box is None else transform_rows(boxes, np.array(box.edges, np.float64).T)


def select_every(columns: Columns, select: str | None, every: int, place: str) -> Rows:
    """Return the selected rows, and of these every n-th, (M,)."""
    if select is None:
        return np.arange(columns.count)[::every]
    rows = select_rows(select, columns, f"{place}.select")
    if not len(rows):
        raise SceneError(f"{place}.select: nothing fulfils '{quote(select)}'")
    return rows[::every]


def find_rows_by_id(known: NDArray[Any], ids: NDArray[Any]) -> Rows:
    """Return the row of each id, (M,); -1 for unknown ids."""
    if not len(known):
        return np.full(len(ids), -1)
    order = np.argsort(known, kind="stable")
    rows = order[np.minimum(np.searchsorted(known[order], ids), len(known) - 1)]
    return np.where(known[rows] == ids, rows, -1)


def take_or_fill(values: NDArray[Any], rows: Rows, missing: float) -> NDArray[Any]:
    """Return some rows of an array, (M, 3), and the number `missing` for rows that it lacks."""
    found = np.full((len(rows), 3), missing)
    there = (rows >= 0) & (rows < len(values))
    found[there] = values[rows[there]]
    return found


def require_capsules(count: int, place: str) -> None:
    require_room(place, count * ROW, f"for {count:,} capsules")


def color_sets(
    sets: Sequence[SphereSet], color: Any, place: str, usual: Color | None = None
) -> tuple[list[SphereSet], list[ColorScale]]:
    """Return the sets of what glyphs stand for in one colour, by a rule over their columns, or None
    in their own, and their scales. usual: instead of one colour of a whole set."""
    if isinstance(color, StyleSettings):
        made, scale = color_by_scale(sets, SetStyle(color, place=place))
        return made, [scale]
    if color is not None:
        return [with_color(each, color) for each in sets], []
    return [
        each if usual is None or each.color_id is not None or len(each.color) > 1
        else with_color(each, usual)
        for each in sets
    ], []  # fmt: skip


def with_color(spheres: SphereSet, color: Color) -> SphereSet:
    rows = np.array([parse_color(color)])
    return spheres.changed(color=rows, color_id=None, color_space="srgb")


def pick_colors(spheres: SphereSet, rows: Any = slice(None)) -> dict[str, Any]:
    """Return the colours of some rows of a set, as arguments of `CapsuleSet`."""
    space = {"color_space": spheres.color_space}
    if spheres.color_id is not None:
        return {"color": spheres.color, "color_id": spheres.color_id[rows], **space}
    return {"color": spheres.color[0 if len(spheres.color) == 1 else rows], **space}


def pick_rgb(spheres: SphereSet, rows: Any = slice(None), space: str = "") -> Doubles:
    """Return the colours of some rows of a set from 0 to 1, (M, 3), as sRGB if `space` says so."""
    palette = np.asarray(spheres.color / (255.0 if spheres.color.dtype == np.uint8 else 1.0), float)
    if space == "srgb" and spheres.color_space == "linear":
        palette = linear_to_srgb(palette)
    if spheres.color_id is not None:
        return np.asarray(palette[spheres.color_id[rows]])
    return np.asarray(np.broadcast_to(palette, (spheres.count, 3))[rows])


def add_column(spheres: SphereSet, name: str, values: NDArray[Any]) -> SphereSet:
    """Return a set with one more column of numbers or bytes, (N,), which hides one of the file."""
    data, every = spheres.data, values
    if spheres.rows is not None:
        every = np.zeros(data.total, values.dtype)
        every[spheres.rows] = values
    about = {**spheres.columns.about, name: Column(column_kind(values.dtype))}
    arrays = {**data.arrays, name: every}
    return spheres.changed(data=data._replace(arrays=arrays, about=about))
