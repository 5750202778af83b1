"""Connected bodies of closed meshes, and on which side of their triangles they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.mesh_normals import connected


def inward_triangles(corners: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which triangles have their corners clockwise from outside of the material, bool (T,).

    A body is on the inner side of its triangles if its signed volume is positive. Once the
    volume of all is positive, a body of negative volume inside another of positive volume is a
    cavity; outside of these it is to be turned.

    Args:
        corners: of the triangles of a closed mesh, (T, 3, 3).
        places: numbers of the corners, the same where they meet, int64 (T, 3).
    """
    links = places[:, [0, 1, 1, 2]].reshape(-1, 2)
    label = connected(int(places.max(initial=-1)) + 1, links)[places[:, 0]]
    _, body = np.unique(label, return_inverse=True)
    count = int(body.max(initial=-1)) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, body, corners.min(axis=1))
    np.maximum.at(high, body, corners.max(axis=1))
    a, b, c = np.moveaxis(corners - (0.5 * (low + high))[body][:, None], 1, 0)
    volume = np.bincount(body, (a * np.cross(b, c)).sum(axis=1), count)
    sign = -1.0 if volume.sum() < 0.0 else 1.0
    inward = sign * volume < 0.0
    is_solid = ~inward
    for each in np.flatnonzero(inward):
        around = is_solid & (low < low[each]).all(axis=1) & (high > high[each]).all(axis=1)
        point = corners[np.argmax(body == each), 0]
        inward[each] = not any(
            abs(solid_angles(corners[body == other] - point).sum()) > 2.0 * np.pi
            for other in np.flatnonzero(around)
        )
    return (inward if sign > 0.0 else ~inward)[body]


def solid_angles(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the signed solid angles of triangles (T, 3, 3), seen from the origin, (T,): of a
    closed mesh around it, their sum is a full turn.

    A. van Oosterom, J. Strackee, "The Solid Angle of a Plane Triangle", IEEE Transactions on
    Biomedical Engineering 30(2), 1983.
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    x, y, z = np.linalg.norm(corners, axis=2).T
    volume = (a * np.cross(b, c)).sum(axis=1)
    weight = x * y * z + (a * b).sum(axis=1) * z + (b * c).sum(axis=1) * x + (a * c).sum(axis=1) * y
    return np.asarray(2.0 * np.arctan2(volume, weight))
