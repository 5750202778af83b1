"""Framing: the nearest camera in a given direction that shows all spheres.

A sphere (c, r) lies inside a side plane of the view if n . (c - p) + r <= 0, with p the eye and n
the plane's outward unit normal. Each plane needs only m = max(n . c + r) over all spheres, which is
exact for any radii, and the eye follows in closed form. A few outliers are left out, because the
others would be too small to see.
"""

from dataclasses import dataclass
from itertools import product
from math import frexp, hypot
from typing import NamedTuple

import numpy as np

from raytracer.model.extent import Doubles, Outliers, Subject
from raytracer.model.particle_source import Box
from raytracer.model.render_space import Space

MARGIN = 0.04
"""Fraction of half the picture kept free on each side; far more than float32 rounding needs."""


ROUNDING = 1e-9  # relative error of the distance at which a margin still counts as free


class Room(NamedTuple):
    """Fractions of a picture's width and height to leave free."""

    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0


FULL = Room()


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a fitted camera shows beside the spheres: free margins, and boxes in scene units."""

    room: Room = FULL
    boxes: tuple[Box, ...] = ()

    def points(self, space: Space) -> Doubles | None:
        """Return the corners of the boxes in render space, (8 K, 3), or None."""
        if not self.boxes:
            return None
        unit = np.array(list(product((0.0, 1.0), repeat=3)))
        corners = [unit @ np.array(b.edges, np.float64) + np.array(b.origin) for b in self.boxes]
        return np.asarray((np.concatenate(corners) - np.array(space.center)) / space.scale)


NOTHING = Surroundings()


class Basis(NamedTuple):
    """Orthonormal axes of a view, (3,) each."""

    right: Doubles
    up: Doubles
    forward: Doubles


def view_basis(backward: Doubles, up: Doubles) -> Basis:
    """Return the axes of a view; `backward` points from the target to the eye."""
    backward, up = _normalize_exponent(backward), _normalize_exponent(up)
    forward = -backward / np.linalg.norm(backward)
    right = np.cross(forward, up / np.linalg.norm(up))
    right /= np.linalg.norm(right)
    return Basis(right, np.cross(right, forward), forward)


def _normalize_exponent(vector: Doubles) -> Doubles:
    """Scale a vector by a power of two if its square would not be a float64."""
    largest = float(np.abs(vector).max())
    return vector if 1e-150 < largest < 1e150 else np.ldexp(vector, -frexp(largest)[1])


def fit_subject(
    kind: str, subject: Subject, axes: Basis, half: float, aspect: float, room: Room = FULL
) -> tuple[Doubles, float, Outliers | None]:
    """Return the nearest camera that shows the whole subject, in the middle of the picture unless
    it would reach into `room`: the eye, (3,), in front of all spheres if orthographic; the tangent
    of half the vertical field of view (`half`), or half the height; the outliers.

    kind: of the camera; a panorama is placed like a perspective one. aspect: width by height.
    """
    if kind == "orthographic":
        return _fit_orthographic(subject, axes, aspect, room)
    eye, outliers = _fit_perspective(subject, axes, half, aspect, room)
    return eye, half, outliers


def _fit_perspective(
    subject: Subject, axes: Basis, half: float, aspect: float, room: Room
) -> tuple[Doubles, Outliers | None]:
    """Return the eye of a perspective camera, and the outliers.

    With half angle a of the picture's width, the planes to the right and to the left require cos a
    px - sin a pz >= m_right and -cos a px - sin a pz >= m_left (p along the view's axes). Both are
    equalities for the nearest eye; if height requires more distance, px centres.
    """
    angles = [_cos_sin(half * side * (1.0 - MARGIN)) for side in (aspect, 1.0)]
    inner: list[tuple[float, float]] = []  # of the planes beside the margins
    if room != FULL:
        parts = ((room.right, aspect), (room.left, aspect), (room.top, 1.0), (room.bottom, 1.0))
        inner = [_cos_sin(half * side * (1.0 - 2.0 * part - MARGIN)) for part, side in parts]
    planes = []
    for index, (cosine, sine) in enumerate([angles[0], angles[0], angles[1], angles[1], *inner]):
        side = (axes.right, axes.up)[index % 4 // 2]
        planes.append((-cosine if index % 2 else cosine) * side - sine * axes.forward)
    (right, left, top, bottom, *beside), outliers = subject.reach(planes)
    depth = min(
        -(right + left) / (2.0 * angles[0][1]),
        -(top + bottom) / (2.0 * angles[1][1]),
    )
    across = (right - left) / (2.0 * angles[0][0])
    above = (top - bottom) / (2.0 * angles[1][0])
    if inner:
        (across, above), depth = _free_margins([across, above], depth, beside, inner)
    return across * axes.right + above * axes.up + depth * axes.forward, outliers


def _free_margins(
    places: list[float], depth: float, reach: list[float], angles: list[tuple[float, float]]
) -> tuple[list[float], float]:
    """Move an eye (across and above, depth) as little as possible to free the margins.

    places, depth: the eye without margins. reach, angles: of the planes beside them.
    """
    pairs = [(reach[i], reach[i + 1], angles[i], angles[i + 1]) for i in (0, 2)]
    for high, low, (cos_1, sin_1), (cos_2, sin_2) in pairs:
        need = -(high * cos_2 + low * cos_1) / (sin_1 * cos_2 + sin_2 * cos_1)
        depth = need if need < depth - ROUNDING * abs(depth) else depth
    moved = []
    for place, (high, low, (cos_1, sin_1), (cos_2, sin_2)) in zip(places, pairs, strict=True):
        least, most = (high + sin_1 * depth) / cos_1, -(low + sin_2 * depth) / cos_2
        near = ROUNDING * abs(depth)
        stays = least - near <= place <= most + near
        moved.append(place if stays else min(max(place, least), max(most, least)))
    return moved, depth


def _fit_orthographic(
    subject: Subject, axes: Basis, aspect: float, room: Room
) -> tuple[Doubles, float, Outliers | None]:
    """Return eye and half height of an orthographic camera, and the outliers."""
    planes = [axes.right, -axes.right, axes.up, -axes.up, -axes.forward]
    (right, left, top, bottom, front), outliers = subject.reach(planes)
    half = max((top + bottom) / 2.0, (right + left) / 2.0 / aspect) / (1.0 - MARGIN)
    across, above = (right - left) / 2.0, (top - bottom) / 2.0
    if room != FULL:
        wide, high = 1.0 - room.left - room.right - MARGIN, 1.0 - room.bottom - room.top - MARGIN
        half = max(half, (right + left) / 2.0 / wide / aspect, (top + bottom) / 2.0 / high)
        width = half * aspect
        least = right - width * (1.0 - 2.0 * room.right - MARGIN)
        across = min(max(across, least), width * (1.0 - 2.0 * room.left - MARGIN) - left)
        least = top - half * (1.0 - 2.0 * room.top - MARGIN)
        above = min(max(above, least), half * (1.0 - 2.0 * room.bottom - MARGIN) - bottom)
    # One picture height of distance, so that no sphere touches the plane where rays start.
    depth = -front - 2.0 * half
    return across * axes.right + above * axes.up + depth * axes.forward, half, outliers


def _cos_sin(tangent: float) -> tuple[float, float]:
    """Return cosine and sine of the angle with this tangent."""
    length = hypot(1.0, tangent)
    return 1.0 / length, tangent / length
