"""Arithmetic of three numbers, in float64."""

from __future__ import annotations

from math import cos, sin

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def rotation(axis: Vector, angle: float) -> NDArray[np.float64]:
    """Rodrigues' formula as a matrix (3, 3); `axis` is unit."""
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
    """As np.cross, which takes ten times as long for two vectors."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))


def triple(vector: Vector) -> tuple[float, float, float]:
    """As a scene has it."""
    x, y, z = (float(v) for v in vector)
    return x, y, z
