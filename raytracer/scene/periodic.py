"""Periodic boxes: wrap particles into the box, and replicate it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError
from raytracer.field_types import Integer, Numbers, number_of

if TYPE_CHECKING:
    from raytracer.scene.particles.source import Box
    from raytracer.scene.sphere_set import SphereSet

MAX_BOXES = 1000  # most boxes along one edge


class Counts(Numbers):
    """Numbers of boxes along the three edges: three whole numbers, or one for all."""

    def __init__(self) -> None:
        noun = f"three whole numbers from 1 to {MAX_BOXES}"
        super().__init__(3, noun, "A,B,C", item=Integer(1, MAX_BOXES))

    def checked(self, value: Any, name: str) -> Any:
        if isinstance(value, str):  # from the command line
            value = number_of(value.lower().replace("x", ","))
        return super().checked([value] * 3 if isinstance(value, int) else value, name)


REPLICATE = Counts()


def wrapped(spheres: SphereSet, place: str) -> SphereSet:
    """Move particles outside of the periodic box into it, along its periodic edges."""
    import numpy as np

    from raytracer.scene.arrays import each_block

    box = box_of_set(spheres, place, "move particles into")
    if not any(box.periodic):
        raise SceneError(f"{place}: the box of {_name(spheres)} is not periodic; leave this out")
    edges, origin = np.array(box.edges, np.float64), np.array(box.origin, np.float64)
    inverse, open_edges = np.linalg.inv(edges), ~np.array(box.periodic)
    moved = spheres.centers.copy()

    def work(rows: slice) -> None:
        centers = spheres.centers[rows].astype(np.float64)
        boxes = np.floor((centers - origin) @ inverse)
        boxes[:, open_edges] = 0.0
        outside = boxes.any(axis=1)
        moved[rows][outside] = (centers - boxes @ edges)[outside]

    each_block(len(moved), work)
    return spheres.changed(centers=moved)


def box_of_set(spheres: SphereSet, place: str, purpose: str) -> Box:
    """Return the box of a set. Raises SceneError if it has none, or one without volume."""
    from raytracer.scene.simulation_box import cell_of

    box = spheres.box
    if box is None:
        raise SceneError(f"{place}: {_name(spheres)} has no periodic box to {purpose}")
    if cell_of(box) is None:
        raise SceneError(
            f"{place}: the box of {_name(spheres)} is invalid: its edges lie in a plane, or are "
            "extremely short or long"
        )
    return box


def _name(spheres: SphereSet) -> str:
    return spheres.source or "the set"
