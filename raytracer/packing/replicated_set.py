"""Sets of spheres with their periodic images, by instancing where that is faster: spheres and tree
of one cell, seen in each box of a lattice."""

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.extent import Subject
from raytracer.model.particle_source import Box
from raytracer.model.render_space import Space
from raytracer.model.simulation_box import require_box
from raytracer.model.sphere_set import SphereSet
from raytracer.packing.buffers import ImagedSpheres, Spheres
from raytracer.system.layout import struct_dtype

if TYPE_CHECKING:
    from raytracer.model.scene import Scene

ARRAYS = ("centers", "radius", "color", "color_id", "opacity", "labels", "rows", "keys")
"""Attributes with a value for each sphere."""
UNIFORM = ("radius", "color", "color_id", "opacity")
"""Those of which one value, or one colour, may be that of all spheres."""

POSITION_BITS = 30  # of a sphere in its cell and of the steps along the edges, together
MAX_COUNT = 1024  # boxes along an edge, as `kMaxImageRanges` in the kernels admits

MIN_CELL = 1_000_000
"""Spheres of a cell from which images are instances: rays of copies are traced in packets, so that
frames of 27 cells of 1,000 spheres take a quarter of the time, of 100,000 less than half."""

MIN_COPIES = 50_000_000
"""Spheres of all images from which they are instances in any case: copies take 4 GB."""

MARGIN = 1e-6  # of the box around the cell, relative to its farthest corner: float32 rounds it
ROW = 64  # most bytes per image of a particle: centre, radius, colour, row and label


class ReplicatedSet(SphereSet):
    """A set with its periodic images, whose arrays are made on demand. Image i of sphere r of the
    cell has number `i * cell.count + r`; images along the last edge follow one another. place: of
    the setting, for messages."""

    def __init__(self, cell: SphereSet, counts: tuple[int, int, int], box: Box, place: str) -> None:
        given = cell.__dict__
        self.__dict__.update((name, given[name]) for name in given if name.split()[0] not in ARRAYS)
        self._of_cell = {name: given[name] for name in given if name in ARRAYS}
        self.data = cell.data._replace(box=box)
        self.counts = counts
        self.edges: NDArray[np.float64] = np.array(cell.box and cell.box.edges, np.float64)
        self._place = place

    def __getattr__(self, name: str) -> Any:
        if name not in ARRAYS or "_of_cell" not in self.__dict__:
            raise AttributeError(f"a set of spheres has no attribute '{name}'")
        return self.missing(name)

    @property
    def step_bits(self) -> list[int]:
        """Bits that number the steps along each edge."""
        return [(count - 1).bit_length() for count in self.counts]

    @property
    def fits(self) -> bool:
        """Whether kernels can number the spheres of all images by cell and step."""
        rows = len(self._of_cell["centers"]) + 1  # and a ground
        bits = (rows - 1).bit_length() + sum(self.step_bits)
        return bits <= POSITION_BITS and max(self.counts) <= MAX_COUNT

    @property
    def cell(self) -> SphereSet | None:
        """The spheres of one box with the looks of the set; None if it has arrays of its own."""
        own = {name: self.__dict__[name] for name in ARRAYS if name in self.__dict__}
        are_uniform = (value is None or np.shape(value) in ((), (1, 3)) for value in own.values())
        if not own.keys() <= {*UNIFORM} or not all(are_uniform):
            return None
        cell = SphereSet.__new__(SphereSet)
        hidden = ("_of_cell", "counts", "edges", "_place")
        cell.__dict__.update((n, value) for n, value in vars(self).items() if n not in hidden)
        cell.__dict__.update(self._of_cell | own)
        return cell

    @property
    def count(self) -> int:
        """Number of spheres in all images."""
        if "centers" in self.__dict__:
            return len(self.centers)
        return prod(self.counts) * len(self._of_cell["centers"])

    def missing(self, name: str) -> Any:
        """Make the arrays of all images, and return one of them."""
        self._make()
        return self.__dict__.get(name, getattr(type(self), name, None))

    def _make(self) -> None:
        """Make the arrays of all images, but those that the set was given later."""
        from raytracer.system.memory import require_room

        title = f"{self._place} of {self.source or 'the set'}"
        require_room(title, self.count * ROW, "for the images")
        cell, total = SphereSet.__new__(SphereSet), prod(self.counts)
        cell.__dict__.update(self._of_cell | {"data": self.data})
        made = cell.taken(np.tile(np.arange(cell.count), total))
        steps = np.indices(self.counts).reshape(3, -1).T
        centers: NDArray[Any] = made.centers.reshape(total, -1, 3)
        for image, vector in zip(centers, steps @ self.edges, strict=True):
            image += vector.astype(centers.dtype)
        for each in ARRAYS:
            if each not in self.__dict__ and each in made.__dict__:
                self.__dict__[each] = made.__dict__[each]

    def taken(self, rows: NDArray[np.int64]) -> SphereSet:
        """Return a set of some of the spheres; see `SphereSet.taken`."""
        cell = self.cell
        if cell is None:
            if any(name not in self.__dict__ for name in self._of_cell):
                self._make()
            return super().taken(rows)
        image, row = np.divmod(rows, cell.count)
        steps = np.stack(np.unravel_index(image, self.counts), axis=1)
        some = cell.taken(row)
        some.centers += (steps @ self.edges).astype(some.centers.dtype)
        return some


def replicate(spheres: SphereSet, counts: tuple[int, int, int], place: str) -> SphereSet:
    """Return a set with its periodic images, in whole boxes along the edges: one box in memory
    where that can do for a picture."""
    box = require_box(spheres, place, "repeat")
    if prod(counts) == 1:
        return spheres
    edges = np.array(box.edges, np.float64) * np.array(counts)[:, None]
    a, b, c = (tuple(edge) for edge in edges.tolist())
    if spheres.cell is not None:
        spheres = spheres.taken(np.arange(spheres.count))
    images = ReplicatedSet(spheres, counts, box._replace(edges=(a, b, c)), place)
    if spheres.keys is not None or not images.fits:
        images.missing("centers")
    return images


def split_images(scene: "Scene") -> "tuple[Scene, ReplicatedSet] | None":
    """Return the scene with one cell in place of its images, and the set of all images.

    None where the images are to be copied: of small cells, whose copies are rendered faster; beside
    other sets or solids; where materials send out light or are of glass, whose tables list each
    sphere; where a position has too few bits; and where arrays of all images have been made.
    """
    sets = [each for each in scene.spheres if each.count]
    if len(sets) != 1 or not isinstance(sets[0], ReplicatedSet) or scene.solid_count:
        return None
    images, cell = sets[0], sets[0].cell
    material = scene.material_of(images)
    if cell is None or (cell.count < MIN_CELL and images.count < MIN_COPIES):
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
    linear, _ = space.affine_from(images.transform)
    edges = images.edges @ linear.T
    count = cell.size
    lattice = np.zeros(1, struct_dtype("ImageLattice"))
    low, high = Subject(cell, "all").box()
    margin = MARGIN * max(float(np.abs(low).max()), float(np.abs(high).max()))
    lattice["low"], lattice["high"] = low - margin, high + margin
    lattice["edges"], lattice["counts"] = edges.ravel(), images.counts
    lattice["step_bits"] = images.step_bits
    lattice["row_bits"] = (count + has_ground - 1).bit_length()
    lattice["primitives"], lattice["ground"] = count, images.count
    return ImagedSpheres.of(cell, lattice), lattice
