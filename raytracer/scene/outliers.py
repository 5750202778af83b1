"""Outliers: spheres that are far away from all others, as one that escaped from a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.scene.arrays import each_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.floating[Any]]

FAR = 10.0
"""How many times as far out as the others, seen from their middle, a sphere is that is left out:
with it in the frame, the others would take a tenth of the picture at most."""

FEW = 100
"""One in so many spheres may be far out, and one of ten or more; where there are more, they are a
part of the scene, like a second cluster."""

FEWEST = 10
"""Fewest spheres of which one may be left out."""

SAMPLE = 1 << 14
"""Most spheres that say how far out the others are."""

TURN = 1 << 32
GOLDEN = 2654435769
"""Steps of this part of `TURN`, the golden section, visit a range evenly and never fall in step
with rows of a lattice."""


def stray(
    centers: NDArray[np.floating[Any]], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.bool_] | None:
    """Return which points are far away from all others, bool (N,), or None if none is.

    Args:
        centers: (N, 3), any unit, finite.
        low, high: the corners of their box, (3,).
    """
    if len(centers) < FEWEST:
        return None
    x, y, z = centers.T
    with np.errstate(over="ignore"):
        middle, limit = bulk(
            (x, y, z, np.broadcast_to(np.float32(0.0), x.shape)), np.empty(0, np.intp)
        )
        corner = np.maximum(high - middle, middle - low)
        if float(np.linalg.norm(corner)) <= limit:
            return None
        far = np.empty(len(centers), bool)

        def work(rows: slice) -> None:
            far[rows] = np.linalg.norm(centers[rows] - middle, axis=1) > limit

        each_block(len(centers), work)
    return far if 0 < np.count_nonzero(far) <= max(len(far) // FEW, 1) else None


def bulk(
    spheres: tuple[Column, Column, Column, Column], skipped: NDArray[np.intp]
) -> tuple[NDArray[np.float64], float]:
    """Return the middle of the spheres and the distance from it beyond which one is far out."""
    rows = spread(len(spheres[0]) - len(skipped))
    if len(skipped):
        # Counted without those that are skipped; as many of these come before a row.
        rows += np.searchsorted(skipped - np.arange(len(skipped)), rows, side="right")
    *centers, radius = (array[rows].astype(np.float64) for array in spheres)
    center = np.array([median(axis) for axis in centers])
    # A column at a time: rows of three numbers take NumPy four times as long.
    squares = sum((axis - middle) ** 2 for axis, middle in zip(centers, center, strict=True))
    reach = np.sqrt(squares) + radius
    others = len(reach) - 1 - max(len(reach) // FEW, 1)
    return center, FAR * float(np.partition(reach, others)[others])


def spread(count: int) -> NDArray[np.int64]:
    """Return at most `SAMPLE` of so many rows, evenly spread."""
    if count <= SAMPLE:
        return np.arange(count)
    steps = (np.arange(SAMPLE, dtype=np.uint64) * np.uint64(GOLDEN)) % np.uint64(TURN)
    return (steps * np.uint64(count) // np.uint64(TURN)).astype(np.int64)


def median(values: NDArray[np.float64]) -> float:
    """Return the median; `numpy.median` imports masked arrays first, which takes 10 ms."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, [low, high])
    return float(ordered[low] + ordered[high]) / 2.0
