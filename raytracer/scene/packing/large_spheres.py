"""Spheres too large for a float32 centre and radius, described by their surface near the others.

A float32 says where a sphere of radius R is to R / 2^24. What rests on it is then sunk by as much,
and shadow rays start by as much above it: visible where R is more than a million times the radius
of the smallest sphere. `kernels/geom/large_sphere.h` has the form that does not lose these digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from raytracer.layout import constant
from raytracer.scene.arrays import blocks
from raytracer.warning import warn

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.transform import Vector

    Point = tuple[Fraction, Fraction, Fraction]

RATIO = 3.0e5
"""Radius by that of the smallest sphere from which a sphere is large: errors of the ordinary form
are then a seventh of that smallest radius."""

LIMIT = 1.0e6
"""The same ratio from which pictures of a sphere in the ordinary form are visibly wrong."""

NEAR = 1.0 / 16.0
"""The surface passes the middle of the scene within this part of the radius, or else the form does
not help."""

REGION = 2.0
"""Distance from the middle, in units of render space, within which most spheres lie."""

MOST = constant("kMaxLargeSpheres")
"""Every ray is tested against each."""


def left_by_clip(
    clip: Mapping[str, Any], spheres: Sequence[tuple[int, Point, Fraction]]
) -> list[tuple[int, Point, Fraction]]:
    """Return the spheres of which planes leave a part.

    Args:
        clip: planes in render space, as fields of `Frame`.
        spheres: number, centre and radius in render space.
    """
    from fractions import Fraction  # late: few scenes have large spheres

    planes = clip["clip_planes"].reshape(-1, 4)[: clip["clip_count"]].tolist()
    left = []
    for number, center, radius in spheres:
        heights = [
            float(sum(Fraction(a) * x for a, x in zip(normal, center, strict=True)) - Fraction(d))
            for *normal, d in planes
        ]
        size = float(radius)
        inside = all(height <= -size for height in heights)  # of all half-spaces
        outside = any(height >= size for height in heights)  # of one of them
        if not (inside if clip["clip_removes"] else outside):
            left.append((number, center, radius))
    return left


def describe_large(
    spheres: Sequence[tuple[int, Point, Fraction]],
    radius: NDArray[np.float32],
    most: int = MOST,
) -> tuple[NDArray[np.int32], NDArray[np.void]]:
    """Return the large spheres: their numbers, ascending, and their description for kernels.

    Args:
        spheres: of `candidates`: number, centre and radius in render space, without a rounding.
        radius: of all spheres in render space, float32 (N,).
        most: how many are described.

    Returns:
        int32 (G,) and structured (G,), `LargeSphere`.
    """
    import numpy as np

    from raytracer.layout import dtype

    near = [(number, c, r) for number, c, r in spheres if abs(_gap(c, r)) < NEAR * r]
    near = sorted(sorted(near, key=lambda each: abs(_gap(*each[1:])))[:most])
    _warn_of_others(spheres, {number for number, _, _ in near}, radius)
    table = np.zeros(len(near), dtype("LargeSphere"))
    for row, (_, center, size) in enumerate(near):
        length = _length(center)
        table[row]["normal"] = [float(x) / length for x in center]
        table[row]["curvature"] = 1.0 / length
        table[row]["height"] = float(_power(center, size)) / (2.0 * length)
        table[row]["prim"] = len(radius) - len(near) + row
    return np.array([number for number, _, _ in near], np.int32), table


def plane(up: Vector, height: float) -> NDArray[np.void]:
    """Return a plane as a sphere without curvature, structured (1,), `LargeSphere`.

    Args:
        up: unit vector at right angles to it; what is below is inside.
        height: of the plane along it, in render space.
    """
    import numpy as np

    from raytracer.layout import dtype

    table = np.zeros(1, dtype("LargeSphere"))
    table["normal"] = [-x for x in up]
    table["height"] = -height
    return table


def _warn_of_others(
    spheres: Sequence[tuple[int, Point, Fraction]], described: set[int], radius: NDArray[np.float32]
) -> None:
    """Warn of the largest sphere that stays in the ordinary form beyond its limit.

    Only of those whose surface is where the others are: a sky around them touches none.
    """
    others = [
        (float(r), number)
        for number, c, r in spheres
        if number not in described and abs(_gap(c, r)) < max(NEAR * r, REGION)
    ]
    size, number = max(others, default=(0.0, 0))
    smallest = float(radius.min()) if len(radius) else 1.0
    if size > LIMIT * smallest:
        warn(
            f"sphere {number} has {size / smallest:.0e} times the radius of the smallest: "
            "shadows and contacts are right up to a factor of 1e6, or where its surface passes "
            f"the middle of the small spheres, for at most {MOST} large ones"
        )


def warn_of_solids(numbers: Sequence[int], radius: NDArray[np.float32], spheres: int) -> None:
    """Warn of the largest of other solids that is beyond the limit of float32.

    Args:
        numbers: of `candidates`.
        radius: of all spheres, then of the balls around solids, float32 (N + C,), render space.
        spheres: how many of them are spheres.
    """
    others = [(float(radius[number]), number) for number in numbers if number >= spheres]
    size, number = max(others, default=(0.0, 0))
    smallest = float(radius.min()) if len(radius) else 1.0
    if size > LIMIT * smallest:
        warn(
            f"number {number}, a capsule, cone or ellipsoid, has {size / smallest:.0e} times the "
            "radius of the smallest: shadows and contacts are right up to a factor of 1e6"
        )


def candidates(radius: NDArray[np.float32]) -> list[int]:
    """Return the numbers of the largest spheres of at least RATIO times the smallest radius."""
    import numpy as np

    if not len(radius):
        return []
    limit = RATIO * float(radius.min())
    if float(radius.max()) < limit:
        return []
    numbers = [np.flatnonzero(radius[rows] >= limit) + rows.start for rows in blocks(len(radius))]
    found = np.concatenate(numbers)
    largest = np.argsort(-radius[found], kind="stable")[: 64 * MOST]
    return [int(number) for number in found[largest]]


def _power(center: Point, radius: Fraction) -> Fraction:
    """Return |center|^2 - radius^2."""
    return sum((x * x for x in center), -radius * radius)


def _length(center: Point) -> float:
    return sqrt(float(sum(x * x for x in center)))


def _gap(center: Point, radius: Fraction) -> float:
    """Return the distance of the middle of the scene from the surface, about."""
    return float(_power(center, radius)) / (_length(center) + float(radius))
