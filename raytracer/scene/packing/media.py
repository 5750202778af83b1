"""Glass solids in which camera rays begin, for nested glass."""

from collections.abc import Mapping
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import (
    CONE,
    ELLIPSOID,
    FLAT,
    TRIANGLE_ROWS,
    SceneBuffers,
    triangle_numbers,
)
from raytracer.layout import code, dtype
from raytracer.scene.mesh_geometry import solid_angles

Doubles = NDArray[np.float64]

EVERYWHERE = 1e15  # radius of a sphere around all of render space; its square is a float32


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
    if clip and (camera[0]["kind"] == code("CameraKind", "orthographic") or _is_cut(clip, place)):
        return fields
    count, total, ids = buffers.spheres, buffers.count, buffers.material_id
    materials = ids[:total] if len(ids) else np.zeros(total, np.int32)
    numbers = np.flatnonzero(glass[materials[:count]])
    centers, radii = _centers(buffers, numbers), buffers.radius[numbers]
    away = np.linalg.norm(centers - place, axis=1) if clip else _distances(camera, centers)
    inside = away < radii
    numbers, centers, radii = numbers[inside], centers[inside], radii[inside]
    if len(buffers.axis):
        others = count + np.flatnonzero(_holding(buffers, place) & glass[materials[count:]])
        numbers = np.append(numbers, others)
        centers = np.concatenate([centers, np.broadcast_to(place, (len(others), 3))])
        radii = np.append(radii, np.full(len(others), EVERYWHERE))
    if clip:
        centers, radii = np.broadcast_to(place, centers.shape), np.full(len(radii), EVERYWHERE)
    most = dtype("Media")["camera_solid"].shape[0]
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


def _holding(buffers: SceneBuffers, place: Doubles) -> NDArray[np.bool_]:
    """Return which solids other than spheres contain a point of render space, bool (C,); of the
    triangles of a mesh that does, the first."""
    count, others = len(buffers.axis), slice(buffers.spheres, None)
    middle, radius = _centers(buffers, others), buffers.radius[others].astype(np.float64)
    form = buffers.form if len(buffers.form) else np.zeros(count, np.uint8)
    inside = np.zeros(count, bool)
    rods = (form & CONE) == 0
    axis = buffers.axis[rods].astype(np.float64)
    along, across = _beside(place - middle[rods], axis)
    is_flat = (form[rods] & FLAT) != 0
    beyond = np.maximum(np.abs(along) - 1.0, 0.0) * np.linalg.norm(axis, axis=1)
    inside[rods] = np.where(is_flat & (beyond > 0), np.inf, np.hypot(beyond, across)) < radius[rods]
    flat = buffers.triangles
    rows = buffers.shapes[: len(buffers.shapes) - TRIANGLE_ROWS * flat].astype(np.float64)
    start = count - flat - len(rows)
    for kind, test in ((CONE, _in_cones), (ELLIPSOID, _in_ellipsoids)):
        found = np.flatnonzero((form[: count - flat] & ELLIPSOID) == kind)
        inside[found] = test(place - middle[found], rows[found - start])
    if flat:
        triangles = triangle_numbers(buffers.shapes, flat)
        corners = triangles[:, :9].reshape(-1, 3, 3).astype(np.float64) - place
        numbers = np.ascontiguousarray(triangles[:, 15]).view(np.int32)
        first, mesh = np.unique(numbers, return_inverse=True)
        around = np.abs(np.bincount(mesh, solid_angles(corners))) > 2.0 * np.pi
        inside[first[around] - buffers.spheres] = True
    return inside


def _beside(away: Doubles, axis: Doubles) -> tuple[Doubles, Doubles]:
    """Return coordinates relative to axes: along, in half axes, and distance from them, (N,)."""
    square = np.maximum((axis**2).sum(axis=1), 1e-300)
    along = (away * axis).sum(axis=1) / square
    return along, np.linalg.norm(away - along[:, None] * axis, axis=1)


def _in_cones(away: Doubles, rows: Doubles) -> NDArray[np.bool_]:
    """Return which cones contain a point, given relative to the middles of their boxes, (N, 3)."""
    along, across = _beside(away - rows[:, :3], rows[:, 4:7])
    radius = rows[:, 3] + 0.5 * (along + 1.0) * (rows[:, 7] - rows[:, 3])
    return (abs(along) < 1.0) & (across < radius)


def _in_ellipsoids(away: Doubles, rows: Doubles) -> NDArray[np.bool_]:
    vector, w = rows[:, 3:6], rows[:, 7:8]
    turn = np.cross(away, vector)  # by the conjugate of the quaternion
    local = away + 2.0 * (w * turn + np.cross(turn, vector))
    return np.asarray(((local / np.maximum(rows[:, :3], 1e-300)) ** 2).sum(axis=1) < 1.0)


def _is_cut(clip: Mapping[str, Any], place: Doubles) -> bool:
    """Return whether clip planes remove a point of render space."""
    planes = np.asarray(clip["clip_planes"], np.float64).reshape(-1, 4)[: clip["clip_count"]]
    within = bool((planes[:, :3] @ place <= planes[:, 3]).all())
    return within == bool(clip["clip_removes"])


def _distances(camera: NDArray[np.void], centers: Doubles) -> Doubles:
    """Return the least distance of each point from the start of camera rays, float64 (N,)."""
    stand = camera[0]
    away = centers - stand["origin"].astype(np.float64)
    if stand["kind"] != code("CameraKind", "orthographic"):
        return np.asarray(np.linalg.norm(away, axis=1) - float(stand["lens_radius"]))
    beside = []
    for name in ("right", "up"):  # a rectangle perpendicular to the view
        half = stand[name].astype(np.float64)
        length = hypot(*half)
        beside.append(np.maximum(np.abs(away @ half) / length - length, 0.0))
    beside.append(away @ stand["forward"].astype(np.float64))
    return np.asarray(np.linalg.norm(beside, axis=0))
