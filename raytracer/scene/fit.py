"""Framing: the nearest camera of a given direction that has every sphere in its picture.

A sphere (c, r) lies inside a side plane of the view when n . (c - p) + r <= 0, with p the eye and
n the plane's unit normal, outwards. So of each plane only m = max(n . c + r) over all spheres
matters, which is exact for giants and for dust, and the eye follows in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING

from .arrays import BLOCK_ROWS, each_block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Spheres = tuple[
        NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]
    ]

MARGIN = 0.04
"""Part of the half picture kept free on each side; far more than float32 rounding can use up."""


@dataclass(frozen=True, eq=False)
class Basis:
    """The axes of a view, orthonormal, float64 (3,) each."""

    right: NDArray[np.float64]
    up: NDArray[np.float64]
    forward: NDArray[np.float64]


def basis(backward: NDArray[np.float64], up: NDArray[np.float64]) -> Basis:
    """Return the axes of a view.

    Args:
        backward: from the target to the eye, any length but 0.
        up: any vector that is not parallel to it.
    """
    import numpy as np

    forward = -backward / np.linalg.norm(backward)
    right = np.cross(forward, up / np.linalg.norm(up))
    right /= np.linalg.norm(right)
    return Basis(right, np.cross(right, forward), forward)


def perspective(
    spheres: Spheres, axes: Basis, half_height: float, aspect: float
) -> NDArray[np.float64]:
    """Return the eye of the nearest perspective camera that sees every sphere whole.

    With half angle a of the picture's width, the planes to the right and to the left ask for
    cos a px - sin a pz >= m_right and -cos a px - sin a pz >= m_left (p along the view's axes).
    Both are equalities for the nearest eye; where height asks for more distance, px centres.

    Args:
        spheres: x, y, z, radius, float32 (N,) each; without spheres a unit ball is framed.
        axes: the view.
        half_height: tangent of half the vertical field of view.
        aspect: width by height.

    Returns:
        float64 (3,), in the space of the spheres.
    """
    angles = [_cos_sin(half_height * side * (1.0 - MARGIN)) for side in (aspect, 1.0)]
    planes = []
    for side, (cosine, sine) in zip((axes.right, axes.up), angles, strict=True):
        planes.append(cosine * side - sine * axes.forward)
        planes.append(-cosine * side - sine * axes.forward)
    right, left, top, bottom = _reach(spheres, planes)
    depth = min(
        -(right + left) / (2.0 * angles[0][1]),
        -(top + bottom) / (2.0 * angles[1][1]),
    )
    across = (right - left) / (2.0 * angles[0][0])
    above = (top - bottom) / (2.0 * angles[1][0])
    return across * axes.right + above * axes.up + depth * axes.forward


def orthographic(spheres: Spheres, axes: Basis, aspect: float) -> tuple[NDArray[np.float64], float]:
    """Return eye and half height of the tightest orthographic camera that sees every sphere.

    Args:
        spheres: x, y, z, radius, float32 (N,) each; without spheres a unit ball is framed.
        axes: the view.
        aspect: width by height.

    Returns:
        float64 (3,) in the space of the spheres, in front of them all; half the picture's height.
    """
    planes = [axes.right, -axes.right, axes.up, -axes.up, -axes.forward]
    right, left, top, bottom, front = _reach(spheres, planes)
    half = max((top + bottom) / 2.0, (right + left) / 2.0 / aspect) / (1.0 - MARGIN)
    # One picture height of air, so that no sphere touches the plane the rays start from.
    depth = -front - 2.0 * half
    eye = (right - left) / 2.0 * axes.right + (top - bottom) / 2.0 * axes.up + depth * axes.forward
    return eye, half


def _cos_sin(tangent: float) -> tuple[float, float]:
    """Return cosine and sine of the angle with this tangent."""
    length = hypot(1.0, tangent)
    return 1.0 / length, tangent / length


def _reach(spheres: Spheres, planes: list[NDArray[np.float64]]) -> list[float]:
    """Return max(n . c + r) over all spheres, for each normal n."""
    import numpy as np

    x, y, z, radius = spheres
    if len(x) == 0:
        return [1.0] * len(planes)
    found = np.empty((len(planes), -(-len(x) // BLOCK_ROWS)))

    def work(rows: slice) -> None:
        cx, cy, cz, r = (a[rows].astype(np.float64) for a in (x, y, z, radius))
        total, part = np.empty_like(r), np.empty_like(r)
        for index, normal in enumerate(planes):
            np.multiply(cx, normal[0], out=total)
            total += np.multiply(cy, normal[1], out=part)
            total += np.multiply(cz, normal[2], out=part)
            total += r
            found[index, rows.start // BLOCK_ROWS] = total.max()

    each_block(len(x), work)
    return [float(v) for v in found.max(axis=1)]
