"""The simulation box and the axes as glyphs: edges as capsules, axes as arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from raytracer.scene.annotations import AXIS_COLORS, SimulationBox
from raytracer.scene.glyphs.arrows import arrow_shapes
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

COLOR = "#505050"
"""Colour of edges."""

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
    return [CapsuleSet(starts, stops, radius, wanted.color or COLOR)]


def axes_shapes(scene: Scene, wanted: Axes) -> list[CapsuleSet]:
    """Return the three axes as arrows, from the corner of the box or from the origin.

    Args:
        scene: with its particles.
        wanted: where, and how long.

    Raises:
        SceneError: they go to the corner of a box, and there is none.
    """
    base, directions, length = axes_at(scene, wanted)
    made = []
    for direction, color in zip(directions, AXIS_COLORS, strict=True):
        made += arrow_shapes(
            base[None], (base + length * direction)[None], length / AXIS_SLENDER, color=color
        )
    return made


def axes_at(scene: Scene, wanted: Axes) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return where the axes begin, (3,), their directions, (3, 3), and their length."""
    if wanted.place == "origin":
        return np.zeros(3), np.eye(3), wanted.extent or AXIS * _extent(scene)
    box: Box = box_of(scene, SimulationBox())
    edges = np.array(box.edges, np.float64)
    shortest = float(np.sqrt(np.square(edges).sum(axis=1)).min())
    origin = np.array(box.origin, np.float64)
    return origin, np.eye(3), wanted.extent or AXIS * shortest


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
