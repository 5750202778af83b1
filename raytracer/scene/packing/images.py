"""Periodic images by instancing: spheres and tree of one cell, seen in each box of a lattice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import ImagedSpheres, Spheres
from raytracer.layout import dtype
from raytracer.render_space import Space
from raytracer.scene.extent import Subject

if TYPE_CHECKING:
    from raytracer.scene.replicated_set import ReplicatedSet
    from raytracer.scene.scene import Scene

MIN_CELL = 1_000_000
"""Spheres of a cell from which images are instances: rays of copies are traced in packets, so that
frames of 27 cells of 1,000 spheres take a quarter of the time, of 100,000 less than half."""

MIN_COPIES = 50_000_000
"""Spheres of all images from which they are instances in any case: copies take 4 GB."""

MARGIN = 1e-6  # of the box around the cell, relative to its farthest corner: float32 rounds it


def cell_of(scene: Scene) -> tuple[Scene, ReplicatedSet] | None:
    """Return the scene with one cell in place of its images, and the set of all images.

    None where the images are to be copied: of small cells, whose copies are rendered faster; beside
    other sets or solids; where materials send out light or are of glass, whose tables list each
    sphere; where a position has too few bits; and where arrays of all images have been made.
    """
    sets = [each for each in scene.spheres if each.count]
    if len(sets) != 1 or sets[0].cell is None or scene.solid_count:
        return None
    images, cell = cast("ReplicatedSet", sets[0]), sets[0].cell
    material = scene.material_of(images)
    if cell.count < MIN_CELL and images.count < MIN_COPIES:
        return None
    lists = getattr(material, "transmission", 0.0) or getattr(material, "emission", 0.0)
    if lists or not images.fits:
        return None
    return replace(scene, spheres=[cell]), images


def pack_images(
    cell: Spheres, images: ReplicatedSet, space: Space, has_ground: bool
) -> tuple[ImagedSpheres, NDArray[np.void]]:
    """Return all images for a view that fits them, and the lattice for kernels, structured (1,).

    cell: in render space. has_ground: whether a row for a ground follows those of the cell.
    """
    linear, _ = space.placing(images.transform)
    edges = images.edges @ linear.T
    count = cell.size
    lattice = np.zeros(1, dtype("ImageLattice"))
    low, high = Subject(cell, "all").box()
    margin = MARGIN * max(float(np.abs(low).max()), float(np.abs(high).max()))
    lattice["low"], lattice["high"] = low - margin, high + margin
    lattice["edges"], lattice["counts"] = edges.ravel(), images.counts
    lattice["step_bits"] = images.step_bits
    lattice["row_bits"] = (count + has_ground - 1).bit_length()
    lattice["primitives"], lattice["ground"] = count, images.count
    return ImagedSpheres.of(cell, lattice), lattice
