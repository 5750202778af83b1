"""Spheres too large for a float32 centre and radius, described by their surface near the others.

A float32 locates a sphere of radius R to R / 2^24. Spheres on it sink in by as much, and its shadow
rays start as far above it, which is visible if R exceeds a million times the smallest radius.
`kernels/geom/large_sphere.h` has a form that keeps these digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import Spheres, count_of, radii_of
from raytracer.layout import constant, dtype
from raytracer.scene.arrays import blocks
from raytracer.warning import warn

if TYPE_CHECKING:
    from fractions import Fraction

    from raytracer.scene.transform import Vector

    Point = tuple[Fraction, Fraction, Fraction]
    Exact = tuple[int, Point, Fraction]
    """Number of a sphere, centre and radius in render space, without a rounding."""

RATIO = 3.0e5
"""Radius relative to the smallest from which a sphere is large: the error of the ordinary form is
then a seventh of the smallest radius."""

LIMIT = 1.0e6  # the same ratio from which the ordinary form is visibly wrong
NEAR = 1.0 / 16.0  # distance of the surface from the scene's centre, in radii, up to which it helps
REGION = 2.0  # distance from the centre, in units of render space, within which most spheres lie
MAX_LARGE = constant("kMaxLargeSpheres")  # every ray is tested against each


def pack_large(
    placed: Spheres,
    spheres: int,
    exact: Callable[[int], tuple[Point, Fraction]],
    clip: Mapping[str, Any],
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    """Return the large spheres: their indices, ascending, and their description for kernels.

    Args:
        placed: all spheres, then the balls around solids, (N + C), render space.
        spheres: N.
        exact: returns centre and radius of a sphere by index.
        clip: planes in render space, as fields of `Frame`; spheres that they remove do not count.
        most: largest number to describe.

    Returns:
        int64 (G,) and structured (G,), `LargeSphere`.
    """
    numbers = _candidates(placed)
    large = [(number, *exact(number)) for number in numbers if number < spheres]
    if clip:
        large = [each for each in large if _is_left(clip, *each[1:])]
    near = [(number, c, r) for number, c, r in large if abs(_gap(c, r)) < NEAR * r]
    near = sorted(sorted(near, key=lambda each: abs(_gap(*each[1:])))[:most])
    if numbers:
        _warn_of_others(placed[3], spheres, numbers, large, {number for number, _, _ in near})
    table = np.zeros(len(near), dtype("LargeSphere"))
    for row, (_, center, size) in enumerate(near):
        length = _length(center)
        table[row]["normal"] = [float(x) / length for x in center]
        table[row]["curvature"] = 1.0 / length
        table[row]["height"] = float(_power(center, size)) / (2.0 * length)
        table[row]["prim"] = count_of(placed) - len(near) + row
    return np.array([number for number, _, _ in near], np.int64), table


def plane(up: Vector, height: float) -> NDArray[np.void]:
    """Return the half-space below a height along a unit vector, `LargeSphere`, structured (1,)."""
    table = np.zeros(1, dtype("LargeSphere"))
    table["normal"] = [-x for x in up]
    table["height"] = -height
    return table


def _candidates(placed: Spheres) -> list[int]:
    """Return the indices of the largest spheres of at least RATIO times the smallest radius."""
    if not count_of(placed):
        return []
    least, most = radii_of(placed)
    limit = RATIO * least
    if most < limit:
        return []
    radius = placed[3]
    rows = [np.flatnonzero(radius[rows] >= limit) + rows.start for rows in blocks(len(radius))]
    numbers = np.concatenate(rows)
    largest = np.argsort(-radius[numbers], kind="stable")[: 64 * MAX_LARGE]
    return [int(number) for number in numbers[largest]]


def _is_left(clip: Mapping[str, Any], center: Point, radius: Fraction) -> bool:
    from fractions import Fraction  # late: few scenes have large spheres

    planes = clip["clip_planes"].reshape(-1, 4)[: clip["clip_count"]].tolist()
    heights = [
        float(sum(Fraction(a) * x for a, x in zip(normal, center, strict=True)) - Fraction(d))
        for *normal, d in planes
    ]
    size = float(radius)
    if clip["clip_removes"]:
        return any(height > -size for height in heights)  # not inside all half-spaces
    return all(height < size for height in heights)  # not outside any of them


def _warn_of_others(
    radius: NDArray[np.float32], spheres: int, numbers: list[int], large: list[Exact],
    described: set[int],
) -> None:  # fmt: skip
    """Warn of the largest sphere, and the largest other solid, in the ordinary form.

    Only spheres whose surface is near the others matter; a surrounding sky does not.
    """
    smallest = float(radius.min())
    solids = [(float(radius[number]), number) for number in numbers if number >= spheres]
    others = [
        (float(r), number)
        for number, c, r in large
        if number not in described and abs(_gap(c, r)) < max(NEAR * r, REGION)
    ]
    right = "the radius of the smallest; shadows and contacts are exact up to a factor of 1e6"
    size, number = max(solids, default=(0.0, 0))
    if size > LIMIT * smallest:
        what = f"number {number}, a capsule, cone or ellipsoid,"
        warn(f"{what} has {size / smallest:.0e} times {right}")
    size, number = max(others, default=(0.0, 0))
    if size > LIMIT * smallest:
        warn(
            f"sphere {number} has {size / smallest:.0e} times {right}, or where its surface passes "
            f"the middle of the small spheres, for at most {MAX_LARGE} large ones"
        )


def _power(center: Point, radius: Fraction) -> Fraction:
    return sum((x * x for x in center), -radius * radius)


def _length(center: Point) -> float:
    return sqrt(float(sum(x * x for x in center)))


def _gap(center: Point, radius: Fraction) -> float:
    """Return the approximate distance of the scene's centre from the surface."""
    return float(_power(center, radius)) / (_length(center) + float(radius))
