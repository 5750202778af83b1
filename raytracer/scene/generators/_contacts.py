"""Pairs of neighbouring spheres of different sizes, by sorted cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Index = NDArray[np.int64]
Pairs = tuple[Index, Index]

# Spheres are sorted into classes, each SPREAD times as large as the last: the cells of a class fit
# its own spheres, or one giant would make all cells giant.
SPREAD = 1.5
# Candidates looked at in one go: it bounds the memory.
CHUNK = 1 << 21


def near_pairs(centers: Reals, radii: Reals, skin: float) -> Pairs:
    """All pairs whose gap is below `skin`, each once.

    centers: (3, N); radii: (N,); skin: a length
    returns: two int64 arrays of sphere indices
    """
    reach = float(radii.min())
    below = np.zeros(len(radii), bool)
    firsts, seconds = [], []
    while not below.all():
        reach *= SPREAD
        members = np.flatnonzero((radii <= reach) & ~below)
        if len(members) == 0:
            continue
        below |= radii <= reach
        # A class meets itself and all smaller ones: each pair is found from its larger sphere.
        others = np.flatnonzero(below)
        first, second = _between(centers, radii, members, others, 2.0 * reach + skin, skin)
        firsts.append(first)
        seconds.append(second)
    return np.concatenate(firsts), np.concatenate(seconds)


def _between(
    centers: Reals, radii: Reals, members: Index, others: Index, cell: float, skin: float
) -> Pairs:
    """Pairs (member, other) with a gap below `skin`; among members each pair once."""
    low = centers.min(axis=1) - cell
    shape = ((centers.max(axis=1) - low) // cell).astype(np.int64) + 2
    place = ((centers - low[:, None]) // cell).astype(np.int64)
    # x runs fastest, so that three cells in a row along x are one range of the sorted spheres.
    key = place[0] + shape[0] * (place[1] + shape[1] * place[2])
    others = others[np.argsort(key[others], kind="stable")]
    sorted_keys = key[others]
    found: list[Pairs] = []
    for dz in (-1, 0, 1):
        for dy in (-1, 0, 1):
            row = key[members] + shape[0] * (dy + shape[1] * dz)
            begin = np.searchsorted(sorted_keys, row - 1, "left")
            end = np.searchsorted(sorted_keys, row + 1, "right")
            found += _close(centers, radii, members, others, begin, end, skin)
    return np.concatenate([f for f, _ in found]), np.concatenate([s for _, s in found])


def _close(
    centers: Reals,
    radii: Reals,
    members: Index,
    others: Index,
    begin: Index,
    end: Index,
    skin: float,
) -> list[Pairs]:
    """The close pairs among member k and others begin[k] to end[k], in chunks."""
    counts = end - begin
    total = np.concatenate([[0], np.cumsum(counts)])
    found = []
    cut = 0
    while cut < len(members):
        stop = max(cut + 1, int(np.searchsorted(total, total[cut] + CHUNK, "right")) - 1)
        part = slice(cut, stop)
        first = np.repeat(members[part], counts[part])
        offset = np.repeat(begin[part] - total[part], counts[part])
        second = others[offset + np.arange(total[cut], total[stop])]
        x, y, z = (c[second] - c[first] for c in centers)
        limit = radii[first] + radii[second] + skin
        close = x * x + y * y + z * z < limit * limit
        # Two members of one class see each other twice: keep the view from the smaller index.
        larger = (radii[first] > radii[second]) | (
            (radii[first] == radii[second]) & (first < second)
        )
        close &= larger
        found.append((first[close], second[close]))
        cut = stop
    return found
