"""Vectors of three float64."""

from __future__ import annotations

from math import cos, sin

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def rotation(axis: Vector, angle: float) -> NDArray[np.float64]:
    """Return the rotation matrix (3, 3) about a unit axis, in radians (Rodrigues' formula)."""
    (x, y, z), c, s = axis.tolist(), cos(angle), sin(angle)
    d = 1.0 - c
    return np.array(
        (
            (x * x * d + c, x * y * d - z * s, x * z * d + y * s),
            (y * x * d + z * s, y * y * d + c, y * z * d - x * s),
            (z * x * d - y * s, z * y * d + x * s, z * z * d + c),
        )
    )


def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product; np.cross takes ten times as long for two vectors."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))
