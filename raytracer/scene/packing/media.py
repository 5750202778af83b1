"""Spheres of glass in which camera rays begin, for nested glass."""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import SceneBuffers
from raytracer.layout import code, dtype

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
    whether it is in one of the spheres. With clip planes the camera position counts. If too many
    spheres contain it, those with the largest priorities are kept. The camera is outside of all
    other solids.

    Args:
        camera: structured (1,), `Camera`.
        buffers: spheres, solids and their materials.
        glass, priority: whether each material transmits light, and its priority, (M,).
        clip: fields of `Clip`; empty without clipping.
    """
    fields: dict[str, Any] = {"nested": 1}
    place = camera[0]["origin"].astype(np.float64)
    if clip and (camera[0]["kind"] == code("CameraKind", "orthographic") or _is_cut(clip, place)):
        return fields
    count, ids = buffers.spheres, buffers.material_id
    materials = ids[:count] if len(ids) else np.zeros(count, np.int32)
    numbers = np.flatnonzero(glass[materials])
    columns = (buffers.x, buffers.y, buffers.z)
    centers = np.stack([axis[numbers].astype(np.float64) for axis in columns], axis=1)
    radii = buffers.radius[numbers]
    away = np.linalg.norm(centers - place, axis=1) if clip else _distances(camera, centers)
    inside = away < radii
    numbers, centers, radii = numbers[inside], centers[inside], radii[inside]
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


def _is_cut(clip: Mapping[str, Any], place: Doubles) -> bool:
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
