"""The arrays that devices take: a scene in render space, and the tree over its spheres."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import accumulate, compress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.model.render_space import Space
from raytracer.packing.view import View
from raytracer.system.layout import empty_structs
from raytracer.system.resources import choose_thread_count

ENDLESS = math.inf
"""Radius of the record of a ground: what is below it has no other end."""

DIGEST_BLOCK = 1 << 23
"""Bytes of a leaf of the digest: large enough for threads to work without the GIL."""

DIGEST_THREADS = 8
"""Threads that hash, since a block of spheres of a device is made for it."""

DIGEST_VERSION = 4
"""Of what a digest covers and how; only films with digests of this version can be resumed."""


def _empty_array(kind: str, *row: int) -> NDArray[Any]:
    return np.zeros((0, *row), kind)


EVEN, FLAT, CONE, ELLIPSOID = 1, 2, 4, 6
"""Bits of `SceneBuffers.form`: even colours; and of the form, 0 for round capsules."""

TRIANGLE = ELLIPSOID | EVEN
"""Of the form of triangles; what there is at their corners is in place of a row of colours."""

CORNER_NORMALS, CORNER_COLORS, CLOSED_MESH = 1, 2, 4
"""Bits of `SceneBuffers.end_row` of a triangle: whether its corners have normals, and colours, and
whether its mesh is closed, with glass inside."""

TRIANGLE_ROWS = 2
"""Rows of `SceneBuffers.shapes` of a triangle: three corners, and bits of three packed normals, of
three rows of colours, and of the number of the first triangle of the mesh."""

COLOR_PLACE = 12
"""Place of the bits of the rows of colours among the numbers of a triangle."""

FORM_SHIFT = 29
"""Bits of the tag of a record below its form: a row of colours."""


def list_fitted_balls(
    solids: Spheres,
    axis: NDArray[np.float32],
    form: NDArray[np.uint8],
    shapes: NDArray[np.float32],
) -> Spheres:
    """Return the balls around which a view fits, as x, y, z and radius, float32 (M,) each.

    Those of capsules and cones are at their ends: the starts, and after all others the ends. Those
    of triangles are at their corners, after all of these.
    """
    if not len(axis):
        return solids
    if flat := int((form == TRIANGLE).sum()):
        before = SphereColumns(*(column[: len(column) - flat] for column in solids))
        others = list_fitted_balls(
            before, axis[:-flat], form[:-flat], shapes[: -TRIANGLE_ROWS * flat]
        )
        corners = select_triangles(shapes, flat)[:, :9].reshape(-1, 3)
        at_corners = (*corners.T, np.repeat(solids[3][-flat:], 3))
        return SphereColumns(*map(np.concatenate, zip(others, at_corners, strict=True)))
    columns, half = np.array([*solids]), axis.T.copy()
    starts = columns[:, solids.size - len(axis) :]
    ends = starts.copy()
    if len(shapes):
        numbers, middles = shapes.T, starts[:3, -len(shapes) :]
        is_cone = form[-len(shapes) :] & ELLIPSOID == CONE
        middles += np.where(is_cone, numbers[:3], 0)
        half[:, -len(shapes) :] = np.where(is_cone, numbers[4:7], 0)
        for balls, row in ((starts, 3), (ends, 7)):
            of_shapes = balls[3, -len(shapes) :]
            of_shapes[:] = np.where(is_cone, numbers[row], of_shapes)
    ends[:3] = starts[:3] + half
    starts[:3] -= half
    return SphereColumns(*np.concatenate([columns, ends], axis=1))


def select_triangles(shapes: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return the numbers of the last `count` solids, which are triangles, float32 (count, 16)."""
    return shapes[len(shapes) - TRIANGLE_ROWS * count :].reshape(count, -1)


Reach: TypeAlias = tuple[list[float], int, int, float]
"""How far spheres reach along directions, as the extension's `reach` says."""

NONE: NDArray[np.intp] = np.empty(0, np.intp)


class SphereColumns(NamedTuple):
    """Spheres by number, float32 (N,) each, render space."""

    x: NDArray[np.float32]
    y: NDArray[np.float32]
    z: NDArray[np.float32]
    radius: NDArray[np.float32]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.radius)

    def radii(self, rows: slice = slice(None)) -> tuple[float, float]:
        """Return the least and the greatest radius of some rows; zeros without spheres."""
        radius = self.radius[rows]
        return (float(radius.min()), float(radius.max())) if len(radius) else (0.0, 0.0)

    def taken(self, rows: NDArray[np.int64]) -> SphereColumns:
        """Return some spheres, by number."""
        return SphereColumns(*(column[rows] for column in self))

    def reach(
        self, normals: NDArray[np.float64], center: NDArray[np.float64] | None, limit: float,
        skipped: NDArray[np.intp] = NONE,
    ) -> Reach:  # fmt: skip
        """Return how far they reach along directions, (K, 3), but `skipped`, ascending."""
        place = None if center is None else center.tolist()
        found: Reach = core().reach(self, normals, skipped, place, limit, choose_thread_count())
        return found


class DeviceRecords:
    """Spheres that were packed in the memory of a device; the host has no copy of them.

    In place of `SphereColumns` they have these on demand: `placed` makes some rows at a time from
    the arrays of the caller.

    parts: count, least and greatest radius of each set, render space.
    """

    def __init__(
        self, parts: list[tuple[int, float, float]], placed: Callable[[slice], SphereColumns]
    ) -> None:
        self.parts = parts
        self.size = sum(count for count, _, _ in parts)
        self.placed = placed

    @cached_property
    def columns(self) -> SphereColumns:
        return self.placed(slice(0, self.size))

    def __getitem__(self, column: Any) -> Any:
        return self.columns[column]

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        return iter(self.columns)

    def radii(self, rows: slice = slice(None)) -> tuple[float, float]:
        """Return the least and the greatest radius of the sets among some rows."""
        counts, lows, highs = zip(*self.parts, strict=True)
        firsts, among = accumulate(counts[:-1], initial=0), range(self.size)[rows]
        chosen = [first in among for first in firsts]
        return min(compress(lows, chosen)), max(compress(highs, chosen))

    def taken(self, rows: NDArray[np.int64]) -> SphereColumns:
        return self.columns.taken(rows)

    def reach(
        self, normals: NDArray[np.float64], center: NDArray[np.float64] | None, limit: float,
        skipped: NDArray[np.intp] = NONE,
    ) -> Reach:  # fmt: skip
        return self.columns.reach(normals, center, limit, skipped)

    def release(self) -> None:
        """Give back the memory of the device, when scenes have a tree over them."""


Spheres: TypeAlias = SphereColumns | DeviceRecords


class DeviceColors:
    """Colours of `count` rows that were packed in the memory of a device, with the spheres."""

    def __init__(self, count: int, made: Callable[[], NDArray[np.float32]]) -> None:
        self._count, self._made = count, made

    @cached_property
    def on_host(self) -> NDArray[np.float32]:
        """Float32 (K, 3), linear RGB; made on first use."""
        return self._made()

    def __len__(self) -> int:
        return self._count


class ImagedSpheres(DeviceRecords):
    """The spheres of all images of a cell, moved by vectors, float64 (I, 3); render space."""

    def __init__(self, cell: Spheres, vectors: NDArray[np.float64]) -> None:
        super().__init__([(len(vectors) * cell.size, *cell.radii())], self._columns)
        self.cell, self.vectors = cell, vectors

    @classmethod
    def of(cls, cell: Spheres, lattice: NDArray[np.void]) -> ImagedSpheres:
        """Return the images in a lattice; arguments as in `SceneBuffers`."""
        steps = np.indices(lattice["counts"][0]).reshape(3, -1).T
        return cls(cell, steps @ lattice["edges"][0].reshape(3, 3).astype(np.float64))

    def _columns(self, rows: slice) -> SphereColumns:
        return self.taken(np.arange(rows.start, rows.stop))

    def taken(self, rows: NDArray[np.int64]) -> SphereColumns:
        image, row = np.divmod(rows, self.cell.size)
        *axes, radius = self.cell.taken(row)
        pairs = zip(axes, self.vectors[image].T, strict=True)
        x, y, z = ((axis + vector).astype(np.float32) for axis, vector in pairs)
        return SphereColumns(x, y, z, radius)

    def reach(
        self, normals: NDArray[np.float64], center: NDArray[np.float64] | None, limit: float,
        skipped: NDArray[np.intp] = NONE,
    ) -> Reach:  # fmt: skip
        if len(skipped):
            return super().reach(normals, center, limit, skipped)
        along = self.vectors @ np.asarray(normals).T
        if center is None:
            reached, *others = self.cell.reach(normals, None, limit)
            return (along.max(axis=0) + reached).tolist(), *others
        most, far, farthest, distance = np.full(len(normals), -np.inf), 0, 0, -1.0
        for image, vector in enumerate(self.vectors):
            reached, number, row, away = self.cell.reach(normals, center - vector, limit)
            most = np.maximum(most, along[image] + reached)
            far += number
            if number and away > distance:
                farthest, distance = image * self.cell.size + row, away
        return most.tolist(), far, farthest, distance


@dataclass(frozen=True, eq=False)
class SceneBuffers:
    """A packed scene of N solids; every array is C-contiguous, and colours are linear RGB."""

    placed: Spheres  # in render space; or where a device has them
    # (K, 3); K is 1, N or the size of a palette, as `Frame.color_mode` says; or where a device has
    # them.
    colors: NDArray[np.float32] | DeviceColors
    color_id: NDArray[np.int32]  # (N,) into `color`, or (0,)
    material_id: NDArray[np.int32]  # (N,) into the materials of `view`, or (0,)
    view: View  # of the scene's camera, and materials
    space: Space  # render space, in scene units
    # (G,), of more than 2^31 spheres uint32, ascending: indices of the large spheres, which are not
    # in the tree and are the last in leaf order.
    large_id: NDArray[np.int32 | np.uint32] = field(default_factory=partial(_empty_array, "i4"))
    # (G,): the large spheres, in the same order; the ground, a plane, is the last of them, with
    # number N. Where there is one, arrays of colours, of their ids and of material ids have a row
    # more.
    large: NDArray[np.void] = field(default_factory=partial(empty_structs, "LargeSphere"))
    # (E,): the spheres that send out light; made of the others.
    emitters: NDArray[np.void] = field(default_factory=partial(empty_structs, "Emitter"))
    # (N,), or (0,) where all is opaque: 65535 is opacity 1.
    opacity: NDArray[np.uint16] = field(default_factory=partial(_empty_array, "u2"))
    # (C, 3), render space: half of the segments of the capsules, which are with the cones and
    # ellipsoids the last C of the N; x, y and z are their middles. The others are spheres. Of cones
    # and ellipsoids x, y, z and this are middle and half of a box.
    axis: NDArray[np.float32] = field(default_factory=partial(_empty_array, "f4", 3))
    # (C,): the row of colours, or of `color_id`, that the end of a solid along its axis has; 0 is
    # that of its start. Such rows follow those of the surfaces.
    end_row: NDArray[np.int32] = field(default_factory=partial(_empty_array, "i4"))
    # (C,), bits FLAT, CONE, ELLIPSOID and EVEN; or (0,) where all are 0.
    form: NDArray[np.uint8] = field(default_factory=partial(_empty_array, "u1"))
    # (S, 8): numbers of the cones, ellipsoids and triangles, the last of the C, as
    # `kernels/geom/solid.h` reads them.
    shapes: NDArray[np.float32] = field(default_factory=partial(_empty_array, "f4", 8))
    # (1,): the spheres are those of one cell, which is seen in each box of the lattice; or (0,).
    images: NDArray[np.void] = field(default_factory=partial(empty_structs, "ImageLattice"))

    @property
    def centers(self) -> NDArray[np.float32]:
        """Float32 (N, 3), a copy; of the device where the host has none."""
        return np.stack(self.placed[:3], axis=1)

    @property
    def radius(self) -> NDArray[np.float32]:
        """Float32 (N,)."""
        return self.placed[3]

    @property
    def color(self) -> NDArray[np.float32]:
        """Float32 (K, 3), linear RGB; a copy where a device has them."""
        return self.colors.on_host if isinstance(self.colors, DeviceColors) else self.colors

    @property
    def count(self) -> int:
        """Number of spheres and solids."""
        return self.placed.size

    @property
    def spheres(self) -> int:
        """Number of spheres."""
        return self.count - len(self.axis)

    @property
    def color_rows(self) -> int:
        """Number of rows of colours: those of surfaces, of the ends of solids, of vertices."""
        flat = self.triangles
        ends = self.end_row[: len(self.end_row) - flat]
        other = int(ends.max(initial=-1)) + 1
        if flat and (of_corners := self.end_row[-flat:] & CORNER_COLORS > 0).any():
            numbers = select_triangles(self.shapes, flat)[of_corners, COLOR_PLACE : COLOR_PLACE + 3]
            other = max(other, int(np.ascontiguousarray(numbers).view(np.int32).max()) + 1)
        return max(self.rows, other)

    @property
    def triangles(self) -> int:
        """Number of triangles, which are the last of the solids."""
        return int((self.form == TRIANGLE).sum())

    @property
    def balls(self) -> Spheres:
        """Balls around which a view fits, those of both ends of capsules among them."""
        if len(self.images):
            return ImagedSpheres.of(self.placed, self.images)
        return list_fitted_balls(self.placed, self.axis, self.form, self.shapes)

    @property
    def has_ground(self) -> bool:
        """Whether the last large sphere is the ground."""
        return len(self.large_id) > 0 and int(self.large_id[-1]) == self.count

    @property
    def ground_number(self) -> int:
        """Number of the ground in first hits, after those of all images."""
        return int(self.images["ground"][0]) if len(self.images) else self.count

    @property
    def has_forms(self) -> bool:
        """Whether there are other forms than spheres and round capsules."""
        return len(self.form) > 0 and bool((self.form & ELLIPSOID).any())

    @property
    def rows(self) -> int:
        """Number of surfaces: spheres and ground."""
        return self.count + self.has_ground

    @property
    def record_bytes(self) -> int:
        """Bytes of the record of a primitive."""
        return 32 if len(self.axis) else 16

    @property
    def primitives(self) -> tuple[NDArray[np.float32], ...]:
        """Numbers of the primitives' records, in the order of `unpack_primitive` in the kernels;
        with other solids there are eight, and spheres are capsules without length."""
        x, y, z, radius = self.placed
        if not len(self.axis):
            return x, y, z, radius
        others = np.zeros((4, self.count), np.float32)
        others[:3, self.spheres :] = self.axis.T
        tags = self.end_row
        if len(self.form):
            tags = tags | self.form.astype(np.int32) << FORM_SHIFT
        others[3, self.spheres :] = tags.view(np.float32)
        if len(self.shapes):
            # the rows of their numbers, which follow the records of all surfaces
            taken = np.where(self.form == TRIANGLE, TRIANGLE_ROWS, self.form >= CONE)
            last = np.cumsum(taken)[taken > 0]
            row = (self.rows + last - taken[taken > 0]).astype(np.int32)
            radius = np.concatenate([radius[: -len(row)], row.view(np.float32)])
        return (x, y, z, radius, *others)

    @property
    def ground_record(self) -> NDArray[np.float32]:
        """Record of the ground, float32 (4,) or (8,), or (0,): only the chord inside uses it."""
        floats = self.record_bytes // 4 if self.has_ground else 0
        return np.array([0.0, 0.0, 0.0, ENDLESS, 0.0, 0.0, 0.0, 0.0][:floats], np.float32)

    @property
    def columns(self) -> tuple[NDArray[np.float32], ...]:
        """Numbers of all records: of the primitives, then of the ground."""
        if not self.has_ground:
            return self.primitives
        pairs = zip(self.primitives, self.ground_record, strict=True)
        return tuple(np.append(column, number) for column, number in pairs)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of the host together."""
        arrays = [*vars(self).values(), *vars(self.view).values()]
        arrays += () if isinstance(self.placed, DeviceRecords) else self.placed
        return sum(getattr(each, "nbytes", 0) for each in arrays)

    def release(self) -> None:
        """Give back the memory of the device that has the spheres, when scenes have been made."""
        if isinstance(self.placed, DeviceRecords):
            self.placed.release()

    def check(self) -> SceneBuffers:
        """Return the buffers; ids by which kernels index colours and materials, unchecked, are
        checked here, once for a scene. Raises ValueError."""
        for name, table in (("color_id", self.colors), ("material_id", self.view.materials)):
            ids = getattr(self, name)
            if len(ids) and not (int(ids.min()) >= 0 and int(ids.max()) < len(table)):
                raise ValueError(f"{name}: points outside of a table of {len(table)}")
        return self

    def digest(self) -> str:
        """Return `DIGEST_VERSION`, a hyphen and a hexadecimal hash of all that makes the picture
        but the number of samples: a film can get more of the same picture. The hash is a tree of
        two levels (blocks, then their hashes), so that threads can share the work."""
        root, blocks = blake2b(f"{self.count};".encode(), digest_size=16), list[memoryview]()
        for name, array in self._list_hashed():
            root.update(f"{name} {array.dtype.str} {array.shape};".encode())
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            blocks += [data[at : at + DIGEST_BLOCK] for at in range(0, len(data), DIGEST_BLOCK)]
        starts = range(0, self.count, DIGEST_BLOCK // 16)
        if len(starts) < 2 and sum(map(len, blocks)) <= DIGEST_BLOCK:
            leaves = [*map(self._hash_spheres, starts), *map(_hash_leaf, blocks)]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(choose_thread_count(), DIGEST_THREADS)) as pool:
                leaves = [*pool.map(self._hash_spheres, starts), *pool.map(_hash_leaf, blocks)]
        root.update(b"".join(leaves))
        return f"{DIGEST_VERSION}-{root.hexdigest()}"

    def _hash_spheres(self, start: int) -> bytes:
        """Return the hash of a block of the spheres."""
        rows = slice(start, min(start + DIGEST_BLOCK // 16, self.count))
        placed = self.placed
        if isinstance(placed, DeviceRecords):
            columns: Sequence[NDArray[Any]] = placed.placed(rows)
        else:
            columns = [axis[rows] for axis in placed]
        return _hash_leaf(*(np.ascontiguousarray(column).data for column in columns))

    def _list_hashed(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield by name what is hashed beside the spheres: all other arrays, but the emitters,
        which are made of others."""
        yield "color", self.color
        yield from self.view.with_samples(0, 0).arrays()
        yield "space", np.array([*self.space.center, self.space.scale])
        for each in fields(self):
            if each.name == "images":
                for name in self.images.dtype.names or () if len(self.images) else ():
                    yield f"images.{name}", self.images[name]
            elif each.name not in ("placed", "colors", "view", "space", "emitters"):
                yield each.name, getattr(self, each.name)


@dataclass(frozen=True)
class Bvh:
    """A bounding volume hierarchy: wide nodes, and the spheres in the order of the leaves."""

    nodes: NDArray[np.uint8]  # (M, 80), one node a row, in the layout of the kernels
    order: NDArray[np.int32]  # (N,), primitive index of each sphere in leaf order
    # (N, 4), centre and radius in leaf order, render space; with other solids (N + S, 8), as
    # `kernels/geom/solid.h` reads them: records, then further numbers.
    spheres: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays together."""
        return int(self.nodes.nbytes + self.order.nbytes + self.spheres.nbytes)


def build_bvh(buffers: SceneBuffers, threads: int = 0) -> Bvh:
    """Build the hierarchy over all spheres of a scene."""
    tree = host_tree(buffers.columns, buffers.large_id, threads, buffers.shapes)
    if len(buffers.shapes):
        return replace(tree, spheres=np.concatenate([tree.spheres, buffers.shapes]))
    return tree


def host_tree(
    columns: tuple[NDArray[np.float32], ...],
    large_id: NDArray[np.int32 | np.uint32],
    threads: int = 0,
    shapes: NDArray[np.float32] | None = None,
) -> Bvh:
    """Build a hierarchy on the host; arguments as in `SceneBuffers`.

    Without `shapes`, solids whose numbers are there count as different from each other.
    """
    return Bvh(*core().build_bvh(columns, choose_thread_count(threads), large_id.tolist(), shapes))


def _hash_leaf(*blocks: memoryview) -> bytes:
    leaf = blake2b(digest_size=32)
    for block in blocks:
        leaf.update(block)
    return leaf.digest()
