"""Axes: a tripod that turns with the camera."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING

import numpy as np

from raytracer.annotations.drawing import Disk, Line, Polygon, Text
from raytracer.annotations.fonts import CAP_HEIGHT

if TYPE_CHECKING:
    from raytracer.annotations.drawing import RGB
    from raytracer.annotations.projection import Projection
    from raytracer.annotations.settings import Axes
    from raytracer.annotations.sheet import Sheet

COLORS: tuple[RGB, ...] = ((0.84, 0.15, 0.16), (0.13, 0.59, 0.19), (0.16, 0.33, 0.85))
"""sRGB of x, y and z."""

SHAFT = 0.07
"""Width of a shaft, as a part of an axis."""

HEAD = 0.3
"""Length of an arrow's head, as a part of an axis; half of it is its width."""

SHORT = 0.02
"""Length in the picture, as a part of an axis, below which an axis points at the viewer."""


def draw(sheet: Sheet, axes: Axes, projection: Projection) -> None:
    """Draw the tripod; axes that point away from the viewer first."""
    length, size = axes.length * sheet.point, axes.size * sheet.point
    names = axes.labels.split() or ["", "", ""]
    room = 2.0 * (length + 0.9 * size if any(names) else length)
    x, y = sheet.take(axes.place, room, room)
    middle = x + room / 2.0, y + room / 2.0
    directions = projection.directions(np.eye(3))
    # The tripod is put where its own extent is at the margin, and not the ball around it.
    reach = length + 0.9 * size
    low, high = np.minimum(directions.min(axis=0), 0.0), np.maximum(directions.max(axis=0), 0.0)
    shift_x, shift_y = _shift(axes.place, low, high, reach, room)
    middle = middle[0] + shift_x, middle[1] + shift_y
    for axis in np.argsort(directions[:, 2], kind="stable"):
        _arrow(sheet, middle, directions[axis], length, COLORS[axis])
        _name(sheet, middle, directions[axis], (length, size), names[axis], COLORS[axis])


def _shift(place: str, low, high, reach: float, room: float) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Return how far the origin moves from the middle of the box towards the margin."""
    half = room / 2.0
    pad = 0.3 * (half - reach) if half > reach else 0.0
    x = y = 0.0
    if "left" in place:
        x = -half - low[0] * reach + pad
    elif "right" in place:
        x = half - high[0] * reach - pad
    if place.startswith("top"):
        y = -half + high[1] * reach + pad
    elif place.startswith("bottom"):
        y = half + low[1] * reach - pad
    return x, y


def _arrow(sheet, start, direction, length: float, color: RGB) -> None:  # type: ignore[no-untyped-def]
    """Draw an axis with its head."""
    dx, dy = direction[0] * length, -direction[1] * length
    long = hypot(dx, dy)
    thick = max(SHAFT * length, 1.0)
    if long < SHORT * length:
        sheet.drawing.add(Disk(start, thick, color))
        return
    ux, uy = dx / long, dy / long
    head = min(HEAD * length, long)
    tip, neck = (start[0] + dx, start[1] + dy), (start[0] + dx - ux * head, start[1] + dy - uy * head)
    half = HEAD * length / 4.0 + thick / 2.0
    sides = (neck[0] - uy * half, neck[1] + ux * half), (neck[0] + uy * half, neck[1] - ux * half)
    sheet.drawing.add(Line((start, neck), thick, color), Polygon((tip, *sides), color))


def _name(sheet, start, direction, sizes, name: str, color: RGB) -> None:  # type: ignore[no-untyped-def]
    """Write the name of an axis beyond its tip."""
    length, size = sizes
    across = hypot(direction[0], direction[1])
    ux, uy = (direction[0] / across, -direction[1] / across) if across > SHORT else (0.7, 0.7)
    beyond = length * across + 0.55 * size
    x, y = start[0] + ux * beyond, start[1] + uy * beyond
    place = x, y + CAP_HEIGHT * size / 2.0
    sheet.drawing.add(Text(name, *place, size, color, 0.5, sheet.rim))
