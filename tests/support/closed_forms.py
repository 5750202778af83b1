"""Pictures of one sphere by formula."""

from __future__ import annotations

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


def ellipse_area(view: View, center: ArrayLike, radius: float) -> float:
    """Area of a perspective sphere's outline on the plane at distance 1 in front of the camera."""
    forward, _, _ = view.axes()
    away = vector(center) - vector(view.position)
    distance = float(np.linalg.norm(away))
    sine = radius / distance
    axis = float(away @ forward) / distance
    # Semi-axes of the conic that a plane cuts from a cone whose axis leans from the plane's normal.
    power = axis**2 - sine**2
    along = sine * np.sqrt(1 - sine**2) / power
    across = sine / np.sqrt(power)
    return float(np.pi * along * across)
