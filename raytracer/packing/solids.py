"""Capsules, cones, ellipsoids, triangles in render space, as `kernels/geom/solid.h` reads them; and
glass solids in which camera rays begin, for nested glass."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError
from raytracer.model.extent import Doubles, Floats
from raytracer.model.mesh import Mesh
from raytracer.model.mesh_geometry import solid_angles
from raytracer.model.render_space import Space, transform_rows
from raytracer.model.solids import CapsuleSet, ConeSet, EllipsoidSet, SolidSet
from raytracer.model.views import Triple
from raytracer.packing.buffers import (
    CLOSED_MESH,
    COLOR_PLACE,
    CONE,
    CORNER_COLORS,
    CORNER_NORMALS,
    ELLIPSOID,
    EVEN,
    FLAT,
    TRIANGLE,
    TRIANGLE_ROWS,
    SceneBuffers,
    SphereColumns,
    Spheres,
    select_triangles,
)
from raytracer.system.layout import enum_value, struct_dtype

MAX_SOLIDS = 1 << 29  # limit of the tag bits of a record
EVERYWHERE = 1e15  # radius of a sphere around all of render space; its square is a float32


def pack_solids(
    spheres: Spheres, sets: Sequence[SolidSet], radii: Sequence[Floats], space: Space,
    has_ground: bool, has_colors: bool, are_glass: Sequence[bool],
) -> tuple[SphereColumns, dict[str, Any]]:  # fmt: skip
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
            start, end = _capsule_ends(each, space)
            middle, half = (np.asarray(0.5 * v, np.float32) for v in (start + end, end - start))
            numbers, form = np.zeros((0, 8), np.float32), FLAT if each.caps == "flat" else 0
        form |= EVEN if each.even_colors and each.second_colors else 0
        parts.append((middle, half, np.full(each.count, form, np.uint8), numbers, ends))
        number, rows = number + each.count, rows + (second.count if second else 0)
    middles, axes, forms, shapes, ends = (np.concatenate(part) for part in zip(*parts, strict=True))
    x, y, z = (np.append(column, middles[:, k]) for k, column in enumerate(spheres[:3]))
    if rows + len(shapes) >= MAX_SOLIDS:
        raise SceneError("a scene with solids has at most 2^29 surfaces: use fewer")
    return SphereColumns(x, y, z, np.concatenate([spheres[3], *radii])), {
        "axis": axes,
        "end_row": ends,
        "form": forms if forms.any() else forms[:0],
        "shapes": shapes,
    }


def _capsule_ends(rods: CapsuleSet, space: Space) -> tuple[Doubles, Doubles]:
    placing = space.affine_from(rods.transform)
    return transform_rows(rods.starts, *placing), transform_rows(rods.ends, *placing)


def _centers_and_halves(low: Doubles, high: Doubles) -> tuple[Floats, Floats]:
    """Return middle and half edges of boxes from `low` to `high`, (N, 3) each."""
    middle = (0.5 * (low + high)).astype(np.float32)
    half = np.maximum(high - middle, middle - low).astype(np.float32)
    return middle, np.nextafter(half, np.float32(np.inf))


def _cones(cones: ConeSet, space: Space) -> tuple[Floats, Floats, Floats]:
    """Return middles and half edges of boxes, and rows of numbers, (N, 3), (N, 3) and (N, 8)."""
    start, end = _capsule_ends(cones, space)
    unit = cones.transform.scale / space.scale
    first, last = (np.broadcast_to(r * unit, len(start))[:, None] for r in cones.radii)
    axis = 0.5 * (end - start)
    along = axis / np.sqrt(np.square(axis).sum(axis=1, keepdims=True))
    flat = np.sqrt(np.maximum(1.0 - along**2, 0.0))  # extent of a unit disc across the axis
    low = np.minimum(start - first * flat, end - last * flat)
    high = np.maximum(start + first * flat, end + last * flat)
    middle, half = _centers_and_halves(low, high)
    away = 0.5 * (start + end) - middle
    return middle, half, np.concatenate([away, first, axis, last], axis=1).astype(np.float32)


def _ellipsoids(ellipsoids: EllipsoidSet, space: Space) -> tuple[Floats, Floats, Floats]:
    count, transform = ellipsoids.count, ellipsoids.transform
    center = transform_rows(ellipsoids.centers, *space.affine_from(transform))
    semi = np.broadcast_to(ellipsoids.semi_axes * (transform.scale / space.scale), (count, 3))
    turn = rotate_quaternions(transform.rotate, ellipsoids.orientation)
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
    vertices = transform_rows(mesh.vertices, *space.affine_from(mesh.transform)).astype(np.float32)
    corners = vertices[mesh.triangles]
    middle, half = _centers_and_halves(
        *(f(corners, axis=1).astype(np.float64) for f in (np.min, np.max))
    )
    numbers = np.zeros((mesh.count, 16), np.float32)
    numbers[:, :9] = corners.reshape(-1, 9)
    numbers[:, 15] = np.int32(number).view(np.float32)
    normals = mesh.corner_normals()
    if normals is not None:
        turn = mesh.transform.linear() / mesh.transform.scale
        numbers[:, 9:12] = pack_normals(transform_rows(normals.reshape(-1, 3), turn)).reshape(-1, 3)
    return middle, half, numbers.reshape(-1, 8)


def pack_normals(normals: Doubles) -> Floats:
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


def rotate_quaternions(degrees: Triple, quaternions: Doubles) -> Doubles:
    """Rotate unit quaternions w, x, y, z, (N, 4), about x, then y, then z."""
    for axis, half in zip(np.eye(3), 0.5 * np.radians(degrees), strict=True):
        w, vector = quaternions[:, :1], quaternions[:, 1:]
        part = np.cos(half) * w - np.sin(half) * (vector @ axis)[:, None]
        rest = np.cos(half) * vector + np.sin(half) * (w * axis + np.cross(axis, vector))
        quaternions = np.concatenate([part, rest], axis=1)
    return quaternions


def pack_media(
    camera: NDArray[np.void],
    buffers: SceneBuffers,
    glass: NDArray[np.bool_],
    priority: NDArray[np.float32],
    clip: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the fields of `Media`.

    Camera rays of a lens or without perspective begin at many points; for each, kernels test
    whether it is in one of the spheres. For other solids, and with clip planes, the camera position
    counts. If too many solids contain it, those with the largest priorities are kept.

    glass, priority: whether each material transmits light, and its priority, (M,). clip: fields of
    `Clip`; empty without clipping.
    """
    fields: dict[str, Any] = {"nested": 1}
    place = camera[0]["origin"].astype(np.float64)
    if clip and (
        camera[0]["kind"] == enum_value("CameraKind", "orthographic") or _is_cut(clip, place)
    ):
        return fields
    count, total, ids = buffers.spheres, buffers.count, buffers.material_id
    materials = ids[:total] if len(ids) else np.zeros(total, np.int32)
    numbers = np.flatnonzero(glass[materials[:count]])
    centers, radii = _centers(buffers, numbers), buffers.radius[numbers]
    away = np.linalg.norm(centers - place, axis=1) if clip else _camera_distances(camera, centers)
    inside = away < radii
    numbers, centers, radii = numbers[inside], centers[inside], radii[inside]
    if len(buffers.axis):
        others = count + np.flatnonzero(_find_containing(buffers, place) & glass[materials[count:]])
        numbers = np.append(numbers, others)
        centers = np.concatenate([centers, np.broadcast_to(place, (len(others), 3))])
        radii = np.append(radii, np.full(len(others), EVERYWHERE))
    if clip:
        centers, radii = np.broadcast_to(place, centers.shape), np.full(len(radii), EVERYWHERE)
    most = struct_dtype("Media")["camera_solid"].shape[0]
    order = np.lexsort((numbers, priority[materials[numbers]]))[::-1][:most]
    chosen, places = np.zeros(most, np.uint32), np.zeros((most, 4))
    chosen[: len(order)] = numbers[order]
    places[: len(order), :3], places[: len(order), 3] = centers[order], radii[order]
    return fields | {
        "camera_count": len(order),
        "camera_solid": tuple(chosen.tolist()),
        "camera_sphere": tuple(places.ravel().tolist()),
    }


def _centers(buffers: SceneBuffers, rows: NDArray[np.intp] | slice) -> Doubles:
    return np.stack([axis[rows].astype(np.float64) for axis in buffers.placed[:3]], axis=1)


def _find_containing(buffers: SceneBuffers, place: Doubles) -> NDArray[np.bool_]:
    """Return which solids other than spheres contain a point of render space, bool (C,); of the
    triangles of a mesh that does, the first."""
    count, others = len(buffers.axis), slice(buffers.spheres, None)
    middle, radius = _centers(buffers, others), buffers.radius[others].astype(np.float64)
    form = buffers.form if len(buffers.form) else np.zeros(count, np.uint8)
    inside = np.zeros(count, bool)
    rods = (form & CONE) == 0
    axis = buffers.axis[rods].astype(np.float64)
    along, across = _axial_coordinates(place - middle[rods], axis)
    is_flat = (form[rods] & FLAT) != 0
    beyond = np.maximum(np.abs(along) - 1.0, 0.0) * np.linalg.norm(axis, axis=1)
    inside[rods] = np.where(is_flat & (beyond > 0), np.inf, np.hypot(beyond, across)) < radius[rods]
    flat = buffers.triangles
    rows = buffers.shapes[: len(buffers.shapes) - TRIANGLE_ROWS * flat].astype(np.float64)
    start = count - flat - len(rows)
    for kind, test in ((CONE, _are_in_cones), (ELLIPSOID, _are_in_ellipsoids)):
        found = np.flatnonzero((form[: count - flat] & ELLIPSOID) == kind)
        inside[found] = test(place - middle[found], rows[found - start])
    if flat:
        triangles = select_triangles(buffers.shapes, flat)
        corners = triangles[:, :9].reshape(-1, 3, 3).astype(np.float64) - place
        numbers = np.ascontiguousarray(triangles[:, 15]).view(np.int32)
        first, mesh = np.unique(numbers, return_inverse=True)
        around = np.abs(np.bincount(mesh, solid_angles(corners))) > 2.0 * np.pi
        inside[first[around] - buffers.spheres] = True
    return inside


def _axial_coordinates(away: Doubles, axis: Doubles) -> tuple[Doubles, Doubles]:
    """Return coordinates relative to axes: along, in half axes, and distance from them, (N,)."""
    square = np.maximum((axis**2).sum(axis=1), 1e-300)
    along = (away * axis).sum(axis=1) / square
    return along, np.linalg.norm(away - along[:, None] * axis, axis=1)


def _are_in_cones(away: Doubles, rows: Doubles) -> NDArray[np.bool_]:
    """Return which cones contain a point, given relative to the middles of their boxes, (N, 3)."""
    along, across = _axial_coordinates(away - rows[:, :3], rows[:, 4:7])
    radius = rows[:, 3] + 0.5 * (along + 1.0) * (rows[:, 7] - rows[:, 3])
    return (abs(along) < 1.0) & (across < radius)


def _are_in_ellipsoids(away: Doubles, rows: Doubles) -> NDArray[np.bool_]:
    vector, w = rows[:, 3:6], rows[:, 7:8]
    turn = np.cross(away, vector)  # by the conjugate of the quaternion
    local = away + 2.0 * (w * turn + np.cross(turn, vector))
    return np.asarray(((local / np.maximum(rows[:, :3], 1e-300)) ** 2).sum(axis=1) < 1.0)


def _is_cut(clip: Mapping[str, Any], place: Doubles) -> bool:
    """Return whether clip planes remove a point of render space."""
    planes = np.asarray(clip["clip_planes"], np.float64).reshape(-1, 4)[: clip["clip_count"]]
    within = bool((planes[:, :3] @ place <= planes[:, 3]).all())
    return within == bool(clip["clip_removes"])


def _camera_distances(camera: NDArray[np.void], centers: Doubles) -> Doubles:
    """Return the least distance of each point from the start of camera rays, float64 (N,)."""
    stand = camera[0]
    away = centers - stand["origin"].astype(np.float64)
    if stand["kind"] != enum_value("CameraKind", "orthographic"):
        return np.asarray(np.linalg.norm(away, axis=1) - float(stand["lens_radius"]))
    beside = []
    for name in ("right", "up"):  # a rectangle perpendicular to the view
        half = stand[name].astype(np.float64)
        length = hypot(*half)
        beside.append(np.maximum(np.abs(away @ half) / length - length, 0.0))
    beside.append(away @ stand["forward"].astype(np.float64))
    return np.asarray(np.linalg.norm(beside, axis=0))
