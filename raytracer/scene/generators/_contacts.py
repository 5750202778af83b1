"""Pairs of neighbouring spheres of different sizes, found by sorted cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Index = NDArray[np.int64]
Pairs = tuple[Index, Index]

# Spheres are sorted into size classes, each SPREAD times the last, with cells of that size: one
# giant would otherwise make all cells giant.
SPREAD = 1.5
# Candidates tested at a time, which bounds the memory.
CHUNK = 1 << 21


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
