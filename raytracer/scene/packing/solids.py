"""Capsules, cones and ellipsoids in render space, in the layout of `kernels/geom/solid.h`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import CONE, ELLIPSOID, EVEN, FLAT, Columns, Spheres
from raytracer.errors import SceneError
from raytracer.scene.extent import Doubles, Floats
from raytracer.scene.packing.render_space import Space, affine_rows

if TYPE_CHECKING:
    from raytracer.scene.scene import CapsuleSet, SolidSet
    from raytracer.scene.solids import ConeSet, EllipsoidSet

MAX_SOLIDS = 1 << 29  # limit of the tag bits of a record


def place_solids(
    spheres: Spheres,
    sets: Sequence[SolidSet],
    radii: Sequence[Floats],
    space: Space,
    has_ground: bool,
    has_colors: bool,
) -> tuple[Columns, dict[str, Any]]:
    """Return spheres and solids in render space, and the arrays of solids for `SceneBuffers`.

    Args:
        spheres, space: as for `place`.
        sets: nonempty sets of solids: capsules, then cones, then ellipsoids.
        radii: of the largest balls in each set, (C,) each, render space.
        has_ground, has_colors: whether there is a ground, and more than one colour.
    """
    middles: list[Floats] = []
    axes: list[Floats] = []
    forms: list[NDArray[np.uint8]] = []
    shapes: list[Floats] = [np.zeros((0, 8), np.float32)]
    for each in sets:
        if each.noun == "ellipsoid":
            middle, half, numbers = _ellipsoids(cast("EllipsoidSet", each), space)
            form = ELLIPSOID
        elif each.noun == "cone":
            middle, half, numbers = _cones(cast("ConeSet", each), space)
            form = CONE
        else:
            rods = cast("CapsuleSet", each)
            start, end = _ends(rods, space)
            middle = np.asarray(0.5 * (start + end), np.float32)
            half = np.asarray(0.5 * (end - start), np.float32)
            numbers, form = shapes[0], FLAT if rods.caps == "flat" else 0
        even = EVEN if each.even_colors and each.has_end_colors else 0
        middles.append(middle)
        axes.append(half)
        forms.append(np.full(each.count, form | even, np.uint8))
        shapes.append(numbers)
    x, y, z = (
        np.concatenate([column, *(middle[:, k] for middle in middles)])
        for k, column in enumerate(spheres[:3])
    )
    radius, form_of, shape = (
        np.concatenate(each) for each in ([spheres[3], *radii], forms, shapes)
    )
    rows = len(x) + has_ground
    ends = []
    for each in sets:
        ends.append(np.zeros(each.count, np.int32))
        if each.has_end_colors and has_colors:
            ends[-1] += np.arange(rows, rows + each.count, dtype=np.int32)
            rows += each.count
    if rows + len(shape) >= MAX_SOLIDS:
        raise SceneError("a scene with solids has at most 2^29 surfaces: use fewer")
    return (x, y, z, radius), {
        "axis": np.ascontiguousarray(np.concatenate(axes)),
        "end_row": np.concatenate(ends),
        "form": form_of if form_of.any() else form_of[:0],
        "shapes": shape,
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
    turn = turned(transform.linear() / transform.scale, ellipsoids.orientation)
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
    nothing = np.zeros(count)
    rows = [*semi.T, x, y, z, nothing, w]
    return middle, half, np.stack(rows, axis=1).astype(np.float32)


def turned(rotation: Doubles, quaternions: Doubles) -> Doubles:
    """Rotate unit quaternions w, x, y, z, (N, 4), by a matrix (3, 3)."""
    m = rotation
    # The largest of the four squares is at least 1/4: divide the others by its root.
    squares = 1 + np.array(
        [m[0, 0] + m[1, 1] + m[2, 2], m[0, 0] - m[1, 1] - m[2, 2],
         m[1, 1] - m[0, 0] - m[2, 2], m[2, 2] - m[0, 0] - m[1, 1]]
    )  # fmt: skip
    rows = np.array(
        [
            [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], squares[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], squares[2], m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[3]],
        ]
    )
    row = rows[int(squares.argmax())]
    w, x, y, z = row / np.sqrt(np.square(row).sum())
    a, b, c, d = quaternions.T
    product = [
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    ]
    return np.stack(product, axis=1)
