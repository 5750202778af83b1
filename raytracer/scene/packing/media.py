"""Solids of glass in which camera rays begin, for paths through glass within glass."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING, Any

from raytracer.layout import code, dtype

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.packing.framing import Spheres


def pack_media(
    camera: NDArray[np.void],
    spheres: Spheres,
    glass: NDArray[np.bool_],
    priority: NDArray[np.float32],
    material_id: NDArray[np.int32],
    cut: bool,
) -> dict[str, Any]:
    """Return the fields of `Media`.

    Camera rays of a lens or without perspective begin at many points; kernels ask for each whether
    it is in one of the spheres. Where there are more than fit, those of the largest priorities
    are kept. Of other solids, and where planes cut spheres open, paths learn when they leave them.

    Args:
        camera: structured (1,), `Camera`.
        spheres: x, y, z and radius in render space, float32 (N,) each.
        glass: whether a material lets light through, bool (M,).
        priority: of the materials, float32 (M,).
        material_id: of each sphere, int32 (N,); (0,) where there is one material.
        cut: whether planes clip spheres.
    """
    import numpy as np

    fields: dict[str, Any] = {"nested": 1}
    if cut:
        return fields
    count = len(spheres[0])
    own = material_id[:count] if len(material_id) else np.zeros(count, np.int32)
    numbers = np.flatnonzero(glass[own])
    centers = np.stack([axis[numbers].astype(np.float64) for axis in spheres[:3]], axis=1)
    radii = spheres[3][numbers]
    inside = _distances(camera, centers) < radii
    numbers, centers, radii = numbers[inside], centers[inside], radii[inside]
    most = dtype("Media")["camera_solid"].shape[0]
    order = np.lexsort((numbers, priority[own[numbers]]))[::-1][:most]
    solids, places = np.zeros(most, np.uint32), np.zeros((most, 4))
    solids[: len(order)] = numbers[order]
    places[: len(order), :3], places[: len(order), 3] = centers[order], radii[order]
    return fields | {
        "camera_count": len(order),
        "camera_solid": tuple(solids.tolist()),
        "camera_sphere": tuple(places.ravel().tolist()),
    }


def _distances(camera: NDArray[np.void], centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least distance of each point to where camera rays begin, float64 (N,)."""
    import numpy as np

    stand = camera[0]
    away = centers - stand["origin"].astype(np.float64)
    if stand["kind"] != code("CameraKind", "orthographic"):
        return np.asarray(np.linalg.norm(away, axis=1) - float(stand["lens_radius"]))
    beside = []
    for name in ("right", "up"):  # a rectangle at right angles to the view
        half = stand[name].astype(np.float64)
        length = hypot(*half)
        beside.append(np.maximum(np.abs(away @ half) / length - length, 0.0))
    beside.append(away @ stand["forward"].astype(np.float64))
    return np.asarray(np.linalg.norm(beside, axis=0))
