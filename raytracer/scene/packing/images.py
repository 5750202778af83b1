"""Periodic images by instancing: spheres and tree of one cell, seen in each box of a lattice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer._native import core
from raytracer.buffers import Columns, DeviceRecords, Spheres, count_of, taken
from raytracer.layout import dtype
from raytracer.resources import thread_count
from raytracer.scene.extent import GIANT_RADIUS, Subject, radii_of
from raytracer.scene.packing.render_space import Space
from raytracer.scene.replicated_set import ReplicatedSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    if len(sets) != 1 or not isinstance(sets[0], ReplicatedSet) or scene.solid_count:
        return None
    images, cell, material = sets[0], sets[0].cell, scene.material_of(sets[0])
    if cell is None or (cell.count < MIN_CELL and images.count < MIN_COPIES):
        return None
    lists = getattr(material, "transmission", 0.0) or getattr(material, "emission", 0.0)
    if lists or not images.fits:
        return None
    return replace(scene, spheres=[cell]), images


def pack_images(
    cell: Spheres, images: ReplicatedSet, space: Space, has_ground: bool
) -> tuple[ImagedSpheres, NDArray[np.void]] | None:
    """Return all images for a view that fits them, and the lattice for kernels, structured (1,).

    None where a sphere is so large that it is no part of the subject, or has a table of its own.

    Args:
        cell: in render space.
        images: the set.
        space: render space.
        has_ground: whether a row for a ground follows those of the cell.
    """
    if radii_of(cell)[1] > GIANT_RADIUS:
        return None
    linear, _ = space.placing(images.transform)
    edges = images.edges @ linear.T
    count = count_of(cell)
    lattice = np.zeros(1, dtype("ImageLattice"))
    low, high = Subject(cell, "all").box()
    margin = MARGIN * max(float(np.abs(low).max()), float(np.abs(high).max()))
    lattice["low"], lattice["high"] = low - margin, high + margin
    lattice["edges"], lattice["counts"] = edges.ravel(), images.counts
    lattice["step_bits"] = images.step_bits
    lattice["row_bits"] = (count + has_ground - 1).bit_length()
    lattice["primitives"], lattice["ground"] = count, images.count
    return ImagedSpheres.of(cell, lattice), lattice


class ImagedSpheres(DeviceRecords):
    """The spheres of all images, where those of one cell are in memory.

    Args:
        cell: in render space.
        vectors: of the images, float64 (I, 3).
    """

    is_there = True

    def __init__(self, cell: Spheres, vectors: NDArray[np.float64]) -> None:
        super().__init__([(len(vectors) * count_of(cell), *radii_of(cell))], self._columns)
        self.cell, self.vectors = cell, vectors

    @classmethod
    def of(cls, cell: Spheres, lattice: NDArray[np.void]) -> ImagedSpheres:
        """Return the images in a lattice; arguments as in `SceneBuffers`."""
        steps = np.indices(lattice["counts"][0]).reshape(3, -1).T
        return cls(cell, steps @ lattice["edges"][0].reshape(3, 3).astype(np.float64))

    def _columns(self, rows: slice) -> Columns:
        return self.taken(np.arange(rows.start, rows.stop))

    def taken(self, rows: NDArray[np.int64]) -> Columns:
        image, row = np.divmod(rows, count_of(self.cell))
        *axes, radius = taken(self.cell, row)
        x, y, z = (
            (axis + vector).astype(np.float32)
            for axis, vector in zip(axes, self.vectors[image].T, strict=True)
        )
        return x, y, z, radius

    def reach(
        self, normals: NDArray[np.float64], center: NDArray[np.float64] | None, limit: float
    ) -> tuple[list[float], int, int, float]:
        along = self.vectors @ np.asarray(normals).T
        if center is None:
            reached, *others = self._reach_of_cell(normals, None, limit)
            return (along.max(axis=0) + reached).tolist(), *others
        most, far, farthest, distance = np.full(len(normals), -np.inf), 0, 0, -1.0
        for image, vector in enumerate(self.vectors):
            reached, number, row, away = self._reach_of_cell(normals, center - vector, limit)
            most = np.maximum(most, along[image] + reached)
            far += number
            if number and away > distance:
                farthest, distance = image * count_of(self.cell) + row, away
        return most.tolist(), far, farthest, distance

    def _reach_of_cell(
        self, normals: NDArray[np.float64], center: NDArray[np.float64] | None, limit: float
    ) -> tuple[Any, ...]:
        if isinstance(self.cell, DeviceRecords) and self.cell.is_there:
            return self.cell.reach(normals, center, limit)
        found: tuple[Any, ...] = core().reach(
            tuple(self.cell), np.asarray(normals), np.empty(0, np.intp),
            None if center is None else center.tolist(), limit, thread_count(),
        )  # fmt: skip
        return found

    def release(self) -> None:
        """Do nothing: the cell is released by its owner."""
