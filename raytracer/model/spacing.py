"""Spacing of particles, for the radius of particles without one.

The radius follows from distances between neighbours, not from the box of all: a scan fills only a
surface of its box, and half of the stars of a cluster are in a thousandth of it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.arrays import silence_numpy
from raytracer.model.extent import find_outliers, sample_rows

TOUCHING = 0.5
"""Radius of particles without one, in distances to a neighbour: neighbours touch."""

LINE, SURFACE = 1.5, 2.5  # number of dimensions below which particles fill a line or a surface

BESIDE, NEAR, FAR = 2, 4, 8
"""Which neighbour decides on a line, in a volume and on a surface. Distances to it are even where
particles are moved about at random, and equal the spacing of a lattice. The spheres of a surface
overlap, so that a scan has no holes."""

CLOSING = 1.4
"""Factor of the radius on a surface whose points are not particles. Between spheres at random
places, as dense as where the radius is measured, is a share exp(-8 * 0.7**2) of it, 2%."""

UNEVEN = 2.0
"""Greatest ratio of the distances between sparse and usual points of a surface that closes: what
is near a scanner is not to be hidden by what is far away."""

DENSE = 0.25  # quantile of the distance in a volume: dense regions of a cluster decide

FEW = 100  # number of particles up to which most are at the edge, where neighbours are missing
QUERIES = 32  # number of particles whose neighbours are searched


def default_radius(count: int, centers: Callable[[], NDArray[Any]], closed: bool = False) -> float:
    """Return the radius of particles without one; centers: returns (count, 3), if they are needed.
    closed: as for `local_spacing`."""
    from raytracer.config.inferred import current_defaults

    return current_defaults().radius(lambda: local_spacing(centers(), closed) * TOUCHING, count > 0)


def local_spacing(centers: NDArray[Any], closed: bool = False) -> float:
    """Return the distance at which most spheres around particles, (N, 3), touch; 1 if all coincide.

    In a volume it is a low quantile of the distances to the fourth neighbour, on a surface the
    median of those to the eighth, of few particles the median to the nearest. Particles at the same
    place count once. The number of dimensions is the estimate of E. Levina and P. Bickel, Maximum
    likelihood estimation of intrinsic dimension (NIPS 2004). closed: whether the spheres of a
    surface leave no gaps, as those of a scan.
    """
    found = _neighbor_distances(centers) if len(centers) > 1 else np.empty((0, 0))
    if not found.size:
        return mean_spacing(centers)
    if len(centers) < FEW or found.shape[1] < FAR:
        return float(np.median(found[:, 0]))
    # the inverse of the number of dimensions; 0 for a lattice with eight equal neighbours
    inverse = float(np.log(found[:, -1:] / found[:, :-1]).mean())
    if inverse * LINE > 1.0:
        return float(np.median(found[:, BESIDE - 1]))
    if inverse * SURFACE > 1.0:
        far = found[:, FAR - 1]
        return CLOSING * _median_over_surface(far) if closed else float(np.median(far))
    return float(np.quantile(found[:, NEAR - 1], DENSE))


def nearest_distance(centers: NDArray[Any]) -> float:
    """Return the median distance of particles, (N, 3), to their nearest; 0 if there is none."""
    found = _neighbor_distances(centers) if len(centers) > 1 else np.empty((0, 0))
    return float(np.median(found[:, 0])) if found.size else 0.0


def _median_over_surface(distances: NDArray[np.float64]) -> float:
    """Return the median over a surface of distances at its points, (Q,), at most `UNEVEN` medians:
    a scan is denser near the scanner, so that each point counts by the area that it has for itself.
    """
    ordered = np.sort(distances)
    area = np.cumsum(ordered**2)
    middle = float(ordered[np.searchsorted(area, area[-1] / 2.0)])
    return min(middle, UNEVEN * float(np.median(distances)))


@silence_numpy()
def _neighbor_distances(centers: NDArray[Any]) -> NDArray[np.float64]:
    """Return distances from some particles to their nearest ones, ascending, (Q, K), K <= FAR.
    Those in a sample are at least as far, so that only the particles within their distance are
    compared."""
    rows = sample_rows(len(centers))
    sample = centers[rows].astype(np.float64)
    queries = sample[:: -(-len(sample) // QUERIES)]
    found = [_nearest_distance(query, sample) for query in queries]
    if len(rows) < len(centers):
        columns = [np.ascontiguousarray(centers[:, axis]) for axis in (0, 1)]
        for place, (query, far) in enumerate(zip(queries, found, strict=True)):
            reach = far[-1] if len(far) == FAR else np.inf
            near = _select_between(columns, query - reach, query + reach)
            found[place] = _nearest_distance(query, centers[near].astype(np.float64))
    found = [row for row in found if np.isfinite(row).all()]  # without outliers beyond float64
    known = min(map(len, found), default=0)
    return np.array([row[:known] for row in found])


def _select_between(
    columns: list[NDArray[Any]], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the rows within limits, compared in the type of the columns, which is faster."""
    rows: Any = slice(None)
    for column, least, most in zip(columns, low, high, strict=False):
        values = column[rows]
        inside = np.flatnonzero(
            (values >= column.dtype.type(least)) & (values <= column.dtype.type(most))
        )
        rows = inside if isinstance(rows, slice) else rows[inside]
    return np.asarray(rows)


def _nearest_distance(
    point: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.float64]:
    square = sum((axis - at) ** 2 for axis, at in zip(others.T, point, strict=True))
    square = square[square > 0.0]
    if len(square) > FAR:
        square = np.partition(square, FAR - 1)[:FAR]
    return np.asarray(np.sqrt(np.sort(square)))


def mean_spacing(centers: NDArray[Any]) -> float:
    """Return the edge of the cube per particle in the box of all, without outliers; 1 if all
    particles coincide. centers: (N, 3), any unit."""
    if len(centers) == 0:
        return 1.0
    low, high = _box(centers)
    far = find_outliers(centers, low, high)
    if far is not None:  # an outlier would enlarge all spheres
        centers = centers[~far]
        low, high = _box(centers)
    extent = high - low
    # A sheet or a line of particles has fewer dimensions.
    filled = extent[extent > 1e-6 * extent.max()]
    if len(filled) == 0:
        return 1.0
    return float(np.exp(np.log(filled).mean()) / len(centers) ** (1.0 / len(filled)))


def _box(centers: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # Column by column: along the short axis NumPy is thirty times slower.
    low, high = (np.array([f(axis) for axis in centers.T], np.float64) for f in (np.min, np.max))
    return low, high
