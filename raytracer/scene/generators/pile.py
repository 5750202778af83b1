"""A heap of grains with log-normal radii on the plane y = 0.

The grains start on a low-discrepancy sequence inside a cone and are pushed apart where they
overlap, ever so slightly pulled down meanwhile, until what overlap is left cannot be seen. From the
radii on there is only +, -, *, / and square root, in a fixed order: the same heap everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.generators._base import Generator, Part, part
from raytracer.scene.generators._color import ramp
from raytracer.scene.generators._contacts import Pairs, near_pairs
from raytracer.scene.generators._hash import indices, normals, uniforms

# Radii in units of their median; the tails are cut at so many sigma.
SIGMA, CUT = 0.38, 2.6
# The cone: its slope (a heap of dry sand has 0.6) and the share of it that the grains fill.
SLOPE, FILL = 0.56, 0.56
# The plastic constant's powers: Martin Roberts' R3 sequence (2018) steps by them.
STEPS = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)
ROUNDS, SWEEPS = 4, 16
# Share of an overlap that one sweep removes, room for pairs to drift closer within a round, and
# the fall in a sweep; the last two in median radii.
RELAX, SKIN, FALL = 0.45, 0.3, 0.01
# The edge of the cells by which the start is sorted, in median radii.
BRICK = 4.0
COLORS = (
    (0.0, "#5b5148"), (0.25, "#8d7a64"), (0.5, "#b89b74"), (0.72, "#d8c19a"), (0.88, "#a5522f"),
    (1.0, "#e9e2d3"),
)  # fmt: skip


def build(count: int, seed: int) -> list[Part]:
    """The heap; the radius of its base is about 1, whatever the count."""
    index = indices(0, count)
    radii = grain_radii(index, seed)
    base = float((np.sum(radii**3) * 4.0 / (FILL * SLOPE)) ** (1.0 / 3.0))
    centers = settle(_start(count, base), radii)
    shade = uniforms(index, 1, seed)[0]
    return [part("default", centers / base, radii / base, ramp(shade, COLORS))]


def grain_radii(index: NDArray[np.uint32], seed: int) -> NDArray[np.float64]:
    """Log-normal radii (N,), median 1; rounded to float32, which hides the last bits of exp."""
    wide = np.clip(normals(index, 0, seed)[0], -CUT, CUT)
    return np.exp(SIGMA * wide).astype(np.float32).astype(np.float64)


def settle(start: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push overlapping grains apart, above the ground: centres (N, 3) from a start (N, 3)."""
    centers = start.T.copy()
    for step in range(ROUNDS):
        pairs = near_pairs(centers, radii, SKIN)
        # The fall ends before the last round, which only mends what overlap is left.
        fall = FALL * (ROUNDS - 1 - step) / (ROUNDS - 1)
        for _ in range(SWEEPS):
            centers[1] -= fall
            _push_apart(centers, radii, pairs)
            np.maximum(centers[1], radii, out=centers[1])
        del pairs  # they are a tenth of the peak, which is where those of the next round are found
    return centers.T.copy()


def _start(count: int, base: float) -> NDArray[np.float64]:
    """Evenly spread points (N, 3) in the cone of that base radius."""
    # The box of the cone has 12 / pi times its volume; a little more, for a sure N.
    tried = np.arange(1, int(count * 3.9) + 64, dtype=np.float64)
    u, v, w = (np.modf(0.5 + tried * step)[0] for step in STEPS)
    x, z = (2.0 * u - 1.0) * base, (2.0 * w - 1.0) * base
    y = v * base * SLOPE
    left = base - y / SLOPE
    inside = np.flatnonzero(x * x + z * z < left * left)[:count]
    points = np.stack([x[inside], y[inside], z[inside]], axis=1)
    # Neighbours in space become neighbours in memory, which the sweeps read faster.
    column, layer, row = (np.floor(p / BRICK).astype(np.int64) for p in points.T)
    return points[np.lexsort((column, layer, row))]


def _push_apart(centers: NDArray[np.float64], radii: NDArray[np.float64], pairs: Pairs) -> None:
    """One sweep: every overlapping pair gives way, the lighter grain more."""
    first, second = pairs
    delta = [c[second] - c[first] for c in centers]
    squared = delta[0] * delta[0] + delta[1] * delta[1] + delta[2] * delta[2]
    touch = radii[first] + radii[second]
    hit = np.flatnonzero(squared < touch * touch)
    i, j = first[hit], second[hit]
    distance = np.sqrt(squared[hit])
    push = RELAX * (touch[hit] - distance) / np.maximum(distance, 1e-12)
    mass_i, mass_j = radii[i] * radii[i] * radii[i], radii[j] * radii[j] * radii[j]
    share = push / (mass_i + mass_j)
    for axis in range(3):
        move = delta[axis][hit] * share
        n = len(radii)
        centers[axis] -= np.bincount(i, move * mass_j, n)
        centers[axis] += np.bincount(j, move * mass_i, n)


GENERATOR = Generator(
    "a heap of grains with log-normal radii, settled on the ground",
    count=40_000,
    build=build,
    memory=406,
)
