"""A heap of grains with log-normal radii on the plane y = 0.

The grains start on a low-discrepancy sequence inside a cone. Sweeps push overlapping grains apart
and pull all slightly down, until no overlap is visible. After the radii only +, -, *, / and square
root are used, in a fixed order: the heap is the same on all machines.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.generators._base import Generator, Part, part
from raytracer.scene.generators._color import ramp
from raytracer.scene.generators._contacts import Pairs, near_pairs
from raytracer.scene.generators._hash import indices, normals, uniforms

# Radii relative to their median; CUT is where the tails are cut, in sigma.
SIGMA, CUT = 0.38, 2.6
# The cone: its slope (dry sand has 0.6) and the fraction of its volume that grains fill.
SLOPE, FILL = 0.56, 0.56
# Powers of the plastic constant: steps of Martin Roberts' R3 sequence (2018).
STEPS = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)
ROUNDS, SWEEPS = 4, 16
# Fraction of an overlap that a sweep removes; margin of the pair search, which serves a whole
# round; fall per sweep. The last two in median radii.
RELAX, SKIN, FALL = 0.45, 0.3, 0.01
# Edge of the cells that sort the start, in median radii.
BRICK = 4.0
COLORS = (
    (0.0, "#5b5148"), (0.25, "#8d7a64"), (0.5, "#b89b74"), (0.72, "#d8c19a"), (0.88, "#a5522f"),
    (1.0, "#e9e2d3"),
)  # fmt: skip


def build(count: int, seed: int) -> list[Part]:
    """Return the heap; the radius of its base is about 1 for any count."""
    index = indices(0, count)
    radii = grain_radii(index, seed)
    base = float((np.sum(radii**3) * 4.0 / (FILL * SLOPE)) ** (1.0 / 3.0))
    centers = settle(_start(count, base), radii)
    shade = uniforms(index, 1, seed)[0]
    return [part("default", centers / base, radii / base, ramp(shade, COLORS))]


def grain_radii(index: NDArray[np.uint32], seed: int) -> NDArray[np.float64]:
    """Return log-normal radii (N,), median 1; rounding to float32 hides the last bits of exp."""
    wide = np.clip(normals(index, 0, seed)[0], -CUT, CUT)
    return np.exp(SIGMA * wide).astype(np.float32).astype(np.float64)


def settle(start: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push overlapping grains apart, above the ground: centres (N, 3) from a start (N, 3)."""
    centers = start.T.copy()
    for step in range(ROUNDS):
        pairs = near_pairs(centers, radii, SKIN)
        # The last round only removes overlaps.
        fall = FALL * (ROUNDS - 1 - step) / (ROUNDS - 1)
        for _ in range(SWEEPS):
            centers[1] -= fall
            _push_apart(centers, radii, pairs)
            np.maximum(centers[1], radii, out=centers[1])
        del pairs  # a tenth of the peak memory, which the next search reaches
    return centers.T.copy()


def _start(count: int, base: float) -> NDArray[np.float64]:
    """Return evenly spread points (N, 3) in a cone of base radius `base`."""
    # The box of the cone has 12 / pi times its volume; a little more ensures N points.
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
    """Do one sweep: each overlapping pair separates, the lighter grain more."""
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
