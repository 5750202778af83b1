"""Where rays enter and leave capsules, float64, by the solids that one is made of; distances."""

import numpy as np

from reference.scene import Array, unit


def interval(
    center: Array, radius: Array, axis: Array, origin: Array, direction: Array
) -> tuple[Array, Array]:
    """t at which lines enter and leave capsules: infinity and its negative where they miss.

    Args:
        center, axis: middle and half of the segment, (..., 3), of length 0 for a sphere.
        radius: (...).
        origin, direction: of the rays, (..., 3), which broadcasts; direction: unit.
    """
    to_center = center - origin
    first, last = np.array(np.inf), np.array(-np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        for end in (to_center - axis, to_center + axis):
            mid = (end * direction).sum(axis=-1)
            half2 = radius**2 - np.square(end - mid[..., None] * direction).sum(axis=-1)
            half = np.sqrt(half2)
            first, last = np.fmin(first, mid - half), np.fmax(last, mid + half)
        length = np.linalg.norm(axis, axis=-1)
        u = axis / length[..., None]
        across = direction - (direction * u).sum(axis=-1)[..., None] * u
        offset = to_center - (to_center * u).sum(axis=-1)[..., None] * u
        a, b = (across * across).sum(axis=-1), (across * offset).sum(axis=-1)
        gap = offset - (b / a)[..., None] * across
        root = np.sqrt((radius**2 - (gap * gap).sum(axis=-1)) * a)
        for t in ((b - root) / a, (b + root) / a):
            s = ((t[..., None] * direction - to_center) * u).sum(axis=-1)
            on = np.where(np.abs(s) <= length, t, np.nan)
            first, last = np.fmin(first, on), np.fmax(last, on)
    return first, last


def from_segment(center: Array, axis: Array, points: Array) -> Array:
    """Return the vectors to points from the nearest points of segments, (..., 3)."""
    away = points - center
    along = (away * axis).sum(axis=-1) / np.maximum((axis * axis).sum(axis=-1), 1e-300)
    return np.asarray(away - np.clip(along, -1, 1)[..., None] * axis)


def distance(center: Array, radius: Array, axis: Array, points: Array) -> Array:
    """Return signed distances from capsules, negative inside, (...)."""
    return np.asarray(np.linalg.norm(from_segment(center, axis, points), axis=-1) - radius)


def normal(center: Array, radius: Array, axis: Array, points: Array) -> Array:
    """Return the outward normals at points of the surface, (..., 3)."""
    return unit(from_segment(center, axis, points))
