"""Rays against every sphere, in float64."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reference.scene import Array

# Ray-sphere pairs worked on at once: bounds the memory to a few tens of megabytes.
PAIRS = 400_000


def _chunks(rays: int, spheres: int) -> Iterator[slice]:
    step = max(1, PAIRS // max(1, spheres))
    for start in range(0, rays, step):
        yield slice(start, min(rays, start + step))


def roots(
    centers: Array, radii: Array, origin: Array, direction: Array, skin: Array
) -> tuple[Array, Array]:
    """Near and far distance of every ray and sphere, (P, N) each; nan where the line misses.

    The closest approach is measured by the perpendicular vector, which does not cancel when the
    sphere is far. Where a ray starts on a surface (nearer to it than `skin`, (P,)) the root at
    zero is exactly zero and the other one is the chord: no ray meets the surface it leaves.
    """
    d = [direction[:, axis, None] for axis in range(3)]
    f = [centers[:, axis] - origin[:, axis, None] for axis in range(3)]
    middle = f[0] * d[0] + f[1] * d[1] + f[2] * d[2]
    perp2 = sum((f[axis] - middle * d[axis]) ** 2 for axis in range(3))
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.sqrt((radii - np.sqrt(perp2)) * (radii + np.sqrt(perp2)))
        away = np.sqrt(f[0] ** 2 + f[1] ** 2 + f[2] ** 2)
        power = (away - radii) * (away + radii)
        # The root farther from zero is exact; the other follows from the product of both.
        big = middle + np.copysign(half, middle)
        small = np.where(big == 0, 0.0, power / big)
    near = np.where(middle >= 0, small, big)
    far = np.where(middle >= 0, big, small)
    on = np.abs(away - radii) <= skin[:, None]
    chord = 2 * middle
    near = np.where(on, np.minimum(chord, 0), near)
    far = np.where(on, np.maximum(chord, 0), far)
    return near, far


def _first(near: Array, far: Array, skin: Array) -> Array:
    """Distance along the ray of the first surface in front of it, inf where there is none."""
    floor = skin[:, None]
    with np.errstate(invalid="ignore"):
        t = np.where(near > floor, near, np.where(far > floor, far, np.inf))
    return np.where(np.isnan(t), np.inf, t)


def closest_hit(
    centers: Array, radii: Array, origin: Array, direction: Array, skin: Array | None = None
) -> tuple[Array, NDArray[np.int64]]:
    """Distance and index of the first sphere of each ray: inf and -1 where there is none."""
    count = len(origin)
    skin = np.zeros(count) if skin is None else skin
    t = np.full(count, np.inf)
    index = np.full(count, -1, np.int64)
    if len(radii) == 0:
        return t, index
    for part in _chunks(count, len(radii)):
        near, far = roots(centers, radii, origin[part], direction[part], skin[part])
        first = _first(near, far, skin[part])
        best = first.argmin(axis=1)
        t[part] = first[np.arange(len(best)), best]
        index[part] = np.where(np.isfinite(t[part]), best, -1)
    return t, index


def occluded(
    centers: Array, radii: Array, origin: Array, direction: Array, distance: Array, skin: Array
) -> NDArray[np.bool_]:
    """Whether anything stands between each origin and the point `distance` along its ray."""
    t, _ = closest_hit(centers, radii, origin, direction, skin)
    return t < distance
