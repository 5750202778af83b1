"""Capsules, cones, ellipsoids, triangles in render space, as `kernels/geom/solid.h` reads them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from raytracer.buffers import (
    CLOSED_MESH,
    COLOR_PLACE,
    CONE,
    CORNER_COLORS,
    CORNER_NORMALS,
    ELLIPSOID,
    EVEN,
    FLAT,
    TRIANGLE,
    Columns,
    Spheres,
)
from raytracer.errors import SceneError
from raytracer.render_space import Space, affine_rows
from raytracer.scene.extent import Doubles, Floats
from raytracer.scene.mesh import Mesh
from raytracer.scene.solids import CapsuleSet, ConeSet, EllipsoidSet, SolidSet
from raytracer.scene.transform import Triple

MAX_SOLIDS = 1 << 29  # limit of the tag bits of a record


def place_solids(
    spheres: Spheres, sets: Sequence[SolidSet], radii: Sequence[Floats], space: Space,
    has_ground: bool, has_colors: bool, are_glass: Sequence[bool],
) -> tuple[Columns, dict[str, Any]]:  # fmt: skip
    """Return spheres and solids in render space, and the arrays of solids for `SceneBuffers`.

    sets: nonempty: capsules, cones, ellipsoids, then triangles. radii: of the largest balls in each
    set, (C,) each, render space. has_colors: whether there is more than one colour.
    """
    number = spheres.size  # of the first solid of a set
    rows = number + sum(each.count for each in sets) + has_ground  # of colours before its own
    parts = []
    for each, is_glass in zip(sets, are_glass, strict=True):
        second = each.second_colors if has_colors else None
        ends = np.zeros(each.count, np.int32)
        if second and not isinstance(each, Mesh):
            ends += np.arange(rows, rows + second.count, dtype=np.int32)
        if isinstance(each, EllipsoidSet):
            (middle, half, numbers), form = _ellipsoids(each, space), ELLIPSOID
        elif isinstance(each, ConeSet):
            (middle, half, numbers), form = _cones(each, space), CONE
        elif isinstance(each, Mesh):
            (middle, half, numbers), form = _triangles(each, space, number, is_glass), TRIANGLE
            ends += CLOSED_MESH * is_glass + CORNER_NORMALS * bool(each.smooth)
            if second:
                ends += CORNER_COLORS
                colors = (each.triangles + np.int32(rows)).view(np.float32)
                numbers.reshape(-1, 16)[:, COLOR_PLACE : COLOR_PLACE + 3] = colors
        elif isinstance(each, CapsuleSet):
            start, end = _ends(each, space)
            middle, half = (np.asarray(0.5 * v, np.float32) for v in (start + end, end - start))
            numbers, form = np.zeros((0, 8), np.float32), FLAT if each.caps == "flat" else 0
        form |= EVEN if each.even_colors and each.second_colors else 0
        parts.append((middle, half, np.full(each.count, form, np.uint8), numbers, ends))
        number, rows = number + each.count, rows + (second.count if second else 0)
    middles, axes, forms, shapes, ends = (np.concatenate(part) for part in zip(*parts, strict=True))
    x, y, z = (np.append(column, middles[:, k]) for k, column in enumerate(spheres[:3]))
    if rows + len(shapes) >= MAX_SOLIDS:
        raise SceneError("a scene with solids has at most 2^29 surfaces: use fewer")
    return Columns(x, y, z, np.concatenate([spheres[3], *radii])), {
        "axis": axes,
        "end_row": ends,
        "form": forms if forms.any() else forms[:0],
        "shapes": shapes,
    }


def _ends(rods: CapsuleSet, space: Space) -> tuple[Doubles, Doubles]:
    placing = space.placing(rods.transform)
    return affine_rows(rods.starts, *placing), affine_rows(rods.ends, *placing)


def _boxed(low: Doubles, high: Doubles) -> tuple[Floats, Floats]:
    """Return middle and half edges of boxes from `low` to `high`, (N, 3) each."""
    middle = (0.5 * (low + high)).astype(np.float32)
    half = np.maximum(high - middle, middle - low).astype(np.float32)
    return middle, np.nextafter(half, np.float32(np.inf))


def _cones(cones: ConeSet, space: Space) -> tuple[Floats, Floats, Floats]:
    """Return middles and half edges of boxes, and rows of numbers, (N, 3), (N, 3) and (N, 8)."""
    start, end = _ends(cones, space)
    unit = cones.transform.scale / space.scale
    first, last = (np.broadcast_to(r * unit, len(start))[:, None] for r in cones.radii)
    axis = 0.5 * (end - start)
    along = axis / np.sqrt(np.square(axis).sum(axis=1, keepdims=True))
    flat = np.sqrt(np.maximum(1.0 - along**2, 0.0))  # extent of a unit disc across the axis
    low = np.minimum(start - first * flat, end - last * flat)
    high = np.maximum(start + first * flat, end + last * flat)
    middle, half = _boxed(low, high)
    away = 0.5 * (start + end) - middle
    return middle, half, np.concatenate([away, first, axis, last], axis=1).astype(np.float32)


def _ellipsoids(ellipsoids: EllipsoidSet, space: Space) -> tuple[Floats, Floats, Floats]:
    count, transform = ellipsoids.count, ellipsoids.transform
    center = affine_rows(ellipsoids.centers, *space.placing(transform))
    semi = np.broadcast_to(ellipsoids.semi_axes * (transform.scale / space.scale), (count, 3))
    turn = turned(transform.rotate, ellipsoids.orientation)
    w, x, y, z = np.broadcast_to(turn, (count, 4)).T
    frame = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )  # (3, 3, N): columns are the directions of the semi-axes
    reach = np.sqrt(np.square(frame * semi.T[None]).sum(axis=1)).T
    middle = np.asarray(center, np.float32)
    half = np.nextafter(reach.astype(np.float32), np.float32(np.inf))
    rows = np.stack([*semi.T, x, y, z, np.zeros(count), w], axis=1)
    return middle, half, rows.astype(np.float32)


def _triangles(
    mesh: Mesh, space: Space, number: int, is_glass: bool
) -> tuple[Floats, Floats, Floats]:
    """As `_cones`, with two rows of numbers each, (2 N, 8); number: of the first triangle."""
    if is_glass:
        mesh = mesh.turned_out()
    vertices = affine_rows(mesh.vertices, *space.placing(mesh.transform)).astype(np.float32)
    corners = vertices[mesh.triangles]
    middle, half = _boxed(*(f(corners, axis=1).astype(np.float64) for f in (np.min, np.max)))
    numbers = np.zeros((mesh.count, 16), np.float32)
    numbers[:, :9] = corners.reshape(-1, 9)
    numbers[:, 15] = np.int32(number).view(np.float32)
    normals = mesh.corner_normals()
    if normals is not None:
        turn = mesh.transform.linear() / mesh.transform.scale
        numbers[:, 9:12] = packed_normals(affine_rows(normals.reshape(-1, 3), turn)).reshape(-1, 3)
    return middle, half, numbers.reshape(-1, 8)


def packed_normals(normals: Doubles) -> Floats:
    """Return unit vectors (N, 3) as bits of float32 (N,), as `unpack_normal` in the kernels reads
    them: a point of the octahedron unfolded into a square (Cigolle et al. 2014)."""
    on_octahedron = normals / np.abs(normals).sum(axis=1, keepdims=True)
    x, y, z = on_octahedron.T
    folded = [(1.0 - abs(y)) * np.copysign(1.0, x), (1.0 - abs(x)) * np.copysign(1.0, y)]
    u, v = (
        np.rint(32767.0 * np.where(z < 0.0, below, above) + 32767.0).astype(np.uint32)
        for above, below in zip((x, y), folded, strict=True)
    )
    return np.asarray((u | v << np.uint32(16)).view(np.float32))


def turned(degrees: Triple, quaternions: Doubles) -> Doubles:
    """Rotate unit quaternions w, x, y, z, (N, 4), about x, then y, then z."""
    for axis, half in zip(np.eye(3), 0.5 * np.radians(degrees), strict=True):
        w, vector = quaternions[:, :1], quaternions[:, 1:]
        part = np.cos(half) * w - np.sin(half) * (vector @ axis)[:, None]
        rest = np.cos(half) * vector + np.sin(half) * (w * axis + np.cross(axis, vector))
        quaternions = np.concatenate([part, rest], axis=1)
    return quaternions
