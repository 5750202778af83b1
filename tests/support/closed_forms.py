"""Pictures of one sphere by formula."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference import View, camera_rays
from reference.scene import vector


def edge_distance(
    view: View, width: int, height: int, center: ArrayLike, radius: float
) -> NDArray[np.float64]:
    """How far each pixel's centre ray passes from the sphere's edge, in radii; negative inside.

    A perspective sphere is the cone with the half angle asin(radius / distance) about its centre.
    """
    origin, direction = camera_rays(view, width, height)
    away = vector(center) - origin
    side = np.linalg.norm(np.cross(away, direction), axis=1)
    return np.asarray(side / radius - 1).reshape(height, width)


def ball_normals(
    view: View, width: int, height: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outward normals of the unit ball at the origin where rays enter it, (h * w, 3).

    Also 1 - d^2, (h * w,), where d is the distance at which each ray passes the centre.
    """
    origin, direction = camera_rays(view, width, height)
    middle = -(origin * direction).sum(axis=1)
    nearest = origin + middle[:, None] * direction
    power = 1 - (nearest**2).sum(axis=1)
    return nearest - np.sqrt(np.maximum(power, 0))[:, None] * direction, power
