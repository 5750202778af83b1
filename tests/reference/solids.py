"""Where rays enter and leave cones and ellipsoids, and how far points are from them, float64."""

from itertools import pairwise

import numpy as np

from reference.scene import Array


def cone_distance(
    center: Array, axis: Array, start_radius: Array, end_radius: Array, points: Array
) -> Array:
    """Return signed distances from cones with flat ends, negative inside, (...).

    In the plane of the axis and the point a cone is a trapezoid, of which the distance is that to
    the nearest of its three edges beside the axis.

    Args:
        center, axis: middle and half of the axis, (..., 3).
        start_radius, end_radius: (...).
        points: (..., 3).
    """
    length = np.linalg.norm(axis, axis=-1)
    u = axis / length[..., None]
    away = points - center
    z = (away * u).sum(axis=-1)
    rho = np.linalg.norm(away - z[..., None] * u, axis=-1)
    corners = [
        (-length, np.zeros_like(length)),
        (-length, start_radius),
        (length, end_radius),
        (length, np.zeros_like(length)),
    ]
    nearest = np.full(z.shape, np.inf)
    for (z0, r0), (z1, r1) in pairwise(corners):
        dz, dr = z1 - z0, r1 - r0
        size2 = np.maximum(dz * dz + dr * dr, 1e-300)
        s = np.clip(((z - z0) * dz + (rho - r0) * dr) / size2, 0, 1)
        nearest = np.minimum(nearest, np.hypot(z - z0 - s * dz, rho - r0 - s * dr))
    share = (z + length) / (2 * length)
    inside = (np.abs(z) < length) & (rho < start_radius + share * (end_radius - start_radius))
    return np.where(inside, -nearest, nearest)


def cone_interval(
    center: Array,
    axis: Array,
    start_radius: Array,
    end_radius: Array,
    origin: Array,
    direction: Array,
) -> tuple[Array, Array]:
    """t at which lines enter and leave cones: infinity and its negative where they miss.

    All that a line meets is looked at: both discs, and the side by its quadratic equation.
    """
    length = np.linalg.norm(axis, axis=-1)
    u = axis / length[..., None]
    first, last = np.full(length.shape, np.inf), np.full(length.shape, -np.inf)
    from_center = origin - center
    z0, dz = (from_center * u).sum(axis=-1), (direction * u).sum(axis=-1)
    w0, dw = from_center - z0[..., None] * u, direction - dz[..., None] * u
    slope = (end_radius - start_radius) / (2 * length)
    middle = 0.5 * (start_radius + end_radius)
    with np.errstate(all="ignore"):
        for end, radius in ((-length, start_radius), (length, end_radius)):
            t = (end - z0) / dz
            on = np.linalg.norm(w0 + t[..., None] * dw, axis=-1) <= radius
            t = np.where(on, t, np.nan)
            first, last = np.fmin(first, t), np.fmax(last, t)
        # about the point nearest to the centre, which keeps the equation well conditioned
        base = -(from_center * direction).sum(axis=-1)
        w, z = w0 + base[..., None] * dw, z0 + base * dz
        r, g = middle + slope * z, slope * dz
        a = (dw * dw).sum(axis=-1) - g * g
        b = (w * dw).sum(axis=-1) - r * g
        c = (w * w).sum(axis=-1) - r * r
        root = np.sqrt(b * b - a * c)
        far = -(b + np.copysign(root, b))
        for t in (far / a, c / far):
            height = z + t * dz
            on = (np.abs(height) <= length) & (r + t * g >= 0)
            t = np.where(on, base + t, np.nan)
            first, last = np.fmin(first, t), np.fmax(last, t)
    return first, last


def cone_normal(
    center: Array, axis: Array, start_radius: Array, end_radius: Array, points: Array
) -> Array:
    """Return the outward normals at points of the surface, (..., 3), by central differences."""
    step = 1e-4 * np.minimum(np.linalg.norm(axis, axis=-1), np.maximum(start_radius, end_radius))
    return _gradient(
        lambda p: cone_distance(center, axis, start_radius, end_radius, p), points, step
    )


def matrix(quaternion: Array) -> Array:
    """Return rotation matrices of quaternions w, x, y, z of length 1, (..., 3, 3)."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _form(semi_axes: Array, quaternion: Array) -> Array:
    """Return the matrices Q with x Q x = 1 on the surface, (..., 3, 3)."""
    turn = matrix(quaternion)
    return np.asarray(np.einsum("...ik,...k,...jk->...ij", turn, semi_axes**-2.0, turn))


def ellipsoid_distance(center: Array, semi_axes: Array, quaternion: Array, points: Array) -> Array:
    """Return signed distances from ellipsoids, to first order, negative inside, (...)."""
    away = points - center
    gradient = np.einsum("...ij,...j->...i", _form(semi_axes, quaternion), away)
    size = np.sqrt((gradient * away).sum(axis=-1))
    slope = np.linalg.norm(gradient, axis=-1) / np.maximum(size, 1e-300)
    return np.asarray((size - 1) / np.maximum(slope, 1e-300))


def ellipsoid_interval(
    center: Array, semi_axes: Array, quaternion: Array, origin: Array, direction: Array
) -> tuple[Array, Array]:
    """As `cone_interval`, by the quadratic form."""
    form = _form(semi_axes, quaternion)
    away = origin - center
    base = -(away * direction).sum(axis=-1)
    away = away + base[..., None] * direction
    qd = np.einsum("...ij,...j->...i", form, direction)
    a, b = (qd * direction).sum(axis=-1), (qd * away).sum(axis=-1)
    c = (np.einsum("...ij,...j->...i", form, away) * away).sum(axis=-1) - 1
    with np.errstate(invalid="ignore"):
        root = np.sqrt(b * b - a * c)
    near, far = base + (-b - root) / a, base + (-b + root) / a
    miss = ~np.isfinite(root)
    return np.where(miss, np.inf, near), np.where(miss, -np.inf, far)


def ellipsoid_normal(center: Array, semi_axes: Array, quaternion: Array, points: Array) -> Array:
    """Return the outward normals at points of the surface, (..., 3)."""
    gradient = np.einsum("...ij,...j->...i", _form(semi_axes, quaternion), points - center)
    return np.asarray(gradient / np.linalg.norm(gradient, axis=-1, keepdims=True))


def _gradient(distance: object, points: Array, step: Array) -> Array:
    """Return the direction in which a distance grows."""
    assert callable(distance)
    parts = []
    for axis in np.eye(3):
        move = step[..., None] * axis
        parts.append(distance(points + move) - distance(points - move))
    grown = np.stack(parts, axis=-1)
    return np.asarray(grown / np.linalg.norm(grown, axis=-1, keepdims=True))
