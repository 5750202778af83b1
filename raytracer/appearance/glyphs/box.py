"""The simulation box and the axes as glyphs: edges as capsules, axes as arrows."""

import numpy as np

from raytracer.appearance.glyphs.arrows import arrow_shapes
from raytracer.appearance.glyphs.shared import Doubles, GlyphSet, to_scene_units
from raytracer.model.annotations import AXIS_COLORS, Axes, SimulationBox
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import box_edges, find_box
from raytracer.model.solids import CapsuleSet

EDGE = 1.0 / 600.0  # radius of an edge of the box, relative to its diagonal
COLOR, LIGHT_COLOR = "#505050", "#b8b8b8"  # colour of edges, and on a dark background
AXIS = 0.25  # length of an axis, relative to the shortest edge of the box, or to the scene's extent
AXIS_SLENDER = 26.0  # length of an axis in radii of its shaft


def make_box(scene: Scene, wanted: SimulationBox) -> GlyphSet:
    """Return the edges of the simulation box as capsules."""
    box = find_box(scene, wanted)
    edges = np.array(box.edges, np.float64)
    starts, stops = box_edges(np.array(box.origin, np.float64), edges).swapaxes(0, 1)
    a, b, c = edges
    across = np.array((a + b + c, a + b - c, a - b + c, -a + b + c))
    diagonal = float(np.linalg.norm(across, axis=1).max())
    color = wanted.color or (LIGHT_COLOR if scene.background.is_dark else COLOR)
    return GlyphSet([CapsuleSet(starts, stops, wanted.radius or EDGE * diagonal, color)])


def make_axes(scene: Scene, wanted: Axes) -> GlyphSet:
    """Return the three axes as arrows."""
    base, *tips = locate_axes(scene, wanted)
    radius = float(tips[0][0] - base[0]) / AXIS_SLENDER
    arrows = []
    for tip, color in zip(tips, AXIS_COLORS, strict=True):
        arrows += arrow_shapes(base[None], tip[None], radius, color=color)
    return GlyphSet(arrows)


def locate_axes(scene: Scene, wanted: Axes) -> Doubles:
    """Return the origin and the tips of the axes, (4, 3), from the corner of a box, first that of
    the picture, or from the origin."""
    base = np.zeros(3)
    if wanted.place == "origin":
        points = [to_scene_units(spheres) for spheres in scene.spheres if spheres.count]
        size = max((float(np.ptp(p, axis=0).max()) for p in points), default=0.0) or 1.0
    else:
        cell = find_box(scene, (scene.annotations and scene.annotations.box) or SimulationBox())
        base = np.array(cell.origin, np.float64)
        size = float(np.linalg.norm(np.array(cell.edges, np.float64), axis=1).min())
    length = wanted.extent or AXIS * size
    return np.concatenate([base[None], base + length * np.eye(3)])
