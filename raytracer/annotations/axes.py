"""A tripod of the axes, which turns with the camera."""

from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import BLACK, Sheet
from raytracer.drawing.fonts import CAP_HEIGHT
from raytracer.drawing.shapes import RGB, Line, Point, Polygon, Text
from raytracer.model.annotations import AXIS_COLORS, Axes

LIGHT: tuple[RGB, ...] = ((1.0, 0.42, 0.4), (0.36, 0.84, 0.42), (0.47, 0.65, 1.0))
"""The same in front of a dark background."""

SHAFT = 0.07  # width of a shaft, as a part of an axis
HEAD = 0.3  # length of an arrow's head, as a part of an axis; half of it is its width
BEYOND = 0.55  # distance of a name's middle from the tip, in font sizes
MIN_LENGTH = 0.02  # as a part of an axis, below which an axis points at the viewer


def draw(sheet: Sheet, axes: Axes, projection: Projection) -> None:
    """Draw the tripod; axes that point away from the viewer first."""
    length, size, names, reach, (x, y), colors = reserve_tripod(sheet, axes)
    directions = projection.directions(np.eye(3))
    shift_x, shift_y = _shift_into_margin(axes.place, directions, reach)
    middle = x + shift_x, y + shift_y
    for axis in np.argsort(directions[:, 2], kind="stable"):
        along = float(directions[axis, 0]) * length, -float(directions[axis, 1]) * length
        _arrow(sheet, middle, along, length, colors[axis])
        _name(sheet, middle, along, size, names[axis], colors[axis])


def reserve_tripod(
    sheet: Sheet, axes: Axes
) -> tuple[float, float, list[str], float, Point, tuple[RGB, ...]]:
    """Take the place of a tripod: length of its axes, size and texts of their names, how far all
    reaches from the origin, in pixels; the origin, and the colours."""
    length, size = axes.length * sheet.point, sheet.choose_font_size(axes.size, "axes")
    names = axes.labels.split() or ["", "", ""]
    reach = length + (BEYOND + 0.4) * size if any(names) else length
    x, y = sheet.reserve(axes.place, 2.0 * reach, 2.0 * reach)
    colors = AXIS_COLORS if sheet.choose_ink(None, axes.place) == BLACK else LIGHT
    return length, size, names, reach, (x + reach, y + reach), colors


def name_tips(sheet: Sheet, axes: Axes, tips: NDArray[np.float64], projection: Projection) -> None:
    """Write the names of axes in the scene at their tips, if these are in front of the camera;
    tips: where the axes begin and where each ends, (4, 3), scene units."""
    points = projection.space.point(tips)
    depths = projection.depth(points)
    size = sheet.choose_font_size(axes.size, "axes")
    colors = AXIS_COLORS if sheet.choose_ink(None) == BLACK else LIGHT
    for axis, name in enumerate(axes.labels.split()):
        ends = [0, axis + 1]
        if projection.perspective and not (depths[ends] > 0.0).all():
            continue
        (x, y), (tip_x, tip_y) = projection.pixels(points[ends]).tolist()
        _name(sheet, (x, y), (tip_x - x, tip_y - y), size, name, colors[axis])


def _shift_into_margin(place: str, directions: NDArray[np.float64], reach: float) -> Point:
    """Return how far the origin moves so that the tripod itself, and no ball, is at the margin."""
    low = np.minimum(directions.min(axis=0), 0.0).tolist()
    high = np.maximum(directions.max(axis=0), 0.0).tolist()
    x = -(1.0 + low[0]) * ("left" in place) + (1.0 - high[0]) * ("right" in place)
    y = (1.0 + low[1]) * ("bottom" in place) - (1.0 - high[1]) * ("top" in place)
    return x * reach, y * reach


def _arrow(sheet: Sheet, start: Point, along: Point, length: float, color: RGB) -> None:
    """Draw an axis with its head; along: from its start to its tip, length: before projection."""
    long = hypot(*along)
    thick = max(SHAFT * length, 1.0)
    if long < MIN_LENGTH * length:
        sheet.shapes.append(Line((start, start), 2.0 * thick, color))
        return
    ux, uy = along[0] / long, along[1] / long
    head = min(HEAD * length, long)
    tip = start[0] + along[0], start[1] + along[1]
    neck = tip[0] - ux * head, tip[1] - uy * head
    half = (HEAD * length / 2.0 + thick) / 2.0
    sides = (neck[0] - uy * half, neck[1] + ux * half), (neck[0] + uy * half, neck[1] - ux * half)
    if long > head:
        sheet.shapes.append(Line((start, neck), thick, color))
    sheet.shapes.append(Polygon((tip, *sides), color))


def _name(sheet: Sheet, start: Point, along: Point, size: float, name: str, color: RGB) -> None:
    """Write the name of an axis beyond its tip, or to the lower right of one towards the viewer."""
    long = hypot(*along)
    ux, uy = (along[0] / long, along[1] / long) if long > 1.0 else (sqrt(0.5), sqrt(0.5))
    beyond = long + BEYOND * size
    x, y = start[0] + ux * beyond, start[1] + uy * beyond
    place = x, y + CAP_HEIGHT * size / 2.0
    rim = sheet.halo(sheet.choose_ink(None))
    sheet.shapes.append(Text(name, *place, size, color, 0.5, rim))
