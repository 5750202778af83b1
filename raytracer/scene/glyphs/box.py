"""The simulation box and the axes as glyphs: edges as capsules, axes as arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from raytracer.errors import SceneError
from raytracer.scene.annotations import AXIS_COLORS, SimulationBox
from raytracer.scene.glyphs.arrows import arrow_shapes, least_length
from raytracer.scene.glyphs.shared import placed
from raytracer.scene.scene import CapsuleSet
from raytracer.scene.simulation_box import box_of, segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.annotations import Axes
    from raytracer.scene.particles.source import Box
    from raytracer.scene.scene import Scene

EDGE = 1.0 / 600.0
"""Radius of an edge of the box, as a part of the box's diagonal."""

COLOR, LIGHT_COLOR = "#505050", "#b8b8b8"
"""Colour of edges, and that on a dark background."""

AXIS = 0.25
"""Length of an axis, as a part of the shortest edge of the box, or of the scene's extent."""

AXIS_SLENDER = 26.0
"""Length of an axis in radii of its shaft."""


def box_shapes(scene: Scene, wanted: SimulationBox) -> list[CapsuleSet]:
    """Return the edges of the simulation box as capsules.

    Args:
        scene: its files state the box, unless `wanted` does.
        wanted: radius and colour.

    Raises:
        SceneError: there is no box, or it has no volume.
    """
    box = box_of(scene, wanted)
    edges = np.array(box.edges, np.float64)
    ends = segments(np.array(box.origin, np.float64), edges)
    radius = wanted.radius or EDGE * _diagonal(edges)
    starts, stops = (np.array(side) for side in zip(*ends, strict=True))
    color = wanted.color or (LIGHT_COLOR if scene.background.is_dark else COLOR)
    return [CapsuleSet(starts, stops, radius, color)]


class PlacedAxes(NamedTuple):
    """Axes in the scene, in its units.

    Args:
        base: where they begin, float64 (3,).
        tips: where they end, float64 (3, 3), an axis a row.
        length: of each.
    """

    base: NDArray[np.float64]
    tips: NDArray[np.float64]
    length: float


def axes_shapes(scene: Scene, wanted: Axes, box: SimulationBox | None = None) -> list[CapsuleSet]:
    """Return the three axes as arrows, from the corner of the box or from the origin.

    Args:
        scene: with its particles.
        wanted: where, and how long.
        box: that of the picture, before those of the files.

    Raises:
        SceneError: they go to the corner of a box, and there is none, or they are too short.
    """
    base, tips, length = axes_at(scene, wanted, box)
    made = []
    for tip, color in zip(tips, AXIS_COLORS, strict=True):
        made += arrow_shapes(base[None], tip[None], length / AXIS_SLENDER, color=color)
    return made


def axes_at(scene: Scene, wanted: Axes, box: SimulationBox | None = None) -> PlacedAxes:
    """Return where the axes are; arguments and errors are those of `axes_shapes`."""
    if wanted.place == "origin":
        base, length = np.zeros(3), wanted.extent or AXIS * _extent(scene)
    else:
        found: Box = box_of(scene, box or SimulationBox())
        edges = np.array(found.edges, np.float64)
        shortest = float(np.sqrt(np.square(edges).sum(axis=1)).min())
        base, length = np.array(found.origin, np.float64), wanted.extent or AXIS * shortest
    tips = base + length * np.eye(3)
    if length < least_length(base[None])[0]:
        raise SceneError(
            f"axes.extent: {length:g} is lost beside coordinates of {np.abs(base).max():g}: give a "
            "larger one, or move the scene to its origin"
        )
    return PlacedAxes(base, tips, length)


def _diagonal(edges: NDArray[np.float64]) -> float:
    """Return the longest diagonal of a cell."""
    a, b, c = edges
    corners = (a + b + c, a + b - c, a - b + c, -a + b + c)
    return max(float(np.sqrt(np.square(each).sum())) for each in corners)


def _extent(scene: Scene) -> float:
    """Return the longest side of the box around all centres; 1 without any."""
    points = [placed(spheres) for spheres in scene.spheres if spheres.count]
    sides = [float(np.ptp(p, axis=0).max()) for p in points]
    return max(sides, default=0.0) or 1.0
