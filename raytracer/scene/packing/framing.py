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

from raytracer.scene.arrays import BLOCK_ROWS, each_block
from raytracer.scene.outliers import FAR, FEW, FEWEST, bulk
from raytracer.scene.views import AXES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.packing.render_space import Space
    from raytracer.scene.particles.source import Box
    from raytracer.scene.transform import Vector

    Spheres = tuple[
        NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]
    ]

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
    """What a fitted camera shows beside the spheres.

    Args:
        room: that is left free.
        boxes: whose corners are in the picture, scene units.
    """

    room: Room = FULL
    boxes: tuple[Box, ...] = ()

    def points(self, space: Space) -> NDArray[np.float64] | None:
        """Return the corners of the boxes in render space, float64 (8 K, 3); None without one."""
        import numpy as np

        if not self.boxes:
            return None
        unit = np.array(list(product((0.0, 1.0), repeat=3)))
        corners = [
            unit @ np.array(box.edges, np.float64) + np.array(box.origin, np.float64)
            for box in self.boxes
        ]
        center = np.asarray(space.center, np.float64)
        return (np.concatenate(corners) - center) / space.scale


NOTHING = Surroundings()


class Basis(NamedTuple):
    """The axes of a view, orthonormal, float64 (3,) each."""

    right: NDArray[np.float64]
    up: NDArray[np.float64]
    forward: NDArray[np.float64]


def _of_order_one(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a vector whose square is a float64, scaled by a power of two if it must be."""
    import numpy as np

    largest = float(np.abs(vector).max())
    return vector if 1e-150 < largest < 1e150 else np.ldexp(vector, -frexp(largest)[1])


def basis(backward: NDArray[np.float64], up: NDArray[np.float64]) -> Basis:
    """Return the axes of a view.

    Args:
        backward: from the target to the eye, any length but 0.
        up: any vector that is not parallel to it.
    """
    import numpy as np

    backward, up = _of_order_one(backward), _of_order_one(up)
    forward = -backward / np.linalg.norm(backward)
    right = np.cross(forward, up / np.linalg.norm(up))
    right /= np.linalg.norm(right)
    return Basis(right, np.cross(right, forward), forward)


def perspective(
    spheres: Spheres,
    axes: Basis,
    half_height: float,
    aspect: float,
    everything: bool = False,
    skipped: NDArray[np.intp] | None = None,
    room: Room = FULL,
    points: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], Outliers | None]:
    """Return the eye of the nearest perspective camera that sees the spheres whole.

    With half angle a of the picture's width, the planes to the right and to the left ask for
    cos a px - sin a pz >= m_right and -cos a px - sin a pz >= m_left (p along the view's axes).
    Both are equalities for the nearest eye; where height asks for more distance, px centres.

    Args:
        spheres: x, y, z, radius, float32 (N,) each; without spheres a unit ball is framed.
        axes: the view.
        half_height: tangent of half the vertical field of view.
        aspect: width by height.
        everything: whether to frame spheres that are far from all others too.
        skipped: numbers of spheres that are not framed, ascending.
        room: that is left free; the spheres stay in the middle where they do not reach into it.
        points: that are in the picture too, float64 (K, 3) in the space of the spheres.

    Returns:
        float64 (3,), in the space of the spheres; what was left out.
    """
    angles = [_cos_sin(half_height * side * (1.0 - MARGIN)) for side in (aspect, 1.0)]
    sides = (axes.right, axes.up)
    planes = []
    for side, (cosine, sine) in zip(sides, angles, strict=True):
        planes.append(cosine * side - sine * axes.forward)
        planes.append(-cosine * side - sine * axes.forward)
    inner = _inner_angles(half_height, aspect, room)
    for index, (cosine, sine) in enumerate(inner):
        sign = 1.0 if index % 2 == 0 else -1.0
        planes.append(sign * cosine * sides[index // 2] - sine * axes.forward)
    found, outliers = _reach(spheres, planes, everything, skipped, points)
    right, left, top, bottom = found[:4]
    depth = min(
        -(right + left) / (2.0 * angles[0][1]),
        -(top + bottom) / (2.0 * angles[1][1]),
    )
    across = (right - left) / (2.0 * angles[0][0])
    above = (top - bottom) / (2.0 * angles[1][0])
    if inner:
        places, depth = _beside([across, above], depth, found[4:], inner)
        across, above = places
    return across * axes.right + above * axes.up + depth * axes.forward, outliers


def _inner_angles(half_height: float, aspect: float, room: Room) -> list[tuple[float, float]]:
    """Return cosine and sine of the planes beside which room is left: right, left, top, bottom.

    There are none where no room is left. A plane may lie beyond the middle of the picture.
    """
    if room == FULL:
        return []
    parts = ((room.right, aspect), (room.left, aspect), (room.top, 1.0), (room.bottom, 1.0))
    return [_cos_sin(half_height * side * (1.0 - 2.0 * part - MARGIN)) for part, side in parts]


def _beside(
    places: list[float],
    depth: float,
    reach: list[float],
    angles: list[tuple[float, float]],
) -> tuple[list[float], float]:
    """Return where an eye stands, across and above, and its depth, so that room is left.

    It moves no more than it has to.

    Args:
        places: across and above, of the eye that leaves no room.
        depth: of that eye.
        reach: largest n . c + r of the planes of `_inner_angles`.
        angles: of these planes.
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


def orthographic(
    spheres: Spheres,
    axes: Basis,
    aspect: float,
    everything: bool = False,
    skipped: NDArray[np.intp] | None = None,
    room: Room = FULL,
    points: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], float, Outliers | None]:
    """Return eye and half height of the tightest orthographic camera that sees the spheres.

    Args:
        spheres: x, y, z, radius, float32 (N,) each; without spheres a unit ball is framed.
        axes: the view.
        aspect: width by height.
        everything: whether to frame spheres that are far from all others too.
        skipped: numbers of spheres that are not framed, ascending.
        room, points: as for `perspective`.

    Returns:
        float64 (3,) in the space of the spheres, in front of them all; half the picture's height;
        what was left out.
    """
    planes = [axes.right, -axes.right, axes.up, -axes.up, -axes.forward]
    found, outliers = _reach(spheres, planes, everything, skipped, points)
    right, left, top, bottom, front = found
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
    eye = across * axes.right + above * axes.up + depth * axes.forward
    return eye, half, outliers


def bounding_ball(
    spheres: Spheres,
    everything: bool = False,
    skipped: NDArray[np.intp] | None = None,
    points: NDArray[np.float64] | None = None,
) -> Spheres:
    """Return a ball that holds the spheres, about the centre of the box around them.

    A camera that fits it has the spheres in its picture from all directions.

    Args:
        spheres: x, y, z, radius, float32 (N,) each; without spheres a unit ball is returned.
        everything, skipped, points: as for `perspective`.

    Returns:
        x, y, z, radius, float32 (1,) each.
    """
    import numpy as np

    low, high = _box(spheres, everything, skipped, points)
    center, size = (low + high) / 2.0, (high - low) / 2.0
    nothing = np.empty(0, np.intp) if skipped is None else skipped
    farthest = np.zeros(len(spheres[0]) // BLOCK_ROWS + 2)  # of each block, and of the points

    def work(rows: slice) -> None:
        distance = np.zeros(rows.stop - rows.start)
        left_out = np.zeros(len(distance), bool)  # their centres are outside of the box
        for axis, place, half in zip(spheres[:3], center, size, strict=True):
            offset = axis[rows] - place
            left_out |= np.abs(offset) > half
            distance += np.square(offset, out=offset)
        np.sqrt(distance, out=distance)
        distance += spheres[3][rows]
        distance[left_out] = 0.0
        distance[within(nothing, rows)] = 0.0
        farthest[rows.start // BLOCK_ROWS] = distance.max()

    each_block(len(spheres[0]), work)
    if points is not None:
        farthest[-1] = np.linalg.norm(points - center, axis=1).max()
    x, y, z, radius = (np.array([value], np.float32) for value in (*center, farthest.max() or 1.0))
    return x, y, z, radius


def middle(spheres: Spheres) -> NDArray[np.float64]:
    """Return the centre of the box around the spheres, without giants and those that are far out.

    Args:
        spheres: x, y, z, radius in render space, float32 (N,) each; without spheres the origin.

    Returns:
        float64 (3,).
    """
    low, high = _box(spheres, everything=False, skipped=giants(spheres[3]))
    center: NDArray[np.float64] = (low + high) / 2.0
    return center


def _box(
    spheres: Spheres,
    everything: bool,
    skipped: NDArray[np.intp] | None,
    points: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper corner of the box around the spheres, float64 (3,) each.

    everything, skipped, points: as for `perspective`.
    """
    import numpy as np

    axes = np.eye(3)
    reached, _ = _reach(spheres, [*axes, *-axes], everything, skipped, points)
    return -np.array(reached[3:], np.float64), np.array(reached[:3], np.float64)


def giants(radius: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the numbers of the spheres beside which the others are small, ascending.

    Args:
        radius: in render space, float32 (N,).

    Returns:
        (G,); none, if there are no others.
    """
    import numpy as np

    found = np.flatnonzero(radius > GIANT)
    return found if len(found) < len(radius) else found[:0]


def up_of_ground(spheres: Spheres) -> Vector | None:
    """Return the axis that points from a ball to the spheres that stand on it; None without one.

    Args:
        spheres: x, y, z, radius in render space, float32 (N,) each.
    """
    found = giants(spheres[3])
    if not len(found):
        return None
    ground = found[int(spheres[3][found].argmax())]
    offset = middle(spheres) - [float(axis[ground]) for axis in spheres[:3]]
    if hypot(*offset) < GROUND * float(spheres[3][ground]):
        return None  # a shell around the others, as a sky
    axis = int(abs(offset).argmax())
    return AXES[("-" if offset[axis] < 0.0 else "") + "xyz"[axis]]


def lowest(spheres: Spheres, up: Vector) -> float:
    """Return the height of the lowest point of the spheres, all of them, along a unit vector.

    Args:
        spheres: x, y, z, radius in render space, float32 (N,) each.
        up: the axis.
    """
    import numpy as np

    (reach,), _ = _reach(spheres, [-np.array(up, np.float64)], everything=True)
    return -reach


def within(numbers: NDArray[np.intp], rows: slice) -> NDArray[np.intp]:
    """Return which of some numbers, ascending, are in a block of rows, counted from its start."""
    import numpy as np

    first, last = np.searchsorted(numbers, (rows.start, rows.stop))
    found: NDArray[np.intp] = numbers[first:last] - rows.start
    return found


def _cos_sin(tangent: float) -> tuple[float, float]:
    """Return cosine and sine of the angle with this tangent."""
    length = hypot(1.0, tangent)
    return 1.0 / length, tangent / length


class Outliers(NamedTuple):
    """The spheres that a fitted camera leaves out.

    Args:
        total: how many.
        farthest: number of the one that is farthest out.
        times: how many times as far out as the others it is.
    """

    total: int
    farthest: int
    times: float


def _reach(
    spheres: Spheres,
    planes: list[NDArray[np.float64]],
    everything: bool,
    skipped: NDArray[np.intp] | None = None,
    points: NDArray[np.float64] | None = None,
) -> tuple[list[float], Outliers | None]:
    """Return max(n . c + r) over the spheres, for each normal n, and what was left out.

    everything: whether to take spheres that are far from all others too. skipped: numbers of
    spheres that are not looked at, ascending; without them in memory a second time. points: that
    are taken too, float64 (K, 3).
    """
    found, outliers = _reach_of_spheres(spheres, planes, everything, skipped)
    if points is not None:
        found = [max(m, float((points @ n).max())) for m, n in zip(found, planes, strict=True)]
    return found, outliers


def _reach_of_spheres(
    spheres: Spheres,
    planes: list[NDArray[np.float64]],
    everything: bool,
    skipped: NDArray[np.intp] | None,
) -> tuple[list[float], Outliers | None]:
    """Return what `_reach` returns, without further points."""
    import numpy as np

    skipped = np.empty(0, np.intp) if skipped is None else skipped
    count = len(spheres[0]) - len(skipped)
    if count == 0:
        return [1.0] * len(planes), None
    found, _ = _maxima(spheres, planes, skipped)
    if everything or count < FEWEST:
        return found, None
    center, limit = bulk(spheres, skipped)
    if max(m - float(n @ center) for m, n in zip(found, planes, strict=True)) <= limit:
        return found, None  # nothing that is far out asks for a larger frame
    nearer, outliers = _maxima(spheres, planes, skipped, center, limit)
    if outliers is None or outliers.total > max(count // FEW, 1):
        return found, None
    return nearer, outliers


def _maxima(
    spheres: Spheres,
    planes: list[NDArray[np.float64]],
    skipped: NDArray[np.intp],
    center: NDArray[np.float64] | None = None,
    limit: float = inf,
) -> tuple[list[float], Outliers | None]:
    """Return max(n . c + r) for each normal n over spheres in a ball, and the others."""
    import numpy as np

    x, y, z, radius = spheres
    blocks = -(-len(x) // BLOCK_ROWS)
    found = np.empty((len(planes), blocks))
    far = np.zeros(blocks, np.int64)
    farthest = np.full((2, blocks), -inf)  # distance and number

    def work(rows: slice) -> None:
        cx, cy, cz, r = (a[rows].astype(np.float64) for a in (x, y, z, radius))
        total, part = np.empty_like(r), np.empty_like(r)
        block = rows.start // BLOCK_ROWS
        hidden = within(skipped, rows)
        r[hidden] = -inf
        out = None
        if center is not None:
            offset = np.stack([cx, cy, cz]) - center[:, None]
            distance = np.sqrt((offset * offset).sum(axis=0)) - r
            distance[hidden] = -inf
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
            found[index, block] = total.max()

    each_block(len(x), work)
    maxima = [float(v) for v in found.max(axis=1)]
    if not far.any():
        return maxima, None
    distance, number = farthest[:, int(np.argmax(farthest[0]))]
    return maxima, Outliers(int(far.sum()), int(number), FAR * float(distance) / limit)
