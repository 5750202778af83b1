"""Spheres too large for a float32 centre and radius, described by their surface near the others.

A float32 locates a sphere of radius R to R / 2^24. Spheres on it sink in by as much, and its shadow
rays start as far above it, which is visible if R exceeds a million times the smallest radius.
`kernels/geom/large_sphere.h` has a form that keeps these digits.
"""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.warning import warn
from raytracer.model.arrays import split_rows
from raytracer.model.views import Vector
from raytracer.packing.buffers import Spheres
from raytracer.system.layout import kernel_constant, struct_dtype

if TYPE_CHECKING:
    from fractions import Fraction

Exact = NDArray[np.object_]
"""Fractions: numbers without a rounding."""

RATIO = 3.0e5
"""Radius relative to the smallest from which a sphere is large: the error of the ordinary form is
then a seventh of the smallest radius."""

LIMIT = 1.0e6  # the same ratio from which the ordinary form is visibly wrong
NEAR = 1.0 / 16.0  # distance of the surface from the scene's centre, in radii, up to which it helps
REGION = 2.0  # distance from the centre, in units of render space, within which most spheres lie
MAX_LARGE = kernel_constant("kMaxLargeSpheres")  # every ray is tested against each


def pack_large(
    placed: Spheres,
    spheres: int,
    ball: Callable[[int], "tuple[Exact, Fraction]"],
    clip: Mapping[str, Any],
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    """Return the large spheres: their indices, ascending, and their description for kernels.

    placed: N spheres, then the balls around solids, render space. ball: returns centre, (3,), and
    radius of a sphere by index. clip: fields of `Frame`; spheres that its planes remove do not
    count. most: largest number to describe.
    """
    numbers = _candidates(placed)
    large = {number: ball(number) for number in numbers if number < spheres}
    if clip:
        large = {number: each for number, each in large.items() if _is_visible(clip, *each)}
    gaps = {number: abs(_surface_distance(*each)) for number, each in large.items()}
    near = [number for number, (_, radius) in large.items() if gaps[number] < NEAR * radius]
    near = sorted(sorted(near, key=gaps.__getitem__)[:most])
    # of spheres only those with a surface near the others matter, not a surrounding sky
    others = [n for n in large if n not in near and gaps[n] < max(NEAR * large[n][1], REGION)]
    others += [number for number in numbers if number >= spheres]
    number = max(others, key=lambda number: float(placed[3][number]), default=-1)
    if number >= 0 and (ratio := placed[3][number] / placed.radii()[0]) > LIMIT:
        warn(
            f"number {number}, {'a sphere' if number < spheres else 'a solid'}, has {ratio:.0e} "
            "times the radius of the smallest; shadows and contacts are exact up to a factor of "
            f"1e6, and above for at most {MAX_LARGE} large ones whose surface does not pass the "
            "middle of the small spheres"
        )
    table = np.zeros(len(near), struct_dtype("LargeSphere"))
    for row, (center, size) in enumerate(large[number] for number in near):
        length = sqrt(float(center @ center))
        table[row]["normal"] = [float(x) / length for x in center]
        table[row]["curvature"] = 1.0 / length
        table[row]["height"] = float(center @ center - size * size) / (2.0 * length)
        table[row]["prim"] = placed.size - len(near) + row
    return np.array(near, np.int64), table


def to_fractions(values: Any) -> Exact:
    """Return numbers as fractions, in the same shape."""
    from fractions import Fraction  # late: few scenes have large spheres

    fractions: Exact = np.vectorize(lambda value: Fraction(float(value)), otypes=[object])(values)
    return fractions


def pack_plane(up: Vector, height: float) -> NDArray[np.void]:
    """Return the half-space below a height along a unit vector, `LargeSphere`, structured (1,)."""
    table = np.zeros(1, struct_dtype("LargeSphere"))
    table["normal"] = [-x for x in up]
    table["height"] = -height
    return table


def _candidates(placed: Spheres) -> list[int]:
    """Return the indices of the largest spheres of at least RATIO times the smallest radius."""
    least, most = placed.radii() if placed.size else (1.0, 0.0)
    limit = RATIO * least
    if most < limit:
        return []
    radius = placed[3]
    rows = [np.flatnonzero(radius[rows] >= limit) + rows.start for rows in split_rows(len(radius))]
    numbers = np.concatenate(rows)
    largest = np.argsort(-radius[numbers], kind="stable")[: 64 * MAX_LARGE]
    return [int(number) for number in numbers[largest]]


def _is_visible(clip: Mapping[str, Any], center: Exact, radius: "Fraction") -> bool:
    planes = to_fractions(clip["clip_planes"].reshape(-1, 4)[: clip["clip_count"]])
    heights, size = planes[:, :3] @ center - planes[:, 3], float(radius)
    if clip["clip_removes"]:
        return any(float(height) > -size for height in heights)  # not inside all half-spaces
    return all(float(height) < size for height in heights)  # not outside any of them


def _surface_distance(center: Exact, radius: "Fraction") -> float:
    """Return the approximate distance of the scene's centre from the surface."""
    square = center @ center
    return float(square - radius * radius) / (sqrt(float(square)) + float(radius))
