"""Framing: the nearest camera of a given direction that has the spheres in its picture.

A sphere (c, r) lies inside a side plane of the view when n . (c - p) + r <= 0, with p the eye and
n the plane's unit normal, outwards. So of each plane only m = max(n . c + r) over all spheres
matters, which is exact for giants and for dust, and the eye follows in closed form.

A few spheres that are far away from all others are left out, because the others would be too small
to be seen: one that escaped from a simulation, a wrong number in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import frexp, hypot, inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.arrays import BLOCK_ROWS, each_block
from raytracer.scene.outliers import FAR, FEW, FEWEST, bulk
from raytracer.scene.views import AXES

if TYPE_CHECKING:
    from raytracer.scene.packing.render_space import Space
    from raytracer.scene.particles.source import Box
    from raytracer.scene.transform import Vector

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.intp]
Spheres = tuple[Floats, Floats, Floats, Floats]
"""x, y, z and radius in render space, (N,) each."""

MARGIN = 0.04
"""Part of the half picture kept free on each side; far more than float32 rounding can use up."""


ROUNDING = 1e-9
"""By how much, relative to its distance, an eye may be too near for the room to be left."""

GIANT = 8.0
"""Radius in render space, where most spheres are within about 1, of what is no part of a subject:
the ball that it stands on."""

GROUND = 0.9
"""Distance of the others from the centre of the ball that they stand on, in radii, at least."""


class Room(NamedTuple):
    """Parts of the width and of the height of a picture that spheres leave free."""

    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0


FULL = Room()
"""The whole picture is for the spheres."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a fitted camera shows beside the spheres: free room, and corners of boxes in scene
    units."""

    room: Room = FULL
    boxes: tuple[Box, ...] = ()

    def points(self, space: Space) -> Doubles | None:
        """Return the corners of the boxes in render space, (8 K, 3); None without one."""
        if not self.boxes:
            return None
        unit = np.array(list(product((0.0, 1.0), repeat=3)))
        corners = [unit @ np.array(b.edges, np.float64) + np.array(b.origin) for b in self.boxes]
        points: Doubles = (np.concatenate(corners) - np.array(space.center)) / space.scale
        return points


NOTHING = Surroundings()


class Basis(NamedTuple):
    """The axes of a view, orthonormal, (3,) each."""

    right: Doubles
    up: Doubles
    forward: Doubles


class Outliers(NamedTuple):
    """The spheres that a fitted camera leaves out: how many, the number of the farthest one, and
    how many times as far out as the others it is."""

    total: int
    farthest: int
    times: float


@dataclass(frozen=True, eq=False)
class Subject:
    """What a fitted camera frames.

    Args:
        spheres: without spheres, a unit ball is framed.
        everything: whether to frame spheres that are far from all others too.
        skipped: numbers of spheres that are not framed, ascending.
        points: further points, (K, 3).
    """

    spheres: Spheres
    everything: bool = False
    skipped: Numbers | None = None
    points: Doubles | None = None

    def reach(self, planes: list[Doubles]) -> tuple[list[float], Outliers | None]:
        """Return max(n . c + r) for each normal n, and what was left out."""
        reached, outliers = self._reach_of_spheres(planes)
        if self.points is not None:
            reached = [
                max(m, float((self.points @ n).max())) for m, n in zip(reached, planes, strict=True)
            ]
        return reached, outliers

    def box(self) -> tuple[Doubles, Doubles]:
        """Return lower and upper corner of the box around it, (3,) each."""
        axes = np.eye(3)
        reached, _ = self.reach([*axes, *-axes])
        return -np.array(reached[3:]), np.array(reached[:3])

    def _reach_of_spheres(self, planes: list[Doubles]) -> tuple[list[float], Outliers | None]:
        skipped = np.empty(0, np.intp) if self.skipped is None else self.skipped
        count = len(self.spheres[0]) - len(skipped)
        if count == 0:
            return [1.0] * len(planes), None
        reached, _ = _maxima(self.spheres, planes, skipped)
        if self.everything or count < FEWEST:
            return reached, None
        center, limit = bulk(self.spheres, skipped)
        if max(m - float(n @ center) for m, n in zip(reached, planes, strict=True)) <= limit:
            return reached, None  # no outlier enlarges the frame
        nearer, outliers = _maxima(self.spheres, planes, skipped, center, limit)
        if outliers is None or outliers.total > max(count // FEW, 1):
            return reached, None
        return nearer, outliers


def basis(backward: Doubles, up: Doubles) -> Basis:
    """Return the axes of a view: backward from the target to the eye, up not parallel to it."""
    backward, up = _of_order_one(backward), _of_order_one(up)
    forward = -backward / np.linalg.norm(backward)
    right = np.cross(forward, up / np.linalg.norm(up))
    right /= np.linalg.norm(right)
    return Basis(right, np.cross(right, forward), forward)


def _of_order_one(vector: Doubles) -> Doubles:
    """Return a vector whose square is a float64, scaled by a power of two if it must be."""
    largest = float(np.abs(vector).max())
    return vector if 1e-150 < largest < 1e150 else np.ldexp(vector, -frexp(largest)[1])


def fitted(
    kind: str, subject: Subject, axes: Basis, half: float, aspect: float, room: Room = FULL
) -> tuple[Doubles, float, Outliers | None]:
    """Return the nearest camera of a direction that sees a subject whole.

    Args:
        kind: "perspective", "orthographic" or "panorama", which stands like a perspective camera.
        subject: in the middle of the picture, unless it would reach into the room.
        axes: of the view.
        half: tangent of half the vertical field of view; any number for an orthographic camera.
        aspect: width by height.
        room: parts of the picture that are left free.

    Returns:
        The eye, (3,), in front of all spheres if orthographic; `half`, or half the height of an
        orthographic picture; the outliers.
    """
    if kind == "orthographic":
        return _orthographic(subject, axes, aspect, room)
    eye, outliers = _perspective(subject, axes, half, aspect, room)
    return eye, half, outliers


def _perspective(
    subject: Subject, axes: Basis, half: float, aspect: float, room: Room
) -> tuple[Doubles, Outliers | None]:
    """Return the eye of a perspective camera.

    With half angle a of the picture's width, the planes to the right and to the left require
    cos a px - sin a pz >= m_right and -cos a px - sin a pz >= m_left (p along the view's axes).
    Both are equalities for the nearest eye; where height requires more distance, px centres.
    """
    angles = [_cos_sin(half * side * (1.0 - MARGIN)) for side in (aspect, 1.0)]
    inner = _inner_angles(half, aspect, room)
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
        (across, above), depth = _with_room([across, above], depth, beside, inner)
    return across * axes.right + above * axes.up + depth * axes.forward, outliers


def _inner_angles(half: float, aspect: float, room: Room) -> list[tuple[float, float]]:
    """Return cosine and sine of the planes beside the room: right, left, top, bottom; or none."""
    if room == FULL:
        return []
    parts = ((room.right, aspect), (room.left, aspect), (room.top, 1.0), (room.bottom, 1.0))
    return [_cos_sin(half * side * (1.0 - 2.0 * part - MARGIN)) for part, side in parts]


def _with_room(
    places: list[float], depth: float, reach: list[float], angles: list[tuple[float, float]]
) -> tuple[list[float], float]:
    """Return an eye (across and above, depth) that leaves room, moved no more than it must be.

    places, depth: the eye that leaves no room. reach, angles: of the planes of `_inner_angles`.
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


def _orthographic(
    subject: Subject, axes: Basis, aspect: float, room: Room
) -> tuple[Doubles, float, Outliers | None]:
    """Return eye and half height of an orthographic camera."""
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
    # One picture height of air, so that no sphere touches the plane the rays start from.
    depth = -front - 2.0 * half
    return across * axes.right + above * axes.up + depth * axes.forward, half, outliers


def _cos_sin(tangent: float) -> tuple[float, float]:
    """Return cosine and sine of the angle with this tangent."""
    length = hypot(1.0, tangent)
    return 1.0 / length, tangent / length


def bounding_ball(subject: Subject) -> Spheres:
    """Return a ball that holds a subject, about the centre of the box around it, (1,) each.

    A camera that fits it shows the subject from all directions.
    """
    spheres, low, high = subject.spheres, *subject.box()
    center, size = (low + high) / 2.0, (high - low) / 2.0
    skipped = np.empty(0, np.intp) if subject.skipped is None else subject.skipped
    farthest = np.zeros(len(spheres[0]) // BLOCK_ROWS + 2)  # of each block, and of the points

    def work(rows: slice) -> None:
        *places, radius = _block(spheres, skipped, rows)
        offsets = [place - middle for place, middle in zip(places, center, strict=True)]
        distance = np.sqrt(sum(offset * offset for offset in offsets)) + radius
        for offset, half in zip(offsets, size, strict=True):
            distance[np.abs(offset) > half] = 0.0  # an outlier
        farthest[rows.start // BLOCK_ROWS] = distance.max(initial=0.0)

    each_block(len(spheres[0]), work)
    if subject.points is not None:
        farthest[-1] = np.linalg.norm(subject.points - center, axis=1).max()
    x, y, z, radius = (np.array([value], np.float32) for value in (*center, farthest.max() or 1.0))
    return x, y, z, radius


def middle(spheres: Spheres) -> Doubles:
    """Return the centre of the box around spheres without giants and outliers, (3,)."""
    low, high = Subject(spheres, skipped=giants(spheres[3])).box()
    center: Doubles = (low + high) / 2.0
    return center


def giants(radius: Floats) -> Numbers:
    """Return the numbers of the spheres beside which the others are small, ascending, (G,).

    There are none if there are no others.
    """
    numbers = np.flatnonzero(radius > GIANT)
    return numbers if len(numbers) < len(radius) else numbers[:0]


def up_of_ground(spheres: Spheres) -> Vector | None:
    """Return the axis from a giant ball to the spheres that stand on it; None without one."""
    numbers = giants(spheres[3])
    if not len(numbers):
        return None
    ground = numbers[int(spheres[3][numbers].argmax())]
    offset = middle(spheres) - [float(axis[ground]) for axis in spheres[:3]]
    if hypot(*offset) < GROUND * float(spheres[3][ground]):
        return None  # a shell around the others, as a sky
    axis = int(abs(offset).argmax())
    return AXES[("-" if offset[axis] < 0.0 else "") + "xyz"[axis]]


def lowest(spheres: Spheres, up: Vector) -> float:
    """Return the height of the lowest point of all spheres along a unit vector."""
    (reach,), _ = Subject(spheres, everything=True).reach([-np.array(up, np.float64)])
    return -reach


def within(numbers: Numbers, rows: slice) -> Numbers:
    """Return which of some numbers, ascending, are in a block of rows, counted from its start."""
    first, last = np.searchsorted(numbers, (rows.start, rows.stop))
    inside: Numbers = numbers[first:last] - rows.start
    return inside


def _block(spheres: Spheres, skipped: Numbers, rows: slice) -> list[Doubles]:
    """Return x, y, z and radius of a block; the radius of those that are skipped is -inf."""
    columns = [column[rows].astype(np.float64) for column in spheres]
    columns[3][within(skipped, rows)] = -inf
    return columns


def _maxima(
    spheres: Spheres,
    planes: list[Doubles],
    skipped: Numbers,
    center: Doubles | None = None,
    limit: float = inf,
) -> tuple[list[float], Outliers | None]:
    """Return max(n . c + r) for each normal n over spheres in a ball, and the others."""
    blocks = -(-len(spheres[0]) // BLOCK_ROWS)
    maxima = np.empty((len(planes), blocks))
    far = np.zeros(blocks, np.int64)
    farthest = np.full((2, blocks), -inf)  # distance and number

    def work(rows: slice) -> None:
        cx, cy, cz, r = _block(spheres, skipped, rows)
        total, part = np.empty_like(r), np.empty_like(r)
        block, out = rows.start // BLOCK_ROWS, None
        if center is not None:
            offset = np.stack([cx, cy, cz]) - center[:, None]
            distance = np.sqrt((offset * offset).sum(axis=0)) - r
            distance[np.isinf(r)] = -inf
            out = distance > limit
            far[block] = np.count_nonzero(out)
            last = int(np.argmax(distance))
            farthest[:, block] = distance[last], rows.start + last
        for index, normal in enumerate(planes):
            np.multiply(cx, normal[0], out=total)
            total += np.multiply(cy, normal[1], out=part)
            total += np.multiply(cz, normal[2], out=part)
            total += r
            if out is not None:
                total[out] = -inf
            maxima[index, block] = total.max()

    each_block(len(spheres[0]), work)
    reached = [float(v) for v in maxima.max(axis=1)]
    if not far.any():
        return reached, None
    distance, number = farthest[:, int(np.argmax(farthest[0]))]
    return reached, Outliers(int(far.sum()), int(number), FAR * float(distance) / limit)
