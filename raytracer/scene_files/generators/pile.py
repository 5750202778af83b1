"""A heap of grains with log-normal radii on the plane y = 0.

The grains start on a low-discrepancy sequence inside a cone. Sweeps push overlapping grains apart
and pull all slightly down, until no overlap is visible. After the radii only +, -, *, / and square
root are used, in a fixed order: the heap is the same on all machines.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from raytracer.scene_files.generators._base import (
    GeneratedPart,
    Reals,
    draw_normals,
    draw_uniforms,
    interpolate_colors,
    make_part,
)

Index = NDArray[np.int64]
Pairs = tuple[Index, Index]

# Spheres are sorted into size classes, each SPREAD times the last, with cells of that size: one
# giant would otherwise make all cells giant.
SPREAD = 1.5
# Candidates tested at a time, which bounds the memory.
CHUNK = 1 << 21
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


def build(count: int, seed: int) -> list[GeneratedPart]:
    """Return the heap; the radius of its base is about 1 for any count."""
    index = np.arange(count, dtype=np.uint32)
    wide = np.clip(draw_normals(index, 0, seed)[0], -CUT, CUT)
    radii = np.exp(SIGMA * wide).astype(np.float32).astype(np.float64)  # hides the last bits of exp
    base = float((np.sum(radii**3) * 4.0 / (FILL * SLOPE)) ** (1.0 / 3.0))
    centers = settle(_start(count, base), radii)
    shade = draw_uniforms(index, 1, seed)[0]
    return [make_part("default", centers / base, radii / base, interpolate_colors(shade, COLORS))]


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


def near_pairs(centers: Reals, radii: Reals, skin: float) -> Pairs:
    """Return all pairs whose gap is below `skin`, each once.

    centers: (3, N); radii: (N,); skin: a length
    returns: two int64 arrays of sphere indices
    """
    reach = float(radii.min())
    below = np.zeros(len(radii), bool)
    pairs: list[Pairs] = []
    while not below.all():
        reach *= SPREAD
        members = np.flatnonzero((radii <= reach) & ~below)
        below |= radii <= reach
        # Each class is tested against itself and all smaller ones, so each pair is found once.
        cell = 2.0 * reach + skin
        near = _candidates(centers, members, np.flatnonzero(below), cell)
        pairs += [_close(centers, radii, *candidates, skin) for candidates in near]
    first, second = (np.concatenate(index) for index in zip(*pairs, strict=True))
    return first, second


def _candidates(centers: Reals, members: Index, others: Index, cell: float) -> Iterator[Pairs]:
    """Yield pairs of a member and another sphere in the 27 cells around it, CHUNK at a time."""
    low = centers.min(axis=1) - cell
    shape = ((centers.max(axis=1) - low) // cell).astype(np.int64) + 2
    place = ((centers - low[:, None]) // cell).astype(np.int64)
    # x varies fastest, so that three cells along x are one range of the sorted spheres.
    key = place[0] + shape[0] * (place[1] + shape[1] * place[2])
    others = others[np.argsort(key[others], kind="stable")]
    for row in (dy + shape[1] * dz for dz in (-1, 0, 1) for dy in (-1, 0, 1)):
        middle = key[members] + shape[0] * row
        begin = np.searchsorted(key[others], middle - 1, "left")
        counts = np.searchsorted(key[others], middle + 1, "right") - begin
        total = np.concatenate([[0], np.cumsum(counts)])
        cut = 0
        while cut < len(members):
            stop = max(cut + 1, int(np.searchsorted(total, total[cut] + CHUNK, "right")) - 1)
            some = slice(cut, stop)
            offset = np.repeat(begin[some] - total[some], counts[some])
            second = others[offset + np.arange(total[cut], total[stop])]
            yield np.repeat(members[some], counts[some]), second
            cut = stop


def _close(centers: Reals, radii: Reals, first: Index, second: Index, skin: float) -> Pairs:
    """Return the candidates whose gap is below `skin`."""
    x, y, z = (c[second] - c[first] for c in centers)
    one, other = radii[first], radii[second]
    limit = one + other + skin
    close = x * x + y * y + z * z < limit * limit
    # A pair within a class is found twice: keep the one that starts at the smaller index.
    close &= (one > other) | ((one == other) & (first < second))
    return first[close], second[close]
