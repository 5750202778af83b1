"""Simulation boxes: that of a scene, in scene units, and the periodic ones of sets."""

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError
from raytracer.model.arrays import for_each_block
from raytracer.model.particle_source import Box
from raytracer.model.render_space import transform_rows
from raytracer.model.sphere_set import SphereSet

if TYPE_CHECKING:
    from raytracer.model.annotations import SimulationBox
    from raytracer.model.scene import Scene

MIN_EDGE, MAX_EDGE = 1e-30, 1e30  # for which sums and products stay in float64
MIN_VOLUME = 1e-9  # relative to the product of the edges, below which a box counts as flat


def box_edges(origin: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ends of the twelve edges of a cell, (12, 2, 3); edges: one per row, (3, 3)."""
    result = []
    for axis in range(3):
        one, other = np.delete(edges, axis, axis=0)
        for first, second in product((0.0, 1.0), repeat=2):
            start = origin + first * one + second * other
            result.append((start, start + edges[axis]))
    return np.array(result)


def find_box(scene: "Scene", wanted: "SimulationBox") -> Box:
    """Return the given simulation box, or that of the first file with one."""
    if wanted.edges is not None:
        a, b, c = map(to_triple, wanted.edges)
        box = Box(to_triple(wanted.origin or (0.0, 0.0, 0.0)), (a, b, c))
    else:
        boxes = (find_file_box(spheres) for spheres in scene.spheres)
        result = next((box for box in boxes if box is not None), None)
        if result is None:
            raise SceneError(
                "box: the files of the scene have no simulation box: set "
                "edges = [[x, y, z], [x, y, z], [x, y, z]], or leave the box out"
            )
        box = result if wanted.origin is None else Box(to_triple(wanted.origin), result.edges)
    if periodic_cell(box) is None or np.abs(box.origin).max() > MAX_EDGE:
        raise SceneError(
            "box.edges: the three edges lie in a plane, or a number is extremely large; give "
            "three independent vectors"
        )
    return box


def periodic_cell(box: Box | None) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Return the edges (3, 3) of a box, and which are periodic; None if they lie in a plane, or are
    extremely short or long."""
    if box is None:
        return None
    edges = np.array(box.edges, np.float64)
    lengths = np.linalg.norm(edges, axis=1)
    is_usual = ((lengths > MIN_EDGE) & (lengths < MAX_EDGE)).all()
    if not is_usual or not abs(np.linalg.det(edges)) > MIN_VOLUME * lengths.prod():
        return None
    return edges, np.array(box.periodic)


def nearest_boxes(steps: NDArray[np.float64], box: Box | None) -> NDArray[np.float64]:
    """Return the numbers of boxes along its periodic edges in the lattice vectors nearest to steps,
    (M, 3); 0 for NaN."""
    cell = periodic_cell(box)
    if cell is None or not cell[1].any():
        return np.zeros_like(steps)
    boxes = np.rint(transform_rows(np.nan_to_num(steps), np.linalg.inv(cell[0]).T))
    boxes[:, ~cell[1]] = 0.0
    return boxes


def require_box(spheres: SphereSet, place: str, purpose: str) -> Box:
    """Return the box of a set. Raises SceneError if it has none, or one without volume."""
    name = spheres.source or "the set"
    if spheres.box is None:
        raise SceneError(f"{place}: {name} has no periodic box to {purpose}")
    if periodic_cell(spheres.box) is None:
        raise SceneError(
            f"{place}: the box of {name} is invalid: its edges lie in a plane, or are extremely "
            "short or long"
        )
    return spheres.box


def wrap_positions(spheres: SphereSet, place: str) -> SphereSet:
    """Move particles outside of the periodic box into it, along its periodic edges."""
    box = require_box(spheres, place, "move particles into")
    if not any(box.periodic):
        name = spheres.source or "the set"
        raise SceneError(f"{place}: the box of {name} is not periodic; leave this out")
    edges, origin = np.array(box.edges, np.float64), np.array(box.origin, np.float64)
    inverse, open_edges = np.linalg.inv(edges), ~np.array(box.periodic)
    moved = spheres.centers.copy()

    def work(rows: slice) -> None:
        centers = spheres.centers[rows].astype(np.float64)
        boxes = np.floor((centers - origin) @ inverse)
        boxes[:, open_edges] = 0.0
        outside = boxes.any(axis=1)
        moved[rows][outside] = (centers - boxes @ edges)[outside]

    for_each_block(len(moved), work)
    return spheres.changed(centers=moved)


def find_file_box(spheres: SphereSet) -> Box | None:
    """Return the simulation box of a set's file in scene units, or None."""
    if (box := spheres.box) is None:
        return None
    linear, move = spheres.transform.linear(), spheres.transform.translate
    a, b, c = map(to_triple, np.array(box.edges, np.float64) @ linear.T)
    return Box(to_triple(linear @ np.array(box.origin, np.float64) + move), (a, b, c))


def to_triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
